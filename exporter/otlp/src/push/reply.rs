//! What a collector answered, and what follows from it.

use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hyper::header::{LOCATION, RETRY_AFTER};
use percent_encoding::percent_decode_str;
use prost::Message;
use support::http_client::{Answer, Trouble, retry_after, shown};

/// What an answer means for the request that it is to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Accepted, except for some points or records.
    Accepted {
        /// How many were rejected.
        rejected: u64,
        message: String,
    },
    /// The same in smaller requests may be taken.
    TooLarge,
    Retry {
        /// What to wait at least.
        after: Option<Duration>,
        trouble: Trouble,
        /// In the collector's words.
        message: String,
    },
    Refused {
        trouble: Trouble,
        /// In the collector's words.
        message: String,
    },
}

/// The verdict of an answer to OTLP/HTTP (opentelemetry-proto, "OTLP/HTTP Response").
pub(super) fn http_verdict(answer: &Answer, now: SystemTime) -> Verdict {
    let code = answer.status.as_u16();
    let message = || shown(&status_message(&answer.body));
    match code {
        200..=299 => accepted(&answer.body),
        413 => Verdict::TooLarge,
        429 | 502 | 503 | 504 => {
            let after = answer.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            let after = after.and_then(|text| retry_after(text, now));
            Verdict::Retry { after, trouble: Trouble::Busy, message: format!("HTTP {code} {}", message()) }
        }
        300..=399 => {
            // Following it would send headers with secrets to a host that is not configured.
            let to = answer.headers.get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
            let message =
                shown(&format!("HTTP {code}; redirects are not followed, set it as `endpoint`: {to}"));
            Verdict::Refused { trouble: Trouble::NotFound, message }
        }
        _ => {
            let trouble = match code {
                400 | 415 | 422 => Trouble::Invalid,
                401 | 403 | 407 => Trouble::Unauthorized,
                404 | 405 | 501 => Trouble::NotFound,
                _ => Trouble::Unexpected,
            };
            Verdict::Refused { trouble, message: format!("HTTP {code} {}", message()) }
        }
    }
}

/// The verdict of an answer to OTLP/gRPC (opentelemetry-proto, "OTLP/gRPC Response").
pub(super) fn grpc_verdict(answer: &Answer) -> Verdict {
    let field = |name: &str| {
        let value = answer.trailers.get(name).or_else(|| answer.headers.get(name));
        value.and_then(|value| value.to_str().ok())
    };
    let Some(code) = field("grpc-status").and_then(|code| code.parse::<u32>().ok()) else {
        return without_grpc_status(answer);
    };
    let text = percent_decoded(field("grpc-message").unwrap_or_default());
    let message = shown(&format!("gRPC {code} {text}"));
    let after = field("grpc-status-details-bin").and_then(retry_info);
    let retry = |after| Verdict::Retry { after, trouble: Trouble::Busy, message: message.clone() };
    let refused = |trouble| Verdict::Refused { trouble, message: message.clone() };
    match code {
        0 => accepted(answer.body.get(GRPC_HEAD_BYTES..).unwrap_or_default()),
        8 /* RESOURCE_EXHAUSTED */ | 11 /* OUT_OF_RANGE */ if speaks_of_size(&text) => Verdict::TooLarge,
        8 if after.is_some() => retry(after),
        1 /* CANCELLED */ | 4 /* DEADLINE_EXCEEDED */ | 10 /* ABORTED */ | 11 | 14 /* UNAVAILABLE */
        | 15 /* DATA_LOSS */ => retry(after),
        3 /* INVALID_ARGUMENT */ => refused(Trouble::Invalid),
        7 /* PERMISSION_DENIED */ | 16 /* UNAUTHENTICATED */ => refused(Trouble::Unauthorized),
        5 /* NOT_FOUND */ | 12 /* UNIMPLEMENTED */ => refused(Trouble::NotFound),
        8 => refused(Trouble::Busy),
        _ => refused(Trouble::Unexpected),
    }
}

/// A proxy answered instead of the collector; its HTTP status is mapped as gRPC specifies.
fn without_grpc_status(answer: &Answer) -> Verdict {
    let code = answer.status.as_u16();
    let message = format!("HTTP {code} without a gRPC status");
    let trouble = match code {
        429 | 502 | 503 | 504 => return Verdict::Retry { after: None, trouble: Trouble::Busy, message },
        413 => return Verdict::TooLarge,
        401 | 403 => Trouble::Unauthorized,
        404 => Trouble::NotFound,
        _ => Trouble::Unexpected,
    };
    Verdict::Refused { trouble, message }
}

/// gRPC has one code for "too much in one message" and "too much at all"; only the words tell.
fn speaks_of_size(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    ["larger than max", "too large", "length too", "message size", "exceeds max"]
        .iter()
        .any(|words| message.contains(words))
}

/// The verdict of a successful answer; an unreadable one counts as success.
fn accepted(body: &[u8]) -> Verdict {
    let partial = ExportResponse::decode(body).ok().and_then(|response| response.partial_success);
    let PartialSuccess { rejected, error_message } = partial.unwrap_or_default();
    let message = shown(&String::from_utf8_lossy(&error_message));
    Verdict::Accepted { rejected: u64::try_from(rejected).unwrap_or(0), message }
}

/// The message of a `Status`, which OTLP/HTTP puts into the body of a refusal; or the body, which many make a text.
fn status_message(body: &[u8]) -> String {
    match Status::decode(body) {
        Ok(status) if !status.message.is_empty() => status.message,
        _ => std::str::from_utf8(body).unwrap_or_default().to_owned(),
    }
}

/// The delay of a `RetryInfo` among the details of a `Status`.
fn retry_info(base64: &str) -> Option<Duration> {
    let status = Status::decode(&*base64_decoded(base64)?).ok()?;
    let info = status.details.iter().find(|any| any.type_url.ends_with("google.rpc.RetryInfo"))?;
    let delay = RetryInfo::decode(&*info.value).ok()?.retry_delay?;
    let nanos = u32::try_from(delay.nanos).ok().filter(|&nanos| nanos < 1_000_000_000)?;
    Some(Duration::new(u64::try_from(delay.seconds).ok()?, nanos))
}

fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

pub(super) const GRPC_HEAD_BYTES: usize = 5;

/// `Export…ServiceResponse` of opentelemetry-proto: one for metrics, one for logs, one for traces, all alike.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ExportResponse {
    #[prost(message, optional, tag = "1")]
    pub(super) partial_success: Option<PartialSuccess>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(super) struct PartialSuccess {
    #[prost(int64, tag = "1")]
    pub(super) rejected: i64,
    /// A text, which need not be UTF-8 in what a broken collector sends.
    #[prost(bytes = "vec", tag = "2")]
    error_message: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Status {
    #[prost(string, tag = "2")]
    pub(super) message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(super) struct Any {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) value: Vec<u8>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(super) struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    retry_delay: Option<Delay>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(super) struct Delay {
    #[prost(int64, tag = "1")]
    pub(super) seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

/// RFC 4648 4, with or without the padding at the end, which gRPC leaves out.
fn base64_decoded(text: &str) -> Option<Vec<u8>> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    LENIENT.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use hyper::StatusCode;
    use hyper::header::HeaderMap;

    use super::*;

    fn answer(status: u16, headers: &[(&'static str, &str)], body: &[u8]) -> Answer {
        let headers = headers
            .iter()
            .map(|&(name, value)| (hyper::header::HeaderName::from_static(name), value.parse().unwrap()));
        let (status, headers) = (StatusCode::from_u16(status).unwrap(), headers.collect());
        Answer { status, headers, trailers: HeaderMap::new(), body: body.to_vec() }
    }

    fn http(status: u16, headers: &[(&'static str, &str)]) -> Verdict {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777 - 7);
        http_verdict(&answer(status, headers, b""), now)
    }

    fn after(verdict: &Verdict) -> Option<Duration> {
        match verdict {
            Verdict::Retry { after, .. } => *after,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn http_says_when_to_come_again_in_seconds_or_as_a_date() {
        assert_eq!(after(&http(503, &[])), None);
        assert_eq!(after(&http(429, &[("retry-after", "12")])), Some(Duration::from_secs(12)));
        // The date of RFC 9110 5.6.7.
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(after(&http(503, &[("retry-after", date)])), Some(Duration::from_secs(7)));
        assert_eq!(http(413, &[]), Verdict::TooLarge);
    }

    #[test]
    fn grpc_says_when_to_come_again_in_its_details() {
        // Made by Python's googleapis-common-protos: Status(code=8, message="slow down", details=[RetryInfo of 3.5 s]).
        let details =
            "CAgSCXNsb3cgZG93bho2Cih0eXBlLmdvb2dsZWFwaXMuY29tL2dvb2dsZS5ycGMuUmV0cnlJbmZvEgoKCAgDEIDKte4B";
        for code in ["8", "14"] {
            let headers = [("grpc-status", code), ("grpc-status-details-bin", details)];
            let found = grpc_verdict(&answer(200, &headers, b""));
            assert_eq!(after(&found), Some(Duration::from_millis(3_500)));
        }
        let found = grpc_verdict(&answer(200, &[("grpc-status", "8")], b""));
        assert!(matches!(found, Verdict::Refused { trouble: Trouble::Busy, .. }), "{found:?}");
    }

    #[test]
    fn grpc_tells_a_message_that_is_too_large_from_too_many_by_words() {
        for message in [
            // grpc-go 1.7x; tonic 0.14 through rotel.
            "grpc: received message larger than max (5 vs. 4)",
            "decoded message length too large: found 3145879 bytes, the limit is: 1048576",
        ] {
            for code in ["8", "11"] {
                let found =
                    grpc_verdict(&answer(200, &[("grpc-status", code), ("grpc-message", message)], b""));
                assert_eq!(found, Verdict::TooLarge, "{code} {message}");
            }
        }
    }

    #[test]
    fn a_partial_success_tells_how_much_was_rejected() {
        // ExportMetricsServiceResponse {partial_success: {rejected_data_points: 300, error_message: "no"}}
        let body = [0x0a, 0x07, 0x08, 0xac, 0x02, 0x12, 0x02, b'n', b'o'];
        let expected = Verdict::Accepted { rejected: 300, message: "no".to_owned() };
        assert_eq!(http_verdict(&answer(200, &[], &body), SystemTime::UNIX_EPOCH), expected);
        let framed = [&[0, 0, 0, 0, 9][..], &body].concat();
        assert_eq!(grpc_verdict(&answer(200, &[("grpc-status", "0")], &framed)), expected);
        let none = Verdict::Accepted { rejected: 0, message: String::new() };
        assert_eq!(http_verdict(&answer(200, &[], b""), SystemTime::UNIX_EPOCH), none);
    }

    #[test]
    fn messages_of_grpc_are_percent_decoded() {
        assert_eq!(percent_decoded("100%25 %zz %e %+1"), "100% %zz %e %+1");
    }
}
