//! The newest state of a set, and whether it is on the disk.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};

use super::folder::{SetFolder, SetState};
use cap_std::fs::Dir;

/// The state of a set, which is written before the folder of a segment is made: after the process was killed, no serial number is
/// used again. All that writes the set's files keeps this, and with it the lock of the set.
#[derive(Debug)]
pub(crate) struct StateStore {
    target: String,
    set: String,
    /// With its revision; 0 is none.
    newest: Mutex<(u64, Option<SetState>)>,
    /// The revision that is on the disk. It changes while `disk` is locked.
    stored: AtomicU64,
    /// Locked while a state is written.
    disk: Mutex<Disk>,
    is_failing: AtomicBool,
    /// Whether another folder is in the place of the set's own.
    is_replaced: AtomicBool,
}

#[derive(Debug)]
struct Disk {
    folder: SetFolder,
    /// The serial number of the state of before. Nothing while that could not be read, because its folder is not there.
    earlier: Option<u32>,
}

impl StateStore {
    /// Nothing is to be stored yet. `folder` has the lock of the set, unless it could not be opened. `earlier` is the serial number of
    /// the state that is there; nothing if it could not be read.
    pub(super) fn new(folder: SetFolder, (target, set): (&str, &str), earlier: Option<u32>) -> Self {
        Self {
            target: target.to_owned(),
            set: set.to_owned(),
            newest: Mutex::default(),
            stored: AtomicU64::new(0),
            disk: Mutex::new(Disk { folder, earlier }),
            is_failing: AtomicBool::new(false),
            is_replaced: AtomicBool::new(false),
        }
    }

    pub(super) fn set_name(&self) -> &str {
        &self.set
    }

    /// This is the state from now on.
    pub(super) fn set(&self, kept: SetState) {
        let mut newest = self.newest();
        *newest = (newest.0 + 1, Some(kept));
    }

    /// Whether the newest state is on the disk.
    pub(super) fn is_stored(&self) -> bool {
        self.newest().0 == self.stored.load(Ordering::Acquire)
    }

    /// Writes the newest state if it is not on the disk. Blocks.
    ///
    /// # Errors
    /// When it cannot be written, or another instance has the set. The next call tries again.
    pub(super) fn save(&self) -> io::Result<()> {
        let mut disk = self.disk.lock();
        let (revision, kept) = self.newest().clone();
        let Some(mut kept) = kept.filter(|_| revision != self.stored.load(Ordering::Acquire)) else {
            return Ok(());
        };
        disk.claim()?;
        let earlier = disk.read_earlier(kept.run.serial_number)?;
        kept.run.serial_number = kept.run.serial_number.max(earlier);
        disk.folder.save(&kept).inspect_err(|error| {
            if error.kind() == io::ErrorKind::StaleNetworkFileHandle {
                self.is_replaced.store(true, Ordering::Relaxed);
            }
        })?;
        self.stored.store(revision, Ordering::Release);
        Ok(())
    }

    /// As [`save`](Self::save), and says a failure, but not again and again.
    pub(super) fn save_or_warn(&self) {
        match self.save() {
            Ok(()) => {
                if self.is_failing.swap(false, Ordering::Relaxed) {
                    let Self { target, set, .. } = self;
                    tracing::info!(target, set, "The state of a set is stored again");
                }
            }
            Err(error) => {
                if !self.is_failing.swap(true, Ordering::Relaxed) {
                    let Self { target, set, .. } = self;
                    tracing::warn!(target, set, %error, "The state of a set cannot be stored; this is tried again");
                }
            }
        }
    }

    /// The folder of a segment, after the state was written. Records are not lost for a state that cannot be written alone. Blocks.
    ///
    /// # Errors
    /// When another instance has the set, or the folder cannot be opened.
    pub(super) fn run(&self, name: &str) -> io::Result<Dir> {
        match self.save() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
        let folder = self.disk.lock().folder.clone();
        folder.run(name)
    }

    /// The serial number of the state of before, which may have been found later than the set began. Does not block.
    pub(super) fn earlier(&self) -> Option<u32> {
        self.disk.try_lock()?.earlier
    }

    /// Whether another folder is in the place of the set's own: what is there has to be read first.
    pub(super) fn is_replaced(&self) -> bool {
        self.is_replaced.load(Ordering::Relaxed)
    }

    /// Both parts change at once.
    fn newest(&self) -> MutexGuard<'_, (u64, Option<SetState>)> {
        self.newest.lock()
    }
}

impl Disk {
    /// Takes the lock of a set whose folder was not there when it began.
    fn claim(&mut self) -> io::Result<()> {
        if self.folder.is_claimed() {
            return Ok(());
        }
        match self.folder.claim() {
            Ok(Some(claimed)) => {
                self.folder = claimed;
                Ok(())
            }
            Ok(None) => Err(io::Error::new(
                io::ErrorKind::WouldBlock,
                "another instance has the set: give one of the two another name",
            )),
            // It cannot be locked, or not be opened, which the next step says.
            Err(_) => Ok(()),
        }
    }

    /// The serial number of the state of before, which is read before it is written over. `own` is that of the set now.
    fn read_earlier(&mut self, own: u32) -> io::Result<u32> {
        if let Some(earlier) = self.earlier {
            return Ok(earlier);
        }
        // Else its absence would be taken for a set that has never run.
        self.folder.open()?;
        let earlier = match self.folder.load(own) {
            Ok(found) => found.map_or(0, |found| found.serial_number_max()),
            // As with one that is damaged when the set begins.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => 0,
            Err(error) => return Err(error),
        };
        self.earlier = Some(earlier);
        Ok(earlier)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pla_engine::{Moment, RunSnapshot, SetDefinition, SetRun};

    use super::super::logged::logged;
    use super::*;

    fn kept(serial_number: u32) -> SetState {
        let moment = Moment { wall: jiff::Timestamp::UNIX_EPOCH, monotonic: std::time::Duration::ZERO };
        let run =
            RunSnapshot { serial_number, ..SetRun::new(SetDefinition::default(), moment).snapshot(moment) };
        SetState { run, segment: None }
    }

    fn stored(folder: &SetFolder) -> u32 {
        folder.load(0).expect("it is read").expect("it is there").run.serial_number
    }

    #[test]
    fn a_state_that_could_not_be_written_is_written_by_the_next_call() {
        let place = tempfile::tempdir().expect("a folder");
        let mount = place.path().join("mount");
        let folder = SetFolder::new(mount.join("web1"), "Nightly");
        let state = StateStore::new(folder.clone(), ("web1", "Nightly"), None);
        state.set(kept(3));
        assert!(state.save().is_err() && !state.is_stored());
        fs::create_dir(&mount).expect("it is made");
        state.save().expect("it is there");
        assert!(state.is_stored());
        assert_eq!(stored(&folder), 3);
        assert!(folder.claim().expect("a file").is_none(), "the set is taken by then");
    }

    #[test]
    fn a_state_that_cannot_be_stored_is_said_once_with_its_target_and_its_set() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = SetFolder::new(place.path().join("mount").join("web1"), "Nightly");
        let state = StateStore::new(folder, ("web1", "Nightly"), None);
        state.set(kept(3));
        let lines = logged(|| (0..2).for_each(|_| state.save_or_warn()));
        let [line] = &lines[..] else { panic!("{lines:?}") };
        assert!(line.contains(r#"target="web1""#) && line.contains(r#"set="Nightly""#), "{line}");
        std::fs::create_dir_all(place.path().join("mount").join("web1")).expect("a folder");
        let lines = logged(|| (0..2).for_each(|_| state.save_or_warn()));
        let [line] = &lines[..] else { panic!("{lines:?}") };
        assert!(line.contains("is stored again"), "{line}");
    }

    #[test]
    fn the_folder_of_a_segment_is_not_made_before_the_state_is_written() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = SetFolder::new(place.path().join("web1"), "Nightly");
        let state =
            StateStore::new(folder.claim().expect("a file").expect("it is free"), ("web1", "Nightly"), None);
        state.set(kept(4));
        state.run("000004").expect("a folder");
        assert_eq!(stored(&folder), 4);
    }

    #[test]
    fn a_state_that_is_found_late_keeps_its_serial_number() {
        let place = tempfile::tempdir().expect("a folder");
        let mount = place.path().join("mount");
        let folder = SetFolder::new(mount.join("web1"), "Nightly");
        let state = StateStore::new(folder.clone(), ("web1", "Nightly"), None);
        state.set(kept(1));
        assert!(state.save().is_err());
        fs::create_dir(&mount).expect("it is made");
        folder.save(&kept(70)).expect("it was there before");
        assert_eq!(state.earlier(), None);
        state.save().expect("it is there");
        assert_eq!(state.earlier(), Some(70));
        state.set(kept(2));
        state.save().expect("it is there");
        assert_eq!(stored(&folder), 70);
    }
}
