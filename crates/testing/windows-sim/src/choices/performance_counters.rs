//! What a host chooses about performance counters of version 2: their layout, and what it refuses.

use clap::ValueEnum;
use counters::pcq::types::RequestCode;
use counters::pcq::wire::{OffsetBase, Padding};
use wire::Win32Error;

question! {
    /// What happens to `Index` in the answer to opnum 7.
    IndexAnswer {
        /// It comes back as it was sent: perflib.h has it set by PerfQueryCounterInfo.
        Untouched,
        /// It is the place of the block.
        Filled,
    }
}

question! {
    /// In which order blocks come.
    BlockOrder {
        Grouped,
        /// As they were added.
        AsAdded,
    }
}

question! {
    /// What comes after an odd number of counter ids.
    IdListPadding {
        /// Nothing: `dwSize` is 8 and 4 for each id, and what follows begins there.
        None,
        /// Four bytes that `dwSize` counts.
        Counted,
        /// Four bytes that `dwSize` does not count.
        Uncounted,
    }
}

question! {
    /// What comes after a block that does not end at a multiple of 8.
    BlockPadding {
        /// Padding that `dwSize` counts.
        Counted,
        /// Padding that `dwSize` does not count.
        Uncounted,
        None,
    }
}

question! {
    /// What padding consists of.
    PaddingBytes {
        Zeros,
        /// Whatever was there before.
        Noise,
    }
}

question! {
    /// What `dwOffset` of a text counts from.
    StringOffsets {
        /// The beginning of the buffer.
        FromBeginning,
        /// The end of the headers, as [MS-PCQ] has it.
        FromEndOfHeaders,
    }
}

question! {
    /// What a method says whose buffer is too small.
    SmallBuffer {
        /// `ERROR_NOT_ENOUGH_MEMORY`, with the size that is needed.
        NotEnoughMemory,
        /// `ERROR_INSUFFICIENT_BUFFER`, with the size that is needed.
        InsufficientBuffer,
        /// `ERROR_MORE_DATA`, and no size.
        MoreData,
    }
}

question! {
    /// Which request codes of opnum 1 are refused with `ERROR_NOT_FOUND`: those that load resources ([MS-PCQ] <4>).
    RefusedCodes {
        None,
        Counterset,
        Provider,
        English,
        All,
    }
}

question! {
    /// How an aggregate counterset without the bit "multiple" is asked for, and what the other form is answered with.
    AggregateIdentifiers {
        /// Without a name; with one it is refused.
        Nameless,
        /// Without a name; with one there are no data.
        NamelessElseNoData,
        /// With a name; without one it is refused.
        Named,
        /// With a name; without one there are no data.
        NamedElseNoData,
    }
}

question! {
    /// How the host answers about the registration of [`Choices::odd_counterset`](super::Choices::odd_counterset).
    OddAnswer {
        /// As about the others.
        None,
        /// Its name has no bytes.
        EmptyName,
        /// Its name is a NUL.
        LoneNul,
        /// Its name lacks the NUL.
        UnterminatedName,
        /// `ERROR_NOT_FOUND` to each request code.
        Status,
        /// A fault to each request code.
        Fault,
        /// Half of the stub to each request code.
        TruncatedStub,
    }
}

impl IdListPadding {
    pub(crate) const fn padding(self) -> Padding {
        match self {
            Self::None => Padding::None,
            Self::Counted => Padding::Counted,
            Self::Uncounted => Padding::Uncounted,
        }
    }
}

impl BlockPadding {
    pub(crate) const fn padding(self) -> Padding {
        match self {
            Self::Counted => Padding::Counted,
            Self::Uncounted => Padding::Uncounted,
            Self::None => Padding::None,
        }
    }
}

impl PaddingBytes {
    pub(crate) const fn byte(self) -> u8 {
        match self {
            Self::Zeros => 0,
            Self::Noise => 0xEE,
        }
    }
}

impl StringOffsets {
    pub(crate) const fn base(self) -> OffsetBase {
        match self {
            Self::FromBeginning => OffsetBase::Beginning,
            Self::FromEndOfHeaders => OffsetBase::EndOfHeaders,
        }
    }
}

impl SmallBuffer {
    pub(crate) const fn status(self) -> Win32Error {
        match self {
            Self::NotEnoughMemory => Win32Error::ERROR_NOT_ENOUGH_MEMORY,
            Self::InsufficientBuffer => Win32Error::ERROR_INSUFFICIENT_BUFFER,
            Self::MoreData => Win32Error::ERROR_MORE_DATA,
        }
    }
}

impl RefusedCodes {
    pub(crate) const fn has(self, code: RequestCode) -> bool {
        let is_provider = matches!(code, RequestCode::PROVIDER_NAME | RequestCode::PROVIDER_GUID);
        let is_english =
            matches!(code, RequestCode::ENGLISH_COUNTERSET_NAME | RequestCode::ENGLISH_COUNTER_NAMES);
        let is_counterset = matches!(code, RequestCode::COUNTERSET);
        match self {
            Self::None => false,
            Self::Counterset => is_counterset,
            Self::Provider => is_provider,
            Self::English => is_english,
            Self::All => is_counterset || is_provider || is_english,
        }
    }
}

impl AggregateIdentifiers {
    /// Whether it has data with a name.
    pub(crate) const fn is_named(self) -> bool {
        matches!(self, Self::Named | Self::NamedElseNoData)
    }

    /// Whether the other form is taken, and has no data.
    pub(crate) const fn takes_other(self) -> bool {
        matches!(self, Self::NamelessElseNoData | Self::NamedElseNoData)
    }
}
