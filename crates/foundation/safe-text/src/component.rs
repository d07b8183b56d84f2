//! Any text as one component of a path that is harmless on any system, and back. Sources of the exporter name files by it, and
//! the exporter the directories of targets.

use core::fmt::Write as _;

use percent_encoding::percent_decode_str;
use sha2::{Digest as _, Sha256};

/// The longest [`component`], in bytes. File systems allow 255: there is room for what names of files get before and after it,
/// such as ` (previous).parquet.part.new`.
pub const COMPONENT_BYTES_MAX: usize = 200;

/// One component of a path, made of any text: of the name of a target or a set, or of that of a run or a file.
///
/// Two texts never have the same component, and most texts are their own. Characters that a path or a file system gives a
/// meaning are written as `%` and two hexadecimal digits for each byte, as in URLs:
///
/// - `%` itself, `/`, `\`, `<`, `>`, `:`, `"`, `|`, `?`, `*`, control characters, and invisible characters that change the
///   direction of writing;
/// - a dot or a blank at the beginning or the end, so that there is neither `.` nor `..`, and names that begin with a dot are
///   free for other uses;
/// - the first letter of the name of a device of Windows, alone or before a dot: `CON`, `NUL`, `COM1.csv`.
///
/// The empty text is `%`. A component of more than [`COMPONENT_BYTES_MAX`] is cut, and ends with `%~` and half of the SHA-256
/// of the text. Upper and lower case are kept, as Linux does.
///
/// ```
/// use safe_text::component;
///
/// assert_eq!(component("Office hours"), "Office hours");
/// assert_eq!(component("../etc/passwd"), "%2E.%2Fetc%2Fpasswd");
/// assert_eq!(component("con.csv"), "%63on.csv");
/// ```
#[must_use]
pub fn component(text: &str) -> String {
    if text.is_empty() {
        return "%".to_owned();
    }
    let last = text.len() - text.chars().next_back().map_or(0, char::len_utf8);
    let is_device = is_device(text);
    let mut escaped = String::with_capacity(text.len());
    // Where it may be cut: not within an escaped byte or a character.
    let mut cut = 0;
    for (at, c) in text.char_indices() {
        let is_edge = at == 0 || at == last;
        let is_harmful = has_meaning(c) || is_edge && matches!(c, '.' | ' ') || is_device && at == 0;
        if is_harmful {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                // Writing to a string does not fail.
                let _ = write!(escaped, "%{byte:02X}");
            }
        } else {
            escaped.push(c);
        }
        if escaped.len() <= COMPONENT_BYTES_MAX - DIGEST_CHARS {
            cut = escaped.len();
        } else if escaped.len() > COMPONENT_BYTES_MAX {
            break;
        }
    }
    if escaped.len() > COMPONENT_BYTES_MAX {
        escaped.truncate(cut);
        escaped += DIGEST_MARK;
        for byte in &Sha256::digest(text)[..DIGEST_BYTES] {
            let _ = write!(escaped, "{byte:02x}");
        }
    }
    escaped
}

/// The text that a component was made of, as far as it was not cut. Other names of files stand for themselves, if they can.
#[must_use]
pub fn text_of(component: &str) -> String {
    let (kept, rest) = component.split_once(DIGEST_MARK).map_or((component, ""), |(kept, _)| (kept, "…"));
    if kept == "%" {
        rest.to_owned()
    } else {
        percent_decode_str(kept).decode_utf8_lossy().into_owned() + rest
    }
}

/// Whether a path, a file system or a terminal gives it a meaning, or it would hide how a name is written.
fn has_meaning(c: char) -> bool {
    let changes_direction = matches!(c,
        '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    c.is_control()
        || changes_direction
        || matches!(c, '%' | '/' | '\\' | '<' | '>' | ':' | '"' | '|' | '?' | '*')
}

/// Whether Windows takes it as the name of a device, whatever follows its first dot: blanks before that do not count.
#[must_use]
pub fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ').to_uppercase();
    let is_numbered = |device: &&str| {
        stem.strip_prefix(*device).is_some_and(|number| {
            let mut digits = number.chars();
            digits.next().is_some_and(|c| c.is_ascii_digit() || "¹²³".contains(c)) && digits.next().is_none()
        })
    };
    DEVICES.contains(&&*stem) || NUMBERED_DEVICES.iter().any(is_numbered)
}

/// Names of devices, with any extension.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
/// Those that are devices with a digit after them.
const NUMBERED_DEVICES: [&str; 2] = ["COM", "LPT"];
/// No component has this otherwise: a `%` of the text is escaped.
const DIGEST_MARK: &str = "%~";
const DIGEST_BYTES: usize = 16;
const DIGEST_CHARS: usize = DIGEST_MARK.len() + 2 * DIGEST_BYTES;
