//! What the web server serves: what the exporter knows, for Prometheus and for people.
//!
//! * `GET /metrics` — every target's series and the exporter's own metrics; text 0.0.4 or OpenMetrics 1.0 by Accept.
//! * `GET /probe?target=` — one target's series, and how it fared.
//! * `GET /sd` — the targets for Prometheus, as HTTP service discovery.
//! * `GET /-/healthy` — 200 while the process answers at all.
//! * `GET /-/ready` — 200 once configuration and plugins are loaded, 503 before and while ending.
//! * `GET /` and below — pages for people: `pages/`.
//! * `GET /logs/files/` and below — files of targets, where `storage.downloads` allows it.
//!
//! * `POST /-/reload` — reads the configuration again, where `web.enable_lifecycle` allows it.
//!
//! `HEAD` goes wherever `GET` goes. Everything else is 404, or 405 with `Allow`.
//!
//! A page is encoded while it is sent, so its size costs no memory, and a reader pins one snapshot of each target
//! at most.
//!
//! [`http_server`] accepts, limits and protects; [`Site`] is the app that it serves. Limits of its own: pages at a time
//! (503 with Retry-After, see `page_permits`) and probes at a time (503, see `probe_permits`).

mod body;
mod discovery;
mod download;
mod error_page;
mod files;
mod metrics;
mod page_permits;
mod page_state;
mod pages;
#[doc(hidden)]
pub mod parsers;
mod probe;
mod probe_permits;
mod prober;
mod query;
mod reload;
mod reloader;
mod routes;
mod scrapes;
mod settings;
mod site;

pub use self::page_state::PageState;
pub use self::prober::{Discovered, ProbeAnswer, ProbeRefused, ProbeRequest, Probed, Prober};
pub use self::reloader::{NotReloaded, Reloader, Reloading};
pub(crate) use self::scrapes::METRICS as SCRAPE_METRICS;
pub use self::scrapes::{PageOf, Scrape, ScrapeOutcome, Scrapes};
pub use self::settings::SiteSettings;
pub use self::site::{Parts, Site};
