//! Bytes that others wrote or read; each file says which.

use counters::pcq::perflibv2::dispatch;
use counters::pcq::perflibv2::methods::EnumerateCountersetsReply;
use counters::pcq::types::InstanceId;
use counters::pcq::wire::{Body, QueryData, QueryDataWriter, RawValue};
use rpc::{FromStub, Message};
use wire::{Guid, SystemTime, Win32Error};

use crate::pcq::fixture::{CLOCKS, FakeServer, PROCESSOR_INFORMATION, countersets_reply, sealed};
use crate::pcq::hex;

const WINDOWS_11: &str = include_str!("../../data/pcq/windows11_query_counter_data.hex");

#[test]
fn a_reply_of_windows_11_is_read() {
    let bytes = hex(WINDOWS_11);
    let data = QueryData::parse(&bytes).unwrap();
    let header = data.header();
    assert_eq!(header.total_size_bytes, 112);
    assert_eq!(header.perf_time_stamp, 1_259_983_709_807);
    assert_eq!(header.perf_freq, 10_000_000);
    // 2026-09-29 17:32:23.755 UTC, told twice.
    assert_eq!(header.system_time, SystemTime::from(header.perf_time_100ns));
    assert_eq!((header.system_time.day_of_week, header.system_time.milliseconds), (2, 755));

    let blocks: Vec<_> = data.blocks().map(Result::unwrap).collect();
    assert_eq!(blocks.len(), 2);
    assert!(blocks.iter().all(|block| block.status == Win32Error::ERROR_SUCCESS));
    assert!(matches!(blocks[0].body, Body::SingleCounter(RawValue::U64(0x02f6_53e8_4cd6))));
    assert!(matches!(blocks[1].body, Body::SingleCounter(RawValue::U32(0x5619_6ec4))));
    // The identifier names the instance, so the block does not.
    let instances: Vec<_> = blocks[0].instances().collect();
    assert_eq!(instances.len(), 1);
    assert_eq!((instances[0].instance_id, instances[0].name.as_bytes()), (InstanceId::ANY, &[][..]));
}

#[test]
fn the_writer_writes_what_windows_11_wrote() {
    let mut writer = QueryDataWriter::new(CLOCKS);
    writer.single_counter(RawValue::U64(0x02f6_53e8_4cd6)).unwrap();
    writer.single_counter(RawValue::U32(0x5619_6ec4)).unwrap();
    assert_eq!(writer.finish().unwrap(), hex(WINDOWS_11));
}

#[test]
fn the_answers_to_enumerate_counter_set_are_read_and_written() {
    let check = |text: &str, reply: EnumerateCountersetsReply| {
        let stub = hex(text);
        assert_eq!(EnumerateCountersetsReply::from_stub(&stub).unwrap(), reply);
        assert_eq!(reply.to_stub().unwrap(), stub);
    };
    let guids: Vec<Guid> = vec![PROCESSOR_INFORMATION];
    let status = Win32Error::ERROR_NOT_ENOUGH_MEMORY;
    let probe = countersets_reply(0, 1, vec![], status);
    check(include_str!("../../data/pcq/enumerate_counter_set_probe.hex"), probe);
    let status = Win32Error::ERROR_SUCCESS;
    let data = countersets_reply(16, 1, guids, status);
    check(include_str!("../../data/pcq/enumerate_counter_set_data.hex"), data);
}

/// Requests that impacket wrote, in an order that makes sense, and our server's answers, which impacket read.
#[test]
fn all_methods_serve_a_client_that_we_did_not_write() {
    macro_rules! exchange {
        ($($opnum:literal $name:literal),* $(,)?) => {
            [$((
                $opnum,
                $name,
                include_str!(concat!("../../data/pcq/request_", $name, ".hex")),
                include_str!(concat!("../../data/pcq/response_", $name, ".hex")),
            )),*]
        };
    }
    let exchanges = exchange![
        0 "op0", 1 "op1_counterset", 1 "op1_counter", 1 "op1_english_name", 1 "op1_english_names",
        1 "op1_provider", 2 "op2", 3 "op3", 7 "op7", 5 "op5", 6 "op6", 4 "op4",
    ];
    let mut server = FakeServer::default();
    for (opnum, name, request, response) in exchanges {
        let stub = dispatch(&mut server, sealed(), opnum, &hex(request)).unwrap();
        assert_eq!(stub, hex(response), "{name}");
    }
    assert!(!server.open);
}
