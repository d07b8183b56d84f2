use core::fmt;

/// The formula that computes a displayed value from two samples of a counter.
///
/// N is the counter, D its clock, F the clock's frequency, B its base or the number of items that it covers; 0 is
/// the older sample and 1 the newer one. Decisions where the documents contradict each other or themselves:
///
/// - [`Formula::BusyOfMany`]: the Win32 pages divide the interval of `PERF_COUNTER_MULTI_TIMER` by the frequency as
///   well. N counts ticks of the clock that D shows, so that this would be off by the frequency; [MS-PCQ] and
///   the same pages' row for 100 ns have no such factor.
/// - [`Formula::IdleOfMany`]: the Win32 pages and [MS-PCQ] subtract from the number of items and do not divide by
///   it, so that four idle disks show 0 and four busy ones 400 %. The pages for Windows CE divide. Windows shows
///   the former, although it divides timers that are not inverse.
/// - [`Formula::Idle`] and [`Formula::IdleOfMany`] are never below zero: the clock of idle time is read some
///   moments after that of the reply. Values above 100 % are kept, because two processors do twice the work of one.
/// - [`Formula::Share`] of a precision timer: its base is a time stamp that is taken with the value; the reply's
///   own clock is not used. That is the purpose of the type. [MS-PCQ] gives `PERF_PRECISION_OBJECT_TIMER` the
///   object's clock instead; by winperf.h and the other two types it has a base. Where there is no base, it is
///   [`Formula::Busy`] by the object's clock.
/// - [`Formula::Elapsed`]: [MS-PCQ] swaps the operands, which would give a negative value.
/// - [`Formula::Rate`] uses the performance clock for all of its types. In [MS-PCQ] the clocks of
///   `PERF_COUNTER_COUNTER` and `PERF_SAMPLE_COUNTER` differ; in winperf.h they do not.
/// - [`Formula::MeanTime`]: `PERF_AVERAGE_TIMER` has 32 bits by its type and in [MS-PCQ], and 64 in an example of the
///   Win32 pages. A value that does not fit into 32 bits is taken to have 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    Value,
    /// The newer value, whose 64 bits are a number in IEEE 754.
    Double,
    /// The difference of the two values.
    Delta,
    Rate,
    /// The mean length of a queue.
    QueueLength,
    /// Percent of the time in which the object was busy.
    Busy,
    /// The same from a counter of the time in which it was not busy.
    Idle,
    /// Mean percent of the time in which several objects were busy.
    BusyOfMany,
    /// The same from a counter of the time in which they were not busy, for all of them together.
    IdleOfMany,
    /// Percent of the base.
    Part,
    /// Percent of the difference of the base.
    Share,
    /// Seconds per operation that the base counts.
    MeanTime,
    /// Items per operation that the base counts.
    Mean,
    /// Seconds since something began.
    Elapsed,
    Nothing,
}

impl Formula {
    /// The formula as text; empty for [`Formula::Nothing`].
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Value => "N1",
            Self::Double => "N1 (IEEE 754)",
            Self::Delta => "N1 - N0",
            Self::Rate => "(N1 - N0) / ((D1 - D0) / F)",
            Self::QueueLength => "(N1 - N0) / (D1 - D0)",
            Self::Busy => "100 * (N1 - N0) / (D1 - D0)",
            Self::Idle => "100 * (1 - (N1 - N0) / (D1 - D0))",
            Self::BusyOfMany => "100 * (N1 - N0) / (D1 - D0) / B1",
            Self::IdleOfMany => "100 * (B1 - (N1 - N0) / (D1 - D0))",
            Self::Part => "100 * N1 / B1",
            Self::Share => "100 * (N1 - N0) / (B1 - B0)",
            Self::MeanTime => "(N1 - N0) / F / (B1 - B0)",
            Self::Mean => "(N1 - N0) / (B1 - B0)",
            Self::Elapsed => "(D1 - N1) / F",
            Self::Nothing => "",
        }
    }

    /// The unit that is written after the result.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Rate => "/s",
            Self::Busy | Self::Idle | Self::BusyOfMany | Self::IdleOfMany | Self::Part | Self::Share => "%",
            Self::MeanTime | Self::Elapsed => "s",
            Self::Value | Self::Double | Self::Delta | Self::QueueLength | Self::Mean | Self::Nothing => "",
        }
    }

    /// Whether it needs two samples.
    #[must_use]
    pub const fn needs_two(self) -> bool {
        !matches!(self, Self::Value | Self::Double | Self::Part | Self::Elapsed | Self::Nothing)
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
