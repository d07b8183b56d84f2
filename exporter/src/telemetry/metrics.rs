use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plugin_host::{Library, Stage};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use super::account::StageCost;
use super::book::{Book, TargetEntry, TargetStatus};
use super::process::{ProcessUsage, unix_seconds};
use super::scrapes::{ScrapeOutcome, Scrapes};
use crate::credentials::{Broker, IdentityState};

/// Everything that the exporter says of itself. Read at each scrape; between scrapes it costs nothing.
#[derive(Clone)]
pub struct SelfMetrics {
    /// The targets.
    pub book: Arc<Book>,
    /// The secrets.
    pub broker: Arc<Broker>,
    /// The plugins.
    pub plugins: Arc<Vec<PluginSource>>,
    /// The pages.
    pub scrapes: Arc<Scrapes>,
    /// Collections that were passed over, by the planner's count.
    pub skipped: Arc<AtomicU64>,
    /// When the configuration was read, in Unix seconds.
    pub config_read_unix_s: f64,
}

/// A plugin as the metrics see it.
#[derive(Clone)]
pub struct PluginSource {
    /// Its name in the configuration.
    pub name: String,
    /// The library.
    pub library: Library,
}

impl SelfMetrics {
    /// A registry that reads all of it.
    #[must_use]
    pub fn registry(self) -> Registry {
        let mut registry = Registry::default();
        let own = registry.sub_registry_with_prefix("perfmon_exporter");
        let scrapes = &self.scrapes;
        own.register(
            "scrape_duration_seconds",
            "Time from a request for /metrics to its last byte",
            scrapes.duration_seconds.clone(),
        );
        own.register("scrape_size_bytes", "Size of a page of /metrics", scrapes.size_bytes.clone());
        registry.register_collector(Box::new(self));
        registry
    }
}

impl fmt::Debug for SelfMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SelfMetrics")
    }
}

impl Collector for SelfMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut out = Writer(&mut encoder);
        let version = env!("CARGO_PKG_VERSION");
        out.info("build", "The program's version.", &[("version", version)])?;
        out.gauge(
            "config_last_reload_success",
            "Whether the last configuration that was read is in use.",
            [([], 1_u32)],
        )?;
        out.gauge(
            "config_last_reload_success_timestamp_seconds",
            "When the configuration in use was read.",
            [([], self.config_read_unix_s)],
        )?;
        let entries = self.book.targets();
        let statuses: Vec<TargetStatus> = entries.iter().map(TargetEntry::status).collect();
        let targets: Vec<(&TargetEntry, &TargetStatus)> = entries.iter().zip(&statuses).collect();
        states(&mut out, &targets)?;
        costs(&mut out, &targets)?;
        failures(&mut out, &targets)?;
        let skipped = self.skipped.load(Ordering::Relaxed);
        let help = "Places in the schedule that went by because a collection took longer than its interval.";
        out.counter("collections_skipped", help, [([], skipped)])?;
        self.plugins(&mut out)?;
        self.credentials(&mut out)?;
        self.scrapes(&mut out)?;
        process(&mut out)
    }
}

impl SelfMetrics {
    fn plugins(&self, out: &mut Writer<'_, '_>) -> fmt::Result {
        let plugins = || self.plugins.iter().map(|plugin| (plugin.name.as_str(), &plugin.library));
        let abi: Vec<String> = plugins().map(|(_, library)| library.info().abi.to_string()).collect();
        let rows = plugins().zip(&abi).map(|((name, library), abi)| {
            [("plugin", name), ("version", library.info().version.as_str()), ("abi", abi.as_str())]
        });
        out.infos("plugin", "A plugin that is loaded, and the ABI version agreed on with it.", rows)?;
        let counts = plugins().flat_map(|(name, library)| {
            let counts = library.violations().iter().filter(|(_, count)| *count > 0);
            counts.map(move |(violation, count)| ([("plugin", name), ("violation", violation.word())], count))
        });
        let help = "What a plugin did that the contract forbids.";
        out.counter("plugin_violations", help, counts.collect::<Vec<_>>())?;
        let now_ns = plugin_host::monotonic_ns();
        let quarantined =
            plugins().map(|(name, library)| ([("plugin", name)], library.quarantined(now_ns) as u64));
        let help = "Instances of a plugin that misbehaved and are given a pause.";
        out.gauge("plugin_quarantined_instances", help, quarantined.collect::<Vec<_>>())?;
        let lost = plugins().map(|(name, library)| ([("plugin", name)], library.lost_threads() as u64));
        let help = "Threads of a plugin that hang in a call.";
        out.gauge("plugin_lost_threads", help, lost.collect::<Vec<_>>())
    }

    fn credentials(&self, out: &mut Writer<'_, '_>) -> fmt::Result {
        let states = self.broker.states();
        let each = |count: fn(&IdentityState) -> u64| {
            states.iter().map(move |(name, state)| ([("identity", name.as_str())], count(state)))
        };
        let help = "Whether the identity's secret was refused and is withheld until it changes.";
        out.gauge("credential_withheld", help, each(|state| u64::from(state.rejected + state.locked > 0)))?;
        let accounts = states.iter().flat_map(|(name, state)| {
            let counts = [
                ("on_trial", state.on_trial),
                ("accepted", state.accepted),
                ("rejected", state.rejected),
                ("locked", state.locked),
            ];
            counts.map(|(word, count)| ([("identity", name.as_str()), ("state", word)], count))
        });
        let help = "Accounts behind an identity by what is known of its secret; an account of the hosts counts per host.";
        out.gauge("credential_accounts", help, accounts.collect::<Vec<_>>())?;
        let help = "Secrets handed out; each is one attempt to log in at most.";
        out.counter("credential_leases", help, each(|state| state.leases))?;
        let help = "Requests for a secret that were denied because it was refused before.";
        out.counter("credential_denials", help, each(|state| state.withheld))
    }

    fn scrapes(&self, out: &mut Writer<'_, '_>) -> fmt::Result {
        let rows =
            ScrapeOutcome::ALL.map(|outcome| ([("outcome", outcome.word())], self.scrapes.of(outcome)));
        out.counter("scrapes", "Requests for /metrics by how they ended.", rows)?;
        out.counter("scrape_sent_bytes", "Bytes of pages of /metrics.", [([], self.scrapes.bytes())])?;
        let connections = self.scrapes.connections.load(Ordering::Relaxed);
        out.gauge("http_connections", "HTTP connections that are open.", [([], connections)])
    }
}

fn states(out: &mut Writer<'_, '_>, targets: &[(&TargetEntry, &TargetStatus)]) -> fmt::Result {
    let up = targets.iter().filter_map(|(entry, status)| {
        status.is_up().map(|is_up| ([("target", entry.name.as_str())], u32::from(is_up)))
    });
    let help = "Whether the last collection of every module of the target succeeded, at least in part.";
    out.gauge("target_up", help, up.collect::<Vec<_>>())?;
    let success = targets.iter().filter_map(|(entry, status)| {
        Some(([("target", entry.name.as_str())], status.last_success_unix_s()?))
    });
    let help = "When the target last answered, every module of it.";
    out.gauge("target_last_success_timestamp_seconds", help, success.collect::<Vec<_>>())?;
    let series =
        targets.iter().map(|(entry, status)| ([("target", entry.name.as_str())], status.series() as u64));
    out.gauge("target_series", "Series of the target on the page.", series.collect::<Vec<_>>())?;
    let duration = targets.iter().filter_map(|(entry, status)| {
        let durations = status.jobs.iter().filter_map(|job| job.last_duration);
        let sum: std::time::Duration = durations.sum();
        (!sum.is_zero()).then_some(([("target", entry.name.as_str())], sum.as_secs_f64()))
    });
    let help = "Duration of the target's last collection, over all its modules.";
    out.gauge("target_collection_seconds", help, duration.collect::<Vec<_>>())
}

fn costs(out: &mut Writer<'_, '_>, targets: &[(&TargetEntry, &TargetStatus)]) -> fmt::Result {
    let mut seconds = Vec::new();
    let mut totals: Vec<(&str, StageCost)> = Vec::with_capacity(targets.len());
    for (entry, status) in targets {
        let mut total = StageCost::default();
        for (index, stage) in Stage::ALL.into_iter().enumerate() {
            let mut last = StageCost::default();
            for job in &status.jobs {
                last.add(job.last_stages[index]);
                total.add(job.total_stages[index]);
            }
            if last != StageCost::default() {
                let labels = [("target", entry.name.as_str()), ("stage", stage.word())];
                seconds.push((labels, last.duration.as_secs_f64()));
            }
        }
        totals.push((&entry.name, total));
    }
    let help = "Duration of each stage of the target's last collection.";
    out.gauge("target_stage_seconds", help, seconds)?;
    let each = |count: fn(&StageCost) -> u64| {
        totals.iter().map(move |(name, total)| ([("target", *name)], count(total)))
    };
    out.counter("target_calls", "Calls to the target.", each(|total| total.calls))?;
    out.counter("target_received_bytes", "Bytes received from the target.", each(|total| total.bytes_in))?;
    out.counter("target_sent_bytes", "Bytes sent to the target.", each(|total| total.bytes_out))
}

fn failures(out: &mut Writer<'_, '_>, targets: &[(&TargetEntry, &TargetStatus)]) -> fmt::Result {
    let collections = targets.iter().flat_map(|(entry, status)| {
        let sum = |count: fn(&super::JobStatus) -> u64| status.jobs.iter().map(count).sum::<u64>();
        let counts = [("full", sum(|j| j.full)), ("partial", sum(|j| j.part)), ("failed", sum(|j| j.failed))];
        counts.map(|(word, count)| ([("target", entry.name.as_str()), ("outcome", word)], count))
    });
    out.counter("collections", "Collections of the target by outcome.", collections.collect::<Vec<_>>())?;
    let mut rows = Vec::new();
    for (entry, status) in targets {
        let mut counts = std::collections::BTreeMap::<_, u64>::new();
        for ((stage, reason), count) in status.jobs.iter().flat_map(|job| &job.failures) {
            *counts.entry((*stage, reason.as_str())).or_default() += count;
        }
        rows.extend(counts.into_iter().map(|((stage, reason), count)| {
            ([("target", entry.name.as_str()), ("stage", stage.word()), ("reason", reason)], count)
        }));
    }
    out.counter("failures", "Collections of the target that failed, wholly or in part.", rows)?;
    let mut rows = Vec::new();
    for (entry, _) in targets {
        let mut counts = std::collections::BTreeMap::<_, u64>::new();
        for (refusal, count) in entry.stores().flat_map(|store| store.refusals().iter()) {
            *counts.entry(refusal.word()).or_default() += count;
        }
        rows.extend(
            counts
                .into_iter()
                .map(|(reason, count)| ([("target", entry.name.as_str()), ("reason", reason)], count)),
        );
    }
    let help = "Families, series and values that a plugin sent for the target and that are not on the page.";
    out.counter("series_dropped", help, rows)
}

/// The names are those that every Prometheus client has.
fn process(out: &mut Writer<'_, '_>) -> fmt::Result {
    let usage = ProcessUsage::read();
    let plain = |value: Option<u64>| value.map(|value| ([], value));
    let cpu = usage.cpu_seconds.map(|seconds| ([], seconds));
    out.plain_counter("process_cpu_seconds", "User and system time of the process.", cpu)?;
    let resident = plain(usage.resident_bytes);
    out.plain_gauge("process_resident_memory_bytes", "Resident memory of the process.", resident)?;
    let virt = plain(usage.virtual_bytes);
    out.plain_gauge("process_virtual_memory_bytes", "Virtual memory of the process.", virt)?;
    out.plain_gauge("process_threads", "Threads of the process.", plain(usage.threads))?;
    out.plain_gauge("process_open_fds", "Open file descriptors.", plain(usage.open_fds))?;
    out.plain_gauge("process_max_fds", "How many file descriptors there may be.", plain(usage.max_fds))?;
    let started = [([], process_start())];
    out.plain_gauge("process_start_time_seconds", "When the process began.", started)
}

/// When the first scrape or the start asked: good to a fraction of a second, and without the boot's clock.
fn process_start() -> f64 {
    static START: std::sync::OnceLock<f64> = std::sync::OnceLock::new();
    *START.get_or_init(unix_seconds)
}

/// Remembers the beginning of the process; to be called first.
pub(crate) fn remember_start() {
    process_start();
}

/// One family a call.
struct Writer<'a, 'e>(&'a mut DescriptorEncoder<'e>);

type Labels<'l, const N: usize> = [(&'l str, &'l str); N];

impl Writer<'_, '_> {
    fn info<const N: usize>(&mut self, name: &str, help: &str, labels: &Labels<'_, N>) -> fmt::Result {
        self.infos(name, help, [*labels])
    }

    fn infos<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = Labels<'l, N>>,
    ) -> fmt::Result {
        let name = format!("perfmon_exporter_{name}");
        let mut family = self.0.encode_descriptor(&name, help, None, MetricType::Info)?;
        rows.into_iter().try_for_each(|labels| family.encode_info(&labels))
    }

    fn gauge<'l, const N: usize, V: EncodeGaugeValue>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (Labels<'l, N>, V)>,
    ) -> fmt::Result {
        self.plain_gauge(&format!("perfmon_exporter_{name}"), help, rows)
    }

    fn plain_gauge<'l, const N: usize, V: EncodeGaugeValue>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (Labels<'l, N>, V)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (labels, value) in rows {
            if labels.is_empty() {
                family.encode_gauge(&value)?;
            } else {
                family.encode_family(&labels)?.encode_gauge(&value)?;
            }
        }
        Ok(())
    }

    fn counter<'l, const N: usize, V: EncodeCounterValue>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (Labels<'l, N>, V)>,
    ) -> fmt::Result {
        self.plain_counter(&format!("perfmon_exporter_{name}"), help, rows)
    }

    fn plain_counter<'l, const N: usize, V: EncodeCounterValue>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (Labels<'l, N>, V)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (labels, value) in rows {
            if labels.is_empty() {
                family.encode_counter::<NoLabelSet, V, f64>(&value, None)?;
            } else {
                family.encode_family(&labels)?.encode_counter::<NoLabelSet, V, f64>(&value, None)?;
            }
        }
        Ok(())
    }
}
