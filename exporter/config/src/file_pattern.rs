use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use support::input::wildcard;

use crate::item::Item;

/// Which endings a target file may have; they say how it is read.
const EXTENSIONS: [&str; 3] = ["yml", "yaml", "json"];

/// One entry of `target_files`: a path whose last part may hold `*` for any characters and `?` for any one.
///
/// As in shells, a wildcard in front does not match a leading dot, so that what editors and Kubernetes keep beside
/// a file stays out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePattern {
    folder: PathBuf,
    name: String,
}

/// Maximum patterns: each is checked every few seconds.
const PATTERNS_MAX: usize = 100;

/// What is wrong with a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BadPattern {
    message: String,
    hint: String,
}

impl FilePattern {
    /// Reads `target_files:`, a list.
    pub(crate) fn read_list(item: &Item<'_>, base: &Path) -> Vec<Self> {
        let items = item.list();
        if items.len() > PATTERNS_MAX {
            item.problem(format!("has {} entries, the limit is {PATTERNS_MAX}", items.len()), None);
        }
        let patterns = items.iter().take(PATTERNS_MAX).filter_map(|item| {
            let made = Self::new(base, item.text()?);
            made.map_err(|bad| item.problem(bad.message, Some(bad.hint))).ok()
        });
        patterns.collect()
    }

    /// Reads a pattern; a relative one starts at `base`.
    fn new(base: &Path, text: &str) -> Result<Self, BadPattern> {
        let (folder, name) = text.rsplit_once('/').map_or(("", text), |(folder, name)| match folder {
            "" => ("/", name),
            folder => (folder, name),
        });
        if folder.contains(['*', '?']) {
            let message = format!("`{text}` has a wildcard in a folder's name");
            return Err(BadPattern {
                message,
                hint: "only the file's own name may have `*` and `?`".to_owned(),
            });
        }
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        if !extension.is_some_and(|extension| EXTENSIONS.contains(&extension)) {
            let message = format!("`{text}` does not say whether its files are YAML or JSON");
            return Err(BadPattern { message, hint: "let it end in .yml, .yaml or .json".to_owned() });
        }
        Ok(Self { folder: base.join(folder), name: name.to_owned() })
    }

    /// The pattern as a path.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    /// Whether it may mean several files.
    #[must_use]
    pub fn has_wildcards(&self) -> bool {
        self.name.contains(['*', '?'])
    }

    /// The files that match now, in the order of their names. A folder that does not exist has none.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn files(&self) -> io::Result<Vec<PathBuf>> {
        if !self.has_wildcards() {
            // Whether it is there is found out when it is read.
            return Ok(vec![self.path()]);
        }
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut files = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            if self.matches(&name) {
                files.push(self.folder.join(name));
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Whether a file with this path, as [`FilePattern::files`] writes it, is one of them.
    pub(super) fn lists(&self, path: &Path) -> bool {
        let is_in_folder = path.parent() == Some(self.folder.as_path());
        is_in_folder && path.file_name().is_some_and(|name| self.matches(name))
    }

    fn matches(&self, name: &OsStr) -> bool {
        let name = name.as_encoded_bytes();
        let hides = name.first() == Some(&b'.') && !self.name.starts_with('.');
        !hides && wildcard::matches_file(self.name.as_bytes(), name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        FilePattern::new(Path::new("/etc"), pattern).unwrap().matches(OsStr::new(name))
    }

    #[test]
    fn a_star_stands_for_any_characters_and_a_question_mark_for_one() {
        assert!(matches("t/*.yml", "web.yml"));
        assert!(matches("t/web-?.yml", "web-1.yml"));
        assert!(!matches("t/web-?.yml", "web-12.yml"));
        assert!(!matches("t/*.yml", "web.yml~"));
    }

    #[test]
    fn what_editors_and_kubernetes_keep_beside_a_file_does_not_match() {
        assert!(!matches("*.yml", ".#web.yml"));
        assert!(!matches("?.yml", "..yml"));
        assert!(matches(".hidden-*.yml", ".hidden-1.yml"));
    }

    #[test]
    fn a_relative_pattern_starts_at_the_configurations_folder() {
        let path = |text| FilePattern::new(Path::new("/etc/perfmon"), text).unwrap().path();
        assert_eq!(path("targets.d/*.json"), Path::new("/etc/perfmon/targets.d/*.json"));
        assert_eq!(path("/srv/web.yaml"), Path::new("/srv/web.yaml"));
        assert_eq!(path("/web.yaml"), Path::new("/web.yaml"));
    }

    #[test]
    fn a_pattern_that_cannot_work_says_what_to_write() {
        let bad = |text| FilePattern::new(Path::new("/"), text).unwrap_err();
        assert_eq!(bad("*/t.yml").hint, "only the file's own name may have `*` and `?`");
        assert_eq!(bad("t.d/*").hint, "let it end in .yml, .yaml or .json");
    }
}
