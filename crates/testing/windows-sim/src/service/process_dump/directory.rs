//! Which directories a host takes for a dump, and which it can write to.

use wire::Win32Error;

/// [MS-COMT] <20>: `MAX_PATH`, in UTF-16 code units.
const LEN_MAX: usize = 260;
/// The drives of each host.
const DRIVES: [&str; 2] = ["C:", "D:"];
/// Where the accounts of the simulator may not write.
const CLOSED: &str = r"C:\System Volume Information";
/// What no name of a file has. A backslash stands between two names.
const FORBIDDEN: [char; 7] = ['<', '>', ':', '"', '/', '|', '?'];

/// [MS-COMT] <20>: the syntax, which is a path on a drive or a UNC path.
pub(super) fn check(directory: &str) -> Result<&str, Win32Error> {
    if directory.encode_utf16().count() > LEN_MAX {
        return Err(Win32Error::ERROR_INVALID_PARAMETER);
    }
    let names = match (directory.strip_prefix(r"\\"), directory.split_at_checked(2)) {
        (Some(share), _) => share.split_once('\\').map(|(_, share)| share),
        (None, Some((drive, names))) if is_drive(drive) => names.strip_prefix('\\'),
        _ => None,
    };
    let is_name = |name: &str| {
        !name.contains(|unit: char| unit.is_control() || unit == '*' || FORBIDDEN.contains(&unit))
    };
    match names {
        Some(names) if names.split('\\').all(is_name) => Ok(directory),
        _ => Err(Win32Error::ERROR_INVALID_NAME),
    }
}

/// Whether a file can be written there.
pub(super) fn open(directory: &str) -> Result<(), Win32Error> {
    let begins =
        |start: &str| directory.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    if directory.starts_with(r"\\") {
        Err(Win32Error::ERROR_BAD_NETPATH)
    } else if !DRIVES.into_iter().any(begins) {
        Err(Win32Error::ERROR_PATH_NOT_FOUND)
    } else if begins(CLOSED) {
        Err(Win32Error::ERROR_ACCESS_DENIED)
    } else {
        Ok(())
    }
}

fn is_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic())
}
