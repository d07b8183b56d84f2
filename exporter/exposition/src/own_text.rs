use series::model::{Histogram, Value, escaped_label_value, push_prefix};

use super::bound::bound_text;
use super::number::{put_sample, put_unix_seconds};
use super::own_family::{OwnFamily, OwnKind, OwnSeries, OwnValue};
use super::text::{known, push_header, push_number};
use super::{Format, Representation};

/// Appends a family as text.
pub(super) fn push_text(representation: Representation, family: &OwnFamily, out: &mut Vec<u8>) {
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
