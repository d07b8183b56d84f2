//! What a server may send.
//!
//! tokio-postgres reserves memory for a message by the length that its first bytes tell, keeps every parameter that the server
//! reports, computes as many iterations of SCRAM as it is told, without a pause, and sends the password in clear text if it
//! is asked for that. This reads along before it does, and ends the connection instead.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, TlsStream};

/// A connection whose server is checked message by message.
#[derive(Debug)]
pub(super) struct Guarded<S> {
    stream: S,
    guard: Guard,
}

/// The checks, which see all bytes in their order, in pieces of any size.
#[derive(Debug, Default)]
struct Guard {
    header: [u8; HEADER_BYTES],
    header_len: usize,
    /// Of the message whose header is complete: bytes that are still to come.
    rest: usize,
    /// The message, if it is one about authentication.
    authentication: Option<Vec<u8>>,
    /// Bytes since we sent something.
    unasked: usize,
    /// Bytes of parameters in all.
    parameters: usize,
}

/// A message begins with its type and its length, which counts itself and not the type.
const HEADER_BYTES: usize = 5;
/// Errors, rows of our queries and descriptions of our tables are much smaller.
const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// Answers to one request of ours: a page of rows at most.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// A server reports about 20 parameters.
const PARAMETERS_BYTES_MAX: usize = 64 << 10;
const AUTHENTICATION_BYTES_MAX: usize = 4 << 10;
/// A server's default is 4,096. This many take a second.
const ITERATIONS_MAX: u32 = 1_000_000;

impl<S> Guarded<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, guard: Guard::default() }
    }
}

impl Guard {
    fn see(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.unasked = self.unasked.saturating_add(bytes.len());
        if self.unasked > ANSWER_BYTES_MAX {
            return refuse(format!("the server sends more than {ANSWER_BYTES_MAX} bytes of answer"));
        }
        while !bytes.is_empty() {
            if self.rest == 0 {
                let (now, later) = bytes.split_at(bytes.len().min(HEADER_BYTES - self.header_len));
                self.header[self.header_len..self.header_len + now.len()].copy_from_slice(now);
                self.header_len += now.len();
                bytes = later;
                if self.header_len == HEADER_BYTES {
                    self.begin()?;
                }
            } else {
                let (now, later) = bytes.split_at(bytes.len().min(self.rest));
                self.rest -= now.len();
                bytes = later;
                if let Some(message) = &mut self.authentication {
                    message.extend_from_slice(now);
                }
            }
            if self.header_len == HEADER_BYTES && self.rest == 0 {
                self.header_len = 0;
                if let Some(message) = self.authentication.take() {
                    check_authentication(&message)?;
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self) -> io::Result<()> {
        let [kind, a, b, c, d] = self.header;
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        let max = if kind == b'R' { AUTHENTICATION_BYTES_MAX } else { MESSAGE_BYTES_MAX };
        // The length counts its own four bytes.
        let Some(rest) = length.checked_sub(HEADER_BYTES - 1).filter(|rest| *rest <= max) else {
            return refuse(format!("the server sends a message of {length} bytes"));
        };
        self.rest = rest;
        match kind {
            b'R' => self.authentication = Some(Vec::new()),
            b'S' => {
                self.parameters = self.parameters.saturating_add(rest);
                if self.parameters > PARAMETERS_BYTES_MAX {
                    return refuse(format!(
                        "the server sends more than {PARAMETERS_BYTES_MAX} bytes of parameters"
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// A message about authentication: its kind, and what belongs to that.
fn check_authentication(message: &[u8]) -> io::Result<()> {
    let Some((kind, content)) = message.split_first_chunk() else {
        return refuse("the server sends a message about authentication without a kind".to_owned());
    };
    match u32::from_be_bytes(*kind) {
        // Done, and the steps of SASL.
        0 | 10 | 12 => Ok(()),
        11 => check_iterations(content),
        _ => refuse(format!(
            "the server wants the password in another way than by SCRAM: set {ENCRYPTION} there, and set the password again"
        )),
    }
}

const ENCRYPTION: &str = "password_encryption = 'scram-sha-256'";

/// RFC 5802, 5.1: the server's first message says `r=…,s=…,i=4096`.
fn check_iterations(message: &[u8]) -> io::Result<()> {
    for attribute in message.split(|byte| *byte == b',') {
        let Some(digits) = attribute.strip_prefix(b"i=") else { continue };
        let count = str::from_utf8(digits).ok().and_then(|digits| digits.parse::<u32>().ok());
        if count.is_none_or(|count| count > ITERATIONS_MAX) {
            return refuse(format!("the server wants more than {ITERATIONS_MAX} iterations of SCRAM"));
        }
    }
    Ok(())
}

fn refuse<T>(what: String) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::InvalidData, what))
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let this = &mut *self;
        match Pin::new(&mut this.stream).poll_read(cx, buf) {
            // The caller reads nothing of what comes with an error.
            Poll::Ready(Ok(())) => Poll::Ready(this.guard.see(&buf.filled()[before..])),
            other => other,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.guard.unasked = 0;
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The server's certificate is checked, so its name need not be bound to the password.
impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Guarded<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len() + 4).expect("it is short");
        [&[kind][..], &length.to_be_bytes(), content].concat()
    }

    /// In pieces of every size: what the guard says, without the words that all have.
    fn check(bytes: &[u8], expected: Result<(), &str>) {
        for size in [1, 2, 3, 4, 5, 7, bytes.len()] {
            let mut guard = Guard::default();
            let seen = bytes.chunks(size).try_for_each(|piece| guard.see(piece));
            match (seen, expected) {
                (Ok(()), Ok(())) => {}
                (Err(error), Err(text)) => assert!(error.to_string().contains(text), "{error}"),
                (seen, expected) => panic!("{seen:?} instead of {expected:?} in pieces of {size}"),
            }
        }
    }

    #[test]
    fn a_usual_beginning_passes() {
        let bytes = [
            message(b'R', b"\0\0\0\x0ASCRAM-SHA-256\0\0"),
            message(b'R', b"\0\0\0\x0Br=abc,s=QSXCR+Q6sek8bf92,i=4096"),
            message(b'R', b"\0\0\0\x0Cv=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="),
            message(b'R', b"\0\0\0\0"),
            message(b'S', b"server_version\x0015.3\0"),
            message(b'K', b"\0\0\0\x01\0\0\0\x02"),
            message(b'Z', b"I"),
        ];
        check(&bytes.concat(), Ok(()));
    }

    #[test]
    fn no_memory_is_reserved_for_what_a_length_says() {
        check(b"D\x7F\xFF\xFF\xFF", Err("a message of 2147483647 bytes"));
        check(b"E\xFF\xFF\xFF\xFF", Err("a message of 4294967295 bytes"));
        check(b"Z\0\0\0\x03I", Err("a message of 3 bytes"));
        check(b"R\0\0\x20\0", Err("a message of 8192 bytes"));
    }

    #[test]
    fn the_password_is_sent_by_scram_only() {
        for kind in [2_u8, 3, 5, 7, 9, 13] {
            check(&message(b'R', &[0, 0, 0, kind, 1, 2, 3, 4]), Err("another way than by SCRAM"));
        }
        check(&message(b'R', &[0, 0]), Err("without a kind"));
    }

    #[test]
    fn iterations_have_a_limit() {
        check(&message(b'R', b"\0\0\0\x0Br=abc,s=QSXC,i=1000000"), Ok(()));
        for count in ["1000001", "4294967295", "99999999999", "x", ""] {
            let text = [&b"\0\0\0\x0Br=abc,s=QSXC,i="[..], count.as_bytes()].concat();
            check(&message(b'R', &text), Err("iterations of SCRAM"));
        }
    }

    #[test]
    fn endless_parameters_and_notices_have_a_limit() {
        let parameters: Vec<_> = (0..5_000)
            .flat_map(|index| message(b'S', format!("a{index}\0{index:08}\0").as_bytes()))
            .collect();
        let mut guard = Guard::default();
        assert!(guard.see(&parameters).is_err());
        let notice = message(b'N', &[b'x'; 10_000]);
        let mut guard = Guard::default();
        let endless = (0..10_000).try_for_each(|_| guard.see(&notice));
        assert!(endless.is_err_and(|error| error.to_string().contains("bytes of answer")));
    }
}
