//! OTLP: what a snapshot is as OTLP's messages ([`encode`]), and how it is pushed to a collector ([`push`]).

pub mod encode;
pub mod push;
