//! The result of one collection.

use std::sync::Arc;

use super::{Block, Family, HistogramPoint, Kind, Labels, Layout, Target, Value, Values};

/// The series of one plugin instance on one target, as of its last collection.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    target: Arc<Target>,
    layout: Arc<Layout>,
    values: Arc<Values>,
    size: Size,
    id: u64,
    time_unix_nanos: u64,
}

/// How much of a snapshot has a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// A histogram counts once.
    points: usize,
    /// Histograms count as [`Family::samples`] says.
    series: usize,
}

impl Size {
    /// Adds points of the family.
    pub(crate) fn add(&mut self, family: &Family, points: usize) {
        self.points += points;
        self.series += points * family.samples();
    }
}

impl Snapshot {
    pub(crate) fn new(target: Arc<Target>, layout: Arc<Layout>, values: Arc<Values>, size: Size) -> Self {
        Self { target, layout, values, size, id: 0, time_unix_nanos: 0 }
    }

    /// The same, published under `id` at this time.
    pub(crate) fn published(self, id: u64, time_unix_nanos: u64) -> Self {
        Self { id, time_unix_nanos, ..self }
    }

    /// A snapshot without series.
    #[must_use]
    pub fn empty(target: Arc<Target>) -> Self {
        Self { target, ..Self::default() }
    }

    /// Whom the series are about.
    #[must_use]
    pub fn target(&self) -> &Arc<Target> {
        &self.target
    }

    /// Its number among all published snapshots of this process; 0 before the first of its store.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// When it was published: at the end of its collection, or when series were given up. In Unix nanoseconds; 0 where
    /// nobody has a clock.
    #[must_use]
    pub fn time_unix_nanos(&self) -> u64 {
        self.time_unix_nanos
    }

    /// Which series there are.
    #[must_use]
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    #[must_use]
    pub fn values(&self) -> &Arc<Values> {
        &self.values
    }

    /// How many series have a value, as Prometheus counts them: see [`Family::samples`].
    #[must_use]
    pub fn series(&self) -> usize {
        self.size.series
    }

    /// How many points that are: a histogram is one.
    #[must_use]
    pub fn points(&self) -> usize {
        self.size.points
    }

    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// The family whose values those of `family` are computed with: [`Family::base`].
    #[must_use]
    pub fn base_of(&self, family: &Family) -> Option<FamilyPoints<'_>> {
        let is_base = |other: &Family| {
            other.part == family.base
                && other.counter == family.counter
                && other.counterset == family.counterset
        };
        let mut families = self.families().filter(|_| !family.base.is_empty());
        families.find(|other| is_base(other.family()))
    }

    /// The families in the order of their registration.
    pub fn families(&self) -> impl Iterator<Item = FamilyPoints<'_>> {
        self.layout.blocks().iter().map(|block| FamilyPoints { block, values: &self.values })
    }
}

/// One family of a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct FamilyPoints<'a> {
    block: &'a Block,
    values: &'a Values,
}

impl<'a> FamilyPoints<'a> {
    #[must_use]
    pub fn family(self) -> &'a Family {
        self.block.family()
    }

    /// The value of the series that has the labels of `point`, which is of another family.
    #[must_use]
    pub fn value_beside(self, point: &Point<'_>) -> Option<Value> {
        self.points().find(|own| own.labels().eq(point.labels())).map(|own| own.value)
    }

    /// Its series that have a value.
    pub fn points(self) -> impl Iterator<Item = Point<'a>> {
        let values = self.values;
        let is_histogram = self.family().kind == Kind::Histogram;
        self.block.chunks().iter().flat_map(|chunk| chunk.iter()).filter_map(move |(id, prefix)| {
            let histogram = if is_histogram { Some(values.histogram(id)?) } else { None };
            let value = match histogram {
                Some(histogram) => Value::U64(histogram.count),
                None => values.value(id)?,
            };
            let prefix = std::str::from_utf8(prefix).unwrap_or_default();
            let start_time_unix_nanos = values.start_time_unix_nanos(id);
            Some(Point { prefix, value, histogram, start_time_unix_nanos })
        })
    }
}

/// One series with its value.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// How the series begins on a page: `name{labels} `.
    pub prefix: &'a str,
    /// The value; of a histogram how many observations it has.
    pub value: Value,
    /// The histogram, where it is one.
    pub histogram: Option<HistogramPoint<'a>>,
    /// When it began to count, where that is known.
    pub start_time_unix_nanos: Option<i64>,
}

impl<'a> Point<'a> {
    #[must_use]
    pub fn labels(&self) -> Labels<'a> {
        Labels::of_prefix(self.prefix)
    }
}
