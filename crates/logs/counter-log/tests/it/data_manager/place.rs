//! A set's folder, and what is beside it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use counter_log::data_manager::{Failure, FolderAction, ManagerSettings};
use jiff::{SignedDuration, Timestamp};
use ms_pla::FolderActionSteps;
use tempfile::TempDir;

const WORKS: &str = "temporary folders work";
pub(crate) const MB: usize = 1024 * 1024;

pub(crate) struct Place {
    _temporary: TempDir,
    path: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// In memory, where that is possible: syncing costs nothing there.
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Self::below(memory) } else { Self::new() }
    }

    fn below(folder: &Path) -> Self {
        let temporary = tempfile::tempdir_in(folder).expect(WORKS);
        let place = Self { path: temporary.path().to_owned(), _temporary: temporary };
        for folder in ["set", "outside", "sent"] {
            fs::create_dir(place.path.join(folder)).expect(WORKS);
        }
        place
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.path.join(path)
    }

    pub(crate) fn dir(&self, path: &str) -> Dir {
        Dir::open_ambient_dir(self.path(path), ambient_authority()).expect(WORKS)
    }

    pub(crate) fn root(&self) -> Dir {
        self.dir("set")
    }

    /// Writes a file of the set, and the folders on its way.
    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path("set").join(path);
        fs::create_dir_all(path.parent().expect(WORKS)).expect(WORKS);
        fs::write(path, bytes).expect(WORKS);
    }

    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        names(&self.path(path))
    }

    pub(crate) fn is_there(&self, path: &str) -> bool {
        self.path("set").join(path).symlink_metadata().is_ok()
    }
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(path)
        .expect(WORKS)
        .map(|entry| entry.expect(WORKS).file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// All files below a folder, and their bytes.
pub(crate) fn tree(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for name in names(path) {
        let inner = path.join(&name);
        if inner.symlink_metadata().expect(WORKS).is_dir() {
            files.extend(tree(&inner).into_iter().map(|(path, bytes)| (format!("{name}/{path}"), bytes)));
        } else {
            files.insert(name, fs::read(&inner).expect(WORKS));
        }
    }
    files
}

pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

pub(crate) fn in_days(days: i64) -> Timestamp {
    now() + SignedDuration::from_hours(24 * days + 1)
}

pub(crate) fn acting(steps: FolderActionSteps) -> ManagerSettings {
    ManagerSettings { folder_actions: vec![action(steps)], ..enabled() }
}

pub(crate) fn action(steps: FolderActionSteps) -> FolderAction {
    FolderAction { age_min_days: 0, size_min_mb: 0, steps, send_cab_to: r"\\server\share".to_owned() }
}

pub(crate) fn enabled() -> ManagerSettings {
    ManagerSettings {
        is_enabled: true,
        report_files: vec!["report.xml".to_owned(), "report.html".to_owned()],
        ..ManagerSettings::default()
    }
}

pub(crate) fn texts(failures: &[Failure]) -> Vec<String> {
    failures.iter().map(|failure| failure.error.to_string()).collect()
}

/// Bytes that cannot be compressed well, the same for the same seed.
pub(crate) fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// A file that cannot be deleted, by its user or by root, until this is dropped.
pub(crate) struct Undeletable(PathBuf);

impl Undeletable {
    pub(crate) fn new(file: &Path) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = file.parent().expect(WORKS).to_owned();
        if rustix::process::geteuid().is_root() {
            // Permissions do not bind root.
            let handle = fs::File::open(&folder).expect(WORKS);
            let flags = rustix::fs::ioctl_getflags(&handle).expect(WORKS);
            rustix::fs::ioctl_setflags(&handle, flags | rustix::fs::IFlags::IMMUTABLE).expect(WORKS);
        } else {
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).expect(WORKS);
        }
        Self(folder)
    }
}

impl Drop for Undeletable {
    fn drop(&mut self) {
        use std::os::unix::fs::PermissionsExt as _;
        if rustix::process::geteuid().is_root() {
            let handle = fs::File::open(&self.0).expect(WORKS);
            let flags = rustix::fs::ioctl_getflags(&handle).expect(WORKS);
            rustix::fs::ioctl_setflags(&handle, flags - rustix::fs::IFlags::IMMUTABLE).expect(WORKS);
        } else {
            fs::set_permissions(&self.0, fs::Permissions::from_mode(0o755)).expect(WORKS);
        }
    }
}
