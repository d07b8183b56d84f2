//! The folder of a set: below the one that the exporter has for the target, and never outside of it.

use std::fs;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::PathBuf;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use pla_engine::{RunSnapshot, component};

/// The folder of a set. Nothing is open: it may be away and come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetFolder {
    /// That of the target. The folder above it is there.
    directory: PathBuf,
    /// One harmless component.
    name: String,
}

impl SetFolder {
    pub(crate) fn new(directory: PathBuf, set: &str) -> Self {
        Self { directory, name: component(set) }
    }

    /// The path of a run's folder, for people and tasks.
    pub(crate) fn path_of(&self, run: &str) -> PathBuf {
        self.directory.join(&self.name).join(run)
    }

    /// Brings the Parquet files to an end that a process left behind.
    pub(crate) fn recover(&self) -> io::Result<()> {
        let root = self.open()?;
        for entry in root.entries()?.take(FOLDERS_MAX) {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                continue;
            }
            let recovered = log_writer::recover(&entry.open_dir()?)?;
            if recovered.files > 0 {
                let (files, records) = (recovered.files, recovered.records);
                tracing::info!(
                    set = self.name,
                    files,
                    records,
                    "Logs of an earlier process were brought to an end"
                );
            }
            for failure in &recovered.failures {
                tracing::warn!(set = self.name, %failure, "A log of an earlier process is not complete");
            }
        }
        Ok(())
    }

    /// The folder of the target.
    pub(crate) fn target(&self) -> io::Result<Dir> {
        match fs::create_dir(&self.directory) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        Dir::open_ambient_dir(&self.directory, ambient_authority())
    }

    /// The folder of the set.
    pub(crate) fn open(&self) -> io::Result<Dir> {
        below(&self.target()?, &self.name)
    }

    /// The folder of a run.
    pub(crate) fn run(&self, name: &str) -> io::Result<Dir> {
        below(&self.open()?, name)
    }

    /// Takes the set for this instance, for as long as what is returned lives: two modules of a target may have sets of one name.
    /// Nothing if another one has it.
    pub(crate) fn claim(&self) -> io::Result<Option<fs::File>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true);
        let file = self.open()?.open_with(CLAIM, &options)?.into_std();
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    /// What is kept of the set; nothing if there is none yet.
    ///
    /// # Errors
    /// When it cannot be read, or is no state.
    pub(crate) fn load(&self) -> Result<Option<RunSnapshot>, String> {
        let read = || -> io::Result<Vec<u8>> {
            let file = self.open()?.open(STATE)?;
            let mut bytes = Vec::new();
            file.take(STATE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        match read() {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
            Ok(bytes) if bytes.len() as u64 > STATE_BYTES_MAX => {
                Err(format!("it has more than {STATE_BYTES_MAX} bytes"))
            }
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| error.to_string()),
        }
    }

    /// Keeps a state: all of it, or that of before.
    pub(crate) fn save(&self, snapshot: &RunSnapshot) -> io::Result<()> {
        let folder = self.open()?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let mut file = folder.open_with(STATE_NEW, &options)?;
        file.write_all(&serde_json::to_vec(snapshot)?)?;
        file.sync_all()?;
        folder.rename(STATE_NEW, &folder, STATE)
    }
}

fn below(folder: &Dir, name: &str) -> io::Result<Dir> {
    match folder.create_dir(name) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    folder.open_dir(name)
}

/// Names of runs do not begin with a dot.
const STATE: &str = ".run.json";
const CLAIM: &str = ".run.lock";
const STATE_NEW: &str = ".run.json.new";
/// Runs of one set that are looked at.
const FOLDERS_MAX: usize = 10_000;
const STATE_BYTES_MAX: u64 = 64 << 10;

#[cfg(test)]
mod tests {
    use pla_engine::{Moment, SetDefinition, SetRun};

    use super::*;

    fn snapshot(serial_number: u32) -> RunSnapshot {
        let moment = Moment { wall: jiff::Timestamp::UNIX_EPOCH, monotonic: std::time::Duration::ZERO };
        RunSnapshot { serial_number, ..SetRun::new(SetDefinition::default(), moment).snapshot(moment) }
    }

    #[test]
    fn a_state_comes_back_and_one_that_is_damaged_is_said() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = SetFolder::new(place.path().join("web1"), "../Nightly");
        assert_eq!(folder.load(), Ok(None));
        folder.save(&snapshot(7)).expect("it is written");
        folder.save(&snapshot(8)).expect("it is replaced");
        assert_eq!(folder.load(), Ok(Some(snapshot(8))));
        let file = place.path().join("web1").join(component("../Nightly")).join(STATE);
        fs::write(&file, b"{\"serial_number\": 9").expect("it is there");
        assert!(folder.load().is_err_and(|reason| reason.contains("EOF")));
        fs::write(&file, vec![b' '; 100_000]).expect("it is there");
        assert_eq!(folder.load(), Err("it has more than 65536 bytes".to_owned()));
    }

    #[test]
    fn a_set_belongs_to_one_at_a_time() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = SetFolder::new(place.path().join("web1"), "Nightly");
        let claimed = folder.claim().expect("a file").expect("it is free");
        assert!(folder.claim().expect("a file").is_none());
        drop(claimed);
        assert!(folder.claim().expect("a file").is_some());
    }

    #[test]
    fn a_link_does_not_lead_out_of_the_folder() {
        let (place, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("another"));
        std::os::unix::fs::symlink(other.path(), place.path().join("Nightly")).expect("a link");
        let folder = SetFolder::new(place.path().to_owned(), "Nightly");
        assert!(folder.save(&snapshot(1)).is_err());
        assert_eq!(fs::read_dir(other.path()).expect("it is there").count(), 0);
    }
}
