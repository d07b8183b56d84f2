//! Files that sources keep of their targets, such as logs, below one configured directory:
//! `DIRECTORY/TARGET/SET/RUN/FILE`, where names are made harmless by [`safe_text::component`]. Sources write, the exporter reads.
//!
//! Everything is opened through [`cap_std::fs::Dir`], one name at a time, and no link is followed, so that whoever can
//! write a target's directory cannot have another file of this machine read.

mod directory;
mod open;
mod tree;

use percent_encoding::percent_decode_str;

pub use self::directory::{Makes, check};
pub use self::open::{Opened, open};
pub use self::tree::{FILES_MAX, FOLDERS_MAX, Run, RunFile, Tree, read};

// The path of a file as an address has it.

/// The names of the directories below the configured one, and of the file. The first is that of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePath(Vec<String>);

impl FilePath {
    /// Reads the part of an address after the page: names with slashes between them, each percent-encoded. Nothing if a
    /// name cannot be one of the configured directory: it is empty, hidden, has a separator, a backslash or a control
    /// character, also encoded, or leads upwards. Nothing either if the file is a journal.
    pub fn parse(encoded: &str) -> Option<Self> {
        let names: Option<Vec<String>> = encoded.split('/').map(decoded_name).collect();
        let path = names.filter(|names| LEVELS.contains(&names.len())).map(Self);
        path.filter(|path| !is_journal(path.file()))
    }

    /// The names, the file's last.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// The name of the file.
    pub fn file(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }
}

fn decoded_name(encoded: &str) -> Option<String> {
    let name = percent_decode_str(encoded).decode_utf8().ok()?;
    is_shown(&name).then(|| name.into_owned())
}

/// Whether a file or directory of this name is shown at all.
fn is_shown(name: &str) -> bool {
    let is_harmless = |c: char| !c.is_control() && !matches!(c, '/' | '\\');
    !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && !name.starts_with('.')
        && name.chars().all(is_harmless)
}

/// Whether a file is the journal of a Parquet file that is written: records in a format of its writer's own.
fn is_journal(file: &str) -> bool {
    file.ends_with(".parquet.part") || file.ends_with(".parquet.part.new")
}

/// Names of a path: those of target and file at least, and not more directories than are read.
const LEVELS: std::ops::RangeInclusive<usize> = 2..=LEVELS_MAX;
/// Names of a path: those of target, set, directories of the run and file.
const LEVELS_MAX: usize = 8;
/// As Linux has them.
const NAME_BYTES_MAX: usize = 255;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_is_names_of_target_set_run_and_file() {
        let path = FilePath::parse("web1/Office%2520hours/000001/DataCollector01.csv").expect("it is one");
        assert_eq!(path.names(), ["web1", "Office%20hours", "000001", "DataCollector01.csv"]);
        assert_eq!(path.file(), "DataCollector01.csv");
        assert!(FilePath::parse("web1/set/b%C3%BCro.csv").is_some());
        assert!(FilePath::parse("web1/archive.db").is_some());
    }

    #[test]
    fn no_trick_makes_a_path_that_leads_elsewhere() {
        let tricks = [
            "",
            "a",
            "a/",
            "a/b/",
            "/a/b/c",
            "a//b/c",
            "a/b/c/",
            "a/../b/c",
            "a/./b/c",
            "a/%2e%2e/b/c",
            "a/%2E%2E/b/c",
            "a/.%2e/b/c",
            "a/b/%2e%2e%2fc",
            "a/b/..%5c..%5cc",
            "a/b/c%2fd",
            "a/b/c%2Fd",
            "a/b/c\\d",
            "a/b/c%5Cd",
            "a/b/%00",
            "a/b/c%00.csv",
            "a/b/c%0a",
            "a/b/.hidden",
            "a/b/%2ehidden",
            ".git/b/c",
            "a/b/%ff",
            "a/b/%c0%ae%c0%ae",
            "%2fetc/b/passwd",
            "a/b/c/d/e/f/g/h/i",
            "a/b/c.parquet.part",
            "a/b/c.parquet%2Epart",
            "a/b/c.parquet.part.new",
        ];
        for trick in tricks {
            assert_eq!(FilePath::parse(trick), None, "{trick}");
        }
        let long = format!("a/b/{}", "x".repeat(256));
        assert_eq!(FilePath::parse(&long), None);
        assert!(
            FilePath::parse("a/set.parquet.part/c.parquet").is_some(),
            "a set may have the name of a journal"
        );
        // Encoded twice it is the name of a file that cannot be there, and nothing else.
        assert_eq!(FilePath::parse("a/b/%252e%252e").expect("a name").file(), "%2e%2e");
    }

    proptest! {
        #[test]
        fn whatever_is_sent_its_names_stay_in_the_directory(encoded in "([a-z./%\\\\]|%2[eEfF]|%5[cC]|%00|\\PC){0,40}") {
            if let Some(path) = FilePath::parse(&encoded) {
                prop_assert!(LEVELS.contains(&path.names().len()));
                for name in path.names() {
                    prop_assert!(!name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0']));
                    prop_assert_eq!(std::path::Path::new(name).components().count(), 1);
                }
            }
        }

        #[test]
        fn a_directory_of_any_name_can_be_asked_for(name in "\\PC{0,300}") {
            let component = safe_text::component(&name);
            prop_assert!(is_shown(&component), "{}", component);
            let encoded: String = component.bytes().map(|byte| format!("%{byte:02x}")).collect();
            let path = FilePath::parse(&format!("{encoded}/file")).expect("it is one");
            prop_assert_eq!(path.names()[0].as_str(), component.as_str());
            if !component.contains("%~") {
                prop_assert_eq!(safe_text::text_of(&component), name);
            }
        }
    }
}
