//! What collectors answer to what is pushed.

use std::time::{Duration, SystemTime};

use otlp::push::{OtlpProtocol, Verdict, parsers};
use support::pause::Backoff;

use crate::exporter::Input;

/// The fields that mean something, and one that does not.
const FIELDS: [&str; 5] =
    ["retry-after", "grpc-status", "grpc-message", "grpc-status-details-bin", "content-type"];
const MESSAGE_CHARS_MAX: usize = 256;
/// No collector keeps us away for longer.
const WAIT_MAX: Duration = Duration::from_secs(1_000);

/// An answer by either protocol: what is made of it is short, printable and of one line, only success accepts, and no
/// answer keeps us waiting for ever.
pub fn answer(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let kind = input.byte();
    let protocol = if kind & 1 == 0 { OtlpProtocol::Http } else { OtlpProtocol::Grpc };
    let status = STATUSES[usize::from(kind >> 1) % STATUSES.len()];
    let mut fields = || -> Vec<(&'static str, &[u8])> {
        (0..input.byte() % 5)
            .filter_map(|_| Some((FIELDS[usize::from(input.byte()) % FIELDS.len()], input.chunk()?)))
            .collect()
    };
    let (headers, trailers) = (fields(), fields());
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let body = input.rest();
    let Some(verdict) = parsers::verdict(protocol, status, &headers, &trailers, body, now) else { return };
    let message = match &verdict {
        Verdict::Accepted { rejected, message } => {
            assert!(*rejected <= i64::MAX.unsigned_abs(), "a count below zero");
            let is_success = match protocol {
                OtlpProtocol::Http => (200..300).contains(&status),
                OtlpProtocol::Grpc => has(&headers, &trailers, "grpc-status"),
            };
            assert!(is_success, "HTTP {status} is a success");
            message.as_str()
        }
        Verdict::TooLarge => "",
        Verdict::Retry { after, message, .. } => {
            let wait = Backoff::new(1).next(*after);
            assert!(wait <= WAIT_MAX, "waits for {wait:?}");
            message.as_str()
        }
        Verdict::Refused { message, .. } => message.as_str(),
    };
    assert!(message.chars().count() <= MESSAGE_CHARS_MAX, "{message}");
    assert!(!message.contains(char::is_control), "{message:?}");
    let again = parsers::verdict(protocol, status, &headers, &trailers, body, now);
    assert_eq!(again.as_ref(), Some(&verdict));
}

fn has(headers: &parsers::Fields<'_>, trailers: &parsers::Fields<'_>, name: &str) -> bool {
    headers.iter().chain(trailers).any(|(found, _)| *found == name)
}

const STATUSES: [u16; 12] = [200, 202, 400, 401, 404, 413, 429, 500, 502, 503, 204, 600];
