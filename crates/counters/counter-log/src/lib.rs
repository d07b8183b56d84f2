//! Logs of performance counters, [MS-PLA] 3.2.4.6: the columns of a log, its records, and the formats that they are written in.
//!
//! No input or output, and no clock.

mod batch;
mod column;
mod sink;

pub use self::batch::{Batch, RawSample, Row, Sample};
pub use self::column::{Column, LogHeader};
pub use self::sink::{LogSink, SinkError, SinkErrorKind, Written};
