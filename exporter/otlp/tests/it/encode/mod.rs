//! Requests, judged by the published protobuf types.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]
mod histograms;
mod otlp_encode;
mod otlp_names;
