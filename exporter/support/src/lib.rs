//! What all rooms of the process use: how files and words of people are read ([`input`]), its own log and metrics
//! ([`telemetry`]), and the HTTP client ([`http_client`]).

pub mod http_client;
pub mod input;
pub mod telemetry;
