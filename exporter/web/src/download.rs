//! A file as it is sent: a piece at a time, each read when the reader has taken the one before.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;
use tracing::debug;

use super::page_permits::PagePermit;

/// What a slow reader holds in memory.
const PIECE_BYTES: u64 = 64 << 10;

/// A part of a file that is being sent.
pub struct Download {
    source: Arc<Source>,
    /// What was not read yet.
    left: Range<u64>,
    reading: Option<JoinHandle<io::Result<Bytes>>>,
    permit: PagePermit,
}

struct Source {
    file: File,
    /// A thread that reads has it, too, until it has read: a disk that hangs takes so many threads only.
    _thread: OwnedSemaphorePermit,
}

impl Download {
    pub(super) fn new(
        file: File,
        bytes: Range<u64>,
        (permit, thread): (PagePermit, OwnedSemaphorePermit),
    ) -> Self {
        Self { source: Arc::new(Source { file, _thread: thread }), left: bytes, reading: None, permit }
    }

    /// The next piece; nothing at the end. A file that is shorter than it was, or cannot be read any more, ends early: the
    /// server then ends the connection, since it promised more, and the reader notices.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.left.is_empty() {
            return Poll::Ready(None);
        }
        let reading = self.reading.get_or_insert_with(|| {
            let (source, at) = (Arc::clone(&self.source), self.left.start);
            let bytes = (self.left.end - at).min(PIECE_BYTES);
            tokio::task::spawn_blocking(move || read(&source.file, at, bytes))
        });
        let read = ready!(Pin::new(reading).poll(context));
        self.reading = None;
        match read.map_err(io::Error::other).flatten() {
            Ok(piece) if !piece.is_empty() => {
                self.left.start += piece.len() as u64;
                self.permit.wrote(piece.len() as u64);
                Poll::Ready(Some(piece))
            }
            ended => {
                let error = ended.err();
                debug!(
                    error = error.map(tracing::field::display),
                    left = self.left_bytes(),
                    "File ended early"
                );
                self.left = 0..0;
                Poll::Ready(None)
            }
        }
    }

    pub(super) fn left_bytes(&self) -> u64 {
        self.left.end - self.left.start
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        if self.permit.is_ended() {
            self.permit.report_ended_file(self.left_bytes());
        }
    }
}

fn read(file: &File, at: u64, bytes: u64) -> io::Result<Bytes> {
    // At most a piece.
    let mut piece = vec![0; usize::try_from(bytes).unwrap_or(0)];
    loop {
        match file.read_at(&mut piece, at) {
            Ok(read) => {
                piece.truncate(read);
                return Ok(Bytes::from(piece));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::io::Write;

    use http_server::PeerKey;
    use tokio::sync::Semaphore;

    use super::super::page_permits::PagePermits;
    use super::*;

    async fn download(file: &File, bytes: Range<u64>) -> (Download, Arc<Semaphore>) {
        let threads = Arc::new(Semaphore::new(1));
        let thread = Arc::clone(&threads).try_acquire_owned().expect("it is free");
        let peer = PeerKey::of([192, 0, 2, 1].into());
        let permit = PagePermits::new(1).acquire(peer, Arc::default()).await.expect("it is free");
        (Download::new(file.try_clone().expect("there are descriptors"), bytes, (permit, thread)), threads)
    }

    async fn all(download: &mut Download) -> Vec<u8> {
        let mut all = Vec::new();
        while let Some(piece) = poll_fn(|context| download.poll_next(context)).await {
            assert!(piece.len() as u64 <= PIECE_BYTES);
            all.extend_from_slice(&piece);
        }
        all
    }

    #[tokio::test]
    async fn a_file_comes_in_pieces_and_as_long_as_it_was() {
        let mut file = tempfile::tempfile().expect("a file can be made");
        let bytes: Vec<u8> = (0..200_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        file.write_all(&bytes).expect("it is ours");
        let (mut whole, threads) = download(&file, 0..200_000).await;
        file.write_all(b"and more").expect("it is ours");
        assert_eq!(all(&mut whole).await, bytes);
        assert_eq!(threads.available_permits(), 0);
        drop(whole);
        assert_eq!(threads.available_permits(), 1);
        assert_eq!(all(&mut download(&file, 199_990..199_995).await.0).await, &bytes[199_990..199_995]);
    }

    #[tokio::test]
    async fn a_file_that_shrinks_ends_early() {
        let mut file = tempfile::tempfile().expect("a file can be made");
        file.write_all(&[7; 100_000]).expect("it is ours");
        let (mut download, _threads) = download(&file, 0..100_000).await;
        let first = poll_fn(|context| download.poll_next(context)).await.expect("it is there");
        file.set_len(10).expect("it is ours");
        assert_eq!(all(&mut download).await, b"");
        assert!(first.len() as u64 == PIECE_BYTES && download.left_bytes() == 0);
    }
}
