//! Cabinet files: reading with checks before anything is written, and writing by the `cab` crate.
//!
//! They are read by code of our own: the reader of the `cab` crate starts at the first byte of a cabinet's folder for each file,
//! does not say that a cabinet is one of several, and panics if the offset of a file is after the last byte.

mod extract;
mod layout;
mod read;
mod write;

use safe_text::is_device;

pub use self::extract::{Extracted, extract};
pub use self::layout::{Entry, ExtractLimits};
pub use self::read::Cabinet;
pub(crate) use self::write::cabinet_seconds;
pub use self::write::{NewFile, PartLimits, Plan, write};

// Names in cabinet files: relative paths whose parts are harmless on Windows and on Linux.

/// Bytes of a name, without the zero after it.
const NAME_BYTES_MAX: usize = 255;
/// Folders and the file.
const PARTS_MAX: usize = 16;
/// Characters that names of Windows cannot have.
const FORBIDDEN: [char; 7] = ['<', '>', ':', '"', '|', '?', '*'];

/// The path of a name in a cabinet file, with `/` between its parts.
///
/// # Errors
/// What is wrong with the name.
pub fn name_from_cabinet(name: &[u8]) -> Result<String, String> {
    let name = str::from_utf8(name)
        .map_err(|_| format!("the name {:?} is not UTF-8", String::from_utf8_lossy(name)))?;
    check(name, &['\\', '/']).map_err(|reason| format!("the name {name:?} {reason}"))?;
    Ok(name.replace('\\', "/"))
}

/// The name in a cabinet file of a path with `/` between its parts.
///
/// # Errors
/// Why a cabinet file cannot have it.
pub fn name_to_cabinet(path: &str) -> Result<String, String> {
    if path.contains('\\') {
        return Err("has a backslash, which ends the name of a folder in cabinet files".to_owned());
    }
    check(path, &['/'])?;
    Ok(path.replace('/', "\\"))
}

fn check(name: &str, separators: &[char]) -> Result<(), String> {
    if name.len() > NAME_BYTES_MAX {
        return Err(format!("has more than {NAME_BYTES_MAX} bytes"));
    }
    if name.split(separators).count() > PARTS_MAX {
        return Err(format!("has more than {PARTS_MAX} parts"));
    }
    name.split(separators).try_for_each(check_part)
}

fn check_part(part: &str) -> Result<(), String> {
    if part.is_empty() {
        return Err("is absolute, or has an empty part".to_owned());
    }
    if part == "." || part == ".." {
        return Err(format!("has the part {part:?}"));
    }
    if let Some(character) = part.chars().find(|c| c.is_control() || FORBIDDEN.contains(c)) {
        return Err(format!("has the character {character:?}"));
    }
    if part.ends_with(['.', ' ']) {
        return Err("has a part that ends with a dot or a blank, which Windows drops".to_owned());
    }
    if is_device(part) {
        return Err(format!("has the part {part:?}, which is a device on Windows"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{name_from_cabinet, name_to_cabinet};

    #[test]
    fn a_path_is_the_same_after_both_ways() {
        for path in ["a.csv", "Prozessor Über.csv", "logs/2026/day 1.csv", "com10.txt", "console.log", ".x"]
        {
            let name = name_to_cabinet(path).unwrap();
            assert!(!name.contains('/'));
            assert_eq!(name_from_cabinet(name.as_bytes()).unwrap(), path);
        }
    }

    #[test]
    fn names_that_leave_the_folder_or_mean_something_else_are_refused() {
        let bad = [
            "",
            "..",
            "../a",
            "a\\..\\b",
            "\\a",
            "/a",
            "a//b",
            "a\\",
            "C:\\a",
            "a:stream",
            "\\\\host\\share\\a",
            "\\\\?\\C:\\a",
            "nul",
            "NUL.txt",
            "con .log",
            "a\\Com1",
            "lpt\u{b9}.x",
            "conin$",
            "a\nb",
            "a\u{7f}",
            "a?",
            "a*",
            "a.",
            "a ",
            ".",
            "a/./b",
            "\u{85}",
        ];
        for name in bad {
            assert!(name_from_cabinet(name.as_bytes()).is_err(), "{name:?}");
        }
        assert!(name_from_cabinet(b"\xff.txt").is_err());
        assert!(
            name_from_cabinet("a".repeat(256).as_bytes()).is_err()
                && name_to_cabinet(&"a".repeat(256)).is_err()
        );
        assert!(name_from_cabinet("a/".repeat(20).as_bytes()).is_err());
        assert!(name_to_cabinet("a\\b").is_err());
    }
}
