//! The server's side: what is refused before a method runs, and how sizes are answered.

use counters::pcq::perflibv2::methods::{
    CloseQueryHandleReply, CloseQueryHandleRequest, EnumerateCountersetInstancesRequest,
    EnumerateCountersetsReply, EnumerateCountersetsRequest, OpenQueryHandleRequest, QueryCounterDataReply,
    QueryCounterDataRequest, QueryCounterInfoRequest, QueryCountersetRegistrationInfoRequest,
    ValidateCountersReply, ValidateCountersRequest,
};
use counters::pcq::perflibv2::{CallInfo, Change, dispatch};
use counters::pcq::types::{QueryHandle, RequestCode};
use counters::pcq::wire::CounterIdentifier;
use dcerpc::{AuthLevel, FaultStatus};
use rpc::ndr::{ConformantBytes, ContextHandle, WideString};
use rpc::{FromStub, Message};
use wire::Win32Error;

use crate::pcq::fixture::{FakeServer, HANDLE, PROCESSOR_INFORMATION, buffer_reply, sealed};

fn call<R: Message>(server: &mut FakeServer, request: &R) -> Result<Vec<u8>, FaultStatus> {
    dispatch(server, sealed(), R::METHOD.opnum, &request.to_stub().unwrap())
}

fn machine() -> WideString {
    WideString("web1".to_owned())
}

fn open_server() -> FakeServer {
    FakeServer { open: true, ..FakeServer::default() }
}

fn registration(code: u32, in_size: u32) -> QueryCountersetRegistrationInfoRequest {
    QueryCountersetRegistrationInfoRequest {
        machine: machine(),
        counterset: PROCESSOR_INFORMATION,
        request_code: RequestCode(code),
        request_lcid: 0,
        in_size,
    }
}

fn validate(data: Vec<u8>) -> ValidateCountersRequest<'static> {
    validate_of(HANDLE, data)
}

fn validate_of(query: QueryHandle, data: Vec<u8>) -> ValidateCountersRequest<'static> {
    let in_size = u32::try_from(data.len()).unwrap();
    ValidateCountersRequest { query, in_size, data: ConformantBytes(data.into()), change: Change::Add }
}

/// The status that each method answers at `auth_level`, by opnum.
fn statuses(auth_level: AuthLevel) -> Vec<Win32Error> {
    let set = PROCESSOR_INFORMATION;
    let identifiers = CounterIdentifier::encode_list(&[CounterIdentifier::all_instances(set)]).unwrap();
    let in_size = 4096;
    let stubs = [
        EnumerateCountersetsRequest { machine: machine(), in_size: 256 }.to_stub(),
        registration(1, in_size).to_stub(),
        EnumerateCountersetInstancesRequest { machine: machine(), counterset: set, in_size }.to_stub(),
        OpenQueryHandleRequest { machine: machine() }.to_stub(),
        CloseQueryHandleRequest { query: HANDLE }.to_stub(),
        QueryCounterInfoRequest { query: HANDLE, in_size }.to_stub(),
        QueryCounterDataRequest { query: HANDLE, in_size }.to_stub(),
        validate(identifiers).to_stub(),
    ];
    let statuses = stubs.into_iter().zip(0..).map(|(stub, opnum)| {
        let mut server = open_server();
        let reply =
            dispatch(&mut server, CallInfo { auth_level, object: None }, opnum, &stub.unwrap()).unwrap();
        // The status is the last parameter of every method.
        Win32Error(u32::from_le_bytes(*reply.last_chunk().unwrap()))
    });
    statuses.collect()
}

//= [MS-PCQ] 3.1.4.1.1
//= type=test
//# The server returns this value to the client if the authentication level of the client is less than
//# RPC_C_AUTHN_LEVEL_PKT_PRIVACY.
#[test]
fn every_method_refuses_calls_that_are_not_sealed() {
    assert_eq!(statuses(AuthLevel::PKT_INTEGRITY), [Win32Error::ERROR_ACCESS_DENIED; 8]);
    assert_eq!(statuses(AuthLevel::NONE), [Win32Error::ERROR_ACCESS_DENIED; 8]);
    assert_eq!(statuses(AuthLevel::PKT_PRIVACY), [Win32Error::ERROR_SUCCESS; 8]);
}

/// [MS-PCQ] 3.1.4.1.7: the handle stays as it is.
#[test]
fn closing_at_too_low_a_level_leaves_the_query_open() {
    let mut server = open_server();
    let info = CallInfo { auth_level: AuthLevel::PKT_INTEGRITY, object: None };
    let stub = CloseQueryHandleRequest { query: HANDLE }.to_stub().unwrap();
    let reply = dispatch(&mut server, info, 4, &stub).unwrap();
    let reply = CloseQueryHandleReply::from_stub(&reply).unwrap();
    assert_eq!(reply, CloseQueryHandleReply { query: HANDLE, status: Win32Error::ERROR_ACCESS_DENIED });
    assert!(server.open);
}

#[test]
fn a_closed_query_answers_null_and_is_gone() {
    let mut server = open_server();
    let reply = call(&mut server, &CloseQueryHandleRequest { query: HANDLE }).unwrap();
    let reply = CloseQueryHandleReply::from_stub(&reply).unwrap();
    assert_eq!(
        reply,
        CloseQueryHandleReply { query: ContextHandle::NULL, status: Win32Error::ERROR_SUCCESS }
    );
    let again = call(&mut server, &QueryCounterDataRequest { query: HANDLE, in_size: 0 });
    assert_eq!(again, Err(FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH));
}

#[test]
fn a_handle_that_names_no_open_query_is_a_fault() {
    let wrong = QueryHandle { attributes: 1, ..HANDLE };
    for handle in [ContextHandle::NULL, wrong] {
        let mut server = open_server();
        let mismatch = Err(FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH);
        assert_eq!(call(&mut server, &CloseQueryHandleRequest { query: handle }), mismatch);
        assert_eq!(call(&mut server, &QueryCounterInfoRequest { query: handle, in_size: 9 }), mismatch);
        assert_eq!(call(&mut server, &QueryCounterDataRequest { query: handle, in_size: 9 }), mismatch);
        let request = validate_of(handle, vec![]);
        assert_eq!(call(&mut server, &request), mismatch);
        assert!(server.open);
    }
}

#[test]
fn a_size_out_of_its_range_is_a_fault_of_its_own() {
    let out_of_range = Err(FaultStatus::RPC_S_INVALID_BOUND);
    let server = &mut open_server();

    let set = PROCESSOR_INFORMATION;
    let handle = HANDLE;
    let enumerate = |in_size| EnumerateCountersetsRequest { machine: machine(), in_size };
    assert_eq!(call(server, &enumerate(257)), out_of_range);
    call(server, &enumerate(256)).unwrap();
    assert_eq!(call(server, &registration(1, 134_217_729)), out_of_range);
    call(server, &registration(1, 134_217_728)).unwrap();
    let instances =
        |in_size| EnumerateCountersetInstancesRequest { machine: machine(), counterset: set, in_size };
    assert_eq!(call(server, &instances(67_108_865)), out_of_range);
    call(server, &instances(67_108_864)).unwrap();
    assert_eq!(call(server, &QueryCounterInfoRequest { query: handle, in_size: 67_108_865 }), out_of_range);
    call(server, &QueryCounterInfoRequest { query: handle, in_size: 67_108_864 }).unwrap();
    assert_eq!(
        call(server, &QueryCounterDataRequest { query: handle, in_size: 1_073_741_825 }),
        out_of_range
    );
    call(server, &QueryCounterDataRequest { query: handle, in_size: 1_073_741_824 }).unwrap();
    // Of opnum 7 the size alone, before the buffer that would have to follow.
    let mut stub = validate(vec![]).to_stub().unwrap();
    stub[20..24].copy_from_slice(&67_108_865_u32.to_le_bytes());
    assert_eq!(dispatch(server, sealed(), 7, &stub), out_of_range);
}

#[test]
fn an_opnum_that_is_none_is_a_fault() {
    assert_eq!(dispatch(&mut open_server(), sealed(), 8, &[]), Err(FaultStatus::NCA_S_OP_RNG_ERROR));
}

#[test]
fn a_stub_that_is_cut_off_is_a_fault_wherever_it_is_cut() {
    let stub = validate(vec![0; 40]).to_stub().unwrap();
    for end in 0..stub.len() {
        let result = dispatch(&mut open_server(), sealed(), 7, &stub[..end]);
        assert_eq!(result, Err(FaultStatus::RPC_X_BAD_STUB_DATA), "cut at {end}");
    }
    let mut lying = stub;
    lying[24] = 39; // max_count is not dwInSize
    let result = dispatch(&mut open_server(), sealed(), 7, &lying);
    assert_eq!(result, Err(FaultStatus::RPC_X_BAD_STUB_DATA));
}

#[test]
fn a_buffer_too_small_is_answered_with_the_size_needed_and_nothing_else() {
    for in_size in [0, 127] {
        let reply = call(&mut open_server(), &registration(1, in_size)).unwrap();
        let reply = QueryCounterDataReply::from_stub(&reply).unwrap();
        let status = Win32Error::ERROR_NOT_ENOUGH_MEMORY;
        assert_eq!(reply, buffer_reply(in_size, 128, &[], status));
    }
    let exact = call(&mut open_server(), &registration(1, 128)).unwrap();
    let exact = QueryCounterDataReply::from_stub(&exact).unwrap();
    assert_eq!((exact.data.bytes.len(), exact.status), (128, Win32Error::ERROR_SUCCESS));
}

#[test]
fn countersets_are_counted_not_measured() {
    let mut server = FakeServer { others: vec![PROCESSOR_INFORMATION; 2], ..FakeServer::default() };
    let mut reply = |in_size| {
        let stub =
            call(&mut server, &EnumerateCountersetsRequest { machine: WideString::default(), in_size })
                .unwrap();
        EnumerateCountersetsReply::from_stub(&stub).unwrap()
    };
    let too_small = reply(2);
    assert_eq!((too_small.guids.elements.len(), too_small.rtn_size), (0, 3));
    assert_eq!(too_small.status, Win32Error::ERROR_NOT_ENOUGH_MEMORY);
    assert_eq!(reply(3).guids.elements.len(), 3);
}

#[test]
fn a_request_code_that_is_none_is_an_invalid_parameter() {
    for code in [0, 11] {
        let reply = call(&mut open_server(), &registration(code, 64)).unwrap();
        let reply = QueryCounterDataReply::from_stub(&reply).unwrap();
        assert_eq!(reply.status, Win32Error::ERROR_INVALID_PARAMETER);
    }
}

/// A client may leave more room behind a name than we would: its buffer comes back as it was, but for the results.
#[test]
fn identifiers_come_back_in_the_layout_of_the_client() {
    let unknown = CounterIdentifier::all_instances(wire::Guid::NULL);
    let roomy = CounterIdentifier::all_instances(PROCESSOR_INFORMATION);
    let mut data = CounterIdentifier::encode_list(&[unknown]).unwrap();
    let start = data.len();
    data.extend_from_slice(&CounterIdentifier::encode_list(&[roomy]).unwrap());
    data.extend_from_slice(&[0xfe; 8]);
    data[start + 20] += 8;
    let mut server = FakeServer {
        open: true,
        identifiers: vec![CounterIdentifier::all_instances(PROCESSOR_INFORMATION)],
        ..FakeServer::default()
    };
    let stub = call(&mut server, &validate(data.clone())).unwrap();
    let reply = ValidateCountersReply::from_stub(&stub).unwrap();
    data[16..20].copy_from_slice(&Win32Error::ERROR_WMI_GUID_NOT_FOUND.0.to_le_bytes());
    data[start + 32] = 1;
    assert_eq!(
        reply,
        ValidateCountersReply { data: ConformantBytes(data[..].into()), status: Win32Error::ERROR_SUCCESS }
    );
}

#[test]
fn identifiers_that_contradict_themselves_are_an_invalid_parameter_and_add_nothing() {
    let good =
        CounterIdentifier::encode_list(&[CounterIdentifier::all_instances(PROCESSOR_INFORMATION)]).unwrap();
    let with_size = |size: u8| {
        let mut data = good.clone();
        data[20] = size;
        data
    };
    for data in [vec![], good[..39].to_vec(), with_size(39), with_size(44), with_size(56)] {
        let mut server = open_server();
        let stub = call(&mut server, &validate(data.clone())).unwrap();
        let reply = ValidateCountersReply::from_stub(&stub).unwrap();
        let status = Win32Error::ERROR_INVALID_PARAMETER;
        assert_eq!(reply, ValidateCountersReply { data: ConformantBytes(data[..].into()), status });
        assert!(server.identifiers.is_empty());
    }
}
