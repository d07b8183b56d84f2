//! What TLS says of a connection that seemed to be open, and what to do about it.
//!
//! By TLS 1.3 a client is through with the handshake before the server has looked at its certificate: a server that
//! wants another one, or one at all, says so where its first answer should come. What speaks HTTP tells of that as a
//! connection that broke, or does not read it at all; so the stream itself listens.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::rustls::{AlertDescription, CertificateError, Error};

use super::ClientTls;
use super::Trouble;
use super::{Failure, Stream};

/// The TLS alert that ended a connection; clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct TlsAlertRecorder(Arc<OnceLock<Error>>);

impl TlsAlertRecorder {
    /// The failure, if a TLS alert caused it.
    pub(super) fn failure(&self, tls: &ClientTls) -> Option<Failure> {
        self.0.get().map(|error| trust_failure(error, error, tls))
    }

    fn listen(&self, error: &io::Error) {
        if let Some(error) = of_tls(error) {
            // The first one is the cause of those that follow.
            let _ = self.0.set(error.clone());
        }
    }
}

/// A TLS connection that could not be made.
pub(super) fn not_connected(error: &io::Error, tls: &ClientTls) -> Failure {
    match of_tls(error) {
        Some(of_tls) => trust_failure(of_tls, error, tls),
        None => Failure::of(Trouble::Tls, "TLS", error),
    }
}

fn of_tls(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

fn trust_failure(error: &Error, shown: &dyn std::error::Error, tls: &ClientTls) -> Failure {
    let mut failure = Failure::of(Trouble::Tls, "TLS", shown);
    if let Some(next_step) = next_step(error, tls.client.is_some()) {
        failure.message = format!("{}; {next_step}", failure.message);
    }
    failure
}

/// What to do where that is plain.
fn next_step(error: &Error, shows_certificate: bool) -> Option<&'static str> {
    use AlertDescription as Alert;
    match error {
        // The second one is TLS 1.2's.
        Error::AlertReceived(Alert::CertificateRequired | Alert::BadCertificate) if !shows_certificate => {
            Some(
                "the server asks for a certificate: name one in `tls.cert_file`, and its key in `tls.key_file`",
            )
        }
        Error::AlertReceived(
            Alert::CertificateRequired
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied
            | Alert::DecryptError,
        ) if shows_certificate => {
            Some("the server does not accept the certificate in `tls.cert_file`: use one that it trusts")
        }
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            Some("name the authority of the server's certificate in `tls.ca_file`")
        }
        _ => None,
    }
}

/// A stream that is listened to.
pub(super) struct AlertListener {
    stream: Box<dyn Stream>,
    alerts: TlsAlertRecorder,
    /// Why nothing can be written any more, until it is known what the other side said last.
    broken: Option<io::Error>,
}

impl AlertListener {
    pub(super) fn new(stream: Box<dyn Stream>, alerts: &TlsAlertRecorder) -> Self {
        Self { stream, alerts: alerts.clone(), broken: None }
    }

    /// Passes on what became of writing. Where it failed, what came before the connection broke is read first, for the
    /// reason may be in it; it is there, though the run time may have to be asked for it once more. Nobody misses what
    /// is read: who cannot write has failed.
    fn written<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        let Poll::Ready(Err(error)) = written else { return written };
        self.alerts.listen(&error);
        let mut room = [0; 256];
        loop {
            let mut buffer = ReadBuf::new(&mut room);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Pending => {
                    self.broken = Some(error);
                    return Poll::Pending;
                }
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                Poll::Ready(Ok(())) => break,
                Poll::Ready(Err(reason)) => {
                    self.alerts.listen(&reason);
                    break;
                }
            }
        }
        Poll::Ready(Err(error))
    }

    /// Writes, unless that has failed already.
    fn write<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut (dyn Stream + 'static)>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let written = match self.broken.take() {
            Some(error) => Poll::Ready(Err(error)),
            None => write(Pin::new(&mut *self.stream), context),
        };
        self.written(context, written)
    }
}

impl AsyncRead for AlertListener {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if let Poll::Ready(Err(error)) = &read {
            self.alerts.listen(error);
        }
        read
    }
}

impl AsyncWrite for AlertListener {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.write(context, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(context, |stream, context| stream.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    /// Takes nothing, and says why when it is asked for the second time.
    #[derive(Default)]
    struct Refusing {
        was_asked: bool,
    }

    impl AsyncRead for Refusing {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            _: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            if std::mem::replace(&mut self.was_asked, true) {
                let alert = Error::AlertReceived(AlertDescription::CertificateRequired);
                Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, alert)))
            } else {
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }

    impl AsyncWrite for Refusing {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn the_reason_is_heard_though_writing_fails_before_it_is_read() {
        let alerts = TlsAlertRecorder::default();
        let mut stream = AlertListener::new(Box::new(Refusing::default()), &alerts);
        let error = stream.write_all(b"x").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        let failure = alerts.failure(&ClientTls::default()).unwrap();
        assert_eq!(failure.trouble, Trouble::Tls);
        assert!(failure.message.contains("name one in `tls.cert_file`"), "{}", failure.message);
    }
}
