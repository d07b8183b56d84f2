//! The structures of registration: round trips of what Windows documents, and lies.

use counters::pcq::SYNTAX_ID;
use counters::pcq::perflibv2::RegistrationRequest;
use counters::pcq::perflibv2::methods::PerflibV2;
use counters::pcq::types::{
    AggregateFunc, Attrib, CounterId, CounterType, DetailLevel, InstanceId, InstanceType, RequestCode,
};
use counters::pcq::wire::{
    CounterIdentifier, CounterRegInfo, CounterSetRegistration, CounterStrings, InstanceInfo, OffsetBase,
};
use rpc::Interface;

use crate::pcq::fixture::PROCESSOR_INFORMATION;
use crate::pcq::hex;

#[test]
fn the_interface_is_the_one_of_the_document() {
    assert_eq!(SYNTAX_ID.to_string(), "da5a86c5-12c2-4943-ab30-7f74a813d853 v1.0");
    for opnum in 0..8 {
        assert_eq!(PerflibV2::method(opnum).unwrap().opnum, opnum);
    }
    assert_eq!(PerflibV2::method(8), None);
}

// Laid out by hand after [MS-PCQ] 2.2.4.1 and 2.2.4.2: every field has a value of its own.
const REGISTRATION: &str = "
    1a72fcb478036f4789baa5a79f810b36 11111111 c8000000 01000000 06000000
    01000000 00051120 1100000000000000 64000000 feffffff 02000000 03000000 04000000 05000000 04000000 22222222";

#[test]
fn a_registration_is_read_field_by_field_and_reserved_ones_are_dropped() {
    let registration = CounterSetRegistration::decode(&hex(REGISTRATION), 1).unwrap();
    assert_eq!(registration.info.counter_set_guid, PROCESSOR_INFORMATION);
    assert_eq!(registration.info.detail_level, DetailLevel::ADVANCED);
    assert_eq!(registration.info.instance_type, InstanceType::MULTIPLE_AGGREGATE);
    let counter = CounterRegInfo {
        counter_id: CounterId(1),
        counter_type: CounterType(0x2011_0500),
        attrib: Attrib::REFERENCE | Attrib::DISPLAY_AS_HEX,
        detail_level: DetailLevel::NOVICE,
        default_scale: -2,
        base_counter_id: CounterId(2),
        perf_time_id: CounterId(3),
        perf_freq_id: CounterId(4),
        multi_id: CounterId(5),
        aggregate_func: AggregateFunc::MAXIMUM,
    };
    assert_eq!(registration.counters, [counter]);
    let written = wire::encode_vec(&registration).unwrap();
    let zeroed = REGISTRATION.replace("11111111", "00000000").replace("22222222", "00000000");
    assert_eq!(written, hex(&zeroed));
}

#[test]
fn a_number_of_counters_that_lies_is_refused() {
    let mut bytes = hex(REGISTRATION);
    let error = |bytes: &[u8], max| CounterSetRegistration::decode(bytes, max).unwrap_err().to_string();
    assert_eq!(
        error(&bytes, 0),
        "PERF_COUNTERSET_REG_INFO: `NumCounters`: 1 is above the limit of 0 (offset 24)"
    );
    bytes[24] = 2;
    assert_eq!(
        error(&bytes, 9),
        "PERF_COUNTERSET_REG_INFO: `NumCounters`: 96 bytes needed at offset 32, 48 there"
    );
    assert_eq!(error(&bytes[..31], 9), "PERF_COUNTERSET_REG_INFO: 32 bytes needed at offset 0, 31 there");
}

#[test]
fn instance_types_are_told_by_their_bits() {
    let global = InstanceType::GLOBAL_AGGREGATE_HISTORY;
    assert!(!global.is_multiple() && global.is_aggregate() && global.has_history());
    assert!(InstanceType::INSTANCE_AGGREGATE.is_multiple());
    assert!(!InstanceType::SINGLE.is_multiple() && !InstanceType::SINGLE.is_aggregate());
    assert!(InstanceType::MULTIPLE.is_multiple() && !InstanceType::MULTIPLE.has_history());
}

// Two counters; the second has no text. The offset counts from the beginning of the buffer, as Windows does it
// and the document does not.
const STRINGS: &str = "20000000 02000000 07000000 18000000 08000000 ffffffff 61006200 0000 fefe";

#[test]
fn offsets_of_texts_count_from_the_beginning_of_the_buffer() {
    let strings = CounterStrings::decode(&hex(STRINGS), 2).unwrap();
    assert_eq!(strings.text(CounterId(7)), Some("ab"));
    assert_eq!(strings.text(CounterId(8)), None);
    assert_eq!(strings.entries.len(), 2);
    assert_eq!(wire::encode_vec(&strings).unwrap(), hex(&STRINGS.replace("fefe", "0000")));
}

#[test]
fn offsets_of_texts_that_begin_behind_the_headers_count_from_there_all_of_them() {
    // The same buffer, as the document has it; and with a second text, whose offset alone would fit either way.
    let strings = CounterStrings::decode(&hex(&STRINGS.replace("18000000", "00000000")), 2).unwrap();
    assert_eq!(strings.text(CounterId(7)), Some("ab"));
    assert_eq!(strings.text(CounterId(8)), None);
    let long = "x".repeat(20);
    let entries = vec![(CounterId(1), Some(long.clone())), (CounterId(2), Some("b".to_owned()))];
    let strings = CounterStrings { entries };
    for base in [OffsetBase::Beginning, OffsetBase::EndOfHeaders] {
        let mut bytes = Vec::new();
        strings.encode_from(base, &mut wire::WriteCursor::new(&mut bytes)).unwrap();
        assert_eq!(CounterStrings::decode(&bytes, 2).unwrap(), strings, "{base:?}");
    }
}

#[test]
fn the_last_text_of_a_buffer_may_lack_its_nul() {
    let unterminated = STRINGS.replace("20000000", "1c000000");
    assert_eq!(CounterStrings::decode(&hex(&unterminated), 2).unwrap().text(CounterId(7)), Some("ab"));
}

#[test]
fn a_string_buffer_that_lies_is_refused() {
    let check = |at: usize, value: u32, expected: &str| {
        let mut bytes = hex(STRINGS);
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        assert_eq!(CounterStrings::decode(&bytes, 100).unwrap_err().to_string(), expected);
    };
    check(0, 33, "STRING_BUFFER_HEADER: `dwSize`: 33 bytes needed at offset 0, 32 there");
    check(0, 7, "STRING_BUFFER_HEADER: `dwSize`: 7 bytes needed at offset 0, 32 there");
    check(4, 4, "STRING_BUFFER_HEADER: `dwCounters`: 32 bytes needed at offset 8, 24 there");
    check(4, 101, "STRING_BUFFER_HEADER: `dwCounters`: 101 is above the limit of 100 (offset 4)");
    // From the end of the headers, since it would lie within them.
    check(12, 23, "STRING_COUNTER_HEADER: `dwOffset`: points behind the buffer (offset 12)");
    check(12, 33, "STRING_COUNTER_HEADER: `dwOffset`: points behind the buffer (offset 12)");
    // The size ends the texts, whatever lies after it.
    check(0, 23, "STRING_BUFFER_HEADER: `dwCounters`: 16 bytes needed at offset 8, 15 there");
}

/// A buffer of so many counters that all point to one text of so many letters.
fn shared_text(counters: u32, letters: usize) -> Vec<u8> {
    let texts_at = 8 + 8 * counters;
    let size = texts_at + u32::try_from(letters).unwrap() * 2 + 2;
    let headers = (0..counters).flat_map(|id| [id, texts_at]);
    let mut bytes: Vec<u8> = [size, counters].into_iter().chain(headers).flat_map(u32::to_le_bytes).collect();
    bytes.extend([b'a', 0].repeat(letters));
    bytes.extend([0, 0]);
    bytes
}

#[test]
fn counters_may_share_a_text_but_not_so_that_it_fills_the_memory() {
    let strings = CounterStrings::decode(&shared_text(100, 1000), 100).unwrap();
    assert!(strings.entries.iter().all(|(_, text)| text.as_deref().is_some_and(|text| text.len() == 1000)));
    assert_eq!(
        CounterStrings::decode(&shared_text(600, 1000), 1000).unwrap_err().to_string(),
        "STRING_COUNTER_HEADER: `dwOffset`: counters share more text than the buffer has room for (offset 1060)"
    );
}

// The second name holds a lone surrogate; the padding is noise.
const INSTANCES: &str = "10000000 00000000 30002c00 30000000  10000000 07000000 00d86100 0000fefe";

#[test]
fn an_instance_name_that_is_no_utf16_does_not_cost_the_others() {
    let instances = InstanceInfo::decode_list(&hex(INSTANCES), 2).unwrap();
    let instance = |id, name: &str| InstanceInfo { instance_id: InstanceId(id), name: name.to_owned() };
    assert_eq!(instances, [instance(0, "0,0"), instance(7, "\u{fffd}a")]);
}

#[test]
fn a_list_of_instances_that_lies_is_refused() {
    let error = |at: usize, value: u32, max| {
        let mut bytes = hex(INSTANCES);
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        InstanceInfo::decode_list(&bytes, max).unwrap_err().to_string()
    };
    assert_eq!(error(0, 0, 9), "PERF_INSTANCE_HEADER: `Size`: is smaller than the structure (offset 0)");
    let unterminated = "PERF_INSTANCE_HEADER: `Size`: the instance name does not end with a NUL (offset 0)";
    assert_eq!(error(0, 15, 9), unterminated);
    assert_eq!(error(16, 24, 9), "PERF_INSTANCE_HEADER: `Size`: 24 bytes needed at offset 16, 16 there");
    assert_eq!(error(12, 0x0041_0041, 9), unterminated);
    assert_eq!(error(4, 0, 1), "PERF_INSTANCE_HEADER: 2 is above the limit of 1 (offset 16)");
}

#[test]
fn an_identifier_without_a_name_takes_forty_bytes_and_a_wildcard_eight_more() {
    let single = CounterIdentifier::single_instance(PROCESSOR_INFORMATION);
    assert_eq!(wire::encode_vec(&single).unwrap().len(), 40);
    let all = CounterIdentifier::all_instances(PROCESSOR_INFORMATION);
    let bytes = wire::encode_vec(&all).unwrap();
    assert_eq!(bytes.len(), 48);
    assert_eq!(wire::decode::<CounterIdentifier>(&bytes), Ok(all));
    assert_eq!(wire::decode::<CounterIdentifier>(&wire::encode_vec(&single).unwrap()), Ok(single));
}

#[test]
fn request_codes_and_their_second_parameter_go_together() {
    for code in 1..=10 {
        let request = RegistrationRequest::from_wire(RequestCode(code), 0x409).unwrap();
        let (again, lcid) = request.to_wire();
        assert_eq!(again, RequestCode(code));
        // [MS-PCQ] 3.1.4.1.2: zero where the code has no use for it.
        assert_eq!(lcid, if matches!(code, 2..=6) { 0x409 } else { 0 });
    }
    assert_eq!(RegistrationRequest::from_wire(RequestCode(0), 0), None);
    assert_eq!(RegistrationRequest::from_wire(RequestCode(11), 0), None);
}
