//! Protocol buffers, as far as OTLP needs them.

pub(super) const VARINT: u8 = 0;
/// Wire type 1: eight bytes, little endian.
pub(super) const FIXED64: u8 = 1;
/// Wire type 2: a length, then so many bytes.
pub(super) const BYTES: u8 = 2;

/// The key of a field with a number below 16.
pub(super) const fn key(field: u8, wire_type: u8) -> u8 {
    field << 3 | wire_type
}

pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}

/// How many bytes [`put_varint`] writes.
pub(super) const fn varint_len(value: usize) -> usize {
    let bits = (usize::BITS - value.leading_zeros()) as usize;
    if bits == 0 { 1 } else { bits.div_ceil(7) }
}

/// A varint in exactly so many bytes. Readers take leading zeros, so a length can be filled in later.
pub(super) fn padded_varint(room: &mut [u8], value: usize) {
    let mut value = value as u64;
    let last = room.len().saturating_sub(1);
    for (index, byte) in room.iter_mut().enumerate() {
        *byte = (value & 0x7f) as u8 | if index < last { 0x80 } else { 0 };
        value >>= 7;
    }
}

pub(super) fn put_bytes(out: &mut Vec<u8>, key: u8, bytes: &[u8]) {
    out.push(key);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// A string that is left out where it is empty, which says the same.
pub(super) fn put_text(out: &mut Vec<u8>, key: u8, text: &str) {
    if !text.is_empty() {
        put_bytes(out, key, text.as_bytes());
    }
}

pub(super) fn put_fixed64(out: &mut Vec<u8>, key: u8, value: u64) {
    out.push(key);
    out.extend_from_slice(&value.to_le_bytes());
}

/// `KeyValue {key = 1, value = 2: AnyValue {string_value = 1}}` as field `field`.
pub(super) fn put_attribute(out: &mut Vec<u8>, field: u8, name: &str, value: &str) {
    let any = 1 + varint_len(value.len()) + value.len();
    let pair = 1 + varint_len(name.len()) + name.len() + 1 + varint_len(any) + any;
    out.push(field);
    put_varint(out, pair as u64);
    put_bytes(out, key(1, BYTES), name.as_bytes());
    out.push(key(2, BYTES));
    put_varint(out, any as u64);
    // An empty text is a text all the same: without the field it would be no value at all.
    put_bytes(out, key(1, BYTES), value.as_bytes());
}

/// The same with `AnyValue {int_value = 3}`.
pub(super) fn put_number_attribute(out: &mut Vec<u8>, field: u8, name: &str, value: u64) {
    let mut any = vec![key(3, VARINT)];
    put_varint(&mut any, value);
    put_any_attribute(out, field, name, &any);
}

/// The same with `AnyValue {double_value = 4}`.
pub(super) fn put_double_attribute(out: &mut Vec<u8>, field: u8, name: &str, value: f64) {
    let mut any = Vec::new();
    put_fixed64(&mut any, key(4, FIXED64), value.to_bits());
    put_any_attribute(out, field, name, &any);
}

fn put_any_attribute(out: &mut Vec<u8>, field: u8, name: &str, any: &[u8]) {
    let mut pair = Vec::with_capacity(64);
    put_bytes(&mut pair, key(1, BYTES), name.as_bytes());
    put_bytes(&mut pair, key(2, BYTES), any);
    put_bytes(out, field, &pair);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_varint_has_as_many_bytes_as_it_says() {
        for value in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1f_ffff, 0x20_0000, usize::MAX] {
            let mut out = Vec::new();
            put_varint(&mut out, value as u64);
            assert_eq!(out.len(), varint_len(value), "{value}");
            let mut padded = [0xee; 10];
            padded_varint(&mut padded, value);
            let read = prost::decode_length_delimiter(&padded[..]).unwrap();
            assert_eq!(read, value);
        }
    }
}
