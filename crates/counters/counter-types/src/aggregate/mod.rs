//! Aggregates the instances of an aggregate counterset: servers leave this to the client.
//!
//! The types of [MS-PCQ] 2.2.4.1 (`InstanceType`), whose bits [`Scope::of`] tests:
//!
//! | type | what is aggregated |
//! | --- | --- |
//! | 4, global aggregate | all instances that exist; the set counts as one object |
//! | 6, multiple-instance aggregate | the instances that the client chose |
//! | 0xC, global aggregate history | as 4; an instance that has gone still counts with its last values |
//! | 0x16, instance aggregate | nothing: the document says "not implemented" |
//!
//! and the functions of 2.2.4.2 (`AggregateFunc`). `UNDEFINED` is not one of them: by the Win32 page of the counter
//! schema such a counter is not to be aggregated.
//!
//! # What a user sees
//!
//! The aggregate is a family like that of the instances, of the same unit, and is used in the same way.
//!
//! - An aggregate counter adds the increase of each instance since the last reply. So it falls only when the host was
//!   restarted or replaced: not when an instance ends or is reset, and not when one wraps at 2³². The sum begins
//!   with the values of the first reply; an instance that appears later adds its whole value. The mean, minimum or
//!   maximum is that of each interval, so its rate is the mean, minimum or maximum rate.
//! - A momentary value is aggregated again from each reply. With a history, the last values of ended instances stay
//!   in.
//! - Numerators and bases are aggregated separately: the ratio of two sums is the mean that counts each operation
//!   once. The minimum and maximum of a ratio cannot be computed like this, so they have no aggregate. The bases of
//!   precision timers and the frequencies of clocks are not amounts: the sum of such timers is divided by the mean
//!   of their bases.
//! - For inverse timers, minimum and maximum are swapped; so they are for start times, since the greatest elapsed
//!   time has the least start time. Sums of start times have no meaning.
//!
//! Leave out instances that sum up others ([`crate::Selection::is_total`]), or everything is counted twice. Ignore
//! failed replies and keep the shares; otherwise all instances count as new.
//!
//! # How to call it
//!
//! One [`Accumulator`] a family, one [`Share`] an instance and family. With each reply: [`Accumulator::begin`],
//! then [`Accumulator::add`] for each existing instance and [`Accumulator::leave`] for each that has ended, then
//! [`Accumulator::export`]. Nothing here allocates.
//!
//! ```
//! use counter_types::aggregate::{Accumulator, Share};
//! use counter_types::{CounterType, RawClocks, Value, plan};
//! use counters::pcq::types::{AggregateFunc, CounterId, InstanceType};
//! use counters::pcq::wire::CounterRegInfo;
//!
//! let read = CounterRegInfo {
//!     aggregate_func: AggregateFunc::TOTAL,
//!     ..CounterRegInfo::new(CounterId(0), CounterType::PERF_COUNTER_BULK_COUNT)
//! };
//! let family = plan(&[read], |_| Some("Bytes Read/sec")).remove(0);
//! let mut sum = Accumulator::new(&read, &family.exposition, InstanceType::MULTIPLE_AGGREGATE).unwrap();
//! let (mut one, mut other) = (Share::default(), Share::default());
//! sum.begin();
//! sum.add(&mut one, 100);
//! sum.add(&mut other, 50);
//! assert_eq!(sum.export(&family.exposition, &RawClocks::default()), Some(Value::U64(150)));
//! // The other one has gone, and stays in.
//! sum.begin();
//! sum.add(&mut one, 103);
//! sum.leave(&other);
//! assert_eq!(sum.export(&family.exposition, &RawClocks::default()), Some(Value::U64(153)));
//! ```

use counters::pcq::types::{AggregateFunc, CounterType, InstanceType};
use counters::pcq::wire::CounterRegInfo;

use super::exposition::Part;
use super::properties::properties;
use crate::Scale;
use crate::clocks::RawClocks;
use crate::exposition::{Exposition, Kind, Value};
use crate::widen::{Widen, Width};

/// Over which instances a counterset is aggregated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All instances: filters do not reduce them ([MS-PCQ] 2.2.4.2: the client MUST aggregate across all
    /// instances).
    All,
    /// The instances that the client selected.
    Chosen,
}

impl Scope {
    /// The scope of a counterset; none if the client does not aggregate it.
    #[must_use]
    pub const fn of(instances: InstanceType) -> Option<Self> {
        match (instances.is_aggregate(), instances.0 & INSTANCE_BIT != 0, instances.is_multiple()) {
            (false, _, _) | (_, true, _) => None,
            (true, false, true) => Some(Self::Chosen),
            (true, false, false) => Some(Self::All),
        }
    }
}

/// The bit that only the unimplemented type has.
const INSTANCE_BIT: u32 = 0x10;

/// What one instance has contributed to one family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share(Widen);

impl Share {
    /// Call it if the instance or the host was replaced by another one of the same name: its next value counts in
    /// full.
    pub fn begin_anew(&mut self) {
        self.0.begin_anew();
    }
}

/// The aggregate of one family over the replies.
#[derive(Clone, Debug)]
pub struct Accumulator {
    function: Function,
    values: Values,
    has_history: bool,
    /// For counters: the aggregate of the intervals before this one.
    settled: u64,
    /// For counters: the remainder of a mean of integers.
    remainder: u64,
    now: Amounts,
    /// Of the instances that have gone.
    gone: Amounts,
}

/// How an accumulator handles the values of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Values {
    Counter(Width),
    Momentary,
    /// Their bits are numbers in IEEE 754.
    Doubles,
}

impl Accumulator {
    /// For a family of `counter`: the counter itself or its base. `None` if it is not aggregated.
    #[must_use]
    pub fn new(counter: &CounterRegInfo, exposition: &Exposition, instances: InstanceType) -> Option<Self> {
        Scope::of(instances)?;
        let values = match (exposition.kind, exposition.scale) {
            (Kind::Counter, _) => Values::Counter(exposition.width()),
            (Kind::Gauge, Scale::Double) => Values::Doubles,
            (Kind::Gauge, _) => Values::Momentary,
            (Kind::Info | Kind::Unknown, _) => return None,
        };
        Some(Self {
            function: Function::of(counter, exposition)?,
            values,
            has_history: instances.has_history(),
            settled: 0,
            remainder: 0,
            now: Amounts::NONE,
            gone: Amounts::NONE,
        })
    }

    /// Whether [`Accumulator::export`] returns an integer if the family's own values are integers. Means of
    /// momentary values are not.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        self.function != Function::Mean || matches!(self.values, Values::Counter(_))
    }

    /// Call it before [`Self::begin`] if the host was restarted or replaced, and [`Share::begin_anew`] for each instance:
    /// the aggregate is that of the new values alone.
    pub fn begin_anew(&mut self) {
        (self.settled, self.remainder) = (0, 0);
        (self.now, self.gone) = (Amounts::NONE, Amounts::NONE);
    }

    pub fn begin(&mut self) {
        if matches!(self.values, Values::Counter(_)) {
            (self.settled, self.remainder) = self.counted();
        }
        self.now = Amounts::NONE;
    }

    /// Adds the value of an instance. The share belongs to the instance.
    pub fn add(&mut self, share: &mut Share, raw: u64) {
        match self.values {
            Values::Counter(width) => self.now.add(share.0.update(raw, width).delta),
            Values::Momentary => {
                share.0.update(raw, Width::Bits64);
                self.now.add(raw);
            }
            Values::Doubles => {
                share.0.update(raw, Width::Bits64);
                self.now.add_real(f64::from_bits(raw));
            }
        }
    }

    /// Call it when an instance has ended. If it comes back it is a new one, and needs a new share.
    pub fn leave(&mut self, share: &Share) {
        let Some(last) = share.0.total().filter(|_| self.has_history) else { return };
        match self.values {
            // It still counts among the instances of a mean or a minimum, and adds nothing.
            Values::Counter(_) => self.gone.add(0),
            Values::Momentary => self.gone.add(last),
            Values::Doubles => self.gone.add_real(f64::from_bits(last)),
        }
    }

    /// The current aggregate as the family exports it, by the clocks of any instance. `None` if there are no
    /// instances, or a clock stands still.
    #[must_use]
    pub fn export(&self, exposition: &Exposition, clocks: &RawClocks) -> Option<Value> {
        if let Values::Counter(_) = self.values {
            return exposition.export(self.counted().0, clocks);
        }
        let all = self.now.and(&self.gone);
        let real = all.real;
        let of_integers = self.values == Values::Momentary;
        match self.function {
            Function::Total if of_integers => exposition.export(u64::try_from(all.sum).ok()?, clocks),
            _ if all.count == 0 => None,
            Function::Least if of_integers => exposition.export(all.least, clocks),
            Function::Greatest if of_integers => exposition.export(all.greatest, clocks),
            Function::Mean if of_integers => exposition.export_mean(all.sum, all.count, clocks),
            Function::Total => Some(Value::F64(real.sum)),
            Function::Least => Some(Value::F64(real.least)),
            Function::Greatest => Some(Value::F64(real.greatest)),
            Function::Mean => Some(Value::F64(real.sum / count(all.count))),
        }
    }

    /// The current aggregate in the unit of the counter itself, for who cooks it with others. Means of integers are rounded.
    /// `None` if there are no instances.
    #[must_use]
    pub fn raw(&self) -> Option<u64> {
        if let Values::Counter(_) = self.values {
            return Some(self.counted().0);
        }
        let all = self.now.and(&self.gone);
        let of_integers = self.values == Values::Momentary;
        match self.function {
            _ if all.count == 0 => None,
            Function::Total if of_integers => u64::try_from(all.sum).ok(),
            Function::Least if of_integers => Some(all.least),
            Function::Greatest if of_integers => Some(all.greatest),
            Function::Mean if of_integers => {
                u64::try_from((all.sum + u128::from(all.count / 2)) / u128::from(all.count)).ok()
            }
            Function::Total => Some(all.real.sum.to_bits()),
            Function::Least => Some(all.real.least.to_bits()),
            Function::Greatest => Some(all.real.greatest.to_bits()),
            Function::Mean => Some((all.real.sum / count(all.count)).to_bits()),
        }
    }

    /// The total of a counter with this reply, and the remainder of a mean.
    fn counted(&self) -> (u64, u64) {
        let all = self.now.and(&self.gone);
        if all.count == 0 {
            return (self.settled, self.remainder);
        }
        let (added, remainder) = match self.function {
            Function::Total => (all.sum, 0),
            Function::Least => (all.least.into(), 0),
            Function::Greatest => (all.greatest.into(), 0),
            Function::Mean => {
                let sum = all.sum + u128::from(self.remainder);
                let things = u128::from(all.count);
                (sum / things, u64::try_from(sum % things).unwrap_or_default())
            }
        };
        // Sums wrap at 2⁶⁴, like a 64-bit counter.
        let added = u64::try_from(added).unwrap_or(u64::MAX);
        (self.settled.wrapping_add(added), remainder)
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody has 2^53 instances")]
const fn count(of: u64) -> f64 {
    of as f64
}

/// Sum, count, minimum and maximum of amounts.
#[derive(Clone, Copy, Debug)]
struct Amounts {
    count: u64,
    sum: u128,
    least: u64,
    greatest: u64,
    real: Reals,
}

/// The same for numbers in IEEE 754.
#[derive(Clone, Copy, Debug)]
struct Reals {
    sum: f64,
    least: f64,
    greatest: f64,
}

impl Amounts {
    const NONE: Self = Self {
        count: 0,
        sum: 0,
        least: u64::MAX,
        greatest: 0,
        real: Reals { sum: 0.0, least: f64::INFINITY, greatest: f64::NEG_INFINITY },
    };

    fn add(&mut self, amount: u64) {
        self.count += 1;
        // No host has 2⁶⁴ instances.
        self.sum += u128::from(amount);
        self.least = self.least.min(amount);
        self.greatest = self.greatest.max(amount);
    }

    fn add_real(&mut self, amount: f64) {
        self.count += 1;
        self.real.sum += amount;
        self.real.least = self.real.least.min(amount);
        self.real.greatest = self.real.greatest.max(amount);
    }

    fn and(&self, other: &Self) -> Self {
        let (one, two) = (self.real, other.real);
        Self {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
            real: Reals {
                sum: one.sum + two.sum,
                least: one.least.min(two.least),
                greatest: one.greatest.max(two.greatest),
            },
        }
    }
}

/// How the values of all instances are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Total,
    Mean,
    Least,
    Greatest,
}

impl Function {
    /// The function for this family that has the effect of the counter's own function on displayed values.
    fn of(counter: &CounterRegInfo, exposition: &Exposition) -> Option<Self> {
        let row = properties(counter.counter_type)?;
        let function = match counter.aggregate_func {
            AggregateFunc::TOTAL => Self::Total,
            AggregateFunc::AVERAGE => Self::Mean,
            AggregateFunc::MINIMUM => Self::Least,
            AggregateFunc::MAXIMUM => Self::Greatest,
            _ => return None,
        };
        let is_extreme = matches!(function, Self::Least | Self::Greatest);
        let has_base = row.needs.base || row.needs.multi;
        match exposition.part {
            _ if has_base && is_extreme => None,
            Part::Base if is_precision_timer(counter.counter_type) => Some(Self::Mean),
            Part::Inactive => Some(function.opposite()),
            Part::StartTime if function == Self::Total => None,
            Part::StartTime => Some(function.opposite()),
            Part::Whole | Part::Base => Some(function),
        }
    }

    const fn opposite(self) -> Self {
        match self {
            Self::Least => Self::Greatest,
            Self::Greatest => Self::Least,
            same => same,
        }
    }
}

const fn is_precision_timer(counter_type: CounterType) -> bool {
    matches!(
        counter_type,
        CounterType::PERF_PRECISION_100NS_TIMER
            | CounterType::PERF_PRECISION_SYSTEM_TIMER
            | CounterType::PERF_PRECISION_OBJECT_TIMER
    )
}
