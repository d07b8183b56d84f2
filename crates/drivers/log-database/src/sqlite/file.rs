use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
use counter_log::{SinkError, SinkErrorKind};

use super::turn::Turns;
use crate::error::{Error, failure};

/// A file of SQLite, which need not be there yet.
#[derive(Clone, Debug)]
pub struct SqliteFile {
    folder: Folder,
    name: String,
    pub(super) turns: Turns,
}

#[derive(Clone, Debug)]
enum Folder {
    Open(Arc<Dir>),
    At(PathBuf),
}

impl SqliteFile {
    /// The file `name` directly in an open folder. SQLite makes `name-wal` and `name-shm` beside it.
    ///
    /// # Errors
    /// `name` is no single component of a path, too long, or a name that SQLite gives to other files.
    pub fn below(folder: Arc<Dir>, name: &str) -> Result<Self, Error> {
        Self::new(Folder::Open(folder), name).ok_or_else(|| Error::FileName(name.to_owned()))
    }

    /// The file that a configuration names. Links may lead to its folder; the file itself may not be one.
    ///
    /// # Errors
    /// As of [`SqliteFile::below`], for the end of an absolute path.
    pub fn at(path: &Path) -> Result<Self, Error> {
        let name = path.file_name().and_then(|name| name.to_str());
        let folder = path.parent().filter(|_| path.is_absolute());
        let file = folder.zip(name).and_then(|(folder, name)| Self::new(Folder::At(folder.to_owned()), name));
        file.ok_or_else(|| Error::FileName(path.display().to_string()))
    }

    fn new(folder: Folder, name: &str) -> Option<Self> {
        let mut components = Path::new(name).components();
        let is_single = matches!(components.next(), Some(Component::Normal(first)) if first == name);
        let is_free = !["-wal", "-shm", "-journal"].iter().any(|ending| name.ends_with(ending));
        let is_name = is_single && is_free && name.len() <= NAME_BYTES_MAX && !name.contains('\0');
        let turns = || match &folder {
            Folder::At(path) => Turns::of(path.join(name)),
            Folder::Open(_) => Turns::new(),
        };
        is_name.then(turns).map(|turns| Self { folder, name: name.to_owned(), turns })
    }

    /// Where the file is, without a link in the path: SQLite opens files by path, and is told to follow no link.
    pub(super) fn path(&self) -> Result<PathBuf, SinkError> {
        let unavailable = |error: std::io::Error| {
            let message = format!("{self}: {error}; create the folder, and give this account access to it");
            failure(SinkErrorKind::Unavailable, message)
        };
        let folder = match &self.folder {
            // The kernel says where the folder is now, whatever it was called when it was opened.
            Folder::Open(folder) => {
                use std::os::fd::AsRawFd;
                fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd())).map_err(unavailable)?
            }
            Folder::At(path) => fs::canonicalize(path).map_err(unavailable)?,
        };
        let path = folder.join(&self.name);
        match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() => {
                let message = format!("{}: this is no file; remove it, or name another one", path.display());
                Err(failure(SinkErrorKind::Refused, message))
            }
            _ => Ok(path),
        }
    }
}

/// The path as far as it is known.
impl std::fmt::Display for SqliteFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.folder {
            Folder::Open(_) => f.write_str(&self.name),
            Folder::At(folder) => write!(f, "{}", folder.join(&self.name).display()),
        }
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
            assert!(SqliteFile::new(Folder::At(PathBuf::new()), name).is_none(), "{name:?}");
        }
        assert!(SqliteFile::new(Folder::At(PathBuf::new()), "log.db").is_some());
        assert!(SqliteFile::at(Path::new("relative/log.db")).is_err());
    }
}
