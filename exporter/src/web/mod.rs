//! Serves what the exporter knows over HTTP/1.1.
//!
//! * `GET /metrics` — every target's series and the exporter's own metrics; text 0.0.4 or OpenMetrics 1.0 by Accept.
//! * `GET /-/healthy` — 200 while the process answers at all.
//! * `GET /-/ready` — 200 once configuration and plugins are loaded, 503 before and while ending.
//! * `GET /` — a page for people: the targets with their state, and links. `GET /page.css` belongs to it.
//!
//! `HEAD` goes wherever `GET` goes. Everything else is 404, or 405 with `Allow`.
//!
//! A page is encoded while it is sent, so its size costs no memory, and a reader pins one snapshot of each target
//! at most. Limits: connections, pages at a time (503 with Retry-After), time for a request's head, time without a
//! byte taken.

mod body;
mod page;
mod patient;
mod routes;
mod server;

pub use self::routes::{Limits, Site};
pub use self::server::{Server, bind};
