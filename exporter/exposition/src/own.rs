//! The exporter's own metrics, joined to a page.
//!
//! They live in a `prometheus_client` registry, whose text encoder knows neither classic text nor names in quotes,
//! escapes no HELP and refuses native histograms. So the registry is read through that crate's protobuf model, which
//! has all of it as typed values, and the encoders of this module write them in whichever format is asked for.

use std::fmt;
use std::sync::Arc;

use prometheus_client::encoding::prometheus_protobuf::{encode, prometheus_data_model as theirs};
use prometheus_client::registry::Registry;
use series::model::{
    Bucket, Histogram, NativeBuckets, NativeHistogram, Value, escaped_label_value, push_prefix,
};
use tracing::error;

use super::own_family::{OwnFamily, OwnKind, OwnSeries, OwnValue};
use super::own_protobuf::push_protobuf;
use super::{Format, Representation};
use crate::bound_text;
use crate::number::{put_sample, put_unix_seconds};
use crate::text::{known, push_header, push_number};

/// The contents of a registry, read at once or when a page reaches them.
#[derive(Clone, Debug, Default)]
pub struct OwnMetrics {
    unread: Option<Arc<Registry>>,
    /// In reverse order, so that they go one by one.
    families: Vec<OwnFamily>,
}

/// Names and values of labels, and the number that they have.
pub type LabelledNumber = (Vec<(String, String)>, f64);

impl OwnMetrics {
    /// A registry that is read when the page reaches it, so that the targets' series need not wait for it. If that
    /// fails, the page ends without it, and the error is logged.
    #[must_use]
    pub fn of(registry: Arc<Registry>) -> Self {
        Self { unread: Some(registry), families: Vec::new() }
    }

    /// Reads a registry.
    ///
    /// # Errors If a metric of the registry fails to encode itself.
    pub fn read(registry: &Registry) -> Result<Self, fmt::Error> {
        let families = encode(registry)?.into_iter().rev().filter_map(family);
        Ok(Self { unread: None, families: families.collect() })
    }

    /// The families that are numbers, each with the labels and values of its series. Names are without the suffix of their kind.
    pub fn numbers(self) -> impl Iterator<Item = (String, Vec<LabelledNumber>)> {
        self.families.into_iter().map(|family| {
            let number = |series: OwnSeries| match series.value {
                OwnValue::Number { value, .. } => Some((series.labels, value)),
                OwnValue::Histogram(_) => None,
            };
            (family.name, family.series.into_iter().filter_map(number).collect())
        })
    }

    /// Takes the next family and appends it. Answers whether there was one.
    pub(super) fn write_next(&mut self, representation: Representation, out: &mut Vec<u8>) -> bool {
        if let Some(registry) = self.unread.take() {
            match Self::read(&registry) {
                Ok(read) => *self = read,
                Err(_) => error!("Failed to encode the exporter's own metrics"),
            }
        }
        let Some(family) = self.families.pop() else { return false };
        match representation.format {
            Format::Text | Format::OpenMetrics => push_text(representation, &family, out),
            Format::Protobuf => push_protobuf(&family, out),
        }
        true
    }
}

fn family(family: theirs::MetricFamily) -> Option<OwnFamily> {
    let kind = match family.r#type() {
        theirs::MetricType::Counter => OwnKind::Counter,
        // No gauge of ours ends so; the crate makes gauges of infos.
        theirs::MetricType::Gauge if family.name.ends_with("_info") => OwnKind::Info,
        theirs::MetricType::Gauge => OwnKind::Gauge,
        theirs::MetricType::Untyped => OwnKind::Unknown,
        theirs::MetricType::Histogram => OwnKind::Histogram,
        // The crate has no metrics of these types.
        theirs::MetricType::Summary | theirs::MetricType::GaugeHistogram => return None,
    };
    let name = family.name.strip_suffix(kind.sample_suffix()).unwrap_or(&family.name).to_owned();
    let series: Vec<OwnSeries> = family.metric.into_iter().filter_map(series).collect();
    // A family without series has no lines.
    (!series.is_empty()).then_some(OwnFamily { name, kind, unit: family.unit, help: family.help, series })
}

fn series(metric: theirs::Metric) -> Option<OwnSeries> {
    let number = |value, start_time_unix_nanos| OwnValue::Number { value, start_time_unix_nanos };
    let value = match metric {
        theirs::Metric { gauge: Some(gauge), .. } => number(gauge.value, None),
        theirs::Metric { counter: Some(counter), .. } => {
            number(counter.value, counter.start_timestamp.map(|time| unix_nanos(time.seconds, time.nanos)))
        }
        theirs::Metric { untyped: Some(untyped), .. } => number(untyped.value, None),
        theirs::Metric { histogram: Some(read), .. } => OwnValue::Histogram(Box::new(histogram(&read))),
        _ => return None,
    };
    let labels = metric.label.into_iter().filter(|label| !label.value.is_empty());
    Some(OwnSeries { labels: labels.map(|label| (label.name, label.value)).collect(), value })
}

fn histogram(read: &theirs::Histogram) -> Histogram {
    let buckets = read.bucket.iter().map(|bucket| Bucket {
        // How the crate writes +Inf.
        upper_bound: if bucket.upper_bound >= f64::MAX { f64::INFINITY } else { bucket.upper_bound },
        cumulative_count: bucket.cumulative_count,
    });
    // A histogram without spans is a classic one.
    let is_native = !(read.positive_span.is_empty() && read.negative_span.is_empty())
        || read.zero_count > 0
        || read.zero_threshold > 0.0;
    let side = |spans: &[theirs::BucketSpan], deltas: &[i64]| NativeBuckets {
        spans: spans.iter().map(|span| (span.offset, span.length)).collect(),
        deltas: deltas.to_vec(),
    };
    Histogram {
        count: read.sample_count,
        sum: read.sample_sum,
        buckets: buckets.collect(),
        native: is_native.then(|| NativeHistogram {
            schema: read.schema,
            zero_threshold: read.zero_threshold,
            zero_count: read.zero_count,
            negative: side(&read.negative_span, &read.negative_delta),
            positive: side(&read.positive_span, &read.positive_delta),
        }),
        start_time_unix_nanos: read.start_timestamp.map(|time| unix_nanos(time.seconds, time.nanos)),
    }
}

fn unix_nanos(seconds: i64, nanos: i32) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(i64::from(nanos))
}

/// Appends a family as text.
fn push_text(representation: Representation, family: &OwnFamily, out: &mut Vec<u8>) {
    let format = representation.format;
    let openmetrics = format == Format::OpenMetrics;
    let suffix = family.kind.sample_suffix();
    let sample = format!("{}{suffix}", family.name);
    let word = match family.kind {
        OwnKind::Counter => "counter",
        OwnKind::Histogram => "histogram",
        OwnKind::Info if openmetrics => "info",
        OwnKind::Unknown if openmetrics => "unknown",
        OwnKind::Unknown => "untyped",
        OwnKind::Gauge | OwnKind::Info => "gauge",
    };
    let name = if openmetrics { &family.name } else { &sample };
    push_header(format, name, word, [&family.help, &family.unit], out);
    for series in &family.series {
        let labels = escaped(series);
        let start = match &series.value {
            OwnValue::Number { value, start_time_unix_nanos } => {
                push_sample(&sample, &labels, None, Value::F64(*value), out);
                *start_time_unix_nanos
            }
            OwnValue::Histogram(histogram) => {
                push_histogram(&family.name, &labels, histogram, out);
                histogram.start_time_unix_nanos
            }
        };
        if let Some(start) = known(start).filter(|_| openmetrics) {
            let created = format!("{}_created", family.name);
            push_prefix(&created, labels.iter().map(|(name, value)| (&**name, &**value)), out);
            push_number(&|room| put_unix_seconds(room, 0, start), out);
        }
    }
}

/// Classic buckets; readers of text get no native ones.
fn push_histogram(name: &str, labels: &[(String, String)], histogram: &Histogram, out: &mut Vec<u8>) {
    let bucket = format!("{name}_bucket");
    let finite = histogram.buckets.iter().filter(|bucket| bucket.upper_bound < f64::INFINITY);
    for (bound, count) in finite.map(|bucket| (bound_text(bucket.upper_bound), bucket.cumulative_count)) {
        push_sample(&bucket, labels, Some(&bound), Value::U64(count), out);
    }
    push_sample(&bucket, labels, Some("+Inf"), Value::U64(histogram.count), out);
    push_sample(&format!("{name}_sum"), labels, None, Value::F64(histogram.sum), out);
    push_sample(&format!("{name}_count"), labels, None, Value::U64(histogram.count), out);
}

fn push_sample(name: &str, labels: &[(String, String)], le: Option<&str>, value: Value, out: &mut Vec<u8>) {
    let labels = labels.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    push_prefix(name, le.map(|le| ("le", le)).into_iter().chain(labels), out);
    push_number(&|room| put_sample(room, 0, |_, at| at, value), out);
}

fn escaped(series: &OwnSeries) -> Vec<(String, String)> {
    let labels = series.labels.iter();
    labels.map(|(name, value)| (name.clone(), escaped_label_value(value).into_owned())).collect()
}
