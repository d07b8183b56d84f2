//! Tables of names, whole and damaged.

use counters::perflib_v1::write::encode_names;
use counters::perflib_v1::{NameKind, NameTable, value_name};

fn wide(texts: &[&str]) -> Vec<u8> {
    let units = texts.iter().flat_map(|text| text.encode_utf16().chain([0]));
    units.flat_map(u16::to_le_bytes).collect()
}

fn sorted(table: &NameTable) -> Vec<(u32, &str)> {
    let mut texts: Vec<_> = table.iter().collect();
    texts.sort_unstable();
    texts
}

#[test]
fn a_table_is_read_as_it_was_written() {
    let texts =
        [(1, "1847"), (2, "System"), (4, "Memory"), (6, "% Processor Time"), (674, "Zeit seit \u{e4}")];
    let table = NameTable::decode(&encode_names(texts));
    assert_eq!(sorted(&table), texts);
    assert_eq!((table.get(4), table.get(5), table.len()), (Some("Memory"), None, 5));
    assert_eq!(table.faults(), counters::perflib_v1::NameTableFaults::default());
}

#[test]
fn the_first_text_of_an_index_counts() {
    let table = NameTable::decode(&wide(&["2", "System", "2", "Other", "4", "Memory", ""]));
    assert_eq!(sorted(&table), [(2, "System"), (4, "Memory")]);
    assert_eq!(table.faults().duplicates, 1);
}

#[test]
fn behind_a_text_without_an_index_the_table_goes_on() {
    let table = NameTable::decode(&wide(&["2", "System", "stray", "4", "Memory", "-6", "6", "Disk", ""]));
    assert_eq!(sorted(&table), [(2, "System"), (4, "Memory"), (6, "Disk")]);
    assert_eq!(table.faults().stray_texts, 2);
}

#[test]
fn an_index_at_the_end_has_no_text_and_a_cut_text_is_what_is_left() {
    assert_eq!(sorted(&NameTable::decode(&wide(&["2", "System", "4"]))), [(2, "System")]);
    let mut cut = wide(&["2", "System"]);
    cut.truncate(cut.len() - 5);
    assert_eq!(sorted(&NameTable::decode(&cut)), [(2, "Syst")]);
    assert!(NameTable::decode(&[]).is_empty() && NameTable::decode(&[7]).is_empty());
}

#[test]
fn an_index_beyond_32_bits_is_none() {
    let table = NameTable::decode(&wide(&["4294967296", "2", "System", ""]));
    assert_eq!(sorted(&table), [(2, "System")]);
}

#[test]
fn a_table_without_end_is_cut() {
    let texts = (0..).map(|index| (index, "x")).take(NameTable::ENTRIES_MAX + 1);
    let table = NameTable::decode(&encode_names(texts));
    assert_eq!(table.len(), NameTable::ENTRIES_MAX);
    assert!(table.faults().is_cut);
}

#[test]
fn values_are_named_as_windows_names_them() {
    assert_eq!(value_name(&[2, 4, 238]), "2 4 238");
    assert_eq!(NameKind::Counter.value_name(9), "Counter 009");
    assert_eq!(NameKind::Help.value_name(0x411 & 0x3ff), "Help 011");
}
