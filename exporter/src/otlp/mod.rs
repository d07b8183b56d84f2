//! Pushing to OpenTelemetry collectors.
//!
//! [`encode`] turns snapshots into the bytes of OTLP requests and knows no clock, socket or task. [`push`] sends
//! them: two tasks for each endpoint, so that a collector that is away delays no other.
pub mod encode;
pub mod push;
