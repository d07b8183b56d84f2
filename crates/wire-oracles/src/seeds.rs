//! The inputs that fuzzing begins with, as far as our own encoders make them; the example `seed` adds bytes of others.

use codec::{Decode, ReadCursor};
use dcerpc::client::CallRequest;
use dcerpc::pdu::{Command, CommandKind, Header2, PacketType, VerificationTrailer};
use dcerpc::{CallId, SyntaxId};
use ms_dtyp::{FileTime, Guid, Win32Error};
use ms_pcq::perflibv2::ops::{
    CloseQueryHandleRequest, OpenQueryHandleRequest, QueryCounterDataRequest, Request as _,
    ValidateCountersRequest,
};
use ms_pcq::perflibv2::{CallInfo, Change, dispatch};
use ms_pcq::types::{CounterId, CounterType, DetailLevel, InstanceId, InstanceType};
use ms_pcq::wire::{
    Clocks, CounterHeader, CounterIdentifier, CounterRegInfo, CounterSetRegInfo, CounterSetRegistration,
    CounterStrings, DataHeader, InstanceInfo, Padding, QueryDataWriter, RawValue,
};
use ms_smb2::Dialect;
use ms_smb2::client::{Event, Reply};
use ndr::{Conformant, WideString, Writer};

use crate::ms_pcq::{HANDLE, SET, Service, honest_conversation};
use crate::ms_smb2::{Pair, client_stage};
use crate::{dcerpc as rpc, law, ms_rrp};

/// An input: its oracle, its name, and its bytes.
pub type Seed = (&'static str, String, Vec<u8>);

const MADE: &str = "our own encoders take it";

/// All of them.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let mut seeds = values();
    seeds.extend(buffers());
    seeds.extend(calls());
    seeds.extend(blocks());
    seeds.extend(registrations());
    seeds.extend(texts());
    seeds.extend(associations());
    seeds.extend(connections());
    seeds
}

/// An opnum or whatever an oracle begins with, and chunks.
#[must_use]
pub fn chunk(stub: &[u8]) -> Vec<u8> {
    let length = u16::try_from(stub.len()).unwrap_or(u16::MAX).to_le_bytes();
    [&length, stub].concat()
}

fn values() -> Vec<Seed> {
    // S-1-5-21-1-2-3-500, by hand.
    let mut sid = vec![1, 5, 0, 0, 0, 0, 0, 5];
    [21_u32, 1, 2, 3, 500].iter().for_each(|part| sid.extend(part.to_le_bytes()));
    let text = |text: &str| Some(Box::new(WideString(text.to_owned())));
    let mut dst = Writer::new();
    dst.write(&Conformant(vec![text("a"), None, text("_Total")])).expect(MADE);
    // NODE: 7, "a", and another behind it: 8, no name, the end.
    let node: [u32; 9] = [7, 0x2_0000, 0x2_0004, 2, 0, 2, 0x61, 8, 0];
    let node = node.iter().chain(&[0]).flat_map(|word| word.to_le_bytes()).collect();
    vec![
        ("dtyp_values", "sid".to_owned(), sid),
        ("dtyp_values", "guid".to_owned(), SET.to_bytes().to_vec()),
        ("dtyp_values", "guid_text".to_owned(), SET.to_string().into_bytes()),
        ("ndr_constructs", "strings".to_owned(), dst.into_stub()),
        ("ndr_constructs", "nodes".to_owned(), node),
        ("ndr_constructs", "bytes".to_owned(), vec![3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0xaa, 0xbb]),
    ]
}

/// The blocks of replies one by one, each behind its kind.
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

/// Buffers of registration, each behind its request code less one.
fn registrations() -> Vec<Seed> {
    let text = codec::encode_utf16("Prozessorinformationen\0");
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

/// The same bytes for the buffer that they are and for who mistakes them for another.
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
    let open = OpenQueryHandleRequest { machine: "web1".to_owned() }.to_stub();
    let add = ValidateCountersRequest { handle: HANDLE, data: all, change: Change::Add }.to_stub();
    let data = QueryCounterDataRequest { handle: HANDLE, in_size: 4096 }.to_stub();
    let close = CloseQueryHandleRequest { handle: HANDLE }.to_stub();
    let mut server = Service::default();
    let mut requests = Vec::new();
    let mut seeds = Vec::new();
    for (opnum, method, stub) in [(3, 9, open), (7, 8, add), (6, 10, data), (4, 9, close)] {
        let stub = stub.expect(MADE);
        let info = CallInfo { auth_level: dcerpc::AuthLevel::PKT_PRIVACY };
        let response = dispatch(&mut server, info, opnum, &stub).expect("the request is right");
        requests.extend([&[opnum.to_le_bytes()[0]], &chunk(&stub)[..]].concat());
        let response = [&[method], &chunk(&response)[..]].concat();
        seeds.push(("pcq_responses", format!("made_{opnum}"), response));
    }
    seeds.push(("pcq_requests", "query".to_owned(), requests));
    seeds.push(("pcq_conversation", "honest".to_owned(), honest_conversation()));
    seeds.push(("rrp_requests", "honest".to_owned(), ms_rrp::honest_requests()));
    seeds.push(("rrp_responses", "honest".to_owned(), ms_rrp::honest_responses()));
    seeds
}

fn associations() -> Vec<Seed> {
    let mut seeds = Vec::new();
    // Protection in the lower two bits, the state in those above.
    for (protection, state) in
        [0, 1, 2].into_iter().flat_map(|bits| [0, 4, 8, 12, 20].map(|state| (bits, state)))
    {
        let mode: u8 = protection | state;
        let answer = rpc::honest_answer(mode);
        seeds.push(("dcerpc_client", format!("mode_{mode:02}"), [&[mode, 7], &answer[..]].concat()));
    }
    for mode in [0_u8, 1, 2] {
        let mut client = rpc::new_client(mode);
        let mut server = rpc::new_server();
        let mut said = Vec::new();
        loop {
            let sent: Vec<Vec<u8>> =
                core::iter::from_fn(|| client.poll_transmit()).map(|it| it.bytes).collect();
            if sent.is_empty() {
                break;
            }
            for (index, pdu) in sent.iter().enumerate() {
                server.handle_bytes(pdu).expect(MADE);
                seeds.push(("dcerpc_pdu", format!("sent_{mode}_{}_{index}", said.len()), pdu.clone()));
            }
            said.extend(sent.concat());
            while let Some(pdu) = server.poll_transmit() {
                client.handle_bytes(&pdu).expect(MADE);
                seeds.push(("dcerpc_pdu", format!("answered_{mode}_{}", said.len()), pdu));
            }
        }
        seeds.push(("dcerpc_server", format!("bind_{mode}"), [&[mode, 3], &said[..]].concat()));
        let object = Some(Guid::from_u128(5));
        let call_id = client
            .call(CallRequest { context_id: 0, opnum: 3, object, stub: &[9; 2500] })
            .expect("it is bound");
        client.cancel(call_id).expect("the call is open");
        client.orphan(call_id).expect("the call is open");
        client.call(CallRequest { context_id: 0, opnum: 99, object: None, stub: b"" }).expect("it is bound");
        let call: Vec<u8> = core::iter::from_fn(|| client.poll_transmit()).flat_map(|it| it.bytes).collect();
        seeds.push(("dcerpc_server", format!("call_{mode}"), [&[mode | 4, 3], &call[..]].concat()));
    }
    let mut further = rpc::new_client(2).poll_transmit().expect("a bind").bytes;
    further[2] = PacketType::ALTER_CONTEXT.0;
    let at = further.len() - b"hello".len() - 4;
    further[at] ^= 0x55;
    seeds.push(("dcerpc_server", "further_security".to_owned(), [&[6, 3], &further[..]].concat()));
    seeds.push(("dcerpc_pdu", "trailer".to_owned(), trailer()));
    seeds.push(("dcerpc_pdu", "trailer_behind_stub".to_owned(), [b"stub data   ", &trailer()[..]].concat()));
    seeds
}

/// Every command.
fn trailer() -> Vec<u8> {
    let header = Header2 {
        packet_type: PacketType::REQUEST,
        drep: [0x10, 0, 0, 0],
        call_id: CallId(4),
        context_id: 0,
        opnum: 7,
    };
    let context =
        CommandKind::PresentationContext { interface: rpc::INTERFACE, transfer_syntax: SyntaxId::NDR };
    let unknown = CommandKind::Unknown { command: 9, body: vec![1, 2, 3, 4] };
    let kinds = [CommandKind::Bitmask1(1), context, unknown, CommandKind::Header2(header)];
    codec::encode_vec(&VerificationTrailer { commands: kinds.map(Command::new).to_vec() }).expect(MADE)
}

fn connections() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for mode in [0_u8, 4, 0x14, 0x34, 1, 0x11, 0x31, 2, 6, 3, 0x33] {
        let mut pair = client_stage(mode);
        pair.next();
        seeds.push(("smb2_client", format!("mode_{mode:02x}"), [&[mode, 7], &pair.to_client[..]].concat()));
    }
    for (high, dialect) in (0_u8..).zip(Dialect::ALL) {
        let (mut pair, file) = Pair::with_pipe(dialect, false);
        let (whole, mode) = (core::mem::take(&mut pair.to_server), high << 4);
        for message in frames(&whole).into_iter().chain(frames(&pair.to_client)) {
            let name = format!("made_{high}_{:02}", seeds.len());
            seeds.push(("smb2_messages", name, message.to_vec()));
        }
        let behind_negotiate = 4 + frames(&whole)[0].len();
        seeds.push(("smb2_server", format!("whole_{high}"), [&[mode, 7], &whole[..]].concat()));
        let rest = &whole[behind_negotiate..];
        seeds.push(("smb2_server", format!("session_{high}"), [&[mode | 1, 7], rest].concat()));
        pair.client.write(file, b"written").expect(MADE);
        pair.client.read(file, 512).expect(MADE);
        pair.client.transceive(file, b"ping", 1024).expect(MADE);
        pair.client.tree_connect(r"\\server\IPC$").expect(MADE);
        pair.client.echo().expect(MADE);
        let read = pair.client.read(file, 64).expect(MADE);
        pair.client.cancel(read).expect(MADE);
        pair.client.close(file).expect(MADE);
        while let Some(event) = pair.next() {
            debug_assert!(!matches!(event, Event::Completed { result: Ok(Reply::LoggedOff), .. }));
        }
        let kind = if dialect == Dialect::Smb2_1 { 3 } else { 2 };
        let requests = [&[mode | kind, 7], &pair.to_server[..]].concat();
        seeds.push(("smb2_server", format!("requests_{high}"), requests));
    }
    seeds
}

/// The messages of a stream, without their lengths.
#[must_use]
pub fn frames(stream: &[u8]) -> Vec<&[u8]> {
    let mut frames = Vec::new();
    let mut rest = stream;
    while let Some((prefix, behind)) = rest.split_first_chunk() {
        let length = usize::try_from(u32::from_be_bytes(*prefix)).unwrap_or(usize::MAX);
        let (frame, behind) = behind.split_at(length.min(behind.len()));
        frames.push(frame);
        rest = behind;
    }
    frames
}
