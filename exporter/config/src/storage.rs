//! `storage:`, where sources keep files of their targets, such as logs, and who may have them.

use std::path::{Component, Path, PathBuf, absolute};

use super::item::Item;
use super::node::Position;
use super::problem::Problem;
use super::section::set;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// `directory`: an absolute path. Each target has a directory in it.
    pub directory: PathBuf,
    /// `downloads`: whether readers of the pages may have the files. Default no.
    pub downloads: bool,
    /// Where the file names the directory.
    pub position: Position,
}

impl Storage {
    /// What is wrong with the directory, where the file names it.
    #[must_use]
    pub fn problem(&self, message: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem {
            position: Some(self.position),
            path: DIRECTORY.to_owned(),
            message: message.into(),
            hint: Some(hint.into()),
        }
    }
}

const DIRECTORY: &str = "storage.directory";

/// Reads `storage:`. The `others` are directories and files of the exporter that no reader may have, by their keys.
pub(super) fn storage(item: &Item<'_>, base: &Path, others: &[(String, Option<&Path>)]) -> Option<Storage> {
    let mut section = item.section(&[])?;
    let mut downloads = false;
    set(&mut downloads, section.flag("downloads"));
    let directory =
        section.require("directory", "name a directory for files, such as /var/lib/perfmon-exporter/files");
    let storage = directory.and_then(|item| {
        let path = PathBuf::from(item.text()?);
        let problem = problem_of(&path, base, others);
        match problem {
            Some((message, hint)) => {
                item.problem(message, Some(hint));
                None
            }
            // Without a slash at its end, behind which a link would be followed.
            None => {
                Some(Storage { directory: path.components().collect(), downloads, position: item.position() })
            }
        }
    });
    section.finish();
    storage
}

/// Why files cannot be kept there, and what to do.
fn problem_of(path: &Path, base: &Path, others: &[(String, Option<&Path>)]) -> Option<(String, String)> {
    let shown = path.display();
    if !path.is_absolute() {
        let there = base.join(path);
        let there = absolute(&there).unwrap_or(there);
        return Some((format!("`{shown}` is not an absolute path"), format!("write `{}`", there.display())));
    }
    if path.components().any(|part| part == Component::ParentDir) {
        let hint = "write the path without `..`".to_owned();
        return Some((format!("`{shown}` leads through the directory above another one"), hint));
    }
    if path.parent().is_none() {
        let hint = "name a directory that has nothing else in it".to_owned();
        return Some((format!("`{shown}` is the root of all files"), hint));
    }
    let has = |other: &Path| absolute(other).is_ok_and(|other| other.starts_with(path));
    let hint = "name a directory of its own, such as /var/lib/perfmon-exporter/files".to_owned();
    if has(base) {
        return Some((format!("`{shown}` has the configuration in it"), hint));
    }
    let (key, _) = others.iter().find(|(_, other)| other.is_some_and(has))?;
    Some((format!("`{shown}` has the files of `{key}` in it"), hint))
}
