//! The messages that stand in answers, as far as they are read.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use prost::Message;

/// `Export…ServiceResponse` of opentelemetry-proto: one for metrics, one for logs, one for traces, all alike.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ExportResponse {
    #[prost(message, optional, tag = "1")]
    pub(super) partial_success: Option<PartialSuccess>,
}

/// `Export…PartialSuccess`
#[derive(Clone, PartialEq, Eq, Message)]
pub(super) struct PartialSuccess {
    #[prost(int64, tag = "1")]
    pub(super) rejected: i64,
    /// A text, which need not be UTF-8 in what a broken collector sends.
    #[prost(bytes = "vec", tag = "2")]
    pub(super) error_message: Vec<u8>,
}

/// `google.rpc.Status`
#[derive(Clone, PartialEq, Message)]
pub(super) struct Status {
    #[prost(string, tag = "2")]
    pub(super) message: String,
    #[prost(message, repeated, tag = "3")]
    pub(super) details: Vec<Any>,
}

/// `google.protobuf.Any`
#[derive(Clone, PartialEq, Eq, Message)]
pub(super) struct Any {
    #[prost(string, tag = "1")]
    pub(super) type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) value: Vec<u8>,
}

/// `google.rpc.RetryInfo`
#[derive(Clone, PartialEq, Eq, Message)]
pub(super) struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    pub(super) retry_delay: Option<Delay>,
}

/// `google.protobuf.Duration`
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(super) struct Delay {
    #[prost(int64, tag = "1")]
    pub(super) seconds: i64,
    #[prost(int32, tag = "2")]
    pub(super) nanos: i32,
}

/// RFC 4648 4, with or without the padding at the end, which gRPC leaves out.
pub(super) fn base64_decoded(text: &str) -> Option<Vec<u8>> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    LENIENT.decode(text).ok()
}
