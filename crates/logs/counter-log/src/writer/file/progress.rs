use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// What is known of the files of a log while it is written.
#[derive(Debug, Default)]
pub struct FileProgress {
    name: Mutex<Option<String>>,
    bytes: AtomicU64,
}

impl FileProgress {
    /// The name of the file that is written, or was written last; nothing before the first record.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        self.name.lock().clone()
    }

    /// Its size in bytes, that of its journal included.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn begun(&self, name: &str) {
        *self.name.lock() = Some(name.to_owned());
    }

    pub(super) fn grown(&self, bytes: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }
}
