//! The bytes of values, by the structures of wdm.h and [MS-RRP] 3.1.1.5.

use counters::rrp::types::ValueType;
use counters::rrp::wire::{InvalidValue, MemoryRange, ResourceList, number, text, texts, wide_number};

use crate::rrp::hex;

const ONE_LIST: &str = "01000000  00000000 00000000  0100 0100";

#[test]
fn the_memory_of_a_64_bit_host_is_read_in_all_units() {
    let list = hex(&[
        ONE_LIST,
        "05000000                                       # Count",
        "03 01 0000  0010000000000000 00f00900 00000000  # 636 KiB at 4 KiB",
        "03 01 0000  0000100000000000 0000f0bf 00000000  # 3071 MiB at 1 MiB",
        "07 01 0002  0000000001000000 00000004 00000000  # 16 GiB in units of 256 bytes",
        "07 01 0004  0000000005000000 00001000 00000000  # 64 GiB in units of 64 KiB",
        "07 01 0008  0000000015000000 02000000 00000000  # 8 GiB in units of 4 GiB",
    ]
    .join("\n"));
    let list = ResourceList::decode(&list).unwrap();
    assert_eq!(list.memory[0], MemoryRange { start: 0x1000, length_bytes: 636 << 10 });
    assert_eq!(list.memory[3].start, 5 << 32);
    let bytes = (636 << 10) + (3071 << 20) + (16 << 30) + (64 << 30) + (8 << 30);
    assert_eq!(list.memory_bytes(), Some(bytes));
}

#[test]
fn the_memory_of_a_32_bit_host_is_read_from_its_smaller_structures() {
    let list = hex(&[
        ONE_LIST,
        "02000000",
        "03 01 0000  0010000000000000 00f00900",
        "03 01 0000  0000100000000000 0000f03f",
    ]
    .join("\n"));
    assert_eq!(ResourceList::decode(&list).unwrap().memory_bytes(), Some((636 << 10) + (1023 << 20)));
}

#[test]
fn other_resources_are_skipped_with_the_data_behind_them() {
    let list = hex(&[
        "02000000",
        "00000000 00000000  0100 0100  02000000",
        "02 03 0000  09000000 09000000 ffffffff00000000  # an interrupt",
        "05 00 0000  03000000 00000000 0000000000000000  # three bytes of a device follow",
        "aabbcc",
        "05000000 00000000  0100 0100  01000000          # another bus",
        "03 01 0000  0000100000000000 00001000 00000000",
    ]
    .join("\n"));
    assert_eq!(
        ResourceList::decode(&list).unwrap().memory,
        [MemoryRange { start: 1 << 20, length_bytes: 1 << 20 }]
    );
}

#[test]
fn a_list_whose_counts_are_wrong_is_refused_without_memory_for_them() {
    for (list, why) in [
        ("", "no count"),
        ("ffffffff", "no list"),
        ("01000000  00000000 00000000  0100 0100  ffffffff", "no descriptor"),
        ("01000000  00000000 00000000  0100 0100  01000000  03 01 0000  0010000000000000 00f0", "cut off"),
        (
            "01000000  00000000 00000000  0100 0100  01000000  05 00 0000  ffffffff 00000000 0000000000000000",
            "no data",
        ),
        (
            "01000000  00000000 00000000  0100 0100  01000000  07 01 0000  0000000000000000 01000000 00000000",
            "no unit",
        ),
    ] {
        assert!(ResourceList::decode(&hex(list)).is_err(), "{why}");
    }
}

#[test]
fn sizes_that_add_up_to_more_than_64_bits_are_no_size() {
    let range = "07 01 0008  0000000000000000 ffffffff 00000000\n";
    let list = hex(&format!("{ONE_LIST} 02000000 {range} {range}"));
    assert_eq!(ResourceList::decode(&list).unwrap().memory_bytes(), None);
}

#[test]
fn a_text_ends_at_its_first_nul_or_with_its_bytes() {
    let bytes = hex("41004200 0000 4300");
    assert_eq!(text(ValueType::REG_SZ, &bytes).unwrap(), "AB");
    assert_eq!(text(ValueType::REG_EXPAND_SZ, &bytes[..4]).unwrap(), "AB");
    assert_eq!(text(ValueType::REG_SZ, &bytes[..3]).unwrap(), "A", "half of a character");
    assert_eq!(text(ValueType::REG_SZ, &[]).unwrap(), "");
}

#[test]
fn texts_end_at_the_empty_one_or_with_their_bytes() {
    let bytes = hex("4100 0000 4200 0000 0000 4300");
    assert_eq!(texts(ValueType::REG_MULTI_SZ, &bytes).unwrap(), ["A", "B"]);
    assert_eq!(texts(ValueType::REG_MULTI_SZ, &bytes[..6]).unwrap(), ["A", "B"]);
    assert_eq!(texts(ValueType::REG_MULTI_SZ, &[]).unwrap(), [""; 0]);
}

#[test]
fn a_value_of_another_type_or_size_is_refused() {
    let is_type = |error: InvalidValue| matches!(error, InvalidValue::Type { .. });
    assert!(is_type(text(ValueType::REG_BINARY, &[]).unwrap_err()));
    assert!(is_type(texts(ValueType::REG_SZ, &[]).unwrap_err()));
    assert!(is_type(number(ValueType::REG_DWORD_BIG_ENDIAN, &[0; 4]).unwrap_err()));
    assert!(is_type(wide_number(ValueType::REG_DWORD, &[0; 8]).unwrap_err()));
    assert_eq!(number(ValueType::REG_DWORD, &[1, 0, 0, 0]), Ok(1));
    assert_eq!(wide_number(ValueType::REG_QWORD, &[1, 0, 0, 0, 0, 0, 0, 0]), Ok(1));
    for bytes in [0, 3, 5] {
        assert!(matches!(number(ValueType::REG_DWORD, &vec![0; bytes]), Err(InvalidValue::Size { .. })));
        assert!(matches!(wide_number(ValueType::REG_QWORD, &vec![0; bytes]), Err(InvalidValue::Size { .. })));
    }
}
