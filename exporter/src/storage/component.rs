//! Names as components of paths, by the same rule as sources name what is below.

use std::fmt::Write;

use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};

/// A component of a path for a name that may have any characters: never empty, `.`, `..` or hidden, and without separators.
/// Different names have different components, and most names are their own.
///
/// As `%XX` for each byte are written: `%`, `/`, `\`, `<`, `>`, `:`, `"`, `|`, `?`, `*`, control characters, invisible characters
/// that change the direction of writing, a dot or a blank at the begin or the end, and the first letter of a device's name
/// of Windows. The empty name is `%`. What is longer than 200 bytes is cut, and ends with `%~` and half of the name's SHA-256.
pub(crate) fn component(name: &str) -> String {
    if name.is_empty() {
        return "%".to_owned();
    }
    let last = name.len() - name.chars().next_back().map_or(0, char::len_utf8);
    let is_device = is_device(name);
    let mut escaped = String::with_capacity(name.len());
    // Where it may be cut: not within an escaped byte or a character.
    let mut cut = 0;
    for (at, c) in name.char_indices() {
        let is_edge = at == 0 || at == last;
        if has_meaning(c) || is_edge && matches!(c, '.' | ' ') || is_device && at == 0 {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a string does not fail.
                let _ = write!(escaped, "%{byte:02X}");
            }
        } else {
            escaped.push(c);
        }
        if escaped.len() <= BYTES_MAX - DIGEST_CHARS {
            cut = escaped.len();
        } else if escaped.len() > BYTES_MAX {
            break;
        }
    }
    if escaped.len() > BYTES_MAX {
        escaped.truncate(cut);
        escaped += DIGEST_MARK;
        for byte in &Sha256::digest(name)[..DIGEST_BYTES] {
            let _ = write!(escaped, "{byte:02x}");
        }
    }
    escaped
}

/// The name that a component was made of, as far as it was not cut. Other names of files stand for themselves, if they can.
pub(crate) fn name_of(component: &str) -> String {
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

/// Whether Windows takes it as the name of a device, whatever follows its first dot.
fn is_device(text: &str) -> bool {
    let name = text.split('.').next().unwrap_or_default().trim_end_matches(' ');
    let is = |device: &str| name.eq_ignore_ascii_case(device);
    let is_port = |port: &str| {
        let number = name.get(..3).filter(|start| start.eq_ignore_ascii_case(port)).map(|_| &name[3..]);
        number.is_some_and(|number| {
            matches!(number, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³")
        })
    };
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].iter().any(|device| is(device))
        || is_port("COM")
        || is_port("LPT")
}

/// No component has this otherwise: a `%` of the text is escaped.
const DIGEST_MARK: &str = "%~";
const DIGEST_BYTES: usize = 16;
const DIGEST_CHARS: usize = DIGEST_MARK.len() + 2 * DIGEST_BYTES;
/// File systems allow 255, and names of files get more in front and behind.
const BYTES_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The tests of what sources name have the same ones.
    const CASES: &[(&str, &str)] = &include!("../../../crates/counters/pla-engine/tests/data/components.in");

    #[test]
    fn components_are_those_that_sources_make_and_tell_their_names() {
        for (name, expected) in CASES {
            assert_eq!(component(name), *expected, "{name:?}");
            match expected.split_once(DIGEST_MARK) {
                None => assert_eq!(name_of(expected), *name, "{expected:?}"),
                Some((kept, _)) => assert_eq!(name_of(expected), format!("{kept}…")),
            }
        }
    }

    #[test]
    fn no_two_names_share_a_component() {
        let long = "x".repeat(300);
        let names = [
            "",
            "%",
            "a b",
            "a%20b",
            "a.",
            ".a",
            "%2Ea",
            "A",
            "a",
            "ä",
            "a\u{308}",
            "~",
            "%7E",
            &long,
            &long[1..],
            &"ä".repeat(130),
            &"x".repeat(200),
            &"x".repeat(201),
            &component(&long),
        ];
        let components: BTreeSet<String> = names.iter().map(|name| component(name)).collect();
        assert_eq!(components.len(), names.len());
        for component in components {
            let is_harmless = !component.starts_with('.') && !component.contains(['/', '\0']);
            assert!(component.len() <= BYTES_MAX && is_harmless, "{component}");
        }
        assert_eq!(name_of(&component(&long)), format!("{}…", "x".repeat(BYTES_MAX - DIGEST_CHARS)));
    }
}
