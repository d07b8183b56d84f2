//! [MS-PLA] 3.2.4.9: [`ITraceDataCollector`] and the messages of its methods.

use com::oaut::{Bstr, VariantBool};
use wire::{Guid, HResult};

use crate::data_collector::{IDataCollector, IDataCollectorServer};
use crate::types::{ClockType, Object, StreamMode};

rpc::interface! {
    /// [MS-PLA] 3.2.4.9: an event tracing session. Opnums 35, 37, 41, 47, 62, 64 and 68 never go over a wire.
    /// What counts buffers and events is as new as the last query of the set.
    pub orpc interface ITraceDataCollector: IDataCollector("0383750b-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.9.1: KB of one buffer.
        32 => get_BufferSize() -> (value: u32);
        /// [MS-PLA] 3.2.4.9.2: sets it.
        33 => put_BufferSize(value: u32);

        /// [MS-PLA] 3.2.4.9.3: buffers that could not be written.
        34 => get_BuffersLost() -> (value: u32);

        /// [MS-PLA] 3.2.4.9.4: buffers that were written.
        36 => get_BuffersWritten() -> (value: u32);

        /// [MS-PLA] 3.2.4.9.5: the clock of the time stamps.
        38 => get_ClockType() -> (value: ClockType);
        /// [MS-PLA] 3.2.4.9.6: sets it.
        39 => put_ClockType(value: ClockType);

        /// [MS-PLA] 3.2.4.9.7: events that no buffer had room for.
        40 => get_EventsLost() -> (value: u32);

        /// [MS-PLA] 3.2.4.9.8: flags of the session, EVENT_TRACE_PROPERTIES.LogFileMode.
        42 => get_ExtendedModes() -> (value: u32);
        /// [MS-PLA] 3.2.4.9.9: sets it.
        43 => put_ExtendedModes(value: u32);

        /// [MS-PLA] 3.2.4.9.10: seconds after which a buffer is written that is not full.
        44 => get_FlushTimer() -> (value: u32);
        /// [MS-PLA] 3.2.4.9.11: sets it.
        45 => put_FlushTimer(value: u32);

        /// [MS-PLA] 3.2.4.9.12: buffers that are free.
        46 => get_FreeBuffers() -> (value: u32);

        /// [MS-PLA] 3.2.4.9.13: the session's GUID.
        48 => get_Guid() -> (value: Guid);
        /// [MS-PLA] 3.2.4.9.14: sets it.
        49 => put_Guid(value: Guid);

        /// [MS-PLA] 3.2.4.9.15: whether this is the session of the kernel.
        50 => get_IsKernelTrace() -> (value: VariantBool);

        /// [MS-PLA] 3.2.4.9.16: buffers that there may be.
        51 => get_MaximumBuffers() -> (value: u32);
        /// [MS-PLA] 3.2.4.9.17: sets it.
        52 => put_MaximumBuffers(value: u32);

        /// [MS-PLA] 3.2.4.9.18: buffers that there are from the beginning.
        53 => get_MinimumBuffers() -> (value: u32);
        /// [MS-PLA] 3.2.4.9.19: sets it.
        54 => put_MinimumBuffers(value: u32);

        /// [MS-PLA] 3.2.4.9.20: buffers that there are.
        55 => get_NumberOfBuffers() -> (value: u32);
        /// [MS-PLA] 3.2.4.9.21: sets it.
        56 => put_NumberOfBuffers(value: u32);

        /// [MS-PLA] 3.2.4.9.22: whether the file has its full size from the beginning.
        57 => get_PreallocateFile() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.9.23: sets it.
        58 => put_PreallocateFile(value: VariantBool);

        /// [MS-PLA] 3.2.4.9.24: whether each process has buffers of its own.
        59 => get_ProcessMode() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.9.25: sets it.
        60 => put_ProcessMode(value: VariantBool);

        /// [MS-PLA] 3.2.4.9.26: buffers that no consumer took in time.
        61 => get_RealTimeBuffersLost() -> (value: u32);

        /// [MS-PLA] 3.2.4.9.27: the number of the session.
        63 => get_SessionId() -> (value: u64);

        /// [MS-PLA] 3.2.4.9.28: its name.
        65 => get_SessionName() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.9.29: sets it.
        66 => put_SessionName(value: Bstr);

        /// [MS-PLA] 3.2.4.9.30: the thread that writes its buffers.
        67 => get_SessionThreadId() -> (value: u32);

        /// [MS-PLA] 3.2.4.9.31: where events go.
        69 => get_StreamMode() -> (value: StreamMode);
        /// [MS-PLA] 3.2.4.9.32: sets it.
        70 => put_StreamMode(value: StreamMode);

        /// [MS-PLA] 3.2.4.9.33: who may write events, an
        /// [`ITraceDataProviderCollection`](crate::ITraceDataProviderCollection).
        71 => get_TraceDataProviders() -> (value: Object<'stub>);
    }
}
