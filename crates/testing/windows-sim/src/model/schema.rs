use counters::pcq::types::{AggregateFunc, Attrib, CounterType, DetailLevel, InstanceId, InstanceType};
use counters::pcq::wire::{InstanceInfo, RawValue};
use wire::Guid;

/// Who updates the values of a counterset.
#[derive(Debug)]
pub struct Provider {
    pub guid: Guid,
    pub name: &'static str,
}

/// A counterset as it is registered on the host.
#[derive(Debug)]
pub struct Counterset {
    pub guid: Guid,
    pub name: &'static str,
    /// What it is about, in English.
    pub explain: &'static str,
    /// Its German name, where there is one.
    pub german: Option<&'static str>,
    /// What it is about, in German.
    pub german_explain: Option<&'static str>,
    /// Who updates its values.
    pub provider: &'static Provider,
    /// The audience, from novice to expert.
    pub detail: DetailLevel,
    /// Whether it has instances, and who aggregates them.
    pub instances: InstanceType,
    /// Its counters, by ascending id. An id may be there twice, as on some real hosts.
    pub counters: &'static [Counter],
}

impl Counterset {
    /// The counter with this id.
    #[must_use]
    pub fn counter(&self, id: u32) -> Option<&'static Counter> {
        self.counters.iter().find(|counter| counter.id == id)
    }

    /// Whether a query has to name the instances that it wants. A global aggregate has several as well, and they are
    /// always asked for together, without a name.
    #[must_use]
    pub const fn has_instances(&self) -> bool {
        self.instances.is_multiple()
    }
}

/// A counter as it is registered on the host.
#[derive(Debug)]
pub struct Counter {
    /// Its number in the counterset.
    pub id: u32,
    /// How its values are read.
    pub kind: CounterType,
    /// Its English name; one without is empty.
    pub name: &'static str,
    /// What it counts, in English.
    pub explain: &'static str,
    /// Its German name, where there is one.
    pub german: Option<&'static str>,
    /// What it counts, in German.
    pub german_explain: Option<&'static str>,
    /// The audience, from novice to expert.
    pub detail: DetailLevel,
    /// How it is displayed, if it is.
    pub attributes: Attrib,
    /// The power of ten that displays multiply with.
    pub default_scale: i32,
    /// The counter that this one is divided by.
    pub base: Option<u32>,
    /// The counter that tells the time of this one.
    pub perf_time: Option<u32>,
    /// The counter that tells the frequency of that time.
    pub perf_freq: Option<u32>,
    /// The counter that tells how many things are summed up in this one.
    pub multi: Option<u32>,
    /// What the client does with several instances.
    pub aggregate: AggregateFunc,
}

impl Counter {
    /// A counter for display that stands alone.
    #[must_use]
    pub const fn new(id: u32, kind: CounterType, name: &'static str, explain: &'static str) -> Self {
        Self {
            id,
            kind,
            name,
            explain,
            german: None,
            german_explain: None,
            detail: DetailLevel::NOVICE,
            attributes: Attrib(0),
            default_scale: 0,
            base: None,
            perf_time: None,
            perf_freq: None,
            multi: None,
            aggregate: AggregateFunc::UNDEFINED,
        }
    }

    /// Whether it is there for people, and not for the arithmetic of another counter only.
    #[must_use]
    pub const fn is_displayed(&self) -> bool {
        !self.attributes.contains(Attrib::NO_DISPLAYABLE)
    }

    /// Is divided by counter `id`.
    #[must_use]
    pub const fn base(mut self, id: u32) -> Self {
        self.base = Some(id);
        self
    }

    /// Has a clock of its own: counter `time`, which makes as many ticks a second as counter `freq` says.
    #[must_use]
    pub const fn clock(mut self, time: u32, freq: u32) -> Self {
        self.perf_time = Some(time);
        self.perf_freq = Some(freq);
        self
    }

    /// Sums up as many things as counter `id` says.
    #[must_use]
    pub const fn multi(mut self, id: u32) -> Self {
        self.multi = Some(id);
        self
    }

    /// Is there for the arithmetic of another counter only.
    #[must_use]
    pub const fn hidden(mut self) -> Self {
        self.attributes.0 |= Attrib::NO_DISPLAYABLE.0;
        self
    }

    /// Is displayed as a hexadecimal number.
    #[must_use]
    pub const fn hexadecimal(mut self) -> Self {
        self.attributes.0 |= Attrib::DISPLAY_AS_HEX.0;
        self
    }

    /// Is meant for administrators.
    #[must_use]
    pub const fn advanced(self) -> Self {
        self.level(DetailLevel::ADVANCED)
    }

    /// Is meant for whom `level` says.
    #[must_use]
    pub const fn level(mut self, level: DetailLevel) -> Self {
        self.detail = level;
        self
    }

    /// Is displayed as `flags` say, beside what was said before.
    #[must_use]
    pub const fn flags(mut self, flags: Attrib) -> Self {
        self.attributes.0 |= flags.0;
        self
    }

    /// Is drawn in graphs as its value times ten to the power of `exponent`.
    #[must_use]
    pub const fn scale(mut self, exponent: i32) -> Self {
        self.default_scale = exponent;
        self
    }

    /// Is aggregated by the client.
    #[must_use]
    pub const fn aggregate(mut self, function: AggregateFunc) -> Self {
        self.aggregate = function;
        self
    }

    /// Has a German name.
    #[must_use]
    pub const fn german(mut self, name: &'static str) -> Self {
        self.german = Some(name);
        self
    }
}

/// The value of one counter of one instance at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Dword(u32),
    Large(u64),
    /// Text as it goes on the wire, with its NUL.
    Text(Vec<u8>),
    Nothing,
}

impl Value {
    /// `raw` as a counter of type `kind` holds it: one of four bytes keeps the lower half, that is, it wraps.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "a counter of four bytes wraps")]
    pub fn of(kind: CounterType, raw: u64) -> Self {
        match kind.0 >> SIZE_SHIFT & 3 {
            0 => Self::Dword(raw as u32),
            1 => Self::Large(raw),
            2 => Self::Nothing,
            _ => Self::text(&raw.to_string()),
        }
    }

    /// The value of a text counter.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(wire::encode_utf16(text).into_iter().chain([0, 0]).collect())
    }

    /// The value as it is written.
    #[must_use]
    pub fn as_raw(&self) -> RawValue<'_> {
        match self {
            Self::Dword(value) => RawValue::U32(*value),
            Self::Large(value) => RawValue::U64(*value),
            Self::Text(text) => RawValue::Other(text),
            Self::Nothing => RawValue::Other(&[]),
        }
    }
}

/// Bits 8 and 9 of a counter type say how wide its values are: four bytes, eight, none, or as long as they are.
const SIZE_SHIFT: u32 = 8;

/// One instance at one moment, with a value for each counter of its counterset, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The instance; its name is empty in a counterset of one instance.
    pub instance: InstanceInfo,
    /// INVARIANT: as many as the counterset has counters, in the same order.
    pub values: Vec<Value>,
}

impl Sample {
    /// A sample whose numbers become as wide as the counters of `set` are.
    #[must_use]
    pub fn of_numbers(set: &Counterset, name: impl Into<String>, id: u32, numbers: &[u64]) -> Self {
        debug_assert_eq!(numbers.len(), set.counters.len(), "{} has a number for each counter", set.name);
        let values = set.counters.iter().zip(numbers).map(|(counter, &raw)| Value::of(counter.kind, raw));
        let instance = InstanceInfo { instance_id: InstanceId(id), name: name.into() };
        Self { instance, values: values.collect() }
    }
}
