//! What a client makes of the instances of an aggregate counterset: with these, that is left to it.
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
//! and the functions of 2.2.4.2 (`AggregateFunc`). `UNDEFINED` is none: by the Win32 page of the counter schema such a
//! counter is not to be aggregated.
//!
//! # What a user sees
//!
//! The aggregate is a family like that of the instances, of the same unit, and is used in the same way.
//!
//! - A counter that goes up is added up of what each instance has counted since the last reply. So the aggregate never
//!   falls: not when an instance goes or begins anew, and not when one goes round at 2³². The sum begins with all that
//!   the instances of the first reply have counted; an instance that appears later adds its whole count.
//!   The mean, least or greatest is that of each interval, so that its rate is the mean, least or greatest rate.
//! - A momentary value is aggregated anew from each reply. With a history, instances that have gone stay in with what
//!   they showed last.
//! - Numerators and bases are aggregated each for itself: the ratio of two sums is the mean that counts each operation
//!   once. For the least and the greatest of a ratio there is no such thing, and no aggregate. The bases of precision
//!   timers and the frequencies of clocks are no amounts: the mean of such a base goes with the sum of its timers.
//! - Of inverse timers the least is the greatest of what is named, and of moments when something began the greatest of
//!   what has elapsed is the least. Sums of moments mean nothing.
//!
//! Leave out instances that sum up others ([`crate::Selection::is_total`]), or everything is in twice. A reply that
//! failed is no reply: keep the shares, or all instances come anew.
//!
//! # How to call it
//!
//! One [`Accumulator`] a family, one [`Share`] an instance and family. With each reply: [`Accumulator::begin`], then
//! [`Accumulator::add`] for each instance that is there and [`Accumulator::leave`] for each that has gone, then
//! [`Accumulator::export`]. Nothing here allocates.
//!
//! ```
//! use counter_types::aggregate::{Accumulator, Share};
//! use counter_types::{CounterType, RawClocks, Value, plan};
//! use ms_pcq::types::{AggregateFunc, CounterId, InstanceType};
//! use ms_pcq::wire::CounterRegInfo;
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

mod amounts;
mod function;

use ms_pcq::types::InstanceType;
use ms_pcq::wire::CounterRegInfo;

use self::amounts::Amounts;
use self::function::Function;
use crate::clocks::RawClocks;
use crate::exposition::{Exposition, Kind, Value};
use crate::scale::Scale;
use crate::widen::{Widen, Width};

/// Over which instances a counterset is aggregated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All that are there: a filter of instances does not narrow it ([MS-PCQ] 2.2.4.2: the client MUST aggregate across
    /// all instances).
    All,
    /// Those that the client chose.
    Chosen,
}

impl Scope {
    /// The scope of a counterset; none where the client has nothing to aggregate.
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
    /// The instance or the host is another one of the same name: its next value is all new.
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
    /// Of counters: what the intervals before this one came to.
    settled: u64,
    /// Of counters: what a mean of integers left over.
    remainder: u64,
    /// Of this reply.
    now: Amounts,
    /// Of the instances that have gone.
    gone: Amounts,
}

/// What the values of a family are to an accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Values {
    /// They go up.
    Counter(Width),
    /// They are integers.
    Momentary,
    /// Their bits are numbers in IEEE 754.
    Doubles,
}

impl Accumulator {
    /// For a family of `counter`: the counter itself or its base. `None` where it is not to be aggregated.
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

    /// Whether what [`Accumulator::export`] answers is an integer wherever the family's own values are: means of
    /// momentary values are not.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        self.function != Function::Mean || matches!(self.values, Values::Counter(_))
    }

    /// Begins a reply.
    pub fn begin(&mut self) {
        if matches!(self.values, Values::Counter(_)) {
            (self.settled, self.remainder) = self.counted();
        }
        self.now = Amounts::NONE;
    }

    /// Takes the value of an instance that is there. The share is the instance's own.
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

    /// An instance has gone. If it comes back it is another one, and needs another share.
    pub fn leave(&mut self, share: &Share) {
        let Some(last) = share.0.total().filter(|_| self.has_history) else { return };
        match self.values {
            // It still counts among the instances of a mean or a minimum, and adds nothing.
            Values::Counter(_) => self.gone.add(0),
            Values::Momentary => self.gone.add(last),
            Values::Doubles => self.gone.add_real(f64::from_bits(last)),
        }
    }

    /// The aggregate by now as the family shows it, on the clocks of any instance. `None` where there is nothing of
    /// which it could be one, or a clock stands still.
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

    /// What a counter has come to with this reply, and what is left over of a mean.
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
        // Sums wrap at 2⁶⁴, as a counter of 64 bits does.
        let added = u64::try_from(added).unwrap_or(u64::MAX);
        (self.settled.wrapping_add(added), remainder)
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody has 2^53 instances")]
const fn count(of: u64) -> f64 {
    of as f64
}
