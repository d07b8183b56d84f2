//! The head of a request.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use support::http_client::{Failure, Trouble, USER_AGENT, header_value};

use super::options::{Compression, OtlpEndpoint, OtlpProtocol};
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
