//! TLS handshakes, within their deadline.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{CertificateError, Error, OtherError, ServerConfig};
use tokio_rustls::server::TlsStream;

use crate::gate::{NotAllowed, Refusal};

/// The answer to HTTP on a TLS port.
const SPEAK_TLS: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 43\r\n\r\nTLS is spoken here; write https:// instead\n";

#[derive(Clone)]
pub(crate) struct Handshakes(Arc<Semaphore>);

/// TLS handshakes at a time, of all peers together.
const HANDSHAKES_MAX: usize = 64;
/// Who is slower has taken no computing time meanwhile, and goes on without a place, so that a few peers that stop
/// half-way keep nobody waiting.
const PLACE_TIME: Duration = Duration::from_millis(500);

impl Default for Handshakes {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(HANDSHAKES_MAX)))
    }
}

impl Handshakes {
    /// Agrees on keys with a peer, whose own handshakes wait for each other in `turn`.
    pub(crate) async fn shake<S>(
        &self,
        config: Arc<ServerConfig>,
        stream: TcpStream,
        wrap: impl FnOnce(TcpStream) -> S,
        turn: &Semaphore,
        timeout: Duration,
    ) -> Result<TlsStream<S>, (Refusal, io::Error)>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let shaking = async {
            // A silent peer takes no permit.
            let first = first_byte(&stream).await.map_err(|error| (Refusal::HandshakeClosed, error))?;
            let mut stream = wrap(stream);
            if first.is_ascii_uppercase() {
                // Errors of this message are ignored.
                let _ = stream.write_all(SPEAK_TLS).await;
                let _ = stream.shutdown().await;
                return Err((Refusal::HandshakeNotTls, io::Error::other("HTTP instead of TLS")));
            }
            let over = |_| (Refusal::HandshakeOther, io::Error::other("the server ends"));
            let _turn = turn.acquire().await.map_err(over)?;
            let place = self.0.acquire().await.map_err(over)?;
            let mut shaking = pin!(TlsAcceptor::from(config).accept(stream));
            let shaken = match tokio::time::timeout(PLACE_TIME, shaking.as_mut()).await {
                Ok(shaken) => shaken,
                Err(_slow) => {
                    drop(place);
                    shaking.await
                }
            };
            shaken.map_err(|error| (reason(&error), error))
        };
        match tokio::time::timeout(timeout, shaking).await {
            Ok(shaken) => shaken,
            Err(elapsed) => Err((Refusal::HandshakeTimeout, elapsed.into())),
        }
    }
}

/// Waits for the first byte of a peer without reading it.
async fn first_byte(stream: &TcpStream) -> io::Result<u8> {
    let mut byte = [0];
    match stream.peek(&mut byte).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(byte[0]),
    }
}

fn reason(error: &io::Error) -> Refusal {
    let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) else {
        return Refusal::HandshakeClosed;
    };
    match error {
        Error::NoCertificatesPresented => Refusal::HandshakeNoCertificate,
        Error::InvalidCertificate(CertificateError::Other(OtherError(other))) if other.is::<NotAllowed>() => {
            Refusal::HandshakeName
        }
        Error::InvalidCertificate(_) => Refusal::HandshakeCertificate,
        Error::PeerIncompatible(_) => Refusal::HandshakeIncompatible,
        Error::AlertReceived(_) => Refusal::HandshakeByClient,
        Error::InvalidMessage(_) | Error::InappropriateMessage { .. } => Refusal::HandshakeNotTls,
        _ => Refusal::HandshakeOther,
    }
}
