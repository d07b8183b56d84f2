//! Values of maps, bits of enumerations, names of results.

use com::oaut::{Bstr, Value};
use ms_pla::{ChosenValue, CommitMode, ValueMap, ValueMapItem, ValueMapType, WeekDays, number_of};
use wire::HResult;

fn map(kind: ValueMapType, items: &[(&str, bool, u64)]) -> ValueMap {
    let item = |&(key, is_enabled, value): &(&str, bool, u64)| ValueMapItem {
        key: key.to_owned(),
        is_enabled,
        value,
        ..ValueMapItem::default()
    };
    ValueMap { kind, items: items.iter().map(item).collect() }
}

#[test]
fn the_value_of_a_map_follows_from_its_items_as_its_kind_says() {
    let items = [("a", false, 1), ("b", true, 2), ("c", true, 0x1_0000_0004)];
    assert_eq!(map(ValueMapType::INDEX, &items).value(), ChosenValue::One(2));
    assert_eq!(map(ValueMapType::FLAG, &items).value(), ChosenValue::Flags(0x1_0000_0006));
    assert_eq!(map(ValueMapType::FLAG_ARRAY, &items).value(), ChosenValue::Each(vec![2, 4]));
    assert_eq!(map(ValueMapType::INDEX, &items[..1]).value(), ChosenValue::None);
    assert_eq!(map(ValueMapType(9), &items).value(), ChosenValue::None);
}

#[test]
fn a_validation_has_the_result_of_each_property() {
    let ignored = number_of(&Value::I4(0x0030_0100)).unwrap();
    let conflict = number_of(&Value::I4(0x8030_0101_u32.cast_signed())).unwrap();
    let items = [("TaskArguments", false, ignored), ("TraceDataCollector[1]/LogAppend", false, conflict)];
    let expected = [
        ("TaskArguments".to_owned(), HResult::PLA_S_PROPERTY_IGNORED),
        ("TraceDataCollector[1]/LogAppend".to_owned(), HResult::PLA_E_PROPERTY_CONFLICT),
    ];
    assert_eq!(map(ValueMapType::VALIDATION, &items).value(), ChosenValue::Results(expected.to_vec()));
}

// [MS-PLA] 3.2.4.18.10
#[test]
fn a_text_that_is_added_is_a_number_or_a_key() {
    let mut map = map(ValueMapType::FLAG, &[("win:Error", false, 2)]);
    assert!(map.add_text("0x10") && map.add_text("win:Error") && !map.add_text("win:Nothing"));
    assert_eq!((map.items.len(), map.value()), (2, ChosenValue::Flags(0x12)));
}

#[test]
fn numbers_are_integers_of_any_size_results_and_texts() {
    let text = |text: &str| number_of(&Value::Bstr(Bstr::new(text).unwrap()));
    assert_eq!(
        (text("0x8000000000000000"), text("-0xA"), text("-1")),
        (Some(1 << 63), Some((-10_i64).cast_unsigned()), Some(u64::MAX))
    );
    assert_eq!(text("-0x8000000000000000"), Some(1 << 63));
    let none = [
        "",
        "-",
        "0x",
        "+1",
        "--1",
        "-+1",
        "0x-1",
        "1 ",
        "a",
        "0x1_0",
        "18446744073709551616",
        "-9223372036854775809",
    ];
    for bad in none {
        assert_eq!(text(bad), None, "{bad}");
    }
    assert_eq!(number_of(&Value::I1(-1)), Some(u64::MAX));
    assert_eq!(number_of(&Value::Ui8(u64::MAX)), Some(u64::MAX));
    assert_eq!(number_of(&Value::Error(HResult::E_NOTIMPL)), Some(0x8000_4001));
    assert_eq!((number_of(&Value::R8(1.0)), number_of(&Value::Empty)), (None, None));
}

#[test]
fn modes_and_days_are_bits() {
    let mode = CommitMode::CREATE_NEW | CommitMode::MODIFY | CommitMode::VALIDATE_ONLY;
    assert!(mode.contains(CommitMode::CREATE_OR_MODIFY) && !mode.contains(CommitMode::FLUSH_TRACE));
    assert_eq!((mode, mode.name()), (CommitMode(0x1003), None));
    let week = [
        WeekDays::SUNDAY,
        WeekDays::MONDAY,
        WeekDays::TUESDAY,
        WeekDays::WEDNESDAY,
        WeekDays::THURSDAY,
        WeekDays::FRIDAY,
        WeekDays::SATURDAY,
    ];
    assert_eq!(week.into_iter().reduce(|all, day| all | day), Some(WeekDays::EVERYDAY));
}

#[test]
fn results_have_names_up_to_the_last() {
    let named = (0x8030_0100_u32..=0x8030_0113).filter(|&code| HResult(code).name().is_some());
    assert_eq!(named.count(), 0x13);
    assert_eq!(HResult(0x8030_0113).to_string(), "PLA_E_CABAPI_FAILURE");
    let others = [0x8030_0002, 0x8030_0045, 0x8030_0070, 0x8030_00aa, 0x8030_00b7];
    assert!(others.iter().all(|&code| HResult(code).name().is_some_and(|name| name.starts_with("PLA_E_"))));
    assert!(HResult::PLA_S_PROPERTY_IGNORED.is_success());
}
