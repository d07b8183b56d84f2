//! The head of a request.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::HeaderValue;
use input::secret;

use super::connector::Failure;
use super::options::{Compression, HeaderSource, OtlpEndpoint, OtlpProtocol};
use super::reply::Trouble;
use super::signal::Signal;

/// The head of a request. Secrets are read anew each time, so that those that were renewed are used.
pub(super) async fn request(
    settings: Arc<OtlpEndpoint>,
    signal: Signal,
    body: Bytes,
) -> Result<Request<Full<Bytes>>, Failure> {
    let made = tokio::task::spawn_blocking(move || {
        let scheme = if settings.secure { "https" } else { "http" };
        let authority = format!("{}:{}", settings.host, settings.port);
        let encoding = match settings.compression {
            Compression::None => None,
            Compression::Gzip => Some("gzip"),
            Compression::Zstd => Some("zstd"),
        };
        let mut head = Request::post("/");
        match settings.protocol {
            OtlpProtocol::Grpc => {
                head = head.uri(format!("{scheme}://{authority}{}", signal.grpc_path()));
                head = head.header("content-type", "application/grpc").header("te", "trailers");
                head = head.header("grpc-timeout", format!("{}m", settings.timeout.as_millis()));
                if let Some(encoding) = encoding {
                    head = head.header("grpc-encoding", encoding);
                }
            }
            OtlpProtocol::Http => {
                head = head.uri(format!("{}{}", settings.path, signal.http_path())).header("host", authority);
                head = head.header("content-type", "application/x-protobuf");
                if let Some(encoding) = encoding {
                    head = head.header("content-encoding", encoding);
                }
            }
        }
        head = head.header("user-agent", USER_AGENT);
        for (name, source) in &settings.headers {
            head = head.header(name, header_value(source)?);
        }
        head.body(Full::new(body)).map_err(|error| Failure::of(Trouble::Unexpected, "make a request", &error))
    });
    made.await.map_err(|error| Failure::new(Trouble::Unexpected, error))?
}

pub(super) fn header_value(source: &HeaderSource) -> Result<HeaderValue, Failure> {
    let value = match source {
        HeaderSource::Plain(text) => HeaderValue::from_str(text),
        HeaderSource::Secret { prefix, source } => {
            let secret = secret::read(source).map_err(|message| Failure::new(Trouble::Secret, message))?;
            let whole = zeroize::Zeroizing::new([prefix.as_bytes(), &secret].concat());
            HeaderValue::from_bytes(&whole)
        }
    };
    // The error does not show the value.
    let mut value =
        value.map_err(|_| Failure::new(Trouble::Secret, "a secret does not fit into a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

pub(super) const USER_AGENT: &str = concat!("perfmon-exporter/", env!("CARGO_PKG_VERSION"));
