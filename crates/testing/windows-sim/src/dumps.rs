//! The process dumps of a host. No file is written: a dump is an entry of a list.

use parking_lot::{Mutex, MutexGuard};
use wire::{FileTime, Guid, SystemTime};

/// A dump of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessDump {
    pub process_id: u32,
    /// The application that it was dumped for.
    pub application_id: Guid,
    /// The directory, as the client wrote it, without a backslash at the end.
    pub directory: String,
    /// The file in it.
    pub file_name: String,
    /// When it was written.
    pub written: FileTime,
}

/// Directories and limits that an application has for its dumps where the client names none: what COM+ sets up.
pub(crate) const OWN_DIRECTORY: &str = r"C:\Windows\System32\com\dmp";

pub(crate) const OWN_FILES_MAX: u32 = 5;

/// Dumps that a host keeps at a time, so that a client cannot fill its memory.
const DUMPS_MAX: usize = 1024;

/// The process dumps that a host has now.
#[derive(Debug, Default)]
pub struct DumpStore(Mutex<Vec<ProcessDump>>);

impl ProcessDump {
    /// [MS-COMT] <24>: a dump with the name that Windows gives it.
    pub(crate) fn new(process_id: u32, application_id: Guid, directory: &str, written: FileTime) -> Self {
        let SystemTime { year, month, day, hour, minute, second, .. } = SystemTime::from(written);
        let application = format!("{{{application_id}}}").to_uppercase();
        let file_name =
            format!("{application}-{year:04}_{month:02}_{day:02}_{hour:02}_{minute:02}_{second:02}");
        let directory = directory.trim_end_matches('\\').to_owned();
        Self { process_id, application_id, directory, file_name, written }
    }

    /// The fully qualified path.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}\\{}", self.directory, self.file_name)
    }

    fn is_beside(&self, other: &Self) -> bool {
        self.application_id == other.application_id && self.directory.eq_ignore_ascii_case(&other.directory)
    }
}

impl DumpStore {
    /// The dumps that are there, the oldest first.
    #[must_use]
    pub fn all(&self) -> Vec<ProcessDump> {
        self.list().clone()
    }

    //= [MS-COMT] 3.1.4.2.2
    //# If the number of previously written files is greater than or equal to the dump file limit, the server SHOULD attempt
    //# to delete at least one of the previously written files
    /// Adds a dump, in place of the oldest one of its application in its directory where there are `files_max` of them. A
    /// file of the same name is written again.
    pub(crate) fn add(&self, dump: ProcessDump, files_max: u32) {
        let mut all = self.list();
        all.retain(|known| !known.is_beside(&dump) || known.file_name != dump.file_name);
        let before = all.iter().filter(|known| known.is_beside(&dump)).count();
        if before >= usize::try_from(files_max).unwrap_or(usize::MAX)
            && let Some(oldest) = all.iter().position(|known| known.is_beside(&dump))
        {
            all.remove(oldest);
        }
        if all.len() == DUMPS_MAX {
            all.remove(0);
        }
        all.push(dump);
    }

    fn list(&self) -> MutexGuard<'_, Vec<ProcessDump>> {
        self.0.lock()
    }
}
