use counters::pcq::types::{CounterType, DetailLevel};
use wire::FileTime;

/// The last index that every Windows has. Those above belong to what was installed later.
pub const BASE_INDEX_LAST: u32 = 1847;

/// winperf.h knows these two levels beside those of [MS-PCQ].
pub(super) const EXPERT: DetailLevel = DetailLevel(300);
pub(super) const WIZARD: DetailLevel = DetailLevel(400);

/// An object of version 1 of the performance library, as its names are installed on the host.
#[derive(Debug)]
pub struct PerfObject {
    /// The index of its name; that of its explanation is one more.
    pub index: u32,
    pub name: &'static str,
    /// What it is about, in English.
    pub explain: &'static str,
    /// Its German name, where there is one.
    pub german: Option<&'static str>,
    /// The audience, from novice to expert.
    pub detail: DetailLevel,
    /// The place of the counter that displays show first.
    pub default_counter: i32,
    /// Whether it has a clock of its own, for the counters of elapsed time: the time of day, in 100 ns since 1601.
    pub has_clock: bool,
    /// The object whose instances its own are part of. Who asks for the one gets the other as well.
    pub parent: Option<&'static Self>,
    /// Its counters. Each base follows what is divided by it.
    pub counters: &'static [PerfCounter],
}

/// A counter of a [`PerfObject`].
#[derive(Clone, Copy, Debug)]
pub struct PerfCounter {
    /// The index of its name. Objects share the names of counters.
    pub index: u32,
    /// The index of its explanation, which is its own.
    pub help: u32,
    /// How its values are read, and how long they are.
    pub kind: CounterType,
    /// Its English name; a base has none of its own.
    pub name: &'static str,
    /// What it counts, in English.
    pub explain: &'static str,
    /// Its German name, where there is one.
    pub german: Option<&'static str>,
    /// The audience, from novice to expert.
    pub detail: DetailLevel,
    /// The power of ten that fits its values into a graph.
    pub default_scale: i32,
    /// Whether a value has eight bytes although its type says four.
    pub is_wide: bool,
    /// Whether its value is where that of the first counter of this type is.
    pub is_shared: bool,
}

impl PerfObject {
    /// An object without a clock of its own, whose first counter is the default one.
    #[must_use]
    pub const fn new(
        index: u32,
        name: &'static str,
        explain: &'static str,
        counters: &'static [PerfCounter],
    ) -> Self {
        Self {
            index,
            name,
            explain,
            german: None,
            detail: DetailLevel::NOVICE,
            default_counter: 0,
            has_clock: false,
            parent: None,
            counters,
        }
    }
}

impl PerfCounter {
    /// A counter for everybody, whose explanation has the index after that of its name.
    #[must_use]
    pub const fn new(index: u32, kind: CounterType, name: &'static str, explain: &'static str) -> Self {
        Self {
            index,
            help: index + 1,
            kind,
            name,
            explain,
            german: None,
            detail: DetailLevel::NOVICE,
            default_scale: 0,
            is_wide: false,
            is_shared: false,
        }
    }
}

/// Which indexes names have at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct NameIndexes {
    /// How far names that not every Windows has are from where they were at first.
    pub shift: u32,
    /// When a name was written last.
    pub last_write: FileTime,
}

impl NameIndexes {
    /// The index now of a name that had `index` at first.
    #[must_use]
    pub const fn now(self, index: u32) -> u32 {
        if index > BASE_INDEX_LAST { index + self.shift } else { index }
    }
}
