//! The words of the protocol that appear in several structures.

use rpc::ndr::{ContextHandle, NdrDecode, NdrEncode};
use wire::open_enum;

/// A counter within its counterset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterId(pub u32);

impl CounterId {
    /// In a [`crate::pcq::wire::CounterIdentifier`]: all counters of the counterset.
    pub const ALL: Self = Self(0xFFFF_FFFF);
    /// In a [`crate::pcq::wire::CounterRegInfo`]: no such counter (no base, no clock of its own).
    pub const NONE: Self = Self(0xFFFF_FFFF);
}

/// An instance's number. Several instances may have one name; the pair tells them apart, mostly: Windows does
/// not see to it ([MS-PCQ] <3>).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId(pub u32);

impl InstanceId {
    /// In a [`crate::pcq::wire::CounterIdentifier`]: any number.
    pub const ANY: Self = Self(0xFFFF_FFFF);
}

/// [MS-PCQ] 2.2.1 `RPC_HQUERY`: a query at the server. It dies with the association that opened it.
#[doc(alias = "RPC_HQUERY")]
pub type QueryHandle = ContextHandle;

open_enum! {
    /// [MS-PCQ] 2.2.4.1: the audience of a counterset or a counter.
    pub struct DetailLevel(u32) {
        NOVICE = 100,
        /// Administrators of many machines.
        ADVANCED = 200,
    }
}

open_enum! {
    /// [MS-PCQ] 2.2.4.1: how many instances a counterset has, and what a client makes of them.
    ///
    /// Ask the predicates, not the values: they test the bits that all values are made of.
    pub struct InstanceType(u32) {
        /// One instance, which has no name.
        SINGLE = 0,
        /// Any number of instances.
        MULTIPLE = 2,
        /// The client aggregates all instances.
        GLOBAL_AGGREGATE = 4,
        /// The client aggregates the instances that it chose.
        MULTIPLE_AGGREGATE = 6,
        /// As `GLOBAL_AGGREGATE`; instances that have gone still count.
        GLOBAL_AGGREGATE_HISTORY = 0xC,
        /// Not implemented by anybody.
        INSTANCE_AGGREGATE = 0x16,
    }
}

impl InstanceType {
    const MULTIPLE_BIT: u32 = 0x2;
    const AGGREGATE_BIT: u32 = 0x4;
    const HISTORY_BIT: u32 = 0x8;

    /// Whether instances have names. A global aggregate has named instances below it too.
    #[must_use]
    pub const fn is_multiple(self) -> bool {
        self.0 & Self::MULTIPLE_BIT != 0
    }

    /// Whether the client aggregates.
    #[must_use]
    pub const fn is_aggregate(self) -> bool {
        self.0 & Self::AGGREGATE_BIT != 0
    }

    /// Whether instances that have gone still count in the aggregate.
    #[must_use]
    pub const fn has_history(self) -> bool {
        self.0 & Self::HISTORY_BIT != 0
    }
}

open_enum! {
    /// [MS-PCQ] 2.2.4.2: how a client computes with a counter's values. Also the types of winperf.h that the
    /// document lacks (`PERF_COUNTER_MULTI_BASE`, the deltas, `PERF_COUNTER_NODATA`,
    /// `PERF_DOUBLE_RAW`).
    ///
    /// What each of them means is the table of the crate `counter-types`.
    pub struct CounterType(u32) {
        /// Events, 32 bits, shown per second.
        PERF_COUNTER_COUNTER = 0x1041_0400,
        /// Active time in ticks of the performance clock.
        PERF_COUNTER_TIMER = 0x2041_0500,
        /// Length of a queue times ticks of the performance clock, 32 bits.
        PERF_COUNTER_QUEUELEN_TYPE = 0x0045_0400,
        /// Length of a queue times ticks of the performance clock.
        PERF_COUNTER_LARGE_QUEUELEN_TYPE = 0x0045_0500,
        /// Length of a queue times 100 ns.
        PERF_COUNTER_100NS_QUEUELEN_TYPE = 0x0055_0500,
        /// Length of a queue times ticks of the object's clock. 64 bits; the document errs.
        PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE = 0x0065_0500,
        /// Events, 64 bits, shown per second.
        PERF_COUNTER_BULK_COUNT = 0x1041_0500,
        PERF_COUNTER_TEXT = 0x0000_0B00,
        /// A momentary value, 32 bits.
        PERF_COUNTER_RAWCOUNT = 0x0001_0000,
        /// A momentary value, 64 bits.
        PERF_COUNTER_LARGE_RAWCOUNT = 0x0001_0100,
        /// A momentary value, 32 bits, shown in hexadecimal.
        PERF_COUNTER_RAWCOUNT_HEX = 0x0000_0000,
        /// A momentary value, 64 bits, shown in hexadecimal.
        PERF_COUNTER_LARGE_RAWCOUNT_HEX = 0x0000_0100,
        /// Hits, over the tries that its base counts.
        PERF_SAMPLE_FRACTION = 0x20C2_0400,
        /// Events, 32 bits, shown per second of the performance clock.
        PERF_SAMPLE_COUNTER = 0x0041_0400,
        /// Inactive time in ticks of the performance clock.
        PERF_COUNTER_TIMER_INV = 0x2141_0500,
        /// When something began, on the object's clock.
        PERF_ELAPSED_TIME = 0x3024_0500,
        PERF_SAMPLE_BASE = 0x4003_0401,
        /// Ticks of the performance clock that operations took, 32 bits; its base counts them.
        PERF_AVERAGE_TIMER = 0x3002_0400,
        /// Base of `PERF_AVERAGE_TIMER` and `PERF_AVERAGE_BULK`, 32 bits.
        PERF_AVERAGE_BASE = 0x4003_0402,
        /// Items that operations moved; its base counts the operations.
        PERF_AVERAGE_BULK = 0x4002_0500,
        /// Active time in ticks of the object's clock.
        PERF_OBJ_TIME_TIMER = 0x2061_0500,
        /// Active time in 100 ns, with a time stamp of its own as base.
        PERF_PRECISION_100NS_TIMER = 0x2057_0500,
        /// Active time in ticks of the performance clock, with a time stamp of its own as base.
        PERF_PRECISION_SYSTEM_TIMER = 0x2047_0500,
        /// Active time in ticks of the object's clock, with a time stamp of its own as base.
        PERF_PRECISION_OBJECT_TIMER = 0x2067_0500,
        /// Active time in 100 ns.
        PERF_100NSEC_TIMER = 0x2051_0500,
        /// Inactive time in 100 ns.
        PERF_100NSEC_TIMER_INV = 0x2151_0500,
        /// Active time of several things in ticks of the performance clock; its multi counter says how many.
        PERF_COUNTER_MULTI_TIMER = 0x2241_0500,
        /// Inactive time of several things in ticks of the performance clock.
        PERF_COUNTER_MULTI_TIMER_INV = 0x2341_0500,
        /// Active time of several things in 100 ns; its multi counter says how many.
        PERF_100NSEC_MULTI_TIMER = 0x2251_0500,
        /// Inactive time of several things in 100 ns.
        PERF_100NSEC_MULTI_TIMER_INV = 0x2351_0500,
        /// A momentary part, 32 bits; its base is the whole.
        PERF_RAW_FRACTION = 0x2002_0400,
        PERF_RAW_BASE = 0x4003_0403,
        /// A momentary part, 64 bits; its base is the whole.
        PERF_LARGE_RAW_FRACTION = 0x2002_0500,
        /// Base of `PERF_LARGE_RAW_FRACTION`, and time stamp of the precision timers.
        PERF_LARGE_RAW_BASE = 0x4003_0500,
        /// How many things a multi timer covers.
        PERF_COUNTER_MULTI_BASE = 0x4203_0500,
        /// Change since the last sample, 32 bits.
        PERF_COUNTER_DELTA = 0x0040_0400,
        /// Change since the last sample, 64 bits.
        PERF_COUNTER_LARGE_DELTA = 0x0040_0500,
        /// A label without a value.
        PERF_COUNTER_NODATA = 0x4000_0200,
        /// A number of 64 bits in IEEE 754; 73728 among the `CounterType` qualifiers of WMI.
        PERF_DOUBLE_RAW = 0x0001_2000,
    }
}

open_enum! {
    /// [MS-PCQ] 2.2.4.2: what a client does with the instances of an aggregate counterset.
    pub struct AggregateFunc(u32) {
        UNDEFINED = 0,
        TOTAL = 1,
        AVERAGE = 2,
        MINIMUM = 3,
        MAXIMUM = 4,
    }
}

/// [MS-PCQ] 2.2.4.2 `Attrib`: flags of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Attrib(pub u64);

impl Attrib {
    /// The provider keeps a pointer to the value; nothing to the client.
    pub const REFERENCE: Self = Self(0x01);
    /// Not to be shown: bases and clocks.
    pub const NO_DISPLAYABLE: Self = Self(0x02);
    /// No separators between groups of digits.
    pub const NO_GROUP_SEPARATOR: Self = Self(0x04);
    pub const DISPLAY_AS_REAL: Self = Self(0x08);
    pub const DISPLAY_AS_HEX: Self = Self(0x10);

    /// Whether all bits of `flags` are set.
    #[must_use]
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }
}

impl core::ops::BitOr for Attrib {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

open_enum! {
    /// [MS-PCQ] 3.1.4.1.2: what `PerflibV2QueryCounterSetRegistrationInfo` is asked for.
    #[derive(NdrDecode, NdrEncode)]
    pub struct RequestCode(u32) {
        /// The counterset and all of its counters.
        COUNTERSET = 1,
        /// One counter, whose id is where the LCID does.
        COUNTER = 2,
        COUNTERSET_NAME = 3,
        /// The counterset's explain text.
        COUNTERSET_HELP = 4,
        COUNTER_NAMES = 5,
        /// The counters' explain texts.
        COUNTER_HELPS = 6,
        PROVIDER_NAME = 7,
        PROVIDER_GUID = 8,
        /// The counterset's English name.
        ENGLISH_COUNTERSET_NAME = 9,
        /// The counters' English names.
        ENGLISH_COUNTER_NAMES = 10,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Lcid(pub u32);

impl Lcid {
    /// The server's own language.
    pub const DEFAULT: Self = Self(0);
    /// English of the United States.
    pub const ENGLISH_US: Self = Self(0x0409);
}

open_enum! {
    /// [MS-PCQ] 2.2.4.8 `dwType`: what follows a `_PERF_COUNTER_HEADER`.
    pub struct BlockType(u32) {
        /// Nothing: the status says why.
        PERF_ERROR_RETURN = 0,
        PERF_SINGLE_COUNTER = 1,
        /// Several counters of one instance.
        PERF_MULTI_COUNTERS = 2,
        /// One counter of several instances.
        PERF_MULTI_INSTANCES = 4,
        /// Several counters of several instances.
        PERF_COUNTERSET = 6,
    }
}
