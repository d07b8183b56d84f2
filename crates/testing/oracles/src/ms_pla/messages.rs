//! Laws of the forms that messages of [MS-PLA] have in the wild.

use com::oaut::{ArrayParameter, Bstr, Date, FlaggedWordBlob, SafeArray, Value, Variant, VariantBool};
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
