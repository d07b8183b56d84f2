//! The exporter's own metrics: what is read when a page is asked for. Each is a `static` beside what
//! counts it, listed in [`own_metrics`]. Names in code are without `_total` and `_info`, which pages add.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::registry::Registry;
use support::telemetry::{Metric, Timings, Writer};

use super::probe;
use super::reload_counts::{self, ReloadCounts};
use crate::credentials::{self, Broker};
use targets::schedule::{self, Figures};
use targets::{self, Costs, Plugins, TargetRegistry};
use web::{self, Scrapes};

/// The exporter's own metrics. They are read at each scrape and cost nothing between scrapes.
#[derive(Clone)]
pub(super) struct SelfMetrics {
    pub(super) target_registry: Arc<TargetRegistry>,
    pub(super) broker: Arc<Broker>,
    pub(super) plugins: Arc<Plugins>,
    pub(super) scrapes: Arc<Scrapes>,
    /// What the schedule is doing.
    pub(super) schedule: Arc<Figures>,
    pub(super) costs: Arc<Costs>,
    /// How long everything takes.
    pub(super) timings: Timings,
    /// The runtime of the exporter's own tasks.
    pub(super) runtime: tokio::runtime::Handle,
    /// What became of the configurations that were read.
    pub(super) reloads: Arc<ReloadCounts>,
}

impl SelfMetrics {
    /// A registry that reads all of it.
    #[must_use]
    pub(super) fn registry(self) -> Registry {
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
        reload_counts::METRICS,
        targets::TARGET_METRICS,
        targets::MEMORY_METRICS,
        targets::FILE_METRICS,
        schedule::METRICS,
        targets::COST_METRICS,
        targets::PLUGIN_METRICS,
        credentials::METRICS,
        web::SCRAPE_METRICS,
        probe::METRICS,
        http_server::METRICS,
        otlp::push::METRICS,
        alerts::METRICS,
        support::telemetry::PROCESS_METRICS,
    ];
    files.concat()
}

impl Collector for SelfMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut out = Writer(&mut encoder);
        out.infos(&BUILD, [[env!("CARGO_PKG_VERSION")]])?;
        self.reloads.write(&mut out)?;
        self.target_registry.write(&mut out)?;
        self.schedule.write(&mut out)?;
        self.costs.write(&mut out)?;
        self.plugins.write(&mut out)?;
        self.broker.write(&mut out)?;
        self.scrapes.write(&mut out)?;
        support::telemetry::write_process(&mut out)?;
        support::telemetry::write_runtime(&mut out, &self.runtime)
    }
}

impl fmt::Debug for SelfMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SelfMetrics")
    }
}

const METRICS: &[&Metric] = &[&BUILD];

static BUILD: Metric = Metric::info("perfmon_exporter_build", &["version"], "The program's version.");
