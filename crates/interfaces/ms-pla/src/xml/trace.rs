//! Trace collectors and their providers, as XML.

use wire::Guid;

use super::field::Field;
use super::read::Limits;
use super::record::{collector, record};
use super::{Attribute, Element, Error, Node, read};
use crate::types::{AutoPathFormat, ClockType, DataCollectorType, StreamMode, ValueMapType};

collector! {
    /// See section 3.2.4.9 of [MS-PLA].
    TraceDataCollector = "TraceDataCollector" {
        one {
            guid: Guid = "Guid",
            /// KB of one buffer.
            buffer_size_kb: u32 = "BufferSize",
            /// Buffers that could not be written.
            buffers_lost: u32 = "BuffersLost",
            /// Buffers that were written.
            buffers_written: u32 = "BuffersWritten",
            /// The clock of the time stamps.
            clock_type: ClockType = "ClockType",
            /// Events that no buffer had room for.
            events_lost: u32 = "EventsLost",
            /// Flags of the session.
            extended_modes: u32 = "ExtendedModes",
            /// Seconds after which a buffer is written that is not full.
            flush_timer_s: u32 = "FlushTimer",
            /// Buffers that are free.
            free_buffers: u32 = "FreeBuffers",
            /// Buffers that there may be.
            buffers_max: u32 = "MaximumBuffers",
            /// Buffers that there are from the beginning.
            buffers_min: u32 = "MinimumBuffers",
            /// Buffers that there are.
            buffers: u32 = "NumberOfBuffers",
            /// Whether the file has its full size from the beginning.
            preallocates_file: bool = "PreallocateFile",
            /// Whether each process has buffers of its own.
            is_per_process: bool = "ProcessMode",
            /// Buffers that no consumer took in time.
            real_time_buffers_lost: u32 = "RealTimeBuffersLost",
            session_name: String = "SessionName",
            /// The thread that writes its buffers.
            session_thread_id: u32 = "SessionThreadId",
            stream_mode: StreamMode = "StreamMode",
        }
        many {
            /// The providers of its events.
            providers: TraceDataProvider = "TraceDataProvider",
        }
    }
}

record! {
    /// See section 3.2.4.11 of [MS-PLA].
    TraceDataProvider = "TraceDataProvider" {
        one {
            display_name: String = "DisplayName",
            /// Whether the filter is in force.
            is_filter_enabled: bool = "FilterEnabled",
            /// The kind of the filter.
            filter_type: u32 = "FilterType",
            /// The level up to which events are wanted.
            level: ValueMap = "Level",
            /// Keywords of which an event needs one.
            keywords_any: ValueMap = "KeywordsAny",
            /// Keywords of which an event needs all.
            keywords_all: ValueMap = "KeywordsAll",
            /// What is added to each event.
            properties: ValueMap = "Properties",
            guid: Guid = "Guid",
            filter_data: String = "FilterData",
        }
        many {}
    }
}

record! {
    /// [MS-PLA] 3.2.4.18; its element has the name of the property.
    ValueMap = "ValueMap" {
        one {
            description: String = "Description",
            /// How the value follows from the items.
            kind: ValueMapType = "ValueMapType",
            /// The value, a number as it was written: decimal, or hexadecimal after `0x`.
            value: String = "Value",
        }
        many {
            items: ValueMapItem = "ValueMapItem",
        }
    }
}

record! {
    /// See section 3.2.4.17 of [MS-PLA].
    ValueMapItem = "ValueMapItem" {
        one {
            key: String = "Key",
            description: String = "Description",
            /// Whether it is chosen.
            is_enabled: bool = "Enabled",
            /// The value, a number as it was written: decimal, or hexadecimal after `0x`.
            value: String = "Value",
        }
        many {}
    }
}
