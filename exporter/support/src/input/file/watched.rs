use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Error, Stamp, check_kind, read};

/// A file that is read again whenever it may have changed.
///
/// It is looked at instead of being watched by inotify: a look is one `stat`, sees every way of replacing a file (rename,
/// symbolic link, Kubernetes' folder of links), works over NFS and in containers, and no queue can overflow.
#[derive(Debug)]
pub struct WatchedFile {
    path: PathBuf,
    bytes_max: usize,
    stamp: Option<Stamp>,
    /// Those that were read last, also where the last look could not read it.
    contents: Option<u64>,
    is_readable: bool,
}

/// What a look at a file found.
#[derive(Debug)]
pub enum Look {
    /// Its contents are those that were read last.
    Same,
    /// Its contents are others.
    Changed(Vec<u8>),
    /// It is there and cannot be read, or it is not there.
    Unreadable(Error),
}

impl WatchedFile {
    /// A file of at most `bytes_max` bytes that was not checked yet.
    #[must_use]
    pub fn new(path: PathBuf, bytes_max: usize) -> Self {
        Self { path, bytes_max, stamp: None, contents: None, is_readable: false }
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A hash of its contents at the last check; `None` if it could not be read.
    #[must_use]
    pub fn contents(&self) -> Option<u64> {
        self.contents.filter(|_| self.is_readable)
    }

    /// When it was written, as of the last look.
    #[must_use]
    pub fn modified(&self) -> Option<SystemTime> {
        self.stamp.and_then(|stamp| stamp.modified())
    }

    /// Makes the next check read it in any case.
    pub fn forget(&mut self) {
        (self.stamp, self.contents) = (None, None);
    }

    /// Checks it, and reads it if it may have changed since the last check.
    pub fn look(&mut self, now: SystemTime) -> Look {
        let read = self.read_if_changed(now);
        self.is_readable = read.is_ok();
        match read {
            Ok(None) => Look::Same,
            Ok(Some(bytes)) => {
                let mut hasher = DefaultHasher::new();
                bytes.hash(&mut hasher);
                let contents = Some(hasher.finish());
                if std::mem::replace(&mut self.contents, contents) == contents {
                    Look::Same
                } else {
                    Look::Changed(bytes)
                }
            }
            Err(error) => {
                self.stamp = None;
                Look::Unreadable(error)
            }
        }
    }

    fn read_if_changed(&mut self, now: SystemTime) -> Result<Option<Vec<u8>>, Error> {
        let metadata = fs::metadata(&self.path)?;
        check_kind(&metadata)?;
        // Data that is read from a pipe is lost for other readers, and opening it wakes a writer.
        if !metadata.is_file() {
            return Err(Error::Kind("a pipe"));
        }
        let stamp = Stamp::of(&metadata, now);
        let before = self.stamp.replace(stamp);
        if !Stamp::may_differ(before.as_ref(), Some(&stamp)) {
            return Ok(None);
        }
        read(&self.path, self.bytes_max).map(Some)
    }
}

impl Look {
    /// Whether there is no such file.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Unreadable(Error::Io(error)) if error.kind() == io::ErrorKind::NotFound)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::fs::{OpenOptionsExt, symlink};
    use std::time::Duration;

    use rustix::fs::OFlags;
    use tempfile::TempDir;

    use super::*;

    const BYTES_MAX: usize = 1 << 20;

    /// A file under watch; each look is a minute after the last.
    struct World {
        folder: TempDir,
        file: WatchedFile,
        now: SystemTime,
    }

    impl World {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("perfmon.yml");
            fs::write(&path, "first").unwrap();
            let mut file = WatchedFile::new(path, BYTES_MAX);
            let now = SystemTime::now();
            assert!(matches!(file.look(now), Look::Changed(bytes) if bytes == b"first"));
            Self { folder, file, now }
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("perfmon.yml")
        }

        fn look(&mut self) -> Look {
            self.now += Duration::from_secs(60);
            self.file.look(self.now)
        }
    }

    #[test]
    fn contents_that_are_written_again_are_no_change_and_others_are() {
        let mut world = World::new();
        let before = world.file.contents();
        fs::write(world.path(), "first").unwrap();
        assert!(matches!(world.look(), Look::Same) && world.file.contents() == before);
        fs::write(world.path(), "other").unwrap();
        assert!(matches!(world.look(), Look::Changed(bytes) if bytes == b"other"));
        assert!(matches!(world.look(), Look::Same) && world.file.contents() != before);
        assert!(world.file.modified().is_some());
        world.file.forget();
        assert!(matches!(world.look(), Look::Changed(_)));
    }

    #[test]
    fn a_file_that_has_not_changed_is_not_read_again() {
        let mut world = World::new();
        // A look long after the change, so that the stamp says enough.
        world.look();
        assert!(world.file.stamp.is_some_and(|stamp| stamp.is_settled()));
        world.file.contents = None;
        // Reading it would find other contents than none.
        assert!(matches!(world.look(), Look::Same));
    }

    #[test]
    fn a_file_that_is_gone_is_missing_and_may_come_back_as_it_was() {
        let mut world = World::new();
        fs::remove_file(world.path()).unwrap();
        assert!(world.look().is_missing());
        assert_eq!(world.file.contents(), None);
        fs::write(world.path(), "first").unwrap();
        assert!(matches!(world.look(), Look::Same) && world.file.contents().is_some());
        fs::remove_file(world.path()).unwrap();
        assert!(world.look().is_missing());
        fs::write(world.path(), "second").unwrap();
        assert!(matches!(world.look(), Look::Changed(_)));
    }

    #[test]
    fn a_file_of_just_the_limit_is_read_and_one_byte_more_is_not() {
        let mut world = World::new();
        let file = fs::OpenOptions::new().write(true).open(world.path()).unwrap();
        file.set_len(BYTES_MAX as u64).unwrap();
        assert!(matches!(world.look(), Look::Changed(_)));
        // Without contents, so that it takes no room but in memory, were it read.
        for bytes in [BYTES_MAX as u64 + 1, 5 << 30] {
            file.set_len(bytes).unwrap();
            assert!(matches!(world.look(), Look::Unreadable(Error::TooLarge(BYTES_MAX))), "{bytes}");
        }
    }

    #[test]
    fn what_is_in_a_pipe_stays_there_for_whoever_reads_the_file() {
        let mut world = World::new();
        let path = world.path();
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        // Open for both, since an open for one waits for the other.
        let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
        let mut pipe =
            fs::OpenOptions::new().read(true).write(true).custom_flags(nonblocking).open(&path).unwrap();
        pipe.write_all(b"text").unwrap();
        assert!(matches!(world.look(), Look::Unreadable(Error::Kind("a pipe"))));
        let mut text = [0; 4];
        pipe.read_exact(&mut text).unwrap();
        assert_eq!(&text, b"text");
    }

    #[test]
    fn kubernetes_changes_a_link_to_the_folder_and_not_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for (version, text) in [("..1", "one"), ("..2", "two")] {
            fs::create_dir(at(version)).unwrap();
            fs::write(at(version).join("perfmon.yml"), text).unwrap();
        }
        symlink("..1", at("..data")).unwrap();
        symlink("..data/perfmon.yml", at("perfmon.yml")).unwrap();
        let mut file = WatchedFile::new(at("perfmon.yml"), BYTES_MAX);
        let now = SystemTime::now() + Duration::from_secs(60);
        assert!(matches!(file.look(now), Look::Changed(bytes) if bytes == b"one"));
        symlink("..2", at("..data_tmp")).unwrap();
        fs::rename(at("..data_tmp"), at("..data")).unwrap();
        assert!(matches!(file.look(now), Look::Changed(bytes) if bytes == b"two"));
    }
}
