//! Histograms as text: a sample for each bucket, the sum, the count, and in OpenMetrics the start time.

use series::model::{Family, HistogramPoint, Labels, Value, is_legacy_name, push_prefix};

use super::bound::bound_text;
use super::number::{put_sample, put_unix_seconds};
use super::text::{known, push_number, shown_names};
use super::{Format, Representation};

/// How the histograms of one family are written.
pub(super) struct HistogramSamples {
    representation: Representation,
    /// The family's name as the reader gets it.
    name: String,
    /// The values of `le`.
    bounds: Vec<String>,
    /// OpenMetrics wants sums to grow, and a count only beside a sum.
    has_sum: bool,
}

impl HistogramSamples {
    pub(super) fn of(representation: Representation, family: &Family) -> Self {
        let openmetrics = representation.format == Format::OpenMetrics;
        let bounds = family.bounds.iter().map(|&bound| bound_text(bound));
        Self {
            representation,
            name: shown_names(representation, family).family,
            bounds: bounds.chain(["+Inf".to_owned()]).collect(),
            has_sum: !(openmetrics && family.bounds.are_signed()),
        }
    }

    /// Appends the samples of a series.
    pub(super) fn push(
        &self,
        prefix: &str,
        histogram: &HistogramPoint<'_>,
        start: Option<i64>,
        out: &mut Vec<u8>,
    ) {
        let mut escaped = Vec::new();
        let prefix = self.shown(prefix, &mut escaped);
        let quote = if is_legacy_name(&self.name) { 0 } else { "{\"".len() };
        let (stem, behind) = prefix.split_at(self.name.len() + quote);
        let behind = behind.trim_end();
        // Labels, if there are any, or the end of a name in quotes stand in braces, into which `le` goes.
        let (inside, before_le) = match behind.strip_suffix('}') {
            Some(inside) => (inside, ",le=\""),
            None => ("", "{le=\""),
        };
        for (bound, count) in self.bounds.iter().zip(histogram.cumulative()) {
            push_texts(&[stem, "_bucket", inside, before_le, bound, "\"} "], out);
            push_number(&|room| put_sample(room, 0, |_, at| at, Value::U64(count)), out);
        }
        if self.has_sum {
            push_texts(&[stem, "_sum", behind, " "], out);
            push_number(&|room| put_sample(room, 0, |_, at| at, Value::F64(histogram.sum)), out);
            push_texts(&[stem, "_count", behind, " "], out);
            push_number(&|room| put_sample(room, 0, |_, at| at, Value::U64(histogram.count)), out);
        }
        if let Some(start) = known(start).filter(|_| self.representation.format == Format::OpenMetrics) {
            push_texts(&[stem, "_created", behind, " "], out);
            push_number(&|room| put_unix_seconds(room, 0, start), out);
        }
    }

    /// The prefix with its names as the reader wants them.
    fn shown<'a>(&self, prefix: &'a str, escaped: &'a mut Vec<u8>) -> &'a str {
        let escaping = self.representation.escaping;
        let names: Vec<_> = Labels::of_prefix(prefix).map(|(name, _)| escaping.label_name(name)).collect();
        let mut labels = Labels::of_prefix(prefix);
        let values = std::iter::from_fn(|| Some(labels.next_escaped()?.1));
        push_prefix(&self.name, names.iter().map(|name| &**name).zip(values), escaped);
        std::str::from_utf8(escaped).unwrap_or_default()
    }
}

fn push_texts(texts: &[&str], out: &mut Vec<u8>) {
    texts.iter().for_each(|text| out.extend_from_slice(text.as_bytes()));
}
