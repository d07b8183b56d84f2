//! Traces: `ITraceDataCollector`.

use ms_pla::ITraceDataCollectorServer;
use ms_pla::trace_data_collector::*;
use ms_pla::xml::TraceDataCollector;
use rpc::ServerResult;
use wire::HResult;

use super::Calls;
use super::collector_record::{Body, Collector};
use super::item::{Collection, Item};
use super::property::{Property, not_nil, numbers, properties};
use crate::model::data_collector_sets::providers;
use crate::service::objects::Refusing;

impl Calls<'_, Item<Collector>> {
    fn trace<R>(&self, read: impl FnOnce(&mut TraceDataCollector) -> R) -> Result<R, HResult> {
        match &mut self.object.part.lock().body {
            Body::Trace(record) => Ok(read(record)),
            _ => Err(HResult::E_NOINTERFACE),
        }
    }
}

#[rustfmt::skip]
impl ITraceDataCollectorServer for Calls<'_, Item<Collector>> {
    numbers! {
        trace {
            buffer_size_kb = 8 in 1..=1024 => get_buffer_size(GetBufferSizeRequest) GetBufferSizeReply, put_buffer_size(PutBufferSizeRequest) PutBufferSizeReply;
        }
    }
    properties! {
        trace {
            buffers_lost: get_buffers_lost(GetBuffersLostRequest) GetBuffersLostReply;
            buffers_written: get_buffers_written(GetBuffersWrittenRequest) GetBuffersWrittenReply;
            clock_type: get_clock_type(GetClockTypeRequest) GetClockTypeReply, put_clock_type(PutClockTypeRequest) PutClockTypeReply;
            events_lost: get_events_lost(GetEventsLostRequest) GetEventsLostReply;
            extended_modes: get_extended_modes(GetExtendedModesRequest) GetExtendedModesReply, put_extended_modes(PutExtendedModesRequest) PutExtendedModesReply;
            flush_timer_s: get_flush_timer(GetFlushTimerRequest) GetFlushTimerReply, put_flush_timer(PutFlushTimerRequest) PutFlushTimerReply;
            free_buffers: get_free_buffers(GetFreeBuffersRequest) GetFreeBuffersReply;
            guid: get_guid(GetGuidRequest) GetGuidReply, put_guid(PutGuidRequest) [not_nil] PutGuidReply;
            buffers_max: get_maximum_buffers(GetMaximumBuffersRequest) GetMaximumBuffersReply, put_maximum_buffers(PutMaximumBuffersRequest) PutMaximumBuffersReply;
            buffers_min: get_minimum_buffers(GetMinimumBuffersRequest) GetMinimumBuffersReply, put_minimum_buffers(PutMinimumBuffersRequest) PutMinimumBuffersReply;
            buffers: get_number_of_buffers(GetNumberOfBuffersRequest) GetNumberOfBuffersReply, put_number_of_buffers(PutNumberOfBuffersRequest) PutNumberOfBuffersReply;
            preallocates_file: get_preallocate_file(GetPreallocateFileRequest) GetPreallocateFileReply, put_preallocate_file(PutPreallocateFileRequest) PutPreallocateFileReply;
            is_per_process: get_process_mode(GetProcessModeRequest) GetProcessModeReply, put_process_mode(PutProcessModeRequest) PutProcessModeReply;
            real_time_buffers_lost: get_real_time_buffers_lost(GetRealTimeBuffersLostRequest) GetRealTimeBuffersLostReply;
            session_name: get_session_name(GetSessionNameRequest) GetSessionNameReply, put_session_name(PutSessionNameRequest) PutSessionNameReply;
            session_thread_id: get_session_thread_id(GetSessionThreadIdRequest) GetSessionThreadIdReply;
            stream_mode: get_stream_mode(GetStreamModeRequest) GetStreamModeReply, put_stream_mode(PutStreamModeRequest) PutStreamModeReply;
        }
    }

    fn get_is_kernel_trace(
        &mut self,
        _: &GetIsKernelTraceRequest,
    ) -> ServerResult<GetIsKernelTraceReply, HResult> {
        let is_kernel = self.trace(|trace| trace.guid == Some(providers::KERNEL))?;
        Ok(GetIsKernelTraceReply { value: is_kernel.into(), status: HResult::S_OK })
    }

    /// A session that does not run has no number.
    fn get_session_id(&mut self, _: &GetSessionIdRequest) -> ServerResult<GetSessionIdReply, HResult> {
        let value = self.trace(|trace| u64::from(trace.session_thread_id.unwrap_or(0)))?;
        Ok(GetSessionIdReply { value, status: HResult::S_OK })
    }

    fn get_trace_data_providers(
        &mut self,
        _: &GetTraceDataProvidersRequest,
    ) -> ServerResult<GetTraceDataProvidersReply<'static>, HResult> {
        let providers = Collection::new(&self.object.part.lock().providers, ());
        Ok(GetTraceDataProvidersReply { value: providers.returned(self.context)?, status: HResult::S_OK })
    }
}

impl ITraceDataCollectorServer for Refusing {}
