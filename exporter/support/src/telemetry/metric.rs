//! What a metric of the exporter's own is, said once: pages, the table in `METRICS.md` and what goes to a collector
//! all take it from here.

use std::fmt;

use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, EncodeMetric, NoLabelSet,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::histogram::Histogram;

/// A family of the exporter's own.
#[derive(Debug, PartialEq)]
pub struct Metric {
    /// Its name without what pages put after it.
    pub name: &'static str,
    /// What its values mean.
    pub kind: MetricKind,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    pub help: &'static str,
}

/// What the values of a metric mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetricKind {
    /// Goes up and down.
    Gauge,
    /// Only grows; pages put `_total` after the name.
    Counter,
    /// Labels that describe something; pages put `_info` after the name.
    Info,
    /// A native histogram, and one with these upper bounds for readers that know no native ones.
    Histogram(&'static [f64]),
}

impl Metric {
    #[must_use]
    pub const fn gauge(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self { name, kind: MetricKind::Gauge, labels, help }
    }

    #[must_use]
    pub const fn counter(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self { name, kind: MetricKind::Counter, labels, help }
    }

    #[must_use]
    pub const fn info(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self { name, kind: MetricKind::Info, labels, help }
    }

    #[must_use]
    pub const fn histogram(
        name: &'static str,
        bounds: &'static [f64],
        labels: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        Self { name, kind: MetricKind::Histogram(bounds), labels, help }
    }

    /// The name as pages show it, but for what each line of a histogram has after it.
    #[must_use]
    pub fn shown_name(&self) -> String {
        let suffix = match self.kind {
            MetricKind::Counter => "_total",
            MetricKind::Info => "_info",
            MetricKind::Gauge | MetricKind::Histogram(_) => "",
        };
        format!("{}{suffix}", self.name)
    }

    /// The word for its kind.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self.kind {
            MetricKind::Gauge => "gauge",
            MetricKind::Counter => "counter",
            MetricKind::Info => "info",
            MetricKind::Histogram(_) => "histogram",
        }
    }

    /// Its unit, which its name ends with.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        ["seconds", "bytes"].into_iter().find(|unit| self.name.ends_with(unit)).unwrap_or_default()
    }

    /// The name in OpenTelemetry's way: without its unit, which goes beside it. The process has the names of the semantic
    /// conventions, as far as they have any.
    #[must_use]
    pub fn otel_name(&self) -> String {
        let of_process = OF_PROCESS.iter().find(|(name, _)| *name == self.name);
        if let Some((_, name)) = of_process {
            return (*name).to_owned();
        }
        let name = self.name.strip_suffix(self.unit()).unwrap_or(self.name).trim_end_matches('_');
        let name = ["perfmon_exporter", "process"].into_iter().find_map(|namespace| {
            let rest = name.strip_prefix(namespace)?.strip_prefix('_')?;
            Some(format!("{namespace}.{rest}"))
        });
        let suffix = if self.kind == MetricKind::Info { "_info" } else { "" };
        name.unwrap_or_else(|| self.name.to_owned()) + suffix
    }

    /// The unit in OpenTelemetry's way.
    #[must_use]
    pub fn otel_unit(&self) -> &'static str {
        match self.unit() {
            "seconds" => "s",
            "bytes" => "By",
            _ => "",
        }
    }
}

const OF_PROCESS: [(&str, &str); 5] = [
    ("process_cpu_seconds", "process.cpu.time"),
    ("process_resident_memory_bytes", "process.memory.usage"),
    ("process_virtual_memory_bytes", "process.memory.virtual"),
    ("process_threads", "process.thread.count"),
    ("process_open_fds", "process.unix.file_descriptor.count"),
];

/// Writes metrics into a page of the registry, one family a call.
pub struct Writer<'a, 'e>(pub &'a mut DescriptorEncoder<'e>);

impl Writer<'_, '_> {
    /// A gauge or a counter, with the values of its labels in their order.
    ///
    /// # Errors
    /// As the page has them.
    pub fn rows<'l, const N: usize, V: EncodeGaugeValue + EncodeCounterValue>(
        &mut self,
        metric: &'static Metric,
        rows: impl IntoIterator<Item = ([&'l str; N], V)>,
    ) -> fmt::Result {
        debug_assert_eq!(metric.labels.len(), N, "{}", metric.name);
        let is_counter = metric.kind == MetricKind::Counter;
        let kind = if is_counter { MetricType::Counter } else { MetricType::Gauge };
        let mut family = self.0.encode_descriptor(metric.name, metric.help, None, kind)?;
        for (values, value) in rows {
            let labels = named(metric, values);
            // Without labels there must be no braces: these are other functions.
            match (is_counter, labels.is_empty()) {
                (false, true) => family.encode_gauge(&value)?,
                (false, false) => family.encode_family(&labels)?.encode_gauge(&value)?,
                (true, true) => family.encode_counter::<NoLabelSet, V, f64>(&value, None)?,
                (true, false) => {
                    family.encode_family(&labels)?.encode_counter::<NoLabelSet, V, f64>(&value, None)?;
                }
            }
        }
        Ok(())
    }

    /// A gauge or a counter without labels.
    ///
    /// # Errors
    /// As the page has them.
    pub fn row<V: EncodeGaugeValue + EncodeCounterValue>(
        &mut self,
        metric: &'static Metric,
        value: V,
    ) -> fmt::Result {
        self.rows(metric, [([], value)])
    }

    /// Labels that describe.
    ///
    /// # Errors
    /// As the page has them.
    pub fn infos<'l, const N: usize>(
        &mut self,
        metric: &'static Metric,
        rows: impl IntoIterator<Item = [&'l str; N]>,
    ) -> fmt::Result {
        debug_assert_eq!(metric.labels.len(), N, "{}", metric.name);
        let mut family = self.0.encode_descriptor(metric.name, metric.help, None, MetricType::Info)?;
        rows.into_iter().try_for_each(|values| family.encode_info(&named(metric, values)))
    }

    /// Histograms.
    ///
    /// # Errors
    /// As the page has them.
    pub fn histograms<'l>(
        &mut self,
        metric: &'static Metric,
        rows: impl IntoIterator<Item = (&'l [String], &'l Histogram)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(metric.name, metric.help, None, MetricType::Histogram)?;
        for (values, histogram) in rows {
            if values.is_empty() {
                return histogram.encode(family);
            }
            let labels: Vec<(&str, &str)> =
                metric.labels.iter().copied().zip(values.iter().map(String::as_str)).collect();
            histogram.encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

fn named<'l, const N: usize>(metric: &Metric, values: [&'l str; N]) -> [(&'static str, &'l str); N] {
    let mut names = metric.labels.iter();
    values.map(|value| (names.next().copied().unwrap_or_default(), value))
}
