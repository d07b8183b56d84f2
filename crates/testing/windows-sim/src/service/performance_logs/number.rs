//! Numbers of maps: as XML has them, and as variants.

use com::oaut::{Bstr, Value, Variant};
use ms_pla::{AnyVariant, ValueMapType, number_of};
use wire::HResult;

/// A number as XML has it.
pub(super) fn number(digits: &str) -> Option<u64> {
    number_of(&Value::Bstr(Bstr::new(digits).ok()?))
}

/// A number as a property. Results have 32 bits; a number that is above the highest of them has 64.
pub(super) fn variant(number: Option<u64>, kind: ValueMapType) -> Result<AnyVariant<'static>, HResult> {
    let short = number.and_then(|number| u32::try_from(number).ok());
    let value = match (number, short) {
        (None, _) => Value::Empty,
        (_, Some(short)) if kind == ValueMapType::VALIDATION || short.cast_signed() >= 0 => {
            Value::I4(short.cast_signed())
        }
        (Some(number), _) => Value::I8(number.cast_signed()),
    };
    let variant = Variant::new(value).map_err(|_| HResult::E_OUTOFMEMORY)?;
    Ok(Some(Box::new(variant)))
}

/// The number in a parameter, as XML has it; VT_EMPTY has none.
pub(super) fn digits(value: &AnyVariant<'_>) -> Result<Option<String>, HResult> {
    match value.as_ref().map(|variant| &variant.value) {
        None => Err(HResult::E_POINTER),
        Some(Value::Empty) => Ok(None),
        Some(value) => {
            let number = number_of(value).ok_or(HResult::DISP_E_TYPEMISMATCH)?;
            Ok(Some(format!("{number:#x}")))
        }
    }
}
