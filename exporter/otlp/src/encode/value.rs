//! One number in a point.

use series::model::Value;

use super::wire::{FIXED64, key};

/// A value as `NumberDataPoint` has it: the key of its field, and eight bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number {
    pub(super) key: u8,
    pub(super) bits: u64,
}

/// `as_double`
const DOUBLE: u8 = key(4, FIXED64);
/// `as_int`
const INT: u8 = key(6, FIXED64);

impl Number {
    /// The value of an info, whatever was sent.
    pub(super) const ONE: Self = Self { key: INT, bits: 1 };

    /// Integers beyond what OTLP's signed ones hold become doubles.
    #[inline]
    pub(super) fn of(value: Value) -> Self {
        match value {
            Value::F64(value) => Self { key: DOUBLE, bits: value.to_bits() },
            Value::I64(value) => Self { key: INT, bits: value.cast_unsigned() },
            Value::U64(value) if i64::try_from(value).is_ok() => Self { key: INT, bits: value },
            #[expect(clippy::cast_precision_loss, reason = "no other type of OTLP holds it")]
            Value::U64(value) => Self { key: DOUBLE, bits: (value as f64).to_bits() },
        }
    }
}

/// The increase of a counter. `None` if it fell: it was reset, and nobody said when.
#[inline]
pub(super) fn growth(before: Value, now: Value) -> Option<Value> {
    match (before, now) {
        (Value::U64(before), Value::U64(now)) => now.checked_sub(before).map(Value::U64),
        (Value::I64(before), Value::I64(now)) if now >= before => {
            Some(Value::I64(now.saturating_sub(before)))
        }
        (Value::F64(before), Value::F64(now)) if now >= before => Some(Value::F64(now - before)),
        _ => None,
    }
}
