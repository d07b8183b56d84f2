//! Laws of the forms that messages of [MS-PLA] have in the wild.

use com::oaut::{ArrayParameter, Bstr, Date, FlaggedWordBlob, SafeArray, Value, Variant, VariantBool};
use ms_pla::{ChosenValue, ValueMap, ValueMapItem, ValueMapType, number_of};
use rpc::Direction;
use rpc::ndr::{ConformantBytes, Enum, EnumForm, InterfacePointer, Writer};
use rpc::orpc::{ComVersion, OrpcThat, OrpcThis};
use wire::{EncodeResult, Guid};

use super::{MADE, Row, rows};
use crate::input::Input;
use crate::interfaces::INTERFACES;

/// Elements of an array.
const ELEMENTS_MAX: u8 = 9;

/// A message of any method with values of the input's choice, in each form of enumerations and of arrays: all are read, as the
/// same values, and written as they were in the form that readers of either can read.
pub fn messages(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let number = usize::from(input.byte()) << 8 | usize::from(input.byte());
    let all: Vec<Row> = rows().collect();
    let row = &all[number % all.len()];
    let direction = if input.byte() & 1 == 0 { Direction::Request } else { Direction::Reply };
    let interface = INTERFACES.iter().find(|one| one.name == row.interface).expect("it is declared");
    for is_double in [false, true] {
        let form = |enums| message(row, direction, enums, is_double, input).expect(MADE);
        let either = form(EnumForm::Either);
        for stub in [form(EnumForm::Short), form(EnumForm::Long), either.clone()] {
            let read = (interface.recode)(direction, row.opnum, &stub).expect("it is declared");
            assert_eq!(read, Ok(Ok(either.clone())), "{} {} {direction:?}", row.interface, row.opnum);
        }
    }
}

fn message(
    row: &Row,
    direction: Direction,
    enums: EnumForm,
    is_double: bool,
    mut input: Input<'_>,
) -> EncodeResult<Vec<u8>> {
    let mut dst = Writer::new().with_enums(enums);
    let kinds = match direction {
        Direction::Request => {
            dst.write(&OrpcThis::new(ComVersion::V5_7, Guid::from_u128(7)))?;
            row.requests
        }
        Direction::Reply => {
            dst.write(&OrpcThat::default())?;
            row.replies
        }
    };
    for kind in kinds.split(' ') {
        parameter(kind, is_double, &mut input, &mut dst)?;
    }
    if direction == Direction::Reply {
        dst.write(&word(&mut input))?;
    }
    Ok(dst.into_stub())
}

fn word(input: &mut Input<'_>) -> u32 {
    let [a, b, c, d, ..] = input.number().to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

fn parameter(kind: &str, is_double: bool, input: &mut Input<'_>, dst: &mut Writer) -> EncodeResult<()> {
    match kind {
        "-" => Ok(()),
        "u32" | "i32" => dst.write(&word(input)),
        "u64" => dst.write(&input.number()),
        "bool" => dst.write(if input.byte() & 1 == 1 { &VariantBool::TRUE } else { &VariantBool::FALSE }),
        "enum" => dst.write(&Enum(u16::from_le_bytes([input.byte(), input.byte()]))),
        "guid" => dst.write(&Guid::from_u128(u128::from(input.number()) << 64 | u128::from(input.number()))),
        "text" => dst.write(&text(input)),
        "texts" => {
            let count = input.byte();
            let elements = (0..count.min(ELEMENTS_MAX)).map(|_| text(input)).collect();
            let array = SafeArray::of_bstrs(elements)?;
            dst.write(&array_parameter((count <= ELEMENTS_MAX).then_some(array), is_double))
        }
        "bytes" => {
            let bytes = input.chunk();
            let array = bytes.map(|bytes| SafeArray::of_bytes(ConformantBytes(bytes.into()))).transpose()?;
            dst.write(&array_parameter(array, is_double))
        }
        "variant" => dst.write(&variant(input)?),
        "object" => dst.write(&object(input)),
        _ => unreachable!("methods.txt has no parameter of the kind {kind}"),
    }
}

fn array_parameter(array: Option<SafeArray<'_>>, is_double: bool) -> ArrayParameter<'_> {
    let array = array.map(Box::new);
    // A NULL behind nothing else reads as one pointer.
    if is_double && array.is_some() {
        ArrayParameter::Double(Some(Box::new(array)))
    } else {
        ArrayParameter::Single(array)
    }
}

/// Any units, pairs of surrogates or not; a NULL pointer; a NULL BSTR.
fn text(input: &mut Input<'_>) -> Bstr {
    match input.byte() {
        0xff => Bstr(None),
        0xfe => Bstr::null(),
        count => {
            let units =
                (0..count % 32).map(|_| u16::from_le_bytes([input.byte(), input.byte()])).collect::<Vec<_>>();
            let count = u32::from(count % 32);
            Bstr(Some(Box::new(FlaggedWordBlob { bytes: 2 * count, count, units })))
        }
    }
}

fn object<'a>(input: &mut Input<'a>) -> Option<Box<InterfacePointer<'a>>> {
    let data = input.chunk()?;
    let size = u32::try_from(data.len()).unwrap_or(u32::MAX);
    Some(Box::new(InterfacePointer { size, data: data.into() }))
}

fn variant<'a>(input: &mut Input<'a>) -> EncodeResult<Option<Box<Variant<'a>>>> {
    let value = match input.byte() {
        0 => return Ok(None),
        1 => return Ok(Some(Box::new(Variant::empty()))),
        2 => Value::I4(i32::from_le_bytes(word(input).to_le_bytes())),
        3 => Value::Ui4(word(input)),
        4 => Value::I8(i64::from_le_bytes(input.number().to_le_bytes())),
        5 => Value::Bstr(text(input)),
        6 => Value::Dispatch(object(input)),
        7 => Value::Unknown(object(input)),
        // NaN is not equal to itself; the law compares bytes.
        8 => Value::Date(Date(f64::from_bits(input.number()))),
        _ => Value::Ui2(u16::from(input.byte())),
    };
    Variant::new(value).map(|variant| Some(Box::new(variant)))
}

// Laws of value maps, whose items hosts choose.

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
