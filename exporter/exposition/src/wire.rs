//! The few parts of protobuf's wire format that a page needs.

/// The tag of a field with a length.
pub(super) const fn bytes_tag(field: u8) -> u8 {
    field << 3 | 2
}

/// The tag of a field with a number of varying length.
pub(super) const fn varint_tag(field: u8) -> u8 {
    field << 3
}

/// The tag of a field of eight bytes.
pub(super) const fn fixed64_tag(field: u8) -> u8 {
    field << 3 | 1
}

pub(super) fn varint_len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

pub(super) fn push_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

pub(super) fn push_len(len: usize, out: &mut Vec<u8>) {
    push_varint(len as u64, out);
}

/// Small numbers of either sign, alternating.
pub(super) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// The field of that number: its bytes after their length.
pub(super) fn push_bytes(field: u8, bytes: &[u8], out: &mut Vec<u8>) {
    push_tag(field, 2, out);
    push_len(bytes.len(), out);
    out.extend_from_slice(bytes);
}

pub(super) fn push_number(field: u8, value: u64, out: &mut Vec<u8>) {
    push_tag(field, 0, out);
    push_varint(value, out);
}

pub(super) fn push_double(field: u8, value: f64, out: &mut Vec<u8>) {
    push_tag(field, 1, out);
    out.extend_from_slice(&value.to_le_bytes());
}

fn push_tag(field: u8, wire_type: u8, out: &mut Vec<u8>) {
    push_varint(u64::from(field) << 3 | u64::from(wire_type), out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_as_long_as_they_say() {
        for value in [0, 1, 127, 128, 300, 16_383, 16_384, u64::MAX] {
            let mut out = Vec::new();
            push_varint(value, &mut out);
            assert_eq!(out.len(), varint_len(value), "{value}");
        }
        let mut out = Vec::new();
        push_varint(300, &mut out);
        // The example of protobuf's documentation.
        assert_eq!(out, [0xac, 0x02]);
        assert_eq!([0, -1, 1, -2, i64::MIN].map(zigzag), [0, 1, 2, 3, u64::MAX]);
    }
}
