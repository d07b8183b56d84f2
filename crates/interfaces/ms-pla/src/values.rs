use com::oaut::Value;
use wire::HResult;

use crate::types::ValueMapType;

/// [MS-PLA] 3.2.4.18: the contents of an [`IValueMap`](crate::IValueMap).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ValueMap {
    /// How the value follows from the items.
    pub kind: ValueMapType,
    /// The items, in order.
    pub items: Vec<ValueMapItem>,
}

/// [MS-PLA] 3.2.4.17: the contents of an [`IValueMapItem`](crate::IValueMapItem).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ValueMapItem {
    /// The name. In a validation it is the property, as a path.
    pub key: String,
    pub description: String,
    /// Whether it is chosen.
    pub is_enabled: bool,
    /// The value. In a validation it is the result. A negative number is its two's complement.
    pub value: u64,
}

/// What the items of a map are together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChosenValue {
    /// No item is enabled, or the map has no kind.
    None,
    /// The first enabled one.
    One(u64),
    /// The bits of all enabled ones.
    Flags(u64),
    /// The enabled ones. Each has 32 bits.
    Each(Vec<u32>),
    /// The properties that are ignored or wrong.
    Results(Vec<(String, HResult)>),
}

impl ValueMap {
    /// [MS-PLA] 2.2.2.11: the value that follows from the items.
    #[must_use]
    pub fn value(&self) -> ChosenValue {
        let mut enabled = self.items.iter().filter(|item| item.is_enabled);
        match self.kind {
            ValueMapType::INDEX => {
                enabled.next().map_or(ChosenValue::None, |item| ChosenValue::One(item.value))
            }
            ValueMapType::FLAG => ChosenValue::Flags(enabled.fold(0, |flags, item| flags | item.value)),
            ValueMapType::FLAG_ARRAY => ChosenValue::Each(enabled.map(ValueMapItem::low).collect()),
            ValueMapType::VALIDATION => ChosenValue::Results(
                self.items.iter().map(|item| (item.key.clone(), HResult(item.low()))).collect(),
            ),
            _ => ChosenValue::None,
        }
    }

    /// [MS-PLA] 3.2.4.18.10: adds what is added as a text: a number becomes an item, any other text enables the item whose
    /// key it is. Whether that is so.
    pub fn add_text(&mut self, text: &str) -> bool {
        if let Some(value) = parse_number(text) {
            self.items.push(ValueMapItem { value, is_enabled: true, ..ValueMapItem::default() });
            return true;
        }
        let item = self.items.iter_mut().find(|item| item.key == text);
        item.map(|item| item.is_enabled = true).is_some()
    }
}

impl ValueMapItem {
    fn low(&self) -> u32 {
        let [a, b, c, d, ..] = self.value.to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }
}

/// The number in a VARIANT of a map or item: an integer of any size, a result, or a text that is a number.
#[must_use]
pub fn number_of(value: &Value<'_>) -> Option<u64> {
    match *value {
        Value::I1(number) => Some(i64::from(number).cast_unsigned()),
        Value::I2(number) => Some(i64::from(number).cast_unsigned()),
        Value::I4(number) | Value::Int(number) => Some(i64::from(number).cast_unsigned()),
        Value::I8(number) => Some(number.cast_unsigned()),
        Value::Ui1(number) => Some(number.into()),
        Value::Ui2(number) => Some(number.into()),
        Value::Ui4(number) | Value::Uint(number) => Some(number.into()),
        Value::Ui8(number) => Some(number),
        Value::Error(result) => Some(result.0.into()),
        Value::Bstr(ref text) => parse_number(&text.text().ok()??),
        _ => None,
    }
}

/// [MS-PLA] 3.2.4.18.10: a number as a text: perhaps `-`, perhaps `0x`, digits.
pub(crate) fn parse_number(text: &str) -> Option<u64> {
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (digits, radix) = hexadecimal.map_or((digits, 10), |digits| (digits, 16));
    // `from_str_radix` would take a sign of its own.
    if !digits.starts_with(|first: char| first.is_digit(radix)) {
        return None;
    }
    let number = u64::from_str_radix(digits, radix).ok()?;
    let is_in_range = !is_negative || number <= i64::MIN.unsigned_abs();
    is_in_range.then(|| if is_negative { number.wrapping_neg() } else { number })
}
