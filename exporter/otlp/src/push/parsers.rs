//! What reads a collector's answers, without a connection around it, for the laws in `oracles` alone.

use std::time::SystemTime;

use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use support::http_client::Answer;

use super::OtlpProtocol;
use super::reply::{Verdict, grpc_verdict, http_verdict};

/// Fields of a head, or those after a body.
pub type Fields<'a> = [(&'static str, &'a [u8])];

/// The meaning of an answer; `None` if it is not valid HTTP.
#[must_use]
pub fn verdict(
    protocol: OtlpProtocol,
    status: u16,
    headers: &Fields<'_>,
    trailers: &Fields<'_>,
    body: &[u8],
    now: SystemTime,
) -> Option<Verdict> {
    let (headers, trailers) = (map(headers)?, map(trailers)?);
    let status = StatusCode::from_u16(status).ok()?;
    let answer = Answer { status, headers, trailers, body: body.to_vec() };
    Some(match protocol {
        OtlpProtocol::Http => http_verdict(&answer, now),
        OtlpProtocol::Grpc => grpc_verdict(&answer),
    })
}

fn map(fields: &Fields<'_>) -> Option<HeaderMap> {
    let field = |&(name, value): &(&'static str, &[u8])| {
        Some((HeaderName::from_static(name), HeaderValue::from_bytes(value).ok()?))
    };
    fields.iter().map(field).collect()
}
