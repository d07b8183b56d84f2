//! The newest state of a set, and whether it is on the disk.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::folder::{Kept, SetFolder};
use cap_std::fs::Dir;

/// The state of a set, which is written before the folder of a segment is made: after the process was killed, no serial number is
/// used again. All that writes the set's files keeps this, and with it the lock of the set.
#[derive(Debug)]
pub(crate) struct StateStore {
    /// With its revision; 0 is none.
    newest: Mutex<(u64, Option<Kept>)>,
    /// The revision that is on the disk. It changes while `disk` is locked.
    stored: AtomicU64,
    /// Locked while a state is written.
    disk: Mutex<Disk>,
    is_failing: AtomicBool,
}

#[derive(Debug)]
struct Disk {
    folder: SetFolder,
    /// The serial number of a state that was found later than the set began.
    serial_number_min: u32,
}

impl StateStore {
    /// Nothing is to be stored yet. `folder` has the lock of the set, unless it could not be opened.
    pub(super) fn new(folder: SetFolder) -> Self {
        Self {
            newest: Mutex::default(),
            stored: AtomicU64::new(0),
            disk: Mutex::new(Disk { folder, serial_number_min: 0 }),
            is_failing: AtomicBool::new(false),
        }
    }

    /// This is the state from now on.
    pub(super) fn set(&self, kept: Kept) {
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
        let mut disk = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        let (revision, kept) = self.newest().clone();
        let Some(mut kept) = kept.filter(|_| revision != self.stored.load(Ordering::Acquire)) else {
            return Ok(());
        };
        disk.claim()?;
        kept.run.serial_number = kept.run.serial_number.max(disk.serial_number_min);
        disk.folder.save(&kept)?;
        self.stored.store(revision, Ordering::Release);
        Ok(())
    }

    /// As [`save`](Self::save), and says a failure, but not again and again.
    pub(super) fn save_or_warn(&self, set: &str) {
        match self.save() {
            Ok(()) => self.is_failing.store(false, Ordering::Relaxed),
            Err(error) => {
                if !self.is_failing.swap(true, Ordering::Relaxed) {
                    tracing::warn!(set, %error, "The state of a set cannot be stored; this is tried again");
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
        let folder = self.disk.lock().unwrap_or_else(PoisonError::into_inner).folder.clone();
        folder.run(name)
    }

    /// Both parts change at once.
    fn newest(&self) -> MutexGuard<'_, (u64, Option<Kept>)> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
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
                if let Ok(Some(found)) = claimed.load(0) {
                    self.serial_number_min = found.run.serial_number;
                }
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
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pla_engine::{Moment, RunSnapshot, SetDefinition, SetRun};

    use super::*;

    fn kept(serial_number: u32) -> Kept {
        let moment = Moment { wall: jiff::Timestamp::UNIX_EPOCH, monotonic: std::time::Duration::ZERO };
        let run =
            RunSnapshot { serial_number, ..SetRun::new(SetDefinition::default(), moment).snapshot(moment) };
        Kept { run, segment: None }
    }

    fn stored(folder: &SetFolder) -> u32 {
        folder.load(0).expect("it is read").expect("it is there").run.serial_number
    }

    #[test]
    fn a_state_that_could_not_be_written_is_written_by_the_next_call() {
        let place = tempfile::tempdir().expect("a folder");
        let mount = place.path().join("mount");
        let folder = SetFolder::new(mount.join("web1"), "Nightly");
        let state = StateStore::new(folder.clone());
        state.set(kept(3));
        assert!(state.save().is_err() && !state.is_stored());
        fs::create_dir(&mount).expect("it is made");
        state.save().expect("it is there");
        assert!(state.is_stored());
        assert_eq!(stored(&folder), 3);
        assert!(folder.claim().expect("a file").is_none(), "the set is taken by then");
    }

    #[test]
    fn the_folder_of_a_segment_is_not_made_before_the_state_is_written() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = SetFolder::new(place.path().join("web1"), "Nightly");
        let state = StateStore::new(folder.claim().expect("a file").expect("it is free"));
        state.set(kept(4));
        state.run("000004").expect("a folder");
        assert_eq!(stored(&folder), 4);
    }

    #[test]
    fn a_state_that_is_found_late_keeps_its_serial_number() {
        let place = tempfile::tempdir().expect("a folder");
        let mount = place.path().join("mount");
        let folder = SetFolder::new(mount.join("web1"), "Nightly");
        let state = StateStore::new(folder.clone());
        state.set(kept(1));
        assert!(state.save().is_err());
        fs::create_dir(&mount).expect("it is made");
        folder.save(&kept(70)).expect("it was there before");
        state.save().expect("it is there");
        state.set(kept(2));
        state.save().expect("it is there");
        assert_eq!(stored(&folder), 70);
    }
}
