use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use config::CONFIG_BYTES_MAX;
use input::file::WatchedFile;

/// What changed is looked at once more after this: who writes a file in place does it in pieces.
const SETTLE: Duration = Duration::from_secs(1);

/// Looks whether the configuration's file says something else than when it was read last.
#[derive(Debug)]
pub(super) struct Watch {
    file: WatchedFile,
    /// The contents that were read last, or that somebody tried to read.
    tried: Option<u64>,
}

impl Watch {
    /// A watch over a file that is about to be read.
    pub(super) fn new(file: PathBuf) -> Self {
        let mut watch = Self { file: WatchedFile::new(file, CONFIG_BYTES_MAX), tried: None };
        watch.reading(SystemTime::now());
        watch
    }

    /// The file is about to be read, for whatever reason: what it says now is no news any more.
    pub(super) fn reading(&mut self, now: SystemTime) {
        self.file.look(now);
        self.tried = self.file.contents();
    }

    /// Whether the file says something new, and said the same at the last look.
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
}
