use core::convert::Infallible;
use core::future::{Future, ready};

use counters::pcq::perflibv2::methods::{PerflibV2, QueryCounterDataReply};
use counters::pcq::perflibv2::{CallInfo, Change, Limits, PerflibV2Client, RegistrationInfo, dispatch};
use counters::pcq::types::{CounterId, Lcid};
use counters::pcq::wire::CounterIdentifier;
use dcerpc::{AuthLevel, Channel};
use rpc::ndr::ConformantVaryingBytes;
use rpc::{Interface, Message};
use test_support::future::now;
use wire::{Guid, Win32Error};

use super::calls::{calls_max, in_size};
use super::{SET, Service};
use crate::input::{Input, chunk};

const LIMITS: Limits = Limits {
    retries_max: 2,
    reply_bytes_max: 8 << 10,
    counters_max: 32,
    instances_max: 32,
    first_reply_bytes: 64,
};

/// Data of one query in one conversation.
const POLLS: usize = 4;

/// All that a client does with a host, one method after the other, against stubs of the input: whatever the host says of
/// sizes, each method gives up in time, no request offers more room than the limits, and all of them can be read.
pub fn conversation(bytes: &[u8]) {
    converse(Answers::Canned(Input::new(bytes)));
}

/// What a server that is right answers, as an input.
pub(crate) fn honest_conversation() -> Vec<u8> {
    match converse(Answers::Served(Service::default(), Vec::new())) {
        Answers::Served(_, said) => said,
        Answers::Canned(_) => Vec::new(),
    }
}

fn converse(answers: Answers<'_>) -> Answers<'_> {
    let channel = Watched { answers, opnum: u16::MAX, calls: 0 };
    let mut client = PerflibV2Client::new(channel, "web1").with_limits(LIMITS);
    let _sets = now(client.enumerate_counter_set());
    next(&mut client);
    let _registration = now(client.counter_set_registration(SET));
    next(&mut client);
    let _names = now(client.counter_names(SET, Lcid(1033)));
    next(&mut client);
    let _instances = now(client.enumerate_counter_set_instances(SET));
    next(&mut client);
    let Ok(mut query) = now(client.open_query_handle()) else { return client.into_channel().answers };
    next(&mut client);
    let _added = now(client.validate_counters(&query, &[CounterIdentifier::all_instances(SET)], Change::Add));
    next(&mut client);
    let _info = now(client.query_counter_info(&query));
    for _ in 0..POLLS {
        next(&mut client);
        if let Ok(data) = now(client.query_counter_data(&mut query)) {
            assert!(u32::try_from(data.bytes().len()).is_ok_and(|size| size <= LIMITS.reply_bytes_max));
        }
    }
    next(&mut client);
    let _closed = now(client.close_query_handle(query));
    client.into_channel().answers
}

/// Called between two methods: the last one made no more calls than it may.
fn next(client: &mut PerflibV2Client<Watched<'_>>) {
    let channel = client.channel();
    assert!(channel.calls <= calls_max(LIMITS), "opnum {} was called too often", channel.opnum);
    channel.calls = 0;
}

/// Where answers come from.
enum Answers<'a> {
    /// The input's stubs, one to each call.
    Canned(Input<'a>),
    /// A server, and what it said.
    Served(Service, Vec<u8>),
}

impl Answers<'_> {
    fn answer(&mut self, opnum: u16, stub: &[u8]) -> Vec<u8> {
        match self {
            Self::Canned(input) => input.chunk().unwrap_or_default().to_vec(),
            Self::Served(server, said) => {
                let info = CallInfo { auth_level: AuthLevel::PKT_PRIVACY, object: None };
                let stub = dispatch(server, info, opnum, stub).unwrap_or_default();
                said.extend(chunk(&stub));
                stub
            }
        }
    }
}

/// Looks at the requests.
struct Watched<'a> {
    answers: Answers<'a>,
    opnum: u16,
    calls: u32,
}

impl Channel for Watched<'_> {
    type Error = Infallible;

    fn call(
        &mut self,
        opnum: u16,
        _object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, Infallible>> + Send {
        self.calls += 1;
        self.opnum = opnum;
        let method = PerflibV2::method(opnum).expect("the client calls methods");
        let in_size = in_size(opnum, stub).expect("our server reads what our client writes");
        assert!(in_size <= LIMITS.reply_bytes_max, "{method}: room for {in_size} bytes");
        ready(Ok(self.answers.answer(opnum, stub)))
    }
}

/// What a registration request is answered with, by the request code in the first byte: the client reads it or says why
/// not, and what it read reads the same again.
pub fn registration(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let code = input.byte();
    let Some(info) = read_registration(code, input.rest()) else { return };
    let written = info.encode().expect("what was read can be written");
    assert_eq!(read_registration(code, &written), Some(info));
}

fn read_registration(code: u8, buffer: &[u8]) -> Option<RegistrationInfo> {
    let limits = Limits { reply_bytes_max: 1 << 20, first_reply_bytes: 1 << 20, ..LIMITS };
    let mut client = PerflibV2Client::new(Served(buffer), "web1").with_limits(limits);
    let (id, lcid) = (CounterId(1), Lcid(1033));
    Some(match code % 10 {
        0 => RegistrationInfo::CounterSet(now(client.counter_set_registration(SET)).ok()?),
        1 => RegistrationInfo::Counter(now(client.counter_registration(SET, id)).ok()?),
        2 => RegistrationInfo::Text(now(client.counter_set_name(SET, lcid)).ok()?),
        3 => RegistrationInfo::Text(now(client.counter_set_help(SET, lcid)).ok()?),
        4 => RegistrationInfo::Strings(now(client.counter_names(SET, lcid)).ok()?),
        5 => RegistrationInfo::Strings(now(client.counter_helps(SET, lcid)).ok()?),
        6 => RegistrationInfo::Text(now(client.provider_name(SET)).ok()?),
        7 => RegistrationInfo::ProviderGuid(now(client.provider_guid(SET)).ok()?),
        8 => RegistrationInfo::Text(now(client.english_counter_set_name(SET)).ok()?),
        _ => RegistrationInfo::Strings(now(client.english_counter_names(SET)).ok()?),
    })
}

/// Answers one buffer to every call.
struct Served<'a>(&'a [u8]);

impl Channel for Served<'_> {
    type Error = Infallible;

    fn call(
        &mut self,
        _opnum: u16,
        _object: Option<Guid>,
        _stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, Infallible>> + Send {
        let size = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        let status = Win32Error::ERROR_SUCCESS;
        let data = ConformantVaryingBytes { max_count: size, bytes: self.0.into() };
        let reply = QueryCounterDataReply { out_size: size, rtn_size: size, data, status };
        ready(Ok(reply.to_stub().expect("there is room for all of it")))
    }
}
