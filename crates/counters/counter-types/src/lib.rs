//! Counter types, units and selection of Windows performance counters: one table for the types of [MS-PCQ] and of
//! the performance registry. The crate has no input or output, and no clock: callers pass samples and their times.
//!
//! # What is exported
//!
//! Values are exported as the server sends them and are never turned into rates: a query language does that better,
//! over any time. How a raw value is converted depends only on its [`CounterType`]; it is a row of [`properties`].
//! [`plan`] makes the families of a whole counterset from these rows:
//!
//! | type | exported as |
//! | --- | --- |
//! | counts shown per second, deltas | counter |
//! | timers, lengths of queues over time | counter in seconds, by the clock of the type |
//! | inverse timers | the same with part `inactive` |
//! | fractions and averages | numerator, and part `base` |
//! | timers of several things | counter in seconds, and part `base`: how many things |
//! | momentary values | gauge; counter where [`quantity`] knows that they only grow |
//! | elapsed time | gauge in seconds since 1970 with part `start_time` |
//! | text | info |
//! | a type without a row | raw, of unknown kind |
//!
//! Counters of 32 bits wrap around; [`Widen`] makes 64-bit ones of them, and reports resets. [`boot_time`] infers
//! when a host was started. [`aggregate`] aggregates the instances of aggregate countersets, which the protocol
//! leaves to the client.
//!
//! ```
//! use counter_types::{Kind, Part, RawClocks, Unit, Value, plan};
//! use counters::pcq::types::{CounterId, CounterType};
//! use counters::pcq::wire::CounterRegInfo;
//!
//! let processor_time = CounterRegInfo::new(CounterId(0), CounterType::PERF_100NSEC_TIMER_INV);
//! let families = plan(&[processor_time], |_| Some("% Processor Time"));
//! let exposition = &families[0].exposition;
//! assert_eq!((exposition.kind, exposition.unit, exposition.part), (Kind::Counter, Unit::Seconds, Part::Inactive));
//! assert_eq!(exposition.export(25_000_000, &RawClocks::default()), Some(Value::F64(2.5)));
//! ```
//!
//! # What is displayed
//!
//! [`cook`] computes the displayed value of a counter from two samples, for every type, and [`display`] formats it.
//! The formulas are those of [`Formula`], where N is the counter, D its clock, F the clock's frequency, B its base,
//! and 0 and 1 are the older and the newer sample. All types:
//!
#![doc = include_str!("../TYPES.md")]
//!
//! # Selection
//!
//! People write [`PatternText`]. A [`Selection`] compiles these once; it then decides about each counter and
//! instance. [`CounterPath`] reads `\\Machine\Counterset(Instance)\Counter`.
//!
//! ```
//! use counter_types::{Choice, Filter, PatternText, Selection, SelectionRules, Totals};
//!
//! let plain = |text: &str| PatternText::Plain(text.to_owned());
//! let selection = Selection::new(&SelectionRules {
//!     instances: Filter { include: vec![], exclude: vec![plain(".*,_Total")] },
//!     totals: Totals::Separate,
//!     ..SelectionRules::default()
//! })?;
//! assert_eq!(selection.instance("0,3"), Choice::Yes);
//! assert_eq!(selection.instance("0,_Total"), Choice::No);
//! assert_eq!(selection.instance("_Total"), Choice::Total);
//! # Ok::<(), counter_types::SelectionError>(())
//! ```
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod aggregate;
mod clocks;
mod cook;
mod display;
mod exposition;
mod formula;
mod path;
mod pattern;
mod plan;
mod properties;
mod quantity;
mod selection;
mod unit;
mod widen;

pub use counters::pcq::types::CounterType;

pub use self::clocks::{RawClocks, boot_time};
pub use self::cook::{Cooked, Reading, cook};
pub use self::display::{display, display_exact, shown_as};
pub use self::exposition::{Exposition, Kind, Part, Value};
pub use self::formula::Formula;
pub use self::path::{CounterPath, InstanceIndex, InstancePath, PATH_CHARS_MAX, PathError};
pub use self::pattern::{NamePattern, PatternError, PatternText, WILDCARD_BYTES_MAX, same_name};
pub use self::plan::{Family, ObjectClock, plan, plan_of};
pub use self::properties::{ALL, Clock, Measure, Needs, Properties, Size, properties};
pub use self::quantity::{Quantity, quantity};
pub use self::selection::{Choice, Filter, Place, Selection, SelectionError, SelectionRules, Totals};
pub use self::unit::{Unit, unit_of_name};
pub use self::widen::{Widen, Widened, Width};

/// The conversion from a raw value to the exported one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Nothing: integers stay integers.
    One,
    /// Percent to a ratio.
    Percent,
    /// Ticks of the performance clock to seconds.
    PerfFreq,
    /// 100 ns to seconds.
    HundredNanoseconds,
    Microseconds,
    /// Ticks of the object's clock to seconds.
    ObjectFreq,
    /// The moment on the object's clock, to seconds since 1970.
    Beginning,
    /// Nothing, but the 64 bits are a number in IEEE 754.
    Double,
    /// Megahertz to hertz: integers stay integers.
    Megahertz,
    /// Megabytes, of 1,048,576 bytes, to bytes: integers stay integers.
    Megabytes,
    /// Kelvin to degrees Celsius.
    Kelvin,
    /// Tenths of a kelvin to degrees Celsius.
    Decikelvin,
}
