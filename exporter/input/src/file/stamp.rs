use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

/// A file that changed so short a time before it was looked at is read once more: the clock of a file system has
/// steps, and a second change within one of them leaves no trace.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// What tells that a file was written or replaced, in whatever way: device, inode, size and both times.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    is_settled: bool,
}

impl Stamp {
    /// That of a file as it is `now`.
    pub fn of(metadata: &Metadata, now: SystemTime) -> Self {
        let changed_s = metadata.ctime().max(metadata.mtime());
        let now_s = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let settled_s = i64::try_from(now_s.saturating_sub(SETTLED_AFTER).as_secs()).unwrap_or(i64::MAX);
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            is_settled: changed_s < settled_s,
        }
    }

    /// Whether nothing tells the file of `self` from that of `other`.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.device, self.inode, self.bytes) == (other.device, other.inode, other.bytes)
            && (self.modified, self.changed) == (other.modified, other.changed)
    }

    /// Whether a file that has this stamp again certainly has the same contents.
    pub fn is_settled(&self) -> bool {
        self.is_settled
    }
}
