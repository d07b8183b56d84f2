use rustix::fs::{AtFlags, FlockOperation, flock, unlinkat};

use super::files::open_regular;
use super::{EXTENSION, FILES_MAX, RunDirectory, names};
use crate::error::Error;
use crate::process::ProcessIdentity;

impl RunDirectory {
    /// Removes the files of processes that do not run any more. Returns their names.
    ///
    /// A file is left alone if its name is not one that this crate gives, if a process with this process id and start
    /// time runs, or if it is locked.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn remove_stale(&self) -> Result<Vec<String>, Error> {
        let failed = |error| Error::Directory { path: self.path.clone(), error };
        let mut names = names(&self.directory, FILES_MAX).map_err(failed)?;
        names.retain(|name| owner(name).is_some_and(|owner| !owner.is_running()) && self.remove(name));
        Ok(names)
    }

    /// Removes a file that nobody holds the lock of.
    fn remove(&self, name: &str) -> bool {
        let is_held = open_regular(&self.directory, &self.path, name)
            .is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_err());
        !is_held && unlinkat(&self.directory, name, AtFlags::empty()).is_ok()
    }
}

/// The process whose file has this name.
fn owner(name: &str) -> Option<ProcessIdentity> {
    let (owner, number) = name.strip_suffix(EXTENSION)?.rsplit_once('-')?;
    number.parse::<u64>().ok()?;
    ProcessIdentity::parse(owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_of_a_file_stands_in_its_name() {
        let identity = ProcessIdentity { pid: 77, start_ticks: 5, boot_id: 0xab };
        assert_eq!(owner(&format!("{identity}-3.cells")), Some(identity));
        for other in ["77.cells", "77-5-00000000000000ab.cells", "77-5-00000000000000ab-x.cells", "notes.txt"]
        {
            assert_eq!(owner(other), None, "{other}");
        }
    }
}
