//! The request that points are written to, and the messages around them.

use std::borrow::Cow;

use series::model::{Block, Family, Kind};

use super::resource::put_owner;
use super::{BYTES, Nest, Part, REQUEST_BYTES_MAX, Temporality, VARINT, key, put_text};

/// A request that is being written.
pub(super) struct Writing<'a> {
    pub(super) out: &'a mut Vec<u8>,
    pub(super) bytes_max: usize,
    nest: Nest,
    pub(super) points: u64,
    /// What is open: the part's resource and scope, and the metric.
    open: Option<(usize, Option<Metric>)>,
}

/// A metric by the place of its family; twice where series vanished.
pub(super) type Metric = (usize, bool);

impl<'a> Writing<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, bytes_max: usize) -> Self {
        Self {
            out,
            bytes_max: bytes_max.min(REQUEST_BYTES_MAX),
            nest: Nest::default(),
            points: 0,
            open: None,
        }
    }

    /// Completes it and answers how many points it has.
    pub(super) fn end(mut self) -> u64 {
        self.nest.close_to(self.out, 0);
        self.points
    }

    /// Opens the messages around a point of this size. Returns `false`, and writes nothing, if it does not fit.
    pub(super) fn begin_point(
        &mut self,
        (part_index, metric): (usize, Metric),
        part: &Part,
        family: &Family,
        temporality: Temporality,
        bytes: usize,
    ) -> bool {
        let before = (self.out.len(), self.nest, self.open);
        if self.open != Some((part_index, Some(metric))) {
            self.open_part(part_index, part);
            self.nest.close_to(self.out, METRIC_DEPTH);
            open_metric(self.out, &mut self.nest, family, temporality);
            self.open = Some((part_index, Some(metric)));
        }
        if self.out.len() + bytes > self.bytes_max && self.points > 0 {
            self.out.truncate(before.0);
            (self.nest, self.open) = (before.1, before.2);
            return false;
        }
        true
    }

    fn open_part(&mut self, index: usize, part: &Part) {
        if self.open.is_some_and(|(open, _)| open == index) {
            return;
        }
        self.nest.close_to(self.out, 0);
        self.nest.open(self.out, 1 /* resource_metrics */);
        put_owner(self.out, &part.resource.message, true);
        self.nest.open(self.out, 2 /* scope_metrics */);
        let mut families = part.snapshot.layout().blocks().iter().map(Block::family);
        put_owner(self.out, &part.scope.message, families.any(|family| family.otlp.is_some()));
        debug_assert_eq!(self.nest.depth(), METRIC_DEPTH, "a metric stands in a scope");
    }
}

fn open_metric(out: &mut Vec<u8>, nest: &mut Nest, family: &Family, temporality: Temporality) {
    nest.open(out, 2 /* metrics */);
    let name: Cow<'_, str> = match (&family.otlp, family.kind) {
        (Some(names), _) => names.name.as_str().into(),
        (None, Kind::Info) => family.sample_name().into(),
        (None, _) => family.name.as_str().into(),
    };
    let unit = family.otlp.as_ref().map_or_else(|| ucum(&family.unit), |names| names.unit.as_str().into());
    put_text(out, key(1, BYTES), &name);
    put_text(out, key(2, BYTES) /* description */, &family.help);
    put_text(out, key(3, BYTES), &unit);
    let temporality = match temporality {
        Temporality::Delta => 1,
        Temporality::Cumulative => 2,
    };
    match family.kind {
        Kind::Counter => {
            nest.open(out, 7 /* sum */);
            out.extend_from_slice(&[key(2, VARINT), temporality, key(3, VARINT) /* is_monotonic */, 1]);
        }
        Kind::Histogram => {
            nest.open(out, 9 /* histogram */);
            out.extend_from_slice(&[key(2, VARINT), temporality]);
        }
        Kind::Gauge if family.otlp.as_ref().is_some_and(|names| names.is_sum) => {
            nest.open(out, 7 /* sum */);
            // Not monotonic, and what has no start has no delta.
            out.extend_from_slice(&[key(2, VARINT), 2]);
        }
        Kind::Gauge | Kind::Info | Kind::Unknown => nest.open(out, 5 /* gauge */),
    }
}

/// How many messages a metric is in.
const METRIC_DEPTH: usize = 2;

/// The unit's code. What UCUM has no code for is in braces, where it calls anything an annotation.
fn ucum(unit: &str) -> Cow<'_, str> {
    let code = match unit {
        "" => "",
        "seconds" => "s",
        "milliseconds" => "ms",
        "bytes" => "By",
        "bits" => "bit",
        "ratio" => "1",
        "percent" => "%",
        "hertz" => "Hz",
        "celsius" => "Cel",
        "kelvin" => "K",
        "volts" => "V",
        "amperes" => "A",
        "watts" => "W",
        "joules" => "J",
        "meters" => "m",
        "grams" => "g",
        other => return Cow::Owned(format!("{{{other}}}")),
    };
    Cow::Borrowed(code)
}
