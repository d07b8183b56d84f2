use ms_dtyp::FileTime;
use ms_pcq::types::{CounterType, DetailLevel};

/// The last index that every Windows has. Those above belong to what was installed later.
pub const BASE_INDEX_LAST: u32 = 1847;

/// An object of version 1 of the performance library, as its names are installed on the host.
#[derive(Debug)]
pub struct PerfObject {
    /// The index of its name; that of its explanation is one more.
    pub index: u32,
    /// Its English name.
    pub name: &'static str,
    /// What it is about, in English.
    pub explain: &'static str,
    /// Its German name, where there is one.
    pub german: Option<&'static str>,
    /// The audience, from novice to expert.
    pub detail: DetailLevel,
    /// The place of the counter that displays show first.
    pub default_counter: i32,
    /// Its own clock.
    pub clock: ObjectClock,
    /// The object whose instances its own are part of. Who asks for the one gets the other as well.
    pub parent: Option<&'static Self>,
    /// Its counters. Each base follows what is divided by it.
    pub counters: &'static [PerfCounter],
}

/// The clock of an object, which the counters of elapsed time go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectClock {
    /// That of the host's header.
    Performance,
    /// The time of day, in 100 ns since 1601.
    TimeOfDay,
}

/// A counter of a [`PerfObject`].
#[derive(Clone, Copy, Debug)]
pub struct PerfCounter {
    /// The index of its name; that of its explanation is one more. Objects share the names of counters.
    pub index: u32,
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
}

impl PerfObject {
    /// An object whose clock is that of the host, and whose first counter is the default one.
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
            clock: ObjectClock::Performance,
            parent: None,
            counters,
        }
    }

    /// Has a German name.
    #[must_use]
    pub const fn german(mut self, name: &'static str) -> Self {
        self.german = Some(name);
        self
    }

    /// Is meant for administrators.
    #[must_use]
    pub const fn advanced(mut self) -> Self {
        self.detail = DetailLevel::ADVANCED;
        self
    }

    /// Shows the counter at `position` first; at -1, none.
    #[must_use]
    pub const fn default_counter(mut self, position: i32) -> Self {
        self.default_counter = position;
        self
    }

    /// Has instances that are part of those of another object.
    #[must_use]
    pub const fn part_of(mut self, parent: &'static Self) -> Self {
        self.parent = Some(parent);
        self
    }

    /// Goes by the time of day.
    #[must_use]
    pub const fn time_of_day(mut self) -> Self {
        self.clock = ObjectClock::TimeOfDay;
        self
    }
}

impl PerfCounter {
    /// A counter for everybody.
    #[must_use]
    pub const fn new(index: u32, kind: CounterType, name: &'static str, explain: &'static str) -> Self {
        Self { index, kind, name, explain, german: None, detail: DetailLevel::NOVICE, default_scale: 0 }
    }

    /// What the counter before it is divided by. It has that counter's index.
    #[must_use]
    pub const fn base(index: u32, kind: CounterType) -> Self {
        Self::new(index, kind, "", "")
    }

    /// Has a German name.
    #[must_use]
    pub const fn german(mut self, name: &'static str) -> Self {
        self.german = Some(name);
        self
    }

    /// Is meant for administrators.
    #[must_use]
    pub const fn advanced(mut self) -> Self {
        self.detail = DetailLevel::ADVANCED;
        self
    }

    /// Is drawn in graphs as its value times ten to the power of `exponent`.
    #[must_use]
    pub const fn scale(mut self, exponent: i32) -> Self {
        self.default_scale = exponent;
        self
    }
}

/// Both lists, one after the other; `N` is the sum of their lengths.
pub(super) const fn joined<const A: usize, const B: usize, const N: usize>(
    first: [PerfCounter; A],
    second: [PerfCounter; B],
) -> [PerfCounter; N] {
    assert!(A + B == N, "the sum of both lengths");
    let mut all = [PerfCounter::new(0, CounterType(0), "", ""); N];
    let mut place = 0;
    while place < N {
        all[place] = if place < A { first[place] } else { second[place - A] };
        place += 1;
    }
    all
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
