use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use config::CONFIG_BYTES_MAX;
use input::file::{self, Stamp};

/// What changed is looked at once more after this: who writes a file in place does it in pieces.
const SETTLE: Duration = Duration::from_secs(1);

/// Looks whether the configuration's file says something else than when it was read last.
///
/// It is looked at instead of being watched by inotify: a look sees every way of replacing a file (rename, symbolic
/// link, Kubernetes' folder of links), works over NFS and in containers, and no queue can overflow.
#[derive(Debug)]
pub(super) struct Watch {
    file: PathBuf,
    stamp: Option<Stamp>,
    /// As of the last look.
    found: Contents,
    /// What was read last, or tried to be.
    tried: Contents,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contents {
    Hash(u64),
    /// Whoever reads it says why: it is gone, no file, or larger than a configuration may be.
    Unreadable,
}

impl Watch {
    /// A watch over a file that is about to be read.
    pub(super) fn new(file: PathBuf) -> Self {
        let mut watch = Self { file, stamp: None, found: Contents::Unreadable, tried: Contents::Unreadable };
        watch.reading(SystemTime::now());
        watch
    }

    /// The file is about to be read, for whatever reason: what it says now is no news any more.
    pub(super) fn reading(&mut self, now: SystemTime) {
        self.find(now);
        self.tried = self.found;
    }

    /// Whether the file says something new, and said the same at the last look.
    pub(super) fn look(&mut self, now: SystemTime) -> bool {
        let before = self.found;
        self.find(now);
        self.is_news() && self.found == before
    }

    /// When to look again, where it is looked at every `interval`.
    pub(super) fn wait(&self, interval: Duration) -> Duration {
        if self.is_news() { interval.min(SETTLE) } else { interval }
    }

    fn is_news(&self) -> bool {
        self.found != self.tried
    }

    fn find(&mut self, now: SystemTime) {
        let metadata = fs::metadata(&self.file).ok();
        // What is read from a pipe is gone for who comes after us.
        if metadata.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            (self.stamp, self.found) = (None, Contents::Unreadable);
            return;
        }
        let stamp = metadata.map(|metadata| Stamp::of(&metadata, now));
        let is_same = stamp
            .zip(self.stamp)
            .is_some_and(|(now, before)| now.is_settled() && before.is_settled() && now.is_same(&before));
        self.stamp = stamp;
        if is_same {
            return;
        }
        self.found = match file::read(&self.file, CONFIG_BYTES_MAX) {
            Ok(bytes) => {
                let mut hasher = DefaultHasher::new();
                bytes.hash(&mut hasher);
                Contents::Hash(hasher.finish())
            }
            Err(_) => Contents::Unreadable,
        };
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::fs::{OpenOptionsExt, symlink};

    use rustix::fs::OFlags;
    use tempfile::TempDir;

    use super::*;

    /// A file under watch; each look is a minute after the last.
    struct Watched {
        folder: TempDir,
        watch: Watch,
        now: SystemTime,
    }

    impl Watched {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("perfmon.yml");
            fs::write(&file, "first").unwrap();
            Self { watch: Watch::new(file), folder, now: SystemTime::now() }
        }

        fn write(&self, text: &str) {
            fs::write(self.folder.path().join("perfmon.yml"), text).unwrap();
        }

        fn look(&mut self) -> bool {
            self.now += Duration::from_secs(60);
            self.watch.look(self.now)
        }
    }

    #[test]
    fn a_change_is_told_once_it_has_settled_and_only_until_it_was_tried() {
        let mut watched = Watched::new();
        assert!(!watched.look());
        watched.write("sec");
        assert!(!watched.look());
        assert_eq!(watched.watch.wait(Duration::from_secs(30)), SETTLE);
        watched.write("second");
        assert!(!watched.look());
        assert!(watched.look());
        watched.watch.reading(watched.now);
        assert!(!watched.look());
        // What is written anew and says the same is no change.
        watched.write("second");
        assert!(!watched.look() && !watched.look());
        assert_eq!(watched.watch.wait(Duration::from_secs(30)), Duration::from_secs(30));
    }

    #[test]
    fn a_file_that_goes_is_told_and_a_second_reading_before_the_look_is_not() {
        let mut watched = Watched::new();
        fs::remove_file(watched.folder.path().join("perfmon.yml")).unwrap();
        assert!(!watched.look() && watched.look());
        watched.watch.reading(watched.now);
        assert!(!watched.look());
        watched.write("first");
        assert!(!watched.look() && watched.look());
        watched.write("by hand");
        // SIGHUP came first.
        watched.watch.reading(watched.now);
        assert!(!watched.look() && !watched.look());
    }

    #[test]
    fn a_file_that_is_larger_than_a_configuration_may_be_is_news_and_is_not_read() {
        let mut watched = Watched::new();
        let file =
            fs::OpenOptions::new().write(true).open(watched.folder.path().join("perfmon.yml")).unwrap();
        // Without contents, so that it takes no room but in memory, were it read.
        file.set_len(5 << 30).unwrap();
        assert!(!watched.look() && watched.look());
        assert_eq!(watched.watch.found, Contents::Unreadable);
    }

    #[test]
    fn a_configuration_of_just_the_limit_is_read_and_one_byte_more_is_not() {
        let mut watched = Watched::new();
        let file =
            fs::OpenOptions::new().write(true).open(watched.folder.path().join("perfmon.yml")).unwrap();
        for (more_bytes, is_read) in [(0, true), (1, false)] {
            file.set_len(CONFIG_BYTES_MAX as u64 + more_bytes).unwrap();
            watched.look();
            assert_eq!(watched.watch.found != Contents::Unreadable, is_read, "{more_bytes}");
        }
    }

    #[test]
    fn what_is_in_a_pipe_stays_there_for_whoever_reads_the_configuration() {
        let mut watched = Watched::new();
        let path = watched.folder.path().join("perfmon.yml");
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        // Open for both, since an open for one waits for the other.
        let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
        let mut pipe =
            fs::OpenOptions::new().read(true).write(true).custom_flags(nonblocking).open(&path).unwrap();
        pipe.write_all(b"text").unwrap();
        assert!(!watched.look() && watched.look());
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
        let mut watched = Watched { watch: Watch::new(at("perfmon.yml")), folder, now: SystemTime::now() };
        assert!(!watched.look());
        let at = |path: &str| watched.folder.path().join(path);
        symlink("..2", at("..data_tmp")).unwrap();
        fs::rename(at("..data_tmp"), at("..data")).unwrap();
        assert!(!watched.look());
        assert!(watched.look());
    }
}
