//! Which files are watched for a reload.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use config::CONFIG_BYTES_MAX;
use support::input::file::WatchedFile;

/// A changed file is checked once more after this time, because a file may be written in several steps.
const SETTLE: Duration = Duration::from_secs(1);

/// Checks whether the configuration file has changed since it was read.
#[derive(Debug)]
pub(super) struct Watch {
    file: WatchedFile,
    /// A hash of the last contents that were read, or tried to be read.
    tried: Option<u64>,
}

impl Watch {
    /// A watch over a file that is about to be read.
    pub(super) fn new(file: PathBuf) -> Self {
        let mut watch = Self { file: WatchedFile::new(file, CONFIG_BYTES_MAX), tried: None };
        watch.reading(SystemTime::now());
        watch
    }

    /// Call it before the file is read: its current contents no longer count as a change.
    pub(super) fn reading(&mut self, now: SystemTime) {
        self.file.look(now);
        self.tried = self.file.contents();
    }

    /// Whether the file has changed, and was the same at the last check.
    pub(super) fn look(&mut self, now: SystemTime) -> bool {
        let before = self.file.contents();
        self.file.look(now);
        self.is_news() && self.file.contents() == before
    }

    /// When to look again, where it is looked at every `interval`.
    pub(super) fn wait(&self, interval: Duration) -> Duration {
        if self.is_news() { interval.min(SETTLE) } else { interval }
    }

    fn is_news(&self) -> bool {
        self.file.contents() != self.tried
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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
        // Rewriting the same contents is not a change.
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
}
