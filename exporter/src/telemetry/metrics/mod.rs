//! The exporter's own metrics: what is read when a page is asked for. A file for each part of the process.

mod credentials;
mod files;
mod memory;
mod plugins;
mod process;
mod schedule;
mod targets;

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::registry::Registry;

pub use self::plugins::{PluginSource, Plugins};
use super::book::{Book, TargetStatus};
use super::costs::{self, Costs};
use super::metric::{Metric, Writer};
use super::probes;
use super::reloads::{self, Reloads};
use super::timing::Timings;
use crate::credentials::Broker;
use crate::schedule::Figures;
use crate::web::{self, Scrapes};

/// Everything that the exporter says of itself. Read at each scrape; between scrapes it costs nothing.
#[derive(Clone)]
pub struct SelfMetrics {
    /// The targets.
    pub book: Arc<Book>,
    /// The secrets.
    pub broker: Arc<Broker>,
    /// The plugins.
    pub plugins: Arc<Plugins>,
    /// The pages.
    pub scrapes: Arc<Scrapes>,
    /// What the schedule is doing.
    pub schedule: Arc<Figures>,
    /// What collections take.
    pub costs: Arc<Costs>,
    /// How long everything takes.
    pub timings: Timings,
    /// Who runs the exporter's own tasks.
    pub runtime: tokio::runtime::Handle,
    /// What became of the configurations that were read.
    pub reloads: Arc<Reloads>,
}

impl SelfMetrics {
    /// A registry that reads all of it.
    #[must_use]
    pub fn registry(self) -> Registry {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(self.timings.clone()));
        registry.register_collector(Box::new(self));
        registry
    }
}

/// All metrics of the exporter's own, in the order of the files that they are in.
#[must_use]
pub fn own_metrics() -> Vec<&'static Metric> {
    let files = [
        METRICS,
        reloads::METRICS,
        targets::METRICS,
        memory::METRICS,
        files::METRICS,
        crate::schedule::METRICS,
        schedule::METRICS,
        costs::METRICS,
        plugins::METRICS,
        credentials::METRICS,
        web::SCRAPE_METRICS,
        probes::METRICS,
        web::METRICS,
        crate::otlp::push::METRICS,
        process::METRICS,
    ];
    files.concat()
}

impl Collector for SelfMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut out = Writer(&mut encoder);
        out.infos(&BUILD, [[env!("CARGO_PKG_VERSION")]])?;
        self.reloads.write(&mut out)?;
        let entries = self.book.targets();
        let statuses: Vec<TargetStatus> = entries.iter().map(|entry| entry.status()).collect();
        let targets: Vec<targets::Known<'_>> = entries.iter().map(|entry| &**entry).zip(&statuses).collect();
        targets::write(&mut out, &targets)?;
        memory::write(&mut out, &targets)?;
        files::write(&mut out, &self.book.files())?;
        schedule::write(&mut out, &self.schedule)?;
        self.costs.write(&mut out)?;
        plugins::write(&mut out, &self.plugins.get())?;
        credentials::write(&mut out, &self.broker)?;
        self.scrapes.write(&mut out)?;
        process::write(&mut out)?;
        process::write_runtime(&mut out, &self.runtime)
    }
}

impl fmt::Debug for SelfMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SelfMetrics")
    }
}

const METRICS: &[&Metric] = &[&BUILD];

static BUILD: Metric = Metric::info("perfmon_exporter_build", &["version"], "The program's version.");
