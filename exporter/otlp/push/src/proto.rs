//! The little of protocol buffers and Base64 that is read in answers.

/// The fields of a message, as far as it makes sense.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

enum Field<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
    Other,
}

impl<'a> Fields<'a> {
    pub(super) fn of(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    /// The last value of a varint field, which counts.
    pub(super) fn varint(&mut self, number: u64) -> Option<u64> {
        let fields = self.filter(|(found, _)| *found == number);
        fields
            .filter_map(|(_, field)| if let Field::Varint(value) = field { Some(value) } else { None })
            .last()
    }

    /// The last value of a text or message.
    pub(super) fn bytes(self, number: u64) -> Option<&'a [u8]> {
        self.all_bytes(number).last()
    }

    /// All values of a text or message.
    pub(super) fn all_bytes(self, number: u64) -> impl Iterator<Item = &'a [u8]> {
        self.filter_map(move |(found, field)| match field {
            Field::Bytes(bytes) if found == number => Some(bytes),
            _ => None,
        })
    }
}

/// Iterating copies: a message can be asked for one field after the other.
impl<'a> Fields<'a> {
    fn filter(self, wanted: impl Fn(&(u64, Field<'a>)) -> bool) -> impl Iterator<Item = (u64, Field<'a>)> {
        Walk(self.rest).filter(wanted)
    }

    fn filter_map<T>(self, map: impl FnMut((u64, Field<'a>)) -> Option<T>) -> impl Iterator<Item = T> {
        Walk(self.rest).filter_map(map)
    }
}

struct Walk<'a>(&'a [u8]);

impl<'a> Iterator for Walk<'a> {
    type Item = (u64, Field<'a>);

    /// Ends where the bytes make no sense.
    fn next(&mut self) -> Option<Self::Item> {
        let key = varint(&mut self.0)?;
        let field = match key & 7 {
            0 => Field::Varint(varint(&mut self.0)?),
            1 => skip(&mut self.0, 8)?,
            2 => {
                let length = usize::try_from(varint(&mut self.0)?).ok()?;
                let (bytes, rest) = self.0.split_at_checked(length)?;
                self.0 = rest;
                Field::Bytes(bytes)
            }
            5 => skip(&mut self.0, 4)?,
            _ => return None,
        };
        Some((key >> 3, field))
    }
}

fn skip<'a>(rest: &mut &[u8], bytes: usize) -> Option<Field<'a>> {
    *rest = rest.get(bytes..)?;
    Some(Field::Other)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// RFC 4648 4, with or without the padding at the end, which gRPC leaves out.
pub(super) fn base64_decoded(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut held) = (0_u32, 0);
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    for byte in text.trim_end_matches('=').bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(digit)) & 0xfff;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held & 0xff) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_with_and_without_padding() {
        // RFC 4648 10.
        for (text, plain) in [("", ""), ("Zg==", "f"), ("Zm8", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")]
        {
            assert_eq!(base64_decoded(text).as_deref(), Some(plain.as_bytes()));
        }
        assert_eq!(base64_decoded("Zm9*"), None);
    }

    #[test]
    fn a_message_that_breaks_off_ends_there() {
        let message = [0x08, 0x05, 0x12, 0x7f, 1];
        assert_eq!(Fields::of(&message).varint(1), Some(5));
        assert_eq!(Fields::of(&message).bytes(2), None);
    }
}
