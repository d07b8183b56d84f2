//! What all rooms of the process use: how files and words of people are read ([`input`]), its own log and metrics
//! ([`telemetry`]), the HTTP client ([`http_client`]), and pauses after failures ([`pause`]).

pub mod http_client;
pub mod input;
pub mod pause;
pub mod telemetry;
