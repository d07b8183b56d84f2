/// Namespaces in XML, 4: whether a text is a name without a colon.
pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(is_name_start) && chars.all(is_name_char)
}

/// Whether a name may begin so.
pub(super) fn is_name_start(char: char) -> bool {
    char.is_alphabetic() || char == '_'
}

/// Whether a name may go on so.
pub(super) fn is_name_char(char: char) -> bool {
    char.is_alphanumeric()
        || matches!(char, '_' | '-' | '.' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}' | '\u{2040}')
}
