//! The fields of a frame.

use super::put_length;

/// What is left to read.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Bytes behind their number.
    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        std::str::from_utf8(self.bytes()?).ok().map(str::to_owned)
    }

    /// A text behind a byte that says whether there is one.
    pub(super) fn optional(&mut self) -> Option<Option<String>> {
        match self.array()? {
            [0] => Some(None),
            [1] => self.text().map(Some),
            _ => None,
        }
    }
}

pub(super) fn put_bytes(content: &mut Vec<u8>, bytes: &[u8]) {
    put_length(content, bytes.len());
    content.extend_from_slice(bytes);
}

pub(super) fn put_optional(content: &mut Vec<u8>, text: Option<&str>) {
    content.push(u8::from(text.is_some()));
    if let Some(text) = text {
        put_bytes(content, text.as_bytes());
    }
}
