//! Secrets as people write them into files and variables: one line.

/// The secret in what was written: a byte order mark and one line end are no part of it.
///
/// # Errors
/// Why it is none, to come after the name of its place.
pub fn secret_of(written: &[u8]) -> Result<&str, &'static str> {
    // Editors of Windows leave one at the beginning, and no secret begins so.
    let secret = written.strip_prefix("\u{feff}".as_bytes()).unwrap_or(written);
    // Editors and `echo` leave one; a password that ends in a newline needs two.
    let secret = secret.strip_suffix(b"\r\n").or(secret.strip_suffix(b"\n")).unwrap_or(secret);
    match str::from_utf8(secret) {
        Ok("") => Err("is empty"),
        Ok(secret) => Ok(secret),
        Err(_) if UTF_16.iter().any(|mark| secret.starts_with(mark)) => Err("is UTF-16; save it as UTF-8"),
        Err(_) => Err("is not UTF-8"),
    }
}

/// What of a secret was hardly meant to be a part of it, though it is used as such. It says nothing of the rest.
#[must_use]
pub fn oddity(secret: &str) -> Option<&'static str> {
    if secret.trim_end_matches([' ', '\t']).contains(['\n', '\r']) {
        Some("has more than one line end, and each but the last one is a part of the secret")
    } else if secret.trim().len() < secret.len() {
        Some("begins or ends with white space, which is a part of the secret")
    } else if secret.chars().any(|c| c.is_control() || matches!(c, '\u{200b}' | '\u{feff}')) {
        Some("has characters that are not seen, which are a part of the secret")
    } else {
        None
    }
}

/// What to do about an [`oddity`].
pub const ODDITY_NEXT_STEP: &str = "write it again, with `printf %s` for example, if that was not meant";

/// How a text in UTF-16 begins.
const UTF_16: [&[u8]; 2] = [&[0xff, 0xfe], &[0xfe, 0xff]];
