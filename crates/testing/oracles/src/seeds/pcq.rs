//! Buffers and calls of performance counters, and calls of the registry.

use counters::pcq::perflibv2::methods::{
    CloseQueryHandleRequest, OpenQueryHandleRequest, QueryCounterDataRequest, ValidateCountersRequest,
};
use counters::pcq::perflibv2::{CallInfo, Change, dispatch};
use counters::pcq::types::{CounterId, CounterType, DetailLevel, InstanceId, InstanceType};
use counters::pcq::wire::{
    Clocks, CounterHeader, CounterIdentifier, CounterRegInfo, CounterSetRegInfo, CounterSetRegistration,
    CounterStrings, DataHeader, InstanceInfo, Padding, QueryDataWriter, RawValue,
};
use rpc::Message;
use rpc::ndr::{ConformantBytes, WideString};
use wire::{Decode, FileTime, ReadCursor, Win32Error};

use super::{MADE, Seed, chunk};
use crate::ms_pcq::{HANDLE, SET, Service, honest_conversation};
use crate::{law, ms_rrp, perflib_v1};

/// The blocks of replies one by one, each after its kind.
pub(super) fn blocks() -> Vec<Seed> {
    let odd =
        [Padding::Uncounted, Padding::None].map(|padding| (format!("_{padding:?}"), odd_query_data(padding)));
    let all = [(String::new(), query_data())].into_iter().chain(odd);
    all.flat_map(|(suffix, data)| blocks_of(&data, &suffix.to_lowercase())).collect()
}

fn blocks_of(data: &[u8], suffix: &str) -> Vec<Seed> {
    let mut rest = &data[DataHeader::FIXED_PART_SIZE..];
    let mut seeds = Vec::new();
    while let Ok(header) = CounterHeader::decode(&mut ReadCursor::new(rest)) {
        let (block, behind) = rest.split_at(usize::try_from(header.size_bytes).unwrap_or(0));
        let kind = header.block_type.0.to_le_bytes()[0];
        let bytes = [&[kind], &block[CounterHeader::FIXED_PART_SIZE..]].concat();
        seeds.push(("pcq_blocks", format!("kind_{kind}{suffix}"), bytes));
        rest = behind;
    }
    seeds
}

/// Buffers of registration, each after its request code less one.
pub(super) fn registrations() -> Vec<Seed> {
    let text = wire::encode_utf16("Prozessorinformationen\0");
    let buffer = |name: &str| buffers().into_iter().find(|(_, own, _)| own == name).map(|(.., bytes)| bytes);
    let registration = buffer("registration").unwrap_or_default();
    let strings = buffer("strings").unwrap_or_default();
    let counter =
        registration[CounterSetRegInfo::FIXED_PART_SIZE..][..CounterRegInfo::FIXED_PART_SIZE].to_vec();
    let guid = SET.to_bytes().to_vec();
    let by_code = [&registration, &counter, &text, &text, &strings, &strings, &text, &guid, &text, &strings];
    let seed = |(code, bytes): (u8, &Vec<u8>)| {
        ("pcq_registration", format!("code_{}", code + 1), [&[code], &bytes[..]].concat())
    };
    (0..).zip(by_code).map(seed).collect()
}

/// Valid buffers, which the oracle also reads as buffers of the other kinds.
pub(super) fn buffers() -> Vec<Seed> {
    let counter = |id| CounterRegInfo::new(CounterId(id), CounterType::PERF_COUNTER_BULK_COUNT);
    let registration = CounterSetRegistration {
        info: CounterSetRegInfo {
            counter_set_guid: SET,
            detail_level: DetailLevel::NOVICE,
            num_counters: 2,
            instance_type: InstanceType::MULTIPLE,
        },
        counters: vec![counter(1), counter(2)],
    };
    let named = |id, name: &str| (CounterId(id), Some(name.to_owned()));
    let strings = CounterStrings { entries: vec![named(1, "% Zeit"), (CounterId(2), None), named(3, "")] };
    let instances = InstanceInfo::encode_list(&instances()).expect(MADE);
    let all = [CounterIdentifier::all_instances(SET), CounterIdentifier::single_instance(SET)];
    let identifiers = CounterIdentifier::encode_list(&all).expect(MADE);
    vec![
        ("pcq_lists", "registration".to_owned(), law::encoded(&registration)),
        ("pcq_lists", "strings".to_owned(), law::encoded(&strings)),
        ("pcq_lists", "instances".to_owned(), instances),
        ("pcq_lists", "identifiers".to_owned(), identifiers),
        ("pcq_lists", "value".to_owned(), law::encoded(&RawValue::Other(b"text of a counter"))),
        ("pcq_query_data", "all_blocks".to_owned(), query_data()),
        ("pcq_query_data", "odd_uncounted".to_owned(), odd_query_data(Padding::Uncounted)),
        ("pcq_query_data", "odd_none".to_owned(), odd_query_data(Padding::None)),
    ]
}

fn instances() -> Vec<InstanceInfo> {
    let instance = |id, name: &str| InstanceInfo { instance_id: InstanceId(id), name: name.to_owned() };
    vec![instance(0, "0,0"), instance(1, "_Total"), instance(2, "")]
}

fn query_data() -> Vec<u8> {
    let instances = instances();
    let (ids, values) = ([CounterId(1), CounterId(2)], [RawValue::U64(7), RawValue::U32(8)]);
    let clocks = Clocks { perf_time_stamp: 1, perf_freq: 10_000_000, perf_time_100ns: FileTime(1 << 57) };
    let mut writer = QueryDataWriter::new(clocks);
    writer.error_return(Win32Error::ERROR_NO_DATA).expect(MADE);
    writer.single_counter(RawValue::Other(b"text")).expect(MADE);
    writer.multi_counters(&ids, &values).expect(MADE);
    writer.multi_instances(instances.iter().map(|instance| (instance, values[0]))).expect(MADE);
    writer.counter_set(&ids, instances.iter().map(|instance| (instance, values))).expect(MADE);
    writer.finish().expect(MADE)
}

/// Odd numbers of counters in each way, and a text that can be taken for three values.
fn odd_query_data(padding: Padding) -> Vec<u8> {
    let (instances, ids) = (instances(), [1, 2, 3].map(CounterId));
    let text = [1_u32, 0, 16, 0].map(u32::to_le_bytes).concat();
    let values = [RawValue::Other(&text), RawValue::U64(24), RawValue::U64(5)];
    let mut writer = QueryDataWriter::new(Clocks::default()).with_padding(padding, padding);
    writer.counter_set(&ids, instances.iter().map(|instance| (instance, values))).expect(MADE);
    writer.multi_counters(&ids, &values).expect(MADE);
    writer.finish().expect(MADE)
}

/// A query from its beginning to its end, as requests and as the responses to them.
pub(super) fn calls() -> Vec<Seed> {
    let all = CounterIdentifier::encode_list(&[CounterIdentifier::all_instances(SET)]).expect(MADE);
    let open = OpenQueryHandleRequest { machine: WideString("web1".to_owned()) }.to_stub();
    let in_size = u32::try_from(all.len()).expect(MADE);
    let data = ConformantBytes(all.into());
    let add = ValidateCountersRequest { query: HANDLE, in_size, data, change: Change::Add }.to_stub();
    let data = QueryCounterDataRequest { query: HANDLE, in_size: 4096 }.to_stub();
    let close = CloseQueryHandleRequest { query: HANDLE }.to_stub();
    let mut server = Service::default();
    let mut requests = Vec::new();
    let mut seeds = Vec::new();
    for (opnum, method, stub) in [(3, 9, open), (7, 8, add), (6, 10, data), (4, 9, close)] {
        let stub = stub.expect(MADE);
        let info = CallInfo { auth_level: dcerpc::AuthLevel::PKT_PRIVACY, object: None };
        let response = dispatch(&mut server, info, opnum, &stub).expect("the request is right");
        requests.extend([&[opnum.to_le_bytes()[0]], &chunk(&stub)[..]].concat());
        let response = [&[method], &chunk(&response)[..]].concat();
        seeds.push(("pcq_responses", format!("made_{opnum}"), response));
    }
    seeds.push(("pcq_requests", "query".to_owned(), requests));
    seeds.push(("pcq_conversation", "honest".to_owned(), honest_conversation()));
    seeds.push(("rrp_requests", "honest".to_owned(), ms_rrp::honest_requests()));
    seeds.push(("perflib_block", "honest".to_owned(), perflib_v1::honest_block()));
    seeds.push(("perflib_names", "honest".to_owned(), perflib_v1::honest_names()));
    seeds.push(("rrp_values", "memory".to_owned(), ms_rrp::honest_resource_list()));
    seeds.push(("rrp_values", "texts".to_owned(), wire::encode_utf16("C:\\a 1 2\0D:\\b 0 0\0\0")));
    seeds.push(("rrp_responses", "honest".to_owned(), ms_rrp::honest_responses()));
    seeds
}
