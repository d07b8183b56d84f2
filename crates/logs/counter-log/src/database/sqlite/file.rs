use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::{SinkError, SinkErrorKind};

use super::Turns;
use crate::database::{Error, failure};

/// A file of SQLite, which need not be there yet. SQLite makes others beside it, whose names begin with its own.
#[derive(Clone, Debug)]
pub struct SqliteFile {
    folder: PathBuf,
    name: String,
    pub(super) turns: Turns,
}

impl SqliteFile {
    /// The file that a configuration names. Links may lead to its folder; the file itself may not be one.
    ///
    /// # Errors
    /// The path is not absolute, or its name is too long or one that SQLite gives to other files.
    pub fn at(path: &Path) -> Result<Self, Error> {
        let name = path.file_name().and_then(|name| name.to_str());
        let folder = path.parent().filter(|_| path.is_absolute());
        let file = folder.zip(name).and_then(|(folder, name)| Self::new(folder, name));
        file.ok_or_else(|| Error::FileName(path.display().to_string()))
    }

    fn new(folder: &Path, name: &str) -> Option<Self> {
        let mut components = Path::new(name).components();
        let is_single = matches!(components.next(), Some(Component::Normal(first)) if first == name);
        let is_free = !["-wal", "-shm", "-journal"].iter().any(|ending| name.ends_with(ending));
        let is_name = is_single && is_free && name.len() <= NAME_BYTES_MAX && !name.contains('\0');
        is_name.then(|| Self {
            folder: folder.to_owned(),
            name: name.to_owned(),
            turns: Turns::of(folder, name),
        })
    }

    /// Where the file is, without a link in the path: SQLite opens files by path, and is told to follow no link. The folder itself,
    /// which others may write into the one above, is none.
    pub(super) fn path(&self) -> Result<PathBuf, SinkError> {
        let unavailable = |error: std::io::Error| {
            let message = format!("{self}: {error}; create the folder, and give this account access to it");
            failure(SinkErrorKind::Unavailable, message)
        };
        let folder = match (self.folder.parent(), self.folder.file_name()) {
            (Some(above), Some(name)) => fs::canonicalize(above).map_err(unavailable)?.join(name),
            _ => self.folder.clone(),
        };
        let refused = |message| Err(failure(SinkErrorKind::Refused, message));
        if fs::symlink_metadata(&folder).map_err(unavailable)?.is_symlink() {
            return refused(format!("`{}` is a link, not a folder: delete it", folder.display()));
        }
        let path = folder.join(&self.name);
        match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() => {
                refused(format!("{}: this is no file; remove it, or name another one", path.display()))
            }
            _ => Ok(path),
        }
    }
}

/// The path that was configured.
impl std::fmt::Display for SqliteFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.folder.join(&self.name).display())
    }
}

/// File systems have 255; `-journal` follows.
const NAME_BYTES_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_single_harmless_component_is_a_name() {
        for name in ["", ".", "..", "a/b", "/a", "a/", "./a", "log.db-wal", "a\0b", &"x".repeat(201)] {
            assert!(SqliteFile::new(Path::new(""), name).is_none(), "{name:?}");
        }
        assert!(SqliteFile::new(Path::new(""), "log.db").is_some());
        assert!(SqliteFile::at(Path::new("relative/log.db")).is_err());
    }
}
