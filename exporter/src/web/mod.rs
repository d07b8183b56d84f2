//! Serves what the exporter knows over HTTP/1.1, and over TLS also HTTP/2.
//!
//! * `GET /metrics` — every target's series and the exporter's own metrics; text 0.0.4 or OpenMetrics 1.0 by Accept.
//! * `GET /probe?target=` — one target's series, and how it fared.
//! * `GET /sd` — the targets for Prometheus, as HTTP service discovery.
//! * `GET /-/healthy` — 200 while the process answers at all.
//! * `GET /-/ready` — 200 once configuration and plugins are loaded, 503 before and while ending.
//! * `GET /` and below — pages for people: `pages/`.
//!
//! * `POST /-/reload` — reads the configuration again, where `web.enable_lifecycle` allows it.
//!
//! `HEAD` goes wherever `GET` goes. Everything else is 404, or 405 with `Allow`.
//!
//! A page is encoded while it is sent, so its size costs no memory, and a reader pins one snapshot of each target
//! at most. Who may read is the `gate`'s to say, by the web configuration file.
//!
//! Limits: connections, of all and of one peer, whose idle ones end when it needs one; TLS handshakes; time for a
//! handshake, for a request's head, without a byte taken, for an answer, without a request; pages at a time (503 with
//! Retry-After, see `page_permits`); probes at a time (503, see `probe_permits`); a head's bytes (431), a URI's (414).
//! Nothing here takes a body, so a request that announces one is refused, and its connection ends with it.

mod answer;
mod body;
mod caller;
mod connection;
mod discovery;
#[doc(hidden)]
pub mod doors;
mod error_page;
mod front;
mod gate;
mod handshake;
mod heads;
mod limits;
mod metrics;
mod page_permits;
mod page_state;
mod pages;
mod patient;
mod peers;
mod probe;
mod probe_permits;
mod prober;
mod query;
mod reload;
mod reloader;
mod routes;
mod scrapes;
mod server;
mod site;
mod streams;
mod traffic;

pub use self::gate::Gate;
pub(crate) use self::gate::METRICS;
pub use self::limits::Limits;
pub use self::page_state::PageState;
pub use self::prober::{Discovered, ProbeAnswer, ProbeRefused, ProbeRequest, Probed, Prober};
pub use self::reloader::{NotReloaded, Reloader, Reloading};
pub(crate) use self::scrapes::METRICS as SCRAPE_METRICS;
pub use self::scrapes::{PageOf, Scrape, ScrapeOutcome, Scrapes};
pub use self::server::{Server, bind};
pub use self::site::{Parts, Site};
