//! The client's side, against our server in memory and against servers that lie.

use counters::pcq::Error;
use counters::pcq::perflibv2::methods::{OpenQueryHandleReply, ValidateCountersReply};
use counters::pcq::perflibv2::{Change, Limits, PerflibV2Client};
use counters::pcq::types::{BlockType, CounterId, InstanceId, Lcid};
use counters::pcq::wire::{Body, CounterIdentifier, RawValue};
use rpc::Message;
use rpc::ndr::ConformantBytes;
use test_support::future::now;
use wire::{Guid, Win32Error};

use crate::pcq::fixture::{
    Canned, FakeServer, HANDLE, Loop, PROCESSOR_INFORMATION, PROVIDER, buffer_reply, countersets_reply,
};

fn client(server: FakeServer) -> PerflibV2Client<Loop> {
    PerflibV2Client::new(Loop::new(server), "web1")
}

#[test]
fn registration_is_read_in_all_its_forms() {
    let mut client = client(FakeServer::default());
    let set = PROCESSOR_INFORMATION;
    assert_eq!(now(client.enumerate_counter_set()).unwrap(), [set]);
    let registration = now(client.counter_set_registration(set)).unwrap();
    assert_eq!(registration.counters.len(), 2);
    assert_eq!(now(client.counter_registration(set, CounterId(27))).unwrap(), registration.counters[1]);
    assert_eq!(now(client.counter_set_name(set, Lcid(0x407))).unwrap(), "Prozessorinformationen");
    assert_eq!(now(client.counter_set_help(set, Lcid::DEFAULT)).unwrap(), "Über Prozessoren.");
    assert_eq!(now(client.english_counter_set_name(set)).unwrap(), "Processor Information");
    assert_eq!(now(client.provider_name(set)).unwrap(), "Microsoft-Windows-Kernel");
    assert_eq!(now(client.provider_guid(set)).unwrap(), PROVIDER);
    let names = now(client.english_counter_names(set)).unwrap();
    assert_eq!(names.text(CounterId(26)), Some("% Processor Utility"));
    assert_eq!(names.text(CounterId(27)), None);
    assert_eq!(now(client.counter_names(set, Lcid::DEFAULT)).unwrap(), names);
    let helps = now(client.counter_helps(set, Lcid::DEFAULT)).unwrap();
    assert_eq!(helps.text(CounterId(26)), Some("% Processor Utility says how busy"));
    let instances = now(client.enumerate_counter_set_instances(set)).unwrap();
    assert_eq!(instances, client.channel().server.instances());
    // The first call of each method offers room enough.
    assert_eq!(client.channel().calls, 12);
}

#[test]
fn what_the_server_does_not_have_is_its_status() {
    let mut client = client(FakeServer::default());
    let error = now(client.counter_set_registration(Guid::NULL)).unwrap_err();
    assert_eq!(error.status(), Some(Win32Error::ERROR_WMI_GUID_NOT_FOUND));
    assert_eq!(error.to_string(), "query counterset registration info: ERROR_WMI_GUID_NOT_FOUND");
    let error = now(client.counter_registration(PROCESSOR_INFORMATION, CounterId(9))).unwrap_err();
    assert_eq!(error.status(), Some(Win32Error::ERROR_WMI_ITEMID_NOT_FOUND));
}

#[test]
fn a_query_gives_all_kinds_of_blocks() {
    let mut client = client(FakeServer::default());
    let mut query = now(client.open_query_handle()).unwrap();
    let identifier = |counter: Option<u32>, name: &str| CounterIdentifier {
        counter_id: counter.map_or(CounterId::ALL, CounterId),
        instance_name: Some(name.to_owned()),
        ..CounterIdentifier::single_instance(PROCESSOR_INFORMATION)
    };
    let identifiers = [
        identifier(None, "gone"),
        identifier(Some(27), "_Total"),
        identifier(None, "_Total"),
        identifier(Some(26), "*"),
        identifier(None, "*"),
        CounterIdentifier::all_instances(Guid::NULL),
    ];
    let added = now(client.validate_counters(&query, &identifiers, Change::Add)).unwrap();
    assert_eq!(added.iter().map(|added| added.index).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 0]);
    assert_eq!(added[5].status, Win32Error::ERROR_WMI_GUID_NOT_FOUND);
    assert_eq!(now(client.query_counter_info(&query)).unwrap(), added[..5]);

    let reply = now(client.query_counter_data(&mut query)).unwrap();
    let blocks: Vec<_> = reply.data().blocks().map(Result::unwrap).collect();
    assert!(matches!(blocks[0].body, Body::ErrorReturn));
    assert_eq!(blocks[0].status, Win32Error::ERROR_NO_DATA);
    assert!(matches!(blocks[1].body, Body::SingleCounter(RawValue::U32(_))));
    assert!(matches!(blocks[2].body, Body::MultiCounters { .. }));
    assert!(matches!(blocks[3].body, Body::MultiInstances(_)));
    assert!(matches!(blocks[4].body, Body::CounterSet { .. }));
    // How many counters each names, and how many values each instance has.
    let shapes = |index: usize| {
        let values: Vec<_> = blocks[index].instances().map(|instance| instance.values.len()).collect();
        (blocks[index].counters().len(), values)
    };
    let all: Vec<_> = (0..5).map(shapes).collect();
    assert_eq!(all, [(0, vec![]), (0, vec![1]), (2, vec![2]), (0, vec![1, 1]), (2, vec![2, 2])]);
    let total = blocks[4].instances().last().unwrap();
    assert_eq!((total.instance_id, &total.name == "_Total"), (InstanceId(1), true));

    now(client.validate_counters(&query, &identifiers[..4], Change::Remove)).unwrap();
    assert_eq!(now(client.query_counter_info(&query)).unwrap(), added[4..5]);
    now(client.close_query_handle(query)).unwrap();
    let error = now(client.query_counter_info(&query)).unwrap_err();
    assert!(matches!(error, Error::Rpc(rpc::Error::Call { .. })));
    assert_eq!(error.method().opnum, 5);
    assert!(error.to_string().starts_with("query counter info: fault 0x1c00001a"), "{error}");
}

/// The data of all instances, whose number is as given, with `growth` more each call.
fn polling(
    instances: u32,
    growth: u32,
    limits: Limits,
) -> (PerflibV2Client<Loop>, counters::pcq::perflibv2::Query) {
    let server = FakeServer { more_instances: instances, ..FakeServer::default() };
    let mut client = client(server).with_limits(limits);
    let query = now(client.open_query_handle()).unwrap();
    let all = [CounterIdentifier::all_instances(PROCESSOR_INFORMATION)];
    now(client.validate_counters(&query, &all, Change::Add)).unwrap();
    client.channel().server.growth = growth;
    client.channel().calls = 0;
    (client, query)
}

fn instances(reply: &counters::pcq::perflibv2::CounterData) -> usize {
    reply.data().blocks().next().unwrap().unwrap().instances().count()
}

#[test]
fn a_steady_poll_is_one_call() {
    let (mut client, mut query) = polling(5000, 0, Limits::default());
    let first = now(client.query_counter_data(&mut query)).unwrap();
    assert_eq!((instances(&first), client.channel().calls), (5002, 2));
    for poll in 1..=5 {
        now(client.query_counter_data(&mut query)).unwrap();
        assert_eq!(client.channel().calls, 2 + poll);
    }
    // A few instances more still fit.
    client.channel().server.more_instances += 300;
    assert_eq!(instances(&now(client.query_counter_data(&mut query)).unwrap()), 5302);
    assert_eq!(client.channel().calls, 8);
}

#[test]
fn data_that_grow_between_the_calls_are_caught_up_with() {
    let limits = Limits { first_reply_bytes: 0, ..Limits::default() };
    let (mut client, mut query) = polling(100, 60, limits);
    let reply = now(client.query_counter_data(&mut query)).unwrap();
    assert!(instances(&reply) > 102);
    assert!((3..=5).contains(&client.channel().calls), "{} calls", client.channel().calls);
}

#[test]
fn data_that_outgrow_every_buffer_are_given_up_on() {
    let limits = Limits { first_reply_bytes: 0, retries_max: 3, ..Limits::default() };
    let (mut client, mut query) = polling(100, 100_000, limits);
    let error = now(client.query_counter_data(&mut query)).unwrap_err();
    assert_eq!(error.to_string(), "query counter data: the buffer was too small in each of 4 calls");
    assert_eq!(client.channel().calls, 4);
}

#[test]
fn more_bytes_than_the_limit_are_not_asked_for() {
    let limits = Limits { reply_bytes_max: 1000, ..Limits::default() };
    let (mut client, mut query) = polling(100, 0, limits);
    let error = now(client.query_counter_data(&mut query)).unwrap_err();
    assert!(matches!(error, Error::LimitExceeded { limit: 1000, unit: "bytes", .. }), "{error}");
    assert_eq!(client.channel().calls, 1);
}

#[test]
fn more_countersets_than_the_method_can_return_are_an_error_that_says_so() {
    let mut client = client(FakeServer { others: vec![PROVIDER; 256], ..FakeServer::default() });
    let error = now(client.enumerate_counter_set()).unwrap_err();
    assert_eq!(error.to_string(), "enumerate countersets: the server has 257 countersets, the limit is 256");
}

#[test]
fn more_instances_or_counters_than_the_limit_are_refused() {
    let few = Limits { instances_max: 1, counters_max: 1, ..Limits::default() };
    let mut client = client(FakeServer::default()).with_limits(few);
    let error = now(client.enumerate_counter_set_instances(PROCESSOR_INFORMATION)).unwrap_err();
    assert!(error.to_string().ends_with("2 is above the limit of 1 (offset 16)"), "{error}");
    let error = now(client.counter_set_registration(PROCESSOR_INFORMATION)).unwrap_err();
    assert!(error.to_string().ends_with("2 is above the limit of 1 (offset 24)"), "{error}");
}

fn canned(response: Vec<u8>) -> PerflibV2Client<Canned> {
    PerflibV2Client::new(Canned::new(response), "web1")
}

#[test]
fn a_server_that_returns_more_than_was_asked_for_is_refused() {
    let data = vec![0; 70_000];
    let reply = buffer_reply(70_000, 70_000, &data, Win32Error::ERROR_SUCCESS);
    let error = now(canned(reply.to_stub().unwrap()).provider_name(PROCESSOR_INFORMATION)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "query counterset registration info: PerflibV2QueryCounterSetRegistrationInfo: `lpData`: more than \
         the request's in_size (offset 70024)"
    );
    let guids = vec![PROVIDER; 257];
    let status = Win32Error::ERROR_SUCCESS;
    let reply = countersets_reply(257, 257, guids, status);
    let error = now(canned(reply.to_stub().unwrap()).enumerate_counter_set()).unwrap_err();
    assert!(matches!(error, Error::Rpc(rpc::Error::Stub { .. })), "{error}");
}

#[test]
fn sizes_that_contradict_each_other_are_refused() {
    let reply = buffer_reply(64, 4, &[0; 4], Win32Error::ERROR_SUCCESS);
    let mut stub = reply.to_stub().unwrap();
    stub[0] = 5;
    let error = now(canned(stub).provider_name(PROCESSOR_INFORMATION)).unwrap_err();
    assert!(error.to_string().contains("actual_count is not pdwOutSize"), "{error}");
}

#[test]
fn a_server_that_never_has_room_is_asked_a_few_times_with_more_each_time() {
    let status = Win32Error::ERROR_NOT_ENOUGH_MEMORY;
    let reply = buffer_reply(0, 1, &[], status);
    let mut client = canned(reply.to_stub().unwrap());
    let error = now(client.provider_name(PROCESSOR_INFORMATION)).unwrap_err();
    assert!(matches!(error, Error::Unsettled { calls: 5, .. }), "{error}");
    let rooms = rooms(&mut client);
    assert!(rooms.is_sorted() && rooms[0] < rooms[4], "{rooms:?}");
}

/// The room that was offered in each call.
fn rooms(client: &mut PerflibV2Client<Canned>) -> Vec<u32> {
    let room = |(_, stub): &(u16, Vec<u8>)| u32::from_le_bytes(*stub.last_chunk().unwrap());
    client.channel().requests.iter().map(room).collect()
}

#[test]
fn the_other_statuses_for_a_small_buffer_ask_for_more_as_the_documented_one_does() {
    for status in [Win32Error::ERROR_NOT_ENOUGH_MEMORY, Win32Error::ERROR_INSUFFICIENT_BUFFER] {
        let reply = buffer_reply(0, 100_000, &[], status);
        let mut client = canned(reply.to_stub().unwrap());
        let error = now(client.provider_name(PROCESSOR_INFORMATION)).unwrap_err();
        assert!(matches!(error, Error::Unsettled { calls: 5, .. }), "{status}: {error}");
        let rooms = rooms(&mut client);
        assert!(rooms[1] >= 100_000 && rooms.is_sorted(), "{status}: {rooms:?}");
    }
}

#[test]
fn more_data_says_no_size_and_doubles_the_room_up_to_the_limit() {
    let limits = Limits { first_reply_bytes: 0, reply_bytes_max: 5000, ..Limits::default() };
    for rtn_size in [0, u32::MAX] {
        let reply = buffer_reply(0, rtn_size, &[], Win32Error::ERROR_MORE_DATA);
        let mut client = canned(reply.to_stub().unwrap()).with_limits(limits);
        let error = now(client.provider_name(PROCESSOR_INFORMATION)).unwrap_err();
        assert!(matches!(error, Error::Unsettled { calls: 5, .. }), "{error}");
        assert_eq!(rooms(&mut client), [0, 1024, 2048, 4096, 5000]);
    }
}

#[test]
fn each_status_for_a_small_buffer_means_more_countersets_than_can_be_returned() {
    for status in [Win32Error::ERROR_INSUFFICIENT_BUFFER, Win32Error::ERROR_MORE_DATA] {
        let reply = countersets_reply(256, 0, vec![], status);
        let error = now(canned(reply.to_stub().unwrap()).enumerate_counter_set()).unwrap_err();
        assert!(matches!(error, Error::LimitExceeded { needed: 257, limit: 256, .. }), "{status}: {error}");
    }
}

#[test]
fn a_text_without_its_nul_ends_with_the_buffer() {
    let text = |data: &[u8]| {
        let in_size = u32::try_from(data.len()).unwrap();
        let reply = buffer_reply(in_size, in_size, data, Win32Error::ERROR_SUCCESS);
        now(canned(reply.to_stub().unwrap()).english_counter_set_name(PROCESSOR_INFORMATION)).unwrap()
    };
    assert_eq!(text(b"a\0b\0"), "ab");
    assert_eq!(text(b"a\0b\0c"), "ab");
    assert_eq!(
        (text(b""), text(b"\0\0"), text(b"a\0\0\0b\0")),
        (String::new(), String::new(), "a".to_owned())
    );
}

#[test]
fn another_number_of_identifiers_than_sent_is_refused() {
    let opened = OpenQueryHandleReply { query: HANDLE, status: Win32Error::ERROR_SUCCESS }.to_stub().unwrap();
    let mut client = canned(opened);
    let query = now(client.open_query_handle()).unwrap();
    let one = [CounterIdentifier::all_instances(PROCESSOR_INFORMATION)];
    for count in [0, 2] {
        let data = CounterIdentifier::encode_list(&vec![one[0].clone(); count]).unwrap();
        let reply = ValidateCountersReply {
            data: ConformantBytes(data[..].into()),
            status: Win32Error::ERROR_SUCCESS,
        };
        client.channel().response = reply.to_stub().unwrap();
        let error = now(client.validate_counters(&query, &one, Change::Add)).unwrap_err();
        assert!(matches!(error, Error::Buffer { .. }), "{error}");
        assert_eq!(error.method().opnum, 7);
    }
}

#[test]
fn a_data_header_that_lies_is_an_error_of_the_call() {
    let opened = OpenQueryHandleReply { query: HANDLE, status: Win32Error::ERROR_SUCCESS }.to_stub().unwrap();
    let mut client = canned(opened);
    let mut query = now(client.open_query_handle()).unwrap();
    let data = [0xff; 48];
    let reply = buffer_reply(48, 48, &data, Win32Error::ERROR_SUCCESS);
    client.channel().response = reply.to_stub().unwrap();
    let error = now(client.query_counter_data(&mut query)).unwrap_err();
    assert!(error.to_string().starts_with("query counter data: PERF_DATA_HEADER: `dwTotalSize`"), "{error}");
}

#[test]
fn names_of_block_types_are_those_of_the_document() {
    assert_eq!(BlockType::PERF_COUNTERSET.to_string(), "PERF_COUNTERSET");
    assert_eq!(BlockType(3).to_string(), "0x00000003");
}
