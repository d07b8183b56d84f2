//! Pushing to OpenTelemetry collectors.
//!
//! [`otlp_encode`] turns snapshots into the bytes of OTLP requests. [`push`] sends them: two tasks for each endpoint, so that a collector that is away delays no other.
pub mod push;
