//! Counter types, units and selection of Windows performance counters: one table for those of [MS-PCQ] and, later,
//! those of the performance registry.
//!
//! Values go out as a server gives them and are never turned into rates here: a query language does that better,
//! over any time. What has to be done to a raw value depends on its [`CounterType`] alone and is a row of
//! [`properties`]; [`plan`] makes the families of a whole counterset of it:
//!
//! | type | goes out as |
//! | --- | --- |
//! | counts shown per second, deltas | counter |
//! | timers, lengths of queues over time | counter in seconds, by the clock of the type |
//! | inverse timers | the same with part `inactive` |
//! | fractions and averages | numerator, and part `base` |
//! | timers of several things | counter in seconds, and part `base`: how many things |
//! | momentary values | gauge |
//! | elapsed time | gauge in seconds |
//! | text | info |
//! | a type without a row | raw, of unknown kind |
//!
//! Counters of 32 bits wrap around; [`Widen32`] makes 64-bit ones of them. Formulas over two samples ("cooking")
//! are not here yet: they will be functions over the same table.
//!
//! ```
//! use counters::{Kind, Part, RawClocks, Unit, Value, plan};
//! use ms_pcq::types::{CounterId, CounterType};
//! use ms_pcq::wire::CounterRegInfo;
//!
//! let processor_time = CounterRegInfo::new(CounterId(0), CounterType::PERF_100NSEC_TIMER_INV);
//! let families = plan(&[processor_time], |_| Some("% Processor Time"));
//! let exposition = &families[0].exposition;
//! assert_eq!((exposition.kind, exposition.unit, exposition.part), (Kind::Counter, Unit::Seconds, Part::Inactive));
//! assert_eq!(exposition.export(25_000_000, &RawClocks::default()), Some(Value::F64(2.5)));
//! ```
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod exposition;
mod plan;
mod properties;
mod selection;
mod unit;
mod widen;

pub use ms_pcq::types::CounterType;

pub use self::exposition::{Exposition, Kind, Part, RawClocks, Scale, Value};
pub use self::plan::{Family, ObjectClock, plan};
pub use self::properties::{Clock, Measure, Needs, Properties, Size, properties};
pub use self::selection::{Filter, Pattern, Selection, SelectionError, SelectionRules};
pub use self::unit::{Unit, unit_of_name};
pub use self::widen::{Widen32, Widened};
