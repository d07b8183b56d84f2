use core::convert::Infallible;
use core::future::{Future, ready};

use counters::pcq::perflibv2::methods::{
    CloseQueryHandleReply, EnumerateCountersetInstancesRequest, EnumerateCountersetsReply,
    EnumerateCountersetsRequest, PerflibV2, QueryCounterDataReply, QueryCounterDataRequest,
    QueryCounterInfoRequest, QueryCountersetRegistrationInfoRequest, ValidateCountersReply,
    ValidateCountersRequest,
};
use counters::pcq::perflibv2::{CallInfo, Change, Limits, PerflibV2Client, dispatch};
use counters::pcq::types::{CounterId, Lcid};
use counters::pcq::wire::CounterIdentifier;
use dcerpc::{AuthLevel, Channel, FaultStatus};
use rpc::{Direction, FromStub, Interface};
use test_support::future::now;
use wire::{Guid, Win32Error};

use super::{SET, Service, query_data};
use crate::input::Input;
use crate::interfaces::is_read;

/// Calls in one input.
const CALLS_MAX: usize = 16;

/// Requests to a server, each an opnum and a stub: exactly what can be read is executed, and the answer is one that
/// the method can have.
pub fn requests(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut server = Service::default();
    for _ in 0..CALLS_MAX {
        let first = input.byte();
        let Some(stub) = input.chunk() else { return };
        let opnum = u16::from(first & 0x0f);
        let auth_level = if first & 0x80 == 0 { AuthLevel::PKT_PRIVACY } else { AuthLevel::PKT_INTEGRITY };
        let reply = dispatch(&mut server, CallInfo { auth_level, object: None }, opnum, stub);
        if PerflibV2::method(opnum).is_none() {
            assert_eq!(reply, Err(FaultStatus::NCA_S_OP_RNG_ERROR));
            return;
        }
        match (in_size(opnum, stub), reply) {
            (Some(in_size), Ok(reply)) => {
                let status = check_reply(opnum, &reply, in_size);
                assert!(auth_level == AuthLevel::PKT_PRIVACY || status == Win32Error::ERROR_ACCESS_DENIED);
            }
            (Some(_), Err(fault)) => assert_eq!(fault, FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH),
            (None, reply) => assert!(reply.is_err(), "a stub that cannot be read is not executed"),
        }
    }
}

/// Reads a request, and writes and reads it again; answers the room that it offers.
pub(super) fn in_size(opnum: u16, stub: &[u8]) -> Option<u32> {
    if !is_read::<PerflibV2>(Direction::Request, opnum, stub) {
        return None;
    }
    let in_size = match opnum {
        0 => EnumerateCountersetsRequest::from_stub(stub).map(|request| request.in_size),
        1 => QueryCountersetRegistrationInfoRequest::from_stub(stub).map(|request| request.in_size),
        2 => EnumerateCountersetInstancesRequest::from_stub(stub).map(|request| request.in_size),
        5 => QueryCounterInfoRequest::from_stub(stub).map(|request| request.in_size),
        6 => QueryCounterDataRequest::from_stub(stub).map(|request| request.in_size),
        7 => ValidateCountersRequest::from_stub(stub).map(|request| request.in_size),
        _ => Ok(0),
    };
    Some(in_size.expect("the request was read"))
}

fn check_reply(opnum: u16, reply: &[u8], in_size: u32) -> Win32Error {
    const READABLE: &str = "our client reads what our server writes";
    assert!(is_read::<PerflibV2>(Direction::Reply, opnum, reply));
    match opnum {
        0 => EnumerateCountersetsReply::from_stub(reply).expect(READABLE).status,
        3 | 4 => CloseQueryHandleReply::from_stub(reply).expect(READABLE).status,
        7 => {
            let reply = ValidateCountersReply::from_stub(reply).expect(READABLE);
            assert_eq!(u32::try_from(reply.data.0.len()), Ok(in_size));
            reply.status
        }
        _ => {
            // The others are alike.
            let QueryCounterDataReply { rtn_size, data, status, .. } =
                QueryCounterDataReply::from_stub(reply).expect(READABLE);
            assert!(
                data.max_count == in_size
                    && u32::try_from(data.bytes.len()).is_ok_and(|size| size <= in_size)
            );
            let whole = u32::try_from(data.bytes.len()) == Ok(rtn_size);
            assert!(whole || status == Win32Error::ERROR_NOT_ENOUGH_MEMORY && data.bytes.is_empty());
            status
        }
    }
}

const LIMITS: Limits = Limits {
    retries_max: 3,
    reply_bytes_max: 32 << 10,
    counters_max: 100,
    instances_max: 100,
    first_reply_bytes: 1 << 10,
};

/// Responses to a client, each a stub; the first byte says to which method. It gives up after a few calls, and answers
/// no more than its limits say.
pub fn responses(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let method = input.byte();
    // A query that the methods after it need; opened by a response that is right.
    let opened = [vec![0, 0, 0, 0], vec![7; 16], vec![0, 0, 0, 0]].concat();
    let channel = Canned { opened: Some(opened), input, calls: 0 };
    let mut client = PerflibV2Client::new(channel, "web1").with_limits(LIMITS);
    let mut query = now(client.open_query_handle()).expect("the response is right");
    match method {
        0 => check(now(client.enumerate_counter_set()), Vec::len, 256),
        1 => check(now(client.counter_set_registration(SET)), |it| it.counters.len(), LIMITS.counters_max),
        2 => drop(now(client.counter_registration(SET, CounterId(1)))),
        3 => drop(now(client.counter_set_name(SET, Lcid(1033)))),
        4 => check(now(client.english_counter_names(SET)), |it| it.entries.len(), LIMITS.counters_max),
        5 => drop(now(client.provider_guid(SET))),
        6 => check(now(client.enumerate_counter_set_instances(SET)), Vec::len, LIMITS.instances_max),
        7 => check(now(client.query_counter_info(&query)), Vec::len, LIMITS.counters_max),
        8 => {
            let identifiers =
                [CounterIdentifier::all_instances(SET), CounterIdentifier::single_instance(SET)];
            check(now(client.validate_counters(&query, &identifiers, Change::Add)), Vec::len, 2);
        }
        9 => drop(now(client.close_query_handle(query))),
        _ => {
            if let Ok(data) = now(client.query_counter_data(&mut query)) {
                assert!(u32::try_from(data.bytes().len()).is_ok_and(|size| size <= LIMITS.reply_bytes_max));
                assert_eq!(data.data().blocks().count(), parsed_blocks(data.bytes()));
                query_data(data.bytes());
            }
        }
    }
    assert!(client.channel().calls <= calls_max(LIMITS), "it gives up");
}

/// A call, those for a size that was given, and those with twice as much room up to the limit.
pub(super) const fn calls_max(limits: Limits) -> u32 {
    1 + limits.retries_max + (limits.reply_bytes_max / limits.first_reply_bytes).ilog2() + 1
}

fn parsed_blocks(bytes: &[u8]) -> usize {
    counters::pcq::wire::QueryData::parse(bytes).map_or(0, |data| data.blocks().count())
}

fn check<T, E>(result: Result<T, E>, count: impl FnOnce(&T) -> usize, limit: u32) {
    if let Ok(value) = result {
        let count = count(&value);
        assert!(u32::try_from(count).is_ok_and(|count| count <= limit), "{count} is above {limit}");
    }
}

/// Answers the input's stubs, one to each call, and nothing after the last.
struct Canned<'a> {
    opened: Option<Vec<u8>>,
    input: Input<'a>,
    calls: u32,
}

impl Channel for Canned<'_> {
    type Error = Infallible;

    fn call(
        &mut self,
        _opnum: u16,
        _object: Option<Guid>,
        _stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, Infallible>> + Send {
        let opened = self.opened.take();
        self.calls += u32::from(opened.is_none());
        ready(Ok(opened.unwrap_or_else(|| self.input.chunk().unwrap_or_default().to_vec())))
    }
}
