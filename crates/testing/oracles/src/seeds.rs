//! The inputs that fuzzing begins with, as far as our own encoders make them; the example `seed` adds bytes of others.

mod associations;
mod stubs;

use com::comt::tracking::write::{Choices, EmptyText};
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
use rpc::ndr::{Conformant, ConformantBytes, WideString, Writer};
use wire::{Decode, FileTime, ReadCursor, Win32Error};

pub use self::associations::frames;
pub use self::stubs::{Stub, stubs};
pub use crate::input::chunk;

use self::associations::{associations, connections};
use super::ms_pcq::{HANDLE, SET, Service, honest_conversation};
use super::{law, ms_rrp, perflib_v1};

/// An input: its oracle, its name, and its bytes.
pub type Seed = (&'static str, String, Vec<u8>);

const MADE: &str = "our own encoders take it";

#[must_use]
pub fn seeds() -> Vec<Seed> {
    let mut seeds = values();
    seeds.extend(buffers());
    seeds.extend(calls());
    seeds.extend(blocks());
    seeds.extend(registrations());
    seeds.extend(stubs::seeds());
    let dcom = crate::ms_dcom::honest_structures().into_iter();
    seeds.extend(dcom.map(|(name, bytes)| ("dcom_objref", name.to_owned(), bytes)));
    let call_backs = crate::dcom_exporter::honest().into_iter();
    seeds.extend(call_backs.map(|(name, bytes)| ("dcom_call_backs", name.to_owned(), bytes)));
    let towers = crate::epm::honest_towers().into_iter();
    seeds.extend(towers.map(|(name, bytes)| ("epm_tower", name.to_owned(), bytes)));
    seeds.push(("epm_responses", "honest".to_owned(), crate::epm::honest_responses()));
    seeds.push(("rpc_cells", "honest".to_owned(), crate::rpc_cells::honest_file()));
    seeds.push(("counter_log_journal", "honest".to_owned(), crate::counter_log::honest_journal()));
    seeds.extend(texts());
    seeds.extend(events());
    let documents = crate::ms_pla::documents().into_iter();
    seeds.extend(documents.map(|(name, bytes)| ("pla_xml", name.to_owned(), bytes)));
    let calls = crate::ms_pla::honest_inputs().into_iter();
    seeds.extend(calls.map(|(oracle, name, bytes)| (oracle, name.to_owned(), bytes)));
    seeds.extend(alerts());
    seeds.push(("data_manager_cab", "honest".to_owned(), crate::data_manager::honest()));
    seeds.extend(rules());
    seeds.extend(associations());
    seeds.extend(connections());
    seeds
}

fn values() -> Vec<Seed> {
    // S-1-5-21-1-2-3-500, by hand.
    let mut sid = vec![1, 5, 0, 0, 0, 0, 0, 5];
    [21_u32, 1, 2, 3, 500].iter().for_each(|part| sid.extend(part.to_le_bytes()));
    let text = |text: &str| Some(Box::new(WideString(text.to_owned())));
    let mut dst = Writer::new();
    dst.write(&Conformant(vec![text("a"), None, text("_Total")])).expect(MADE);
    // NODE: 7, "a", and another after it: 8, no name, the end.
    let node: [u32; 9] = [7, 0x2_0000, 0x2_0004, 2, 0, 2, 0x61, 8, 0];
    let node = node.iter().chain(&[0]).flat_map(|word| word.to_le_bytes()).collect();
    let constructs = crate::ndr::honest().into_iter();
    let constructs = constructs.map(|(name, stub)| ("ndr_constructs", name.to_owned(), stub));
    let others = vec![
        ("dtyp_values", "sid".to_owned(), sid),
        ("dtyp_values", "guid".to_owned(), SET.to_bytes().to_vec()),
        ("dtyp_values", "guid_text".to_owned(), SET.to_string().into_bytes()),
        ("ndr_constructs", "strings".to_owned(), dst.into_stub()),
        ("ndr_constructs", "nodes".to_owned(), node),
        ("ndr_constructs", "bytes".to_owned(), vec![3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0xaa, 0xbb]),
    ];
    others.into_iter().chain(constructs).collect()
}

/// Tracker events in two of the forms that writers choose.
fn events() -> Vec<Seed> {
    let other = Choices { empty_text: EmptyText::ZeroLength, collection_first: true, ..Choices::default() };
    let event =
        |name: &str, choices| ("comt_tracking", name.to_owned(), crate::ms_comt::honest_event(&choices));
    vec![event("usual", Choices::default()), event("collections_first", other)]
}

/// Counter paths as people write them.
fn texts() -> Vec<Seed> {
    let paths = [
        r"\\web7\Processor Information(0,*)\% Processor Time",
        r"\Process(svchost#2)\ID Process",
        r"\Thread(chrome/14#*)\Context Switches/sec",
        r"\Memory\Available MBytes",
        r"\GPU Engine(pid_4_luid_0x0_engtype_3D (x))\Utilization Percentage",
        r"\Processor Information(0,*\% Processor Time",
    ];
    (0..).zip(paths).map(|(n, path): (u8, _)| ("counter_path", format!("path_{n}"), path.into())).collect()
}

/// Rules with each action, and with variables whose values have quotes.
fn rules() -> Vec<Seed> {
    let actions = [
        "<Variable name='x' expression='Data[2]'/><Variable name='y'>{x} $(s)</Variable>",
        "<Insert select='//Data'><Attribute name='a' value='{x}'/><Node axis='child'><b>{y}</b></Node></Insert>",
        "<Insert><Node axis='following-sibling' document='c.xml' select='/Config/a'/></Insert>",
        "<Delete select='//Item[Data=\"{x}\"]/@* | //Header'/>",
        "<Warning select='.' table='//Table[1]' tag='t'><Item><Data name='symptom' link='t'>{x}</Data></Item></Warning>",
    ];
    let document = |actions: &str| {
        format!(
            "<Rules><Logging level='1'/><StringTable><String ID='s'>text {{x}}</String></StringTable><Group name='$(s)'>\
             <Rule name='r'><Step select='//Item' sortType='max' sortDataType='number' sortNode='Data[3]'>\
             <Variable name='x' expression='Data[@name=\"instance\"]'/><Exists><When expression='count(Data) &gt; 2 and \
             \"{{x}}\" != 1'>{actions}</When><Otherwise/></Exists></Step></Rule></Group></Rules>"
        )
    };
    let all = std::iter::once(("all".to_owned(), actions.concat()));
    let each = (0..).zip(actions).map(|(n, action): (u8, _)| (format!("action_{n}"), action.to_owned()));
    all.chain(each)
        .map(|(name, actions)| ("pla_rules_document", name, document(&actions).into_bytes()))
        .collect()
}

/// Thresholds and arguments of tasks as people write them.
fn alerts() -> Vec<Seed> {
    let texts = [
        ("pla_thresholds", r"\\web7\Processor(_Total)\% Processor Time > 90.5"),
        ("pla_thresholds", r"\Memory\Available MBytes<1e2"),
        ("pla_thresholds", r"\A(a>b)\B<-.5; \A\C>1"),
        ("pla_arguments", "Alert {name} --at=\"{date} UTC\" {counter} {VALUE}>{threshold} {usertext} {x} {{"),
        ("pla_arguments", "\"\" a\"b c\"d {name}{value}"),
    ];
    (0..).zip(texts).map(|(n, (oracle, text)): (u8, _)| (oracle, format!("text_{n}"), text.into())).collect()
}

// Buffers and calls of performance counters, and calls of the registry.

/// The blocks of replies one by one, each after its kind.
fn blocks() -> Vec<Seed> {
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
fn registrations() -> Vec<Seed> {
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
fn buffers() -> Vec<Seed> {
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
fn calls() -> Vec<Seed> {
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
