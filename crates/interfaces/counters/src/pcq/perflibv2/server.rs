//! What a server of PerflibV2 does beyond single calls.

use dcerpc::{AuthLevel, FaultStatus};
use rpc::ndr::{ConformantBytes, ContextHandle};
use rpc::{CallInfo, Method, ServerResult};
use wire::{Decode, EncodeError, EncodeResult, Guid, ReadCursor, Win32Error};

use crate::pcq::perflibv2::methods::{
    CloseQueryHandleReply, CloseQueryHandleRequest, EnumerateCountersetInstancesReply,
    EnumerateCountersetInstancesRequest, EnumerateCountersetsReply, EnumerateCountersetsRequest,
    OpenQueryHandleReply, OpenQueryHandleRequest, PerflibV2Server, QueryCounterDataReply,
    QueryCounterDataRequest, QueryCounterInfoReply, QueryCounterInfoRequest,
    QueryCountersetRegistrationInfoReply, QueryCountersetRegistrationInfoRequest, SizedRequest,
    ValidateCountersReply, ValidateCountersRequest,
};
use crate::pcq::perflibv2::{Change, RegistrationInfo, RegistrationRequest};
use crate::pcq::types::QueryHandle;
use crate::pcq::wire::{CounterIdentifier, InstanceInfo};

/// What the methods do, on one association, with values in place of buffers. [`dispatch`] has read the parameters, checked
/// the level and the handle; it writes the answer and compares its size with the client's buffer.
pub trait PerflibV2Service {
    /// Opnum 0: the countersets.
    ///
    /// # Errors
    /// What the method returns; so with all of them.
    fn enumerate_counter_set(&mut self, machine: &str) -> Result<Vec<Guid>, Win32Error>;

    /// Opnum 1: what a counterset and its counters are.
    ///
    /// # Errors
    /// `ERROR_WMI_GUID_NOT_FOUND`, `ERROR_WMI_ITEMID_NOT_FOUND`.
    fn query_counter_set_registration_info(
        &mut self,
        machine: &str,
        set: Guid,
        request: RegistrationRequest,
    ) -> Result<RegistrationInfo, Win32Error>;

    /// Opnum 2: the instances that are there now.
    ///
    /// # Errors
    /// `ERROR_WMI_GUID_NOT_FOUND`, `ERROR_WMI_INSTANCE_NOT_FOUND`.
    fn enumerate_counter_set_instances(
        &mut self,
        machine: &str,
        set: Guid,
    ) -> Result<Vec<InstanceInfo>, Win32Error>;

    /// Opnum 3: opens a query and names it. The name is not NULL and not guessable.
    ///
    /// # Errors
    /// `ERROR_NO_SYSTEM_RESOURCES`.
    fn open_query_handle(&mut self, machine: &str) -> Result<QueryHandle, Win32Error>;

    /// Whether a handle names a query of this association that is open.
    fn is_open(&self, query: QueryHandle) -> bool;

    /// Opnum 4: closes a query that is open.
    ///
    /// # Errors
    /// None is expected.
    fn close_query_handle(&mut self, query: QueryHandle) -> Result<(), Win32Error>;

    /// Opnum 5: what a query will fetch, with the index of each block.
    ///
    /// # Errors
    /// None is expected.
    fn query_counter_info(&mut self, query: QueryHandle) -> Result<Vec<CounterIdentifier>, Win32Error>;

    /// Opnum 6: the values, as a [`crate::pcq::wire::QueryDataWriter`] writes them.
    ///
    /// # Errors
    /// None is expected.
    fn query_counter_data(&mut self, query: QueryHandle) -> Result<Vec<u8>, Win32Error>;

    /// Opnum 7: adds counters to a query or removes them, and fills in `status` and `index` of each. Other
    /// fields of the identifiers are not sent back.
    ///
    /// # Errors
    /// What the whole call returns.
    fn validate_counters(
        &mut self,
        query: QueryHandle,
        identifiers: &mut [CounterIdentifier],
        change: Change,
    ) -> Result<(), Win32Error>;
}

/// Executes one call: the request's stub in, the response's stub out.
///
/// # Errors
/// As [`PerflibV2Server::dispatch`].
pub fn dispatch(
    service: &mut impl PerflibV2Service,
    info: CallInfo,
    opnum: u16,
    stub: &[u8],
) -> Result<Vec<u8>, FaultStatus> {
    Server(service).dispatch(&info, opnum, stub)
}

/// A service with buffers in place of values.
struct Server<'a, S>(&'a mut S);

const SUCCESS: Win32Error = Win32Error::ERROR_SUCCESS;

impl<S: PerflibV2Service> PerflibV2Server for Server<'_, S> {
    fn is_open(&self, handle: ContextHandle) -> bool {
        self.0.is_open(handle)
    }

    //= [MS-PCQ] 3.1.4.1
    //# The server returns this value to the client if the authentication level of the client is less than
    //# RPC_C_AUTHN_LEVEL_PKT_PRIVACY.
    fn authorize(&mut self, call: &CallInfo, _method: &Method) -> ServerResult<(), Win32Error> {
        if call.auth_level >= AuthLevel::PKT_PRIVACY {
            Ok(())
        } else {
            Err(Win32Error::ERROR_ACCESS_DENIED.into())
        }
    }

    fn enumerate_countersets(
        &mut self,
        request: &EnumerateCountersetsRequest,
    ) -> ServerResult<EnumerateCountersetsReply, Win32Error> {
        Ok(request.answer(self.0.enumerate_counter_set(&request.machine.0)?))
    }

    fn query_counterset_registration_info(
        &mut self,
        request: &QueryCountersetRegistrationInfoRequest,
    ) -> ServerResult<QueryCountersetRegistrationInfoReply<'_>, Win32Error> {
        let what = RegistrationRequest::from_wire(request.request_code, request.request_lcid);
        let what = what.ok_or(Win32Error::ERROR_INVALID_PARAMETER)?;
        let machine = &request.machine.0;
        let info = self.0.query_counter_set_registration_info(machine, request.counterset, what)?;
        Ok(request.answer(encoded(info.encode())?))
    }

    fn enumerate_counterset_instances(
        &mut self,
        request: &EnumerateCountersetInstancesRequest,
    ) -> ServerResult<EnumerateCountersetInstancesReply<'_>, Win32Error> {
        let instances = self.0.enumerate_counter_set_instances(&request.machine.0, request.counterset)?;
        Ok(request.answer(encoded(InstanceInfo::encode_list(&instances))?))
    }

    fn open_query_handle(
        &mut self,
        request: &OpenQueryHandleRequest,
    ) -> ServerResult<OpenQueryHandleReply, Win32Error> {
        let query = self.0.open_query_handle(&request.machine.0)?;
        Ok(OpenQueryHandleReply { query, status: SUCCESS })
    }

    fn close_query_handle(
        &mut self,
        request: &CloseQueryHandleRequest,
    ) -> ServerResult<CloseQueryHandleReply, Win32Error> {
        self.0.close_query_handle(request.query)?;
        Ok(CloseQueryHandleReply { query: ContextHandle::NULL, status: SUCCESS })
    }

    fn query_counter_info(
        &mut self,
        request: &QueryCounterInfoRequest,
    ) -> ServerResult<QueryCounterInfoReply<'_>, Win32Error> {
        let identifiers = self.0.query_counter_info(request.query)?;
        Ok(request.answer(encoded(CounterIdentifier::encode_list(&identifiers))?))
    }

    fn query_counter_data(
        &mut self,
        request: &QueryCounterDataRequest,
    ) -> ServerResult<QueryCounterDataReply<'_>, Win32Error> {
        Ok(request.answer(self.0.query_counter_data(request.query)?))
    }

    fn validate_counters(
        &mut self,
        request: &ValidateCountersRequest<'_>,
    ) -> ServerResult<ValidateCountersReply<'_>, Win32Error> {
        let mut data = request.data.0.to_vec();
        let (offsets, mut identifiers) = decode_identifiers(&data)?;
        self.0.validate_counters(request.query, &mut identifiers, request.change)?;
        for (offset, identifier) in offsets.into_iter().zip(&identifiers) {
            CounterIdentifier::patch_result(&mut data[offset..], identifier.status, identifier.index);
        }
        Ok(ValidateCountersReply { data: ConformantBytes(data.into()), status: SUCCESS })
    }
}

fn encoded<T>(result: EncodeResult<T>) -> Result<T, Win32Error> {
    result.map_err(|_: EncodeError| Win32Error::ERROR_OUTOFMEMORY)
}

/// Identifiers in one call of `PerflibV2ValidateCounters`.
const IDENTIFIERS_MAX: u32 = 1 << 16;

/// The identifiers and where each begins: the buffer goes back as it came, except for its results.
fn decode_identifiers(data: &[u8]) -> Result<(Vec<usize>, Vec<CounterIdentifier>), Win32Error> {
    let invalid = Win32Error::ERROR_INVALID_PARAMETER;
    let src = &mut ReadCursor::new(data);
    let (mut offsets, mut identifiers) = (Vec::new(), Vec::new());
    while offsets.is_empty() || !src.is_empty() {
        if u32::try_from(offsets.len()).is_ok_and(|count| count >= IDENTIFIERS_MAX) {
            return Err(Win32Error::ERROR_OUTOFMEMORY);
        }
        offsets.push(src.pos());
        identifiers.push(CounterIdentifier::decode(src).map_err(|_error| invalid)?);
    }
    Ok((offsets, identifiers))
}
