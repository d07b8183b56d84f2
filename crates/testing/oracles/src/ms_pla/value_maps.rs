//! Laws of value maps, whose items hosts choose.

use com::oaut::{Bstr, Value};
use ms_pla::{ChosenValue, ValueMap, ValueMapItem, ValueMapType, number_of};

use crate::input::Input;

const ITEMS_MAX: usize = 64;

/// A value map: a kind, a text that is added, and items. What is chosen follows from the items that are enabled, and from
/// nothing else; a text that is a number becomes an item, and any other one does not.
pub fn value_maps(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let kind = ValueMapType(u16::from(input.byte()));
    let text = String::from_utf8_lossy(input.chunk().unwrap_or_default()).into_owned();
    let mut items = Vec::new();
    while !input.is_empty() && items.len() < ITEMS_MAX {
        let key = char::from(input.byte() % 0x60 + 0x20).to_string();
        let is_enabled = input.byte() & 1 == 1;
        items.push(ValueMapItem { key, is_enabled, value: input.number(), description: String::new() });
    }
    let mut map = ValueMap { kind, items };
    check(&map);
    let before = map.clone();
    let number = Bstr::new(&text).ok().and_then(|text| number_of(&Value::Bstr(text)));
    let is_added = map.add_text(&text);
    match number {
        Some(number) => {
            let added = map.items.last().expect("a number is added");
            assert!(is_added && map.items.len() == before.items.len() + 1);
            assert!(added.is_enabled && added.value == number);
        }
        None => {
            assert_eq!(map.items.len(), before.items.len(), "{text:?} is no number");
            let has_key = before.items.iter().any(|item| item.key == text);
            assert_eq!((is_added, has_key || map == before), (has_key, true));
        }
    }
    check(&map);
}

fn check(map: &ValueMap) {
    let enabled = || map.items.iter().filter(|item| item.is_enabled);
    match map.value() {
        ChosenValue::None => {}
        ChosenValue::One(value) => assert!(enabled().any(|item| item.value == value)),
        ChosenValue::Flags(flags) => {
            assert!(enabled().all(|item| item.value & !flags == 0), "each bit that is enabled is there");
            let all = map.items.iter().fold(0, |all, item| all | item.value);
            assert_eq!(flags & !all, 0, "no other bit is");
        }
        ChosenValue::Each(values) => assert_eq!(values.len(), enabled().count()),
        ChosenValue::Results(results) => assert_eq!(results.len(), map.items.len()),
    }
    for item in &map.items {
        let number = i64::from_le_bytes(item.value.to_le_bytes());
        let as_text = Bstr::new(&number.to_string()).expect("a number is short");
        for value in [Value::I8(number), Value::Ui8(item.value), Value::Bstr(as_text)] {
            assert_eq!(number_of(&value), Some(item.value), "{value:?}");
        }
    }
}
