//! Pages, judged by strict readers and by another encoder.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]
mod expose;
mod expose_any;
mod expose_coded;
mod expose_histograms;
mod expose_names;
mod expose_protobuf;
mod protobuf_reader;
mod rules_any;
mod text_reader;
