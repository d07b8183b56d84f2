use std::borrow::Cow;

/// The text of a document: UTF-16 or UTF-8, with a byte order mark or without. What its declaration says of the encoding does
/// not count: tools that change the encoding leave it as it was.
///
/// # Errors
/// The offset of what is no text.
pub(super) fn text(bytes: &[u8]) -> Result<Cow<'_, str>, usize> {
    match bytes {
        [0xef, 0xbb, 0xbf, text @ ..] => utf8(text).map_err(|at| at + 3),
        [0xff, 0xfe, units @ ..] => utf16(units, u16::from_le_bytes).map_err(|at| at + 2),
        [0xfe, 0xff, units @ ..] => utf16(units, u16::from_be_bytes).map_err(|at| at + 2),
        // A document begins with `<` or with white space.
        [_, 0, ..] => utf16(bytes, u16::from_le_bytes),
        [0, _, ..] => utf16(bytes, u16::from_be_bytes),
        _ => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> Result<Cow<'_, str>, usize> {
    str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| error.valid_up_to())
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Cow<'_, str>, usize> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(bytes.len() - 1);
    }
    let mut text = String::with_capacity(pairs.len());
    let mut at = 0;
    for char in char::decode_utf16(pairs.iter().map(|&pair| unit(pair))) {
        let char = char.map_err(|_| at)?;
        at += 2 * char.len_utf16();
        text.push(char);
    }
    Ok(Cow::Owned(text))
}
