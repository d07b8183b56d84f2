//! Blocks that others have written.
//!
//! `data/samba-*.bin`: what Samba's smbd served for `Global`, from tables that its `perfcount` reads. It omits the header
//! from the total length, writes eight bytes for counters of four, and pads with leftover memory.
//!
//! `data/windows/*.hex`: what a host with Windows answered in August 2007, one object each, from a public binary log of
//! counters. The names of the host and of its adapters are replaced by others of the same length.

use counters::perflib_v1::{CounterBlock, DataBlock, Instances, ObjectType, Value};
use expect_test::{Expect, expect, expect_file};

/// The definitions and values of a block, a line for each of them.
fn written(bytes: &[u8], instances_shown: usize) -> String {
    let block = DataBlock::decode(bytes).unwrap();
    let header = block.header;
    let mut lines = vec![format!(
        "{} of {} bytes: {} objects at {} of {} Hz, {:?}",
        block.system_name,
        header.total_size_bytes,
        header.num_objects,
        header.perf_time,
        header.perf_freq,
        header.system_time
    )];
    for object in block.objects() {
        let object = object.unwrap();
        lines.push(format!(
            "object {} help {} {:?}",
            object.name_index, object.help_index, object.detail_level
        ));
        lines.extend(object.counters().map(|counter| {
            format!(
                "  counter {} {} of {} bytes",
                counter.name_index, counter.counter_type, counter.size_bytes
            )
        }));
        match object.instances() {
            Instances::Single(values) => lines.push(format!("  {}", values_of(&object, &values))),
            Instances::Unasked => lines.push("  no data".to_owned()),
            Instances::Many(many) => {
                lines.push(format!("  {} instances", many.len()));
                lines.extend(many.take(instances_shown).map(|instance| {
                    let name: String = instance.name().collect();
                    format!("  {name:?} {:?} {}", instance.parent, values_of(&object, &instance.values))
                }));
            }
        }
    }
    lines.join("\n")
}

fn values_of(object: &ObjectType<'_>, values: &CounterBlock<'_>) -> String {
    let values = object.counters().map(|counter| match values.value(&counter) {
        Some(Value::Text(text)) => format!("{text:?}"),
        value => format!("{:?}", value.and_then(Value::number)),
    });
    values.collect::<Vec<_>>().join(" ")
}

fn check(bytes: &[u8], expected: &Expect) {
    expected.assert_eq(&written(bytes, 4));
}

#[test]
fn what_samba_serves_is_read() {
    check(
        include_bytes!("data/samba-4-instances.bin"),
        &expect![[r#"
        SPIKESRV of 528 bytes: 2 objects at 123456789 of 10000000 Hz, SystemTime { year: 2026, month: 11, day_of_week: 6, day: 21, hour: 1, minute: 37, second: 4, milliseconds: 0 }
        object 2 help 3 DetailLevel(NOVICE)
          counter 4 PERF_COUNTER_LARGE_RAWCOUNT of 8 bytes
          counter 6 PERF_COUNTER_COUNTER of 8 bytes
          Some(123456789012) Some(4242)
        object 8 help 9 DetailLevel(NOVICE)
          counter 10 PERF_100NSEC_TIMER of 8 bytes
          4 instances
          "inst 0" None Some(1000)
          "inst 1" None Some(1001)
          "inst 2" None Some(1002)
          "inst 3" None Some(1003)"#]],
    );
    check(
        include_bytes!("data/samba-900-instances.bin"),
        &expect![[r#"
        SPIKESRV of 64272 bytes: 2 objects at 123456789 of 10000000 Hz, SystemTime { year: 2026, month: 11, day_of_week: 6, day: 21, hour: 1, minute: 20, second: 8, milliseconds: 0 }
        object 2 help 3 DetailLevel(NOVICE)
          counter 4 PERF_COUNTER_LARGE_RAWCOUNT of 8 bytes
          counter 6 PERF_COUNTER_COUNTER of 8 bytes
          Some(123456789012) Some(4242)
        object 8 help 9 DetailLevel(NOVICE)
          counter 10 PERF_100NSEC_TIMER of 8 bytes
          900 instances
          "inst 0" None Some(1000)
          "inst 1" None Some(1001)
          "inst 2" None Some(1002)
          "inst 3" None Some(1003)"#]],
    );
}

/// Values of another size than the type says, values that share a place, offsets that are in no order, explanations that do
/// not follow their names.
#[test]
fn what_windows_serves_is_read() {
    let blocks = [
        include_str!("data/windows/logical_disk.hex"),
        include_str!("data/windows/memory.hex"),
        include_str!("data/windows/network_interface.hex"),
        include_str!("data/windows/physical_disk.hex"),
        include_str!("data/windows/processor.hex"),
        include_str!("data/windows/system.hex"),
        include_str!("data/windows/tcpv4.hex"),
    ];
    let read = blocks.map(|hex| {
        let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
        let bytes = digits.chunks_exact(2).map(|pair| u8::try_from(pair[0] << 4 | pair[1]).unwrap());
        let bytes: Vec<u8> = bytes.collect();
        assert_eq!(DataBlock::decode(&bytes).unwrap().header.total_size_bytes as usize, bytes.len());
        written(&bytes, usize::MAX)
    });
    expect_file!["data/windows/read.txt"].assert_eq(&format!("{}\n", read.join("\n\n")));
}
