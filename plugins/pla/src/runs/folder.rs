//! The folder of a set: below the one that the exporter has for the target, and never outside of it.

use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use counter_log::writer::Recovered;
use jiff::Timestamp;
use pla_engine::RunSnapshot;
use rustix::fs::{AtFlags, Mode, mkdirat, statat};
use rustix::io::Errno;
use safe_text::component;
use serde::{Deserialize, Serialize};

use crate::threads::Place;

/// What is kept of a set in its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetState {
    pub(crate) run: RunSnapshot,
    /// The segment that was written.
    pub(crate) segment: Option<SegmentState>,
}

impl SetState {
    /// The highest serial number that was used.
    pub(crate) fn serial_number_max(&self) -> u32 {
        self.run.serial_number.max(self.run.running.map_or(0, |running| running.serial_number))
    }
}

/// Where the files of a segment are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SegmentState {
    pub(crate) serial_number: u32,
    /// The name of its folder.
    pub(crate) folder: String,
    pub(crate) began: Timestamp,
}

/// The folder of a set. It is opened for each use: it may be away and come back.
#[derive(Clone, Debug)]
pub(crate) struct SetFolder {
    /// That of the target. The folder above it is there, and whoever configured it says what it is: from the target's on no link is
    /// followed.
    directory: PathBuf,
    name: String,
    /// While a clone with it lives, no other instance has the set: logs, stored states and the data manager keep one as long as
    /// they write.
    claim: Option<Arc<fs::File>>,
}

impl SetFolder {
    pub(crate) fn new(directory: PathBuf, set: &str) -> Self {
        Self { directory, name: component(set), claim: None }
    }

    /// Whether this keeps other instances out.
    pub(crate) const fn is_claimed(&self) -> bool {
        self.claim.is_some()
    }

    /// The path of a run's folder, for people and tasks.
    pub(crate) fn path_of(&self, run: &str) -> PathBuf {
        self.directory.join(&self.name).join(run)
    }

    /// The folder above that of the target.
    pub(crate) fn above(&self) -> Option<&Path> {
        self.directory.parent()
    }

    /// What work in it may wait for.
    pub(crate) fn places(&self) -> Vec<Place> {
        let above = self.above().map(|above| Place::Folder(above.to_owned()));
        [Place::Target(self.directory.clone())].into_iter().chain(above).collect()
    }

    /// Brings the Parquet files to an end that a process left behind.
    pub(crate) fn recover(&self, target: &str) -> io::Result<()> {
        let root = self.open()?;
        let mut entries = root.entries()?;
        for entry in entries.by_ref().take(FOLDERS_MAX) {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                self.report(target, &counter_log::writer::recover(&entry.open_dir()?)?);
            }
        }
        if entries.next().is_some() {
            tracing::warn!(
                target,
                set = &*self.name,
                folders_max = FOLDERS_MAX,
                next_step = "let the set keep fewer folders with `keep`",
                "Logs of an earlier process are not looked for in all folders: there are too many"
            );
        }
        Ok(())
    }

    /// Cuts off the rows that a process left unfinished in the CSV and TSV files of a run.
    pub(crate) fn cut_unfinished_rows(&self, target: &str, run: &str) -> io::Result<()> {
        if let Some(folder) = self.earlier_run(run)? {
            self.report(target, &counter_log::writer::cut_unfinished_rows(&folder)?);
        }
        Ok(())
    }

    fn report(&self, target: &str, recovered: &Recovered) {
        let set = &*self.name;
        if recovered.files > 0 {
            let (files, records) = (recovered.files, recovered.records);
            tracing::info!(target, set, files, records, "Logs of an earlier process were brought to an end");
        }
        for failure in &recovered.failures {
            tracing::warn!(target, set, %failure, "A log of an earlier process is not complete");
        }
    }

    /// The folder of the target.
    pub(crate) fn target(&self) -> io::Result<Dir> {
        let (above, name) = (self.above(), self.directory.file_name().and_then(|name| name.to_str()));
        let Some((above, name)) = above.zip(name) else { return Err(ErrorKind::InvalidInput.into()) };
        let above = Dir::open_ambient_dir(above, ambient_authority())?;
        below(&above, name).map_err(|error| match error.kind() {
            // As a disk that fails: it may become a folder. A link does not.
            ErrorKind::InvalidData if !is_link(&above, name) => ErrorKind::NotADirectory.into(),
            _ => error,
        })
    }

    /// The folder of the set.
    ///
    /// # Errors
    /// When it cannot be opened; [`ErrorKind::StaleNetworkFileHandle`] when it is another one than that in which the lock is, which
    /// has a set of its own: a disk was mounted over it, for example.
    pub(crate) fn open(&self) -> io::Result<Dir> {
        let folder = below(&self.target()?, &self.name)?;
        match &self.claim {
            Some(claim) if !is_in(claim, &folder)? => Err(io::Error::new(
                ErrorKind::StaleNetworkFileHandle,
                "another folder with runs of the set is in its place",
            )),
            _ => Ok(folder),
        }
    }

    /// The folder of a run.
    pub(crate) fn run(&self, name: &str) -> io::Result<Dir> {
        below(&self.open()?, name)
    }

    /// The folder of a run, if it is there.
    pub(crate) fn earlier_run(&self, name: &str) -> io::Result<Option<Dir>> {
        match open_folder(&self.open()?, name) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Takes the set for this instance, until all clones of what is returned are gone: two modules of a target may have sets of
    /// one name, and a target that is made again begins before the old one has ended. Nothing if another instance has it.
    pub(crate) fn claim(&self) -> io::Result<Option<Self>> {
        let root = self.open()?;
        let file = match safe_files::create(&root, CLAIM).map_err(io::Error::from) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                safe_files::open_to_write(&root, CLAIM)?
            }
            created => created?,
        };
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { claim: Some(Arc::new(file)), ..self.clone() })),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    /// What is kept of the set; nothing if there is none yet. `first` is the serial number that the set itself begins with.
    ///
    /// # Errors
    /// When it cannot be read; [`ErrorKind::InvalidData`] when it is no state.
    pub(crate) fn load(&self, first: u32) -> io::Result<Option<SetState>> {
        let read = || -> io::Result<Vec<u8>> {
            let file = safe_files::open_file(self.open()?, STATE)?;
            let mut bytes = Vec::new();
            file.take(STATE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = match read() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
            Ok(bytes) if bytes.len() as u64 > STATE_BYTES_MAX => {
                return Err(no_state(format!("it has more than {STATE_BYTES_MAX} bytes")));
            }
            Ok(bytes) => bytes,
        };
        let kept: SetState = serde_json::from_slice(&bytes).map_err(|error| no_state(error.to_string()))?;
        match kept.serial_number_max() {
            number if number.saturating_sub(first) > SEGMENTS_MAX => {
                Err(no_state(format!("no set had {number} segments")))
            }
            _ => Ok(Some(kept)),
        }
    }

    /// Keeps a state: all of it, or that of before.
    pub(crate) fn save(&self, kept: &SetState) -> io::Result<()> {
        Ok(safe_files::replace(self.open()?, STATE, &serde_json::to_vec(kept)?)?)
    }
}

/// Whether a lock is that of a folder, or may be: one without a lock and a state has nothing to lose.
fn is_in(claim: &fs::File, folder: &Dir) -> io::Result<bool> {
    let status = |name| match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(None),
        status => status.map(Some),
    };
    match status(CLAIM)? {
        Some(found) => {
            let own = rustix::fs::fstat(claim)?;
            Ok((found.st_dev, found.st_ino) == (own.st_dev, own.st_ino))
        }
        None => Ok(status(STATE)?.is_none()),
    }
}

fn is_link(folder: &Dir, name: &str) -> bool {
    folder.symlink_metadata(name).is_ok_and(|found| found.is_symlink())
}

fn below(folder: &Dir, name: &str) -> io::Result<Dir> {
    match mkdirat(folder, name, Mode::from_raw_mode(0o777)) {
        Err(error) if error != Errno::EXIST => Err(error.into()),
        _ => open_folder(folder, name),
    }
}

fn open_folder(folder: &Dir, name: &str) -> io::Result<Dir> {
    Ok(Dir::from_std_file(safe_files::open_folder(folder, name)?.into()))
}

fn no_state(reason: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason)
}

/// Names of runs do not begin with a dot.
const STATE: &str = ".run.json";
const CLAIM: &str = ".run.lock";
/// Runs of one set that are looked at.
const FOLDERS_MAX: usize = 10_000;
const STATE_BYTES_MAX: u64 = 64 << 10;
/// One a second would be thirty years. A state with more was changed, and would leave the set without numbers.
const SEGMENTS_MAX: u32 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use pla_engine::{Moment, SetDefinition, SetRun};

    use super::*;

    fn kept(serial_number: u32) -> SetState {
        let moment = Moment { wall: jiff::Timestamp::UNIX_EPOCH, monotonic: std::time::Duration::ZERO };
        let run = SetRun::new(SetDefinition::default(), moment).snapshot(moment);
        SetState { run: RunSnapshot { serial_number, ..run }, segment: None }
    }

    fn loaded(folder: &SetFolder) -> Result<Option<SetState>, String> {
        folder.load(0).map_err(|error| error.to_string())
    }

    #[test]
    fn a_state_comes_back_and_one_that_is_damaged_is_said() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = SetFolder::new(place.path().join("web1"), "../Nightly");
        assert_eq!(loaded(&folder), Ok(None));
        folder.save(&kept(7)).expect("it is written");
        folder.save(&kept(8)).expect("it is replaced");
        assert_eq!(loaded(&folder), Ok(Some(kept(8))));
        let file = place.path().join("web1").join(component("../Nightly")).join(STATE);
        fs::write(&file, b"{\"run\": {\"serial_number\": 9").expect("it is there");
        assert!(loaded(&folder).is_err_and(|reason| reason.contains("EOF")));
        fs::write(&file, vec![b' '; 100_000]).expect("it is there");
        assert_eq!(loaded(&folder), Err("it has more than 65536 bytes".to_owned()));
    }

    #[test]
    fn a_set_belongs_to_one_at_a_time() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = SetFolder::new(place.path().join("web1"), "Nightly");
        let claimed = folder.claim().expect("a file").expect("it is free");
        let log = claimed.clone();
        drop(claimed);
        assert!(folder.claim().expect("a file").is_none(), "a log of it is still written");
        drop(log);
        assert!(folder.claim().expect("a file").is_some());
    }

    #[test]
    fn a_link_is_followed_at_no_level_by_nobody_even_within_the_folder() {
        for (levels, at) in [("web1", "web1"), ("web1/Nightly", "Nightly"), ("web1/Nightly/000001", "000001")]
        {
            for leads_out in [true, false] {
                let place = tempfile::tempdir().expect("a folder");
                let elsewhere = if leads_out { "elsewhere" } else { "storage/elsewhere" };
                let (storage, elsewhere) = (place.path().join("storage"), place.path().join(elsewhere));
                fs::create_dir_all(&elsewhere).expect("a folder");
                let link = storage.join(levels);
                fs::create_dir_all(link.parent().expect("it is below the storage")).expect("a folder");
                std::os::unix::fs::symlink(&elsewhere, &link).expect("a link");
                let folder = SetFolder::new(storage.join("web1"), "Nightly");
                let of_set = levels != "web1/Nightly/000001";
                let refused = [
                    folder.run("000001").err(),
                    folder.earlier_run("000001").err(),
                    folder.cut_unfinished_rows("web1", "000001").err(),
                    folder.save(&kept(1)).err().filter(|_| of_set),
                    folder.load(0).err().filter(|_| of_set),
                    folder.claim().err().filter(|_| of_set),
                    folder.recover("web1").err().filter(|_| of_set),
                ];
                let refused: Vec<String> = refused.iter().flatten().map(io::Error::to_string).collect();
                assert_eq!(refused.len(), if of_set { 7 } else { 3 }, "{levels}: {refused:?}");
                for error in refused {
                    assert_eq!(error, format!("`{at}` is a link, not a folder: delete it"));
                }
                assert_eq!(fs::read_dir(elsewhere).expect("it is there").count(), 0, "{levels}");
            }
        }
    }

    #[test]
    fn a_state_and_a_lock_that_are_links_are_said_and_the_state_is_replaced() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = SetFolder::new(place.path().to_owned(), "Nightly");
        let root = place.path().join("Nightly");
        fs::create_dir(&root).expect("a folder");
        fs::write(root.join("precious"), "precious").expect("a file");
        for name in [STATE, CLAIM] {
            std::os::unix::fs::symlink("precious", root.join(name)).expect("a link");
        }
        assert_eq!(loaded(&folder), Err("`.run.json` is a link, not a file: delete it".to_owned()));
        let refused = folder.claim().expect_err("a link").to_string();
        assert_eq!(refused, "`.run.lock` is a link, not a file: delete it");
        folder.save(&kept(2)).expect("it is replaced");
        assert_eq!(loaded(&folder), Ok(Some(kept(2))));
        assert_eq!(fs::read_to_string(root.join("precious")).expect("a file"), "precious");
    }

    #[test]
    fn a_serial_number_that_no_set_reaches_is_not_believed() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = SetFolder::new(place.path().to_owned(), "Nightly");
        folder.save(&kept(u32::MAX)).expect("it is written");
        assert_eq!(loaded(&folder), Err("no set had 4294967295 segments".to_owned()));
        let there = folder.load(4_294_967_000).expect("a set may begin there");
        assert_eq!(there, Some(kept(u32::MAX)));
    }
}
