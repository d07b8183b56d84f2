use codec::{Decode, EncodeError, EncodeResult, ReadCursor};
use dcerpc::{AuthLevel, FaultStatus};
use ms_dtyp::{Guid, Win32Error};
use ndr::ContextHandle;

use crate::Method;
use crate::perflibv2::ops::{
    BufferReply, CloseQueryHandleRequest, EnumerateCounterSetInstancesRequest, EnumerateCounterSetReply,
    EnumerateCounterSetRequest, HandleReply, OpenQueryHandleRequest, QueryCounterDataRequest,
    QueryCounterInfoRequest, QueryCounterSetRegistrationInfoRequest, Request, ValidateCountersReply,
    ValidateCountersRequest,
};
use crate::perflibv2::{Change, RegistrationInfo, RegistrationRequest};
use crate::types::QueryHandle;
use crate::wire::{CounterIdentifier, InstanceInfo};

/// What the server's side of a call has to know about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallInfo {
    /// How the call is protected.
    pub auth_level: AuthLevel,
}

/// What the methods do, on one association. [`dispatch`] has read the parameters, checked the level and the
/// handle; it writes the answer and compares its size with the client's buffer.
pub trait PerflibV2Server {
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

    /// Opnum 6: the values, as a [`crate::wire::QueryDataWriter`] writes them.
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

/// Identifiers in one call of `PerflibV2ValidateCounters`.
const IDENTIFIERS_MAX: u32 = 1 << 16;

/// Executes one call: the request's stub in, the response's stub out.
///
/// # Errors
/// The fault to answer: `nca_s_op_rng_error` for an opnum that is none, `RPC_S_INVALID_BOUND` for a parameter out
/// of its range, `RPC_X_BAD_STUB_DATA` for other stubs, `nca_s_fault_context_mismatch` for a handle that names no
/// open query.
pub fn dispatch(
    server: &mut impl PerflibV2Server,
    info: CallInfo,
    opnum: u16,
    stub: &[u8],
) -> Result<Vec<u8>, FaultStatus> {
    let reply = match Method::from_opnum(opnum).ok_or(FaultStatus::NCA_S_OP_RNG_ERROR)? {
        Method::EnumerateCounterSet => enumerate_counter_set(server, info, &parse(stub)?),
        Method::QueryCounterSetRegistrationInfo => registration_info(server, info, &parse(stub)?),
        Method::EnumerateCounterSetInstances => enumerate_instances(server, info, &parse(stub)?),
        Method::OpenQueryHandle => open_query_handle(server, info, &parse(stub)?),
        Method::CloseQueryHandle => {
            let request: CloseQueryHandleRequest = parse(stub)?;
            close_query_handle(server, info, check_open(server, request.handle)?)
        }
        Method::QueryCounterInfo => {
            let QueryCounterInfoRequest { handle, in_size } = parse(stub)?;
            let query = check_open(server, handle)?;
            buffer_reply(info, in_size, || {
                encoded(CounterIdentifier::encode_list(&server.query_counter_info(query)?))
            })
        }
        Method::QueryCounterData => {
            let QueryCounterDataRequest { handle, in_size } = parse(stub)?;
            let query = check_open(server, handle)?;
            buffer_reply(info, in_size, || server.query_counter_data(query))
        }
        Method::ValidateCounters => {
            let request: ValidateCountersRequest = parse(stub)?;
            let query = check_open(server, request.handle)?;
            validate_counters(server, info, query, request)
        }
    };
    reply.map_err(|_error| FaultStatus::NCA_S_FAULT_UNSPEC)
}

fn parse<R: Request>(stub: &[u8]) -> Result<R, FaultStatus> {
    R::from_stub(stub).map_err(|error| match error {
        ndr::Error::Range(_) => FaultStatus::RPC_S_INVALID_BOUND,
        ndr::Error::Decode(_) => FaultStatus::RPC_X_BAD_STUB_DATA,
    })
}

/// The interface has `strict_context_handle`: what is no open query of this association never reaches a method.
fn check_open(server: &impl PerflibV2Server, handle: QueryHandle) -> Result<QueryHandle, FaultStatus> {
    if !handle.is_null() && server.is_open(handle) {
        Ok(handle)
    } else {
        Err(FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH)
    }
}

//= [MS-PCQ] 3.1.4.1
//# The server returns this value to the client if the authentication level of the client is less than
//# RPC_C_AUTHN_LEVEL_PKT_PRIVACY.
fn check_level(info: CallInfo) -> Result<(), Win32Error> {
    if info.auth_level >= AuthLevel::PKT_PRIVACY { Ok(()) } else { Err(Win32Error::ERROR_ACCESS_DENIED) }
}

fn encoded<T>(result: EncodeResult<T>) -> Result<T, Win32Error> {
    result.map_err(|_: EncodeError| Win32Error::ERROR_OUTOFMEMORY)
}

fn enumerate_counter_set(
    server: &mut impl PerflibV2Server,
    info: CallInfo,
    request: &EnumerateCounterSetRequest,
) -> EncodeResult<Vec<u8>> {
    let in_size = request.in_size;
    let result = check_level(info).and_then(|()| server.enumerate_counter_set(&request.machine));
    let (rtn_size, guids, status) = match result {
        Ok(guids) => {
            let rtn_size = u32::try_from(guids.len()).unwrap_or(u32::MAX);
            if rtn_size <= in_size {
                (rtn_size, guids, Win32Error::ERROR_SUCCESS)
            } else {
                (rtn_size, Vec::new(), Win32Error::ERROR_NOT_ENOUGH_MEMORY)
            }
        }
        Err(status) => (0, Vec::new(), status),
    };
    EnumerateCounterSetReply { in_size, rtn_size, guids, status }.to_stub()
}

fn registration_info(
    server: &mut impl PerflibV2Server,
    info: CallInfo,
    request: &QueryCounterSetRegistrationInfoRequest,
) -> EncodeResult<Vec<u8>> {
    let QueryCounterSetRegistrationInfoRequest { machine, counter_set_guid, .. } = request;
    buffer_reply(info, request.in_size, || {
        let what = RegistrationRequest::from_wire(request.request_code, request.request_lcid)
            .ok_or(Win32Error::ERROR_INVALID_PARAMETER)?;
        let answer = server.query_counter_set_registration_info(machine, *counter_set_guid, what)?;
        encoded(answer.encode())
    })
}

fn enumerate_instances(
    server: &mut impl PerflibV2Server,
    info: CallInfo,
    request: &EnumerateCounterSetInstancesRequest,
) -> EncodeResult<Vec<u8>> {
    let EnumerateCounterSetInstancesRequest { machine, counter_set_guid, in_size } = request;
    buffer_reply(info, *in_size, || {
        let instances = server.enumerate_counter_set_instances(machine, *counter_set_guid)?;
        encoded(InstanceInfo::encode_list(&instances))
    })
}

fn open_query_handle(
    server: &mut impl PerflibV2Server,
    info: CallInfo,
    request: &OpenQueryHandleRequest,
) -> EncodeResult<Vec<u8>> {
    match check_level(info).and_then(|()| server.open_query_handle(&request.machine)) {
        Ok(handle) => HandleReply { handle, status: Win32Error::ERROR_SUCCESS }.to_stub(),
        Err(status) => HandleReply { handle: ContextHandle::NULL, status }.to_stub(),
    }
}

fn close_query_handle(
    server: &mut impl PerflibV2Server,
    info: CallInfo,
    query: QueryHandle,
) -> EncodeResult<Vec<u8>> {
    match check_level(info).and_then(|()| server.close_query_handle(query)) {
        Ok(()) => HandleReply { handle: ContextHandle::NULL, status: Win32Error::ERROR_SUCCESS }.to_stub(),
        Err(status) => HandleReply { handle: query, status }.to_stub(),
    }
}

fn validate_counters(
    server: &mut impl PerflibV2Server,
    info: CallInfo,
    query: QueryHandle,
    request: ValidateCountersRequest,
) -> EncodeResult<Vec<u8>> {
    let ValidateCountersRequest { mut data, change, .. } = request;
    let result = check_level(info).and_then(|()| {
        let (offsets, mut identifiers) = decode_identifiers(&data)?;
        server.validate_counters(query, &mut identifiers, change)?;
        for (offset, identifier) in offsets.into_iter().zip(&identifiers) {
            CounterIdentifier::patch_result(&mut data[offset..], identifier.status, identifier.index);
        }
        Ok(())
    });
    let status = result.err().unwrap_or(Win32Error::ERROR_SUCCESS);
    ValidateCountersReply { data: &data, status }.to_stub()
}

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

/// Answers with a buffer, or with its size where the client has not enough room.
fn buffer_reply(
    info: CallInfo,
    in_size: u32,
    answer: impl FnOnce() -> Result<Vec<u8>, Win32Error>,
) -> EncodeResult<Vec<u8>> {
    let (rtn_size, data, status) = match check_level(info).and_then(|()| answer()) {
        Ok(data) => match u32::try_from(data.len()) {
            Ok(size) if size <= in_size => (size, data, Win32Error::ERROR_SUCCESS),
            Ok(size) => (size, Vec::new(), Win32Error::ERROR_NOT_ENOUGH_MEMORY),
            Err(_) => (0, Vec::new(), Win32Error::ERROR_OUTOFMEMORY),
        },
        Err(status) => (0, Vec::new(), status),
    };
    BufferReply { in_size, rtn_size, data: &data, status }.to_stub()
}
