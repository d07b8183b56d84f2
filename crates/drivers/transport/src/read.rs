use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use crate::BoxStream;

/// Waits for bytes and passes them to `take`; none means the end of the stream.
///
/// The buffer is on the stack, and only while the stream is polled. Thousands of connections wait for their next
/// poll at any time, and none of them holds a buffer meanwhile.
///
/// # Errors
/// Those of the stream.
pub async fn read_once<T>(stream: &mut BoxStream, mut take: impl FnMut(&[u8]) -> T) -> io::Result<T> {
    poll_fn(|cx| {
        let mut room = [const { MaybeUninit::<u8>::uninit() }; READ_BYTES];
        let mut read = ReadBuf::uninit(&mut room);
        ready!(Pin::new(&mut *stream).poll_read(cx, &mut read))?;
        Poll::Ready(Ok(take(read.filled())))
    })
    .await
}

/// Maximum bytes of one read: a message of any pipe, and a small part of a thread's stack.
const READ_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_waits_for_bytes_holds_no_room_for_them() {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let mut stream: BoxStream = Box::new(ours);
        let waiting = read_once(&mut stream, <[u8]>::to_vec);
        assert!(std::mem::size_of_val(&waiting) < 256);
        tokio::io::AsyncWriteExt::write_all(&mut theirs, b"bytes").await.unwrap();
        assert_eq!(waiting.await.unwrap(), b"bytes");
        drop(theirs);
        assert_eq!(read_once(&mut stream, <[u8]>::len).await.unwrap(), 0);
    }
}
