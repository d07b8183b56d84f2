use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
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
    /// The stamp of the file at `path` as it is `now`; `None` if there is none.
    #[must_use]
    pub fn look(path: &Path, now: SystemTime) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self::of(&metadata, now))
    }

    /// Whether a file that was `before` may have other contents now: it is another one, or changed so shortly before it
    /// was looked at that a second change would leave no trace.
    #[must_use]
    pub fn may_differ(before: Option<&Self>, now: Option<&Self>) -> bool {
        let changed = |stamp: &Self| (stamp.contents(), stamp.changed);
        before.map(changed) != now.map(changed) || before.is_some_and(|before| !before.is_settled)
    }

    /// Whether another file is there, or it was written again. A link to it or other rights leave it what it was.
    #[must_use]
    pub fn was_replaced(before: Option<&Self>, now: Option<&Self>) -> bool {
        before.map(Self::contents) != now.map(Self::contents)
    }

    /// When the file was written.
    pub(super) fn modified(&self) -> Option<SystemTime> {
        let (seconds, nanoseconds) = self.modified;
        let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
        SystemTime::UNIX_EPOCH.checked_add(since)
    }

    /// That of a file as it is `now`.
    pub(super) fn of(metadata: &Metadata, now: SystemTime) -> Self {
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

    /// What a write or a replacement changes, unless somebody sets the time back.
    fn contents(&self) -> (u64, u64, u64, (i64, i64)) {
        (self.device, self.inode, self.bytes, self.modified)
    }

    #[cfg(test)]
    pub(super) fn is_settled(&self) -> bool {
        self.is_settled
    }
}
