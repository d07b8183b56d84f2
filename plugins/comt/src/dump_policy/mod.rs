//! Which dumps the configuration allows: none by default.

use std::fmt;

use plugin_sdk::Problem;
use serde::Deserialize;

/// The section `dump` of a module's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a mapping such as `{allow: true, directories: ['C:\\Dumps']}`"
)]
pub(crate) struct Policy {
    /// Whether processes of the target may be dumped at all.
    allow: bool,
    /// Where the dumps may be written.
    directories: Vec<Directory>,
    /// Whether they may be written where the COM+ application has its dumps.
    application_directory: bool,
}

/// Directories in one list.
const DIRECTORIES_MAX: usize = 64;

/// Why a dump is not allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No module of the target allows any.
    NotAllowed,
    /// The directory is not in the list, which is this.
    NotListed(Vec<String>),
    /// No directory is given, and that of the application may not be used. Those that may be are these.
    NoDirectory(Vec<String>),
}

impl Policy {
    /// What is wrong with it.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.directories.len() > DIRECTORIES_MAX {
            let message = format!("there are more than {DIRECTORIES_MAX} directories");
            problems.push(Problem::new("/dump/directories", message));
        }
        if self.allow && self.directories.is_empty() && !self.application_directory {
            let message =
                "dumps are allowed, but nowhere: name `directories`, or set `application_directory: true`";
            problems.push(Problem::new("/dump", message));
        }
        problems
    }
}

/// Where a dump may go: `None` is the application's own directory. What goes to the host is written as in the list.
///
/// # Errors
/// If none of `policies`, those of the target's modules, allows it.
pub(crate) fn permitted(
    policies: &[Policy],
    wanted: Option<&Directory>,
) -> Result<Option<Directory>, Refusal> {
    let allowing = || policies.iter().filter(|policy| policy.allow);
    if allowing().next().is_none() {
        return Err(Refusal::NotAllowed);
    }
    let listed = || allowing().flat_map(|policy| &policy.directories);
    let all = || listed().map(ToString::to_string).collect();
    match wanted {
        Some(wanted) => {
            let found = listed().find(|listed| listed.is_same(wanted));
            found.map(|listed| Some(listed.clone())).ok_or_else(|| Refusal::NotListed(all()))
        }
        None if allowing().any(|policy| policy.application_directory) => Ok(None),
        None => Err(Refusal::NoDirectory(all())),
    }
}

// Directories of a host into which dumps may be written.

/// A directory of a drive of the host, such as `C:\Dumps`. There is one way to write it, but for case and a backslash at the
/// end.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String", expecting = "a directory such as 'C:\\Dumps'")]
pub(crate) struct Directory(String);

/// [MS-COMT] <20>: `MAX_PATH`, in UTF-16 code units.
const LEN_MAX: usize = 260;
/// What names of files do not have. A colon would name a stream of a file.
const FORBIDDEN: [char; 7] = ['<', '>', ':', '"', '|', '?', '*'];
/// Names that are devices in each directory.
const DEVICES: [&str; 4] = ["CON", "PRN", "AUX", "NUL"];
/// The same with a digit after them.
const NUMBERED_DEVICES: [&str; 2] = ["COM", "LPT"];

impl Directory {
    /// Reads a directory.
    ///
    /// # Errors
    /// A sentence about what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.encode_utf16().count() > LEN_MAX {
            return Err("it is longer than 260 characters");
        }
        if text.contains('/') {
            return Err("write it with backslashes");
        }
        if text.starts_with(r"\\") {
            return Err(
                "it is a network or device path; only directories of the host's own drives are allowed",
            );
        }
        let (Some(drive), Some(names)) =
            (text.chars().next(), text.get(1..).and_then(|rest| rest.strip_prefix(":\\")))
        else {
            return Err(r"it is not absolute; begin with a drive, such as C:\");
        };
        if !drive.is_ascii_alphabetic() {
            return Err(r"it is not absolute; begin with a drive, such as C:\");
        }
        let names = names.strip_suffix('\\').unwrap_or(names);
        if !names.is_empty() {
            names.split('\\').try_for_each(check_name)?;
        }
        Ok(Self(format!("{drive}:\\{names}")))
    }

    /// Whether Windows takes both for the same, whatever their case.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.0.chars().map(upper).eq(other.0.chars().map(upper))
    }

    /// As it goes to the host.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Directory {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl fmt::Display for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Refuses names that Windows reads as something else than they say, or as nothing.
fn check_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("a name in it is empty");
    }
    if name == "." || name == ".." {
        return Err("it contains `.` or `..`");
    }
    if name.ends_with(['.', ' ']) {
        return Err("a name in it ends with a dot or a space, which Windows leaves out");
    }
    if name.chars().any(|c| c.is_control() || FORBIDDEN.contains(&c)) {
        return Err("a name in it has a character that no file has");
    }
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_uppercase();
    let is_numbered = |device| stem.strip_prefix(device).is_some_and(|number| number.chars().count() == 1);
    if DEVICES.contains(&stem.as_str()) || NUMBERED_DEVICES.into_iter().any(is_numbered) {
        return Err("a name in it is that of a device");
    }
    Ok(())
}

/// Windows compares names by one capital letter for each character, and has none for those outside of 16 bits.
fn upper(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(capital), None) if c.len_utf16() == 1 => capital,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(settings: &str) -> Policy {
        let policy: Policy = plugin_sdk::parse_settings(settings).unwrap();
        assert_eq!(policy.problems(), []);
        policy
    }

    fn directory(text: &str) -> Directory {
        Directory::parse(text).unwrap()
    }

    #[test]
    fn nothing_is_allowed_unless_it_is_written() {
        let listed = policy(r#"{"directories": ["C:\\Dumps"], "application_directory": true}"#);
        for policies in [vec![], vec![Policy::default()], vec![listed]] {
            assert_eq!(permitted(&policies, Some(&directory(r"C:\Dumps"))), Err(Refusal::NotAllowed));
            assert_eq!(permitted(&policies, None), Err(Refusal::NotAllowed));
        }
    }

    #[test]
    fn a_listed_directory_goes_to_the_host_as_it_is_in_the_list() {
        let policies =
            [Policy::default(), policy(r#"{"allow": true, "directories": ["C:\\Dumps", "D:\\"]}"#)];
        assert_eq!(permitted(&policies, Some(&directory(r"c:\DUMPS\"))), Ok(Some(directory(r"C:\Dumps"))));
        let listed = vec![r"C:\Dumps".to_owned(), r"D:\".to_owned()];
        let inside = permitted(&policies, Some(&directory(r"C:\Dumps\a")));
        assert_eq!(inside, Err(Refusal::NotListed(listed.clone())));
        assert_eq!(permitted(&policies, None), Err(Refusal::NoDirectory(listed)));
    }

    #[test]
    fn the_directory_of_the_application_has_a_setting_of_its_own() {
        let policies = [policy(r#"{"allow": true, "application_directory": true}"#)];
        assert_eq!(permitted(&policies, None), Ok(None));
        assert_eq!(permitted(&policies, Some(&directory(r"D:\"))), Err(Refusal::NotListed(vec![])));
    }

    #[test]
    fn a_policy_that_allows_nothing_is_a_problem() {
        let nowhere: Policy = plugin_sdk::parse_settings(r#"{"allow": true}"#).unwrap();
        assert_eq!(nowhere.problems()[0].pointer, "/dump");
        let refused =
            plugin_sdk::parse_settings::<Policy>(r#"{"directories": ["C:\\a", "\\\\files\\dumps"]}"#);
        assert_eq!(refused.unwrap_err().pointer, "/directories/1");
    }

    fn refused(text: &str) -> &'static str {
        Directory::parse(text).unwrap_err()
    }

    #[test]
    fn directories_of_drives_are_taken() {
        for (text, read) in [
            (r"C:\", r"C:\"),
            (r"d:\Dumps\", r"d:\Dumps"),
            (r"C:\Größe\.hidden\a..b\c d", r"C:\Größe\.hidden\a..b\c d"),
            (r"C:\CONSOLE\COM10\COMA12", r"C:\CONSOLE\COM10\COMA12"),
        ] {
            assert_eq!(Directory::parse(text).unwrap().as_str(), read);
        }
        assert!(Directory::parse(&format!(r"C:\{}", "ü".repeat(257))).is_ok());
        assert!(refused(&format!(r"C:\{}", "ü".repeat(258))).contains("260"));
    }

    #[test]
    fn other_paths_are_refused_with_their_reason() {
        for text in [r"\\files\dumps", r"\\?\C:\Dumps", r"\\.\C:\Dumps"] {
            assert!(refused(text).contains("network or device path"), "{text}");
        }
        for text in ["", "Dumps", r"\Dumps", r".\Dumps", "C:", "C:Dumps", r"1:\Dumps", r"ß:\", "%TEMP%"] {
            assert!(refused(text).contains("not absolute"), "{text}: {}", refused(text));
        }
        for text in [r"C:\..", r"C:\Dumps\..\Windows", r"C:\.\Dumps", r"C:\Dumps\.."] {
            assert!(refused(text).contains("`..`"), "{text}");
        }
        assert!(refused("C:/Dumps").contains("backslashes"));
        assert!(refused(r"C:\Dumps\\a").contains("empty"));
        for text in [r"C:\Dumps.", r"C:\Dumps \a", r"C:\...", r"C:\.. \Windows"] {
            assert!(refused(text).contains("leaves out"), "{text}");
        }
        for text in ["C:\\a:b", "C:\\a*", "C:\\a\0", "C:\\a\nb"] {
            assert!(refused(text).contains("character"), "{text}");
        }
        for text in [r"C:\NUL", r"C:\con.txt\a", r"C:\Com1", r"C:\lpt¹"] {
            assert!(refused(text).contains("device"), "{text}");
        }
    }

    #[test]
    fn names_are_compared_as_windows_compares_them() {
        let is_same = |one, other| Directory::parse(one).unwrap().is_same(&Directory::parse(other).unwrap());
        assert!(is_same(r"C:\Dumps", r"c:\DUMPS\"));
        assert!(is_same(r"C:\Größe", r"C:\GRÖßE"));
        assert!(!is_same(r"C:\Größe", r"C:\GRÖSSE"));
        assert!(!is_same(r"C:\Dumps", r"C:\Dumps\a"));
        assert!(!is_same(r"C:\Dumps", r"D:\Dumps"));
    }
}
