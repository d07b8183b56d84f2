use std::fmt::{Debug, Display};

use counter_types::{Family, Value};

use crate::Counterset;

/// What a caller calls families, series, and why it may not know all countersets of a host.
pub trait SeriesIds: Debug + 'static {
    /// A family that the sink took.
    type Family: Copy + Debug + Send + Sync;
    /// A series that the sink took.
    type Series: Copy + Debug + Send + Sync;
    /// Why a host may have countersets that it does not list, in a sentence.
    type Unlisted: Clone + Debug + Display + Send + Sync;
}

/// Where values go: families and series are registered once, and values are pushed by the ids that they got.
pub trait SeriesSink<I: SeriesIds> {
    /// Takes families of a counterset, in their order; nothing for those that it does not want. Of those no series are
    /// registered.
    fn register_families(
        &mut self,
        counterset: &Counterset,
        group: FamilyGroup,
        families: &[PolledFamily],
    ) -> Vec<Option<I::Family>>;

    /// Takes series, in their order; nothing for those that it does not want. To these no values are pushed.
    fn register_series(&mut self, series: &[NewSeries<'_, I>]) -> Vec<Option<I::Series>>;

    /// A value of a series, which counts again since `start_unix_nanos` unless that is 0.
    fn push(&mut self, series: I::Series, value: Value, start_unix_nanos: i64);

    /// These series are gone.
    fn retire(&mut self, series: &[I::Series]);
}

/// Which series of a counterset a family holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyGroup {
    /// One for each instance.
    Instances,
    /// Those of the instances that sum up others, which are shown apart.
    Totals,
    /// One that the instances are added up to.
    Aggregate,
}

impl FamilyGroup {
    /// What is written after the counterset's name.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Instances => "",
            Self::Totals => " Total",
            Self::Aggregate => " Aggregate",
        }
    }
}

/// A family with the type of its values.
#[derive(Clone, Copy, Debug)]
pub struct PolledFamily {
    pub family: Family,
    /// Whether all values are [`Value::U64`]; else all are [`Value::F64`].
    pub is_integer: bool,
}

impl PolledFamily {
    /// A family whose values go out as they are.
    pub(crate) fn of(family: Family) -> Self {
        Self { family, is_integer: family.exposition.is_integer() }
    }
}

/// A series to register.
#[derive(Debug)]
pub struct NewSeries<'a, I: SeriesIds> {
    pub family: I::Family,
    /// Names and values of its labels.
    pub labels: &'a [(&'a str, &'a str)],
    /// When it began to count, where that is known.
    pub start: Option<Start>,
}

/// When a series began to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// In nanoseconds since 1970.
    pub unix_nanos: i64,
    /// Whether it follows from when the host was started.
    pub is_inferred: bool,
}
