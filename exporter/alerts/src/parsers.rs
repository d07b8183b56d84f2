//! What reads a receiver's answers, without a connection around it, for the laws in `oracles` alone.

use std::time::SystemTime;

use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use support::http_client::Answer;

use super::sender::{self, Verdict};

/// Fields of a head.
pub type Fields<'a> = [(&'static str, &'a [u8])];

/// The meaning of an answer; `None` if it is not valid HTTP.
#[must_use]
pub fn verdict(status: u16, fields: &Fields<'_>, body: &[u8], now: SystemTime) -> Option<Verdict> {
    let field = |&(name, value): &(&'static str, &[u8])| {
        Some((HeaderName::from_static(name), HeaderValue::from_bytes(value).ok()?))
    };
    let headers: HeaderMap = fields.iter().map(field).collect::<Option<_>>()?;
    let status = StatusCode::from_u16(status).ok()?;
    let answer = Answer { status, headers, trailers: HeaderMap::new(), body: body.to_vec() };
    Some(sender::verdict(&answer, now))
}
