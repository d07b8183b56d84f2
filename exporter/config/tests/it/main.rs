//! The configuration as people write it: what is read of it, and what is said of mistakes.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]
mod alerts_config;
mod config;
mod fleet_files;
mod naming_profiles;
mod otlp_config;
mod rules_config;
mod storage_config;
mod transports;
