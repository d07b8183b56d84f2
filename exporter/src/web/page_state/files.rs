//! What sources keep below the configured directory, for pages: read elsewhere than on a thread of the async runtime, by one
//! reader at a time, and kept for a moment.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use crate::storage::{self, Tree};

/// How long a reader waits for those before it, and for the directory.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// For this long the same is shown to all.
const FRESH_FOR: Duration = Duration::from_secs(3);
/// Files that are sent at a time.
pub(in crate::web) const DOWNLOADS_MAX: usize = 8;

/// Where files are, and whether readers may have them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::web) struct Kept {
    pub(in crate::web) directory: PathBuf,
    pub(in crate::web) downloads: bool,
}

/// Reads what is kept.
pub(in crate::web) struct Files {
    kept: Mutex<Option<Kept>>,
    last: Arc<Mutex<Option<Read>>>,
    listings: Arc<Semaphore>,
    downloads: Arc<Semaphore>,
}

#[derive(Clone)]
struct Read {
    directory: PathBuf,
    at: Instant,
    found: Result<Arc<Tree>, Arc<str>>,
}

/// Why there are no files to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::web) enum NoFiles {
    /// No directory is configured.
    NotKept,
    /// The directory cannot be read.
    Unreadable(Arc<str>),
    /// Other readers, or the directory, took too long.
    TooLong,
}

impl Default for Files {
    fn default() -> Self {
        Self {
            kept: Mutex::default(),
            last: Arc::default(),
            listings: Arc::new(Semaphore::new(1)),
            downloads: Arc::new(Semaphore::new(DOWNLOADS_MAX)),
        }
    }
}

impl Files {
    /// From now on these are where files are.
    pub(in crate::web) fn set(&self, kept: Option<Kept>) {
        *lock(&self.kept) = kept;
    }

    /// Where files are; nothing if none are kept.
    pub(in crate::web) fn kept(&self) -> Option<Kept> {
        lock(&self.kept).clone()
    }

    /// The files that there are, or were a moment ago.
    pub(in crate::web) async fn look(&self) -> Result<Arc<Tree>, NoFiles> {
        let directory = self.kept().ok_or(NoFiles::NotKept)?.directory;
        let (last, listings) = (Arc::clone(&self.last), Arc::clone(&self.listings));
        let looked = async move {
            if let Some(found) = fresh(&last, &directory) {
                return found;
            }
            let permit = listings.acquire_owned().await.map_err(|closed| Arc::from(closed.to_string()))?;
            // Whoever had the permit has read it.
            if let Some(found) = fresh(&last, &directory) {
                return found;
            }
            // Who gives up waiting leaves the permit to the thread, so that a directory that hangs takes one thread only.
            let work = move || {
                let found = storage::read(&directory).map(Arc::new);
                let found = found.map_err(|error| Arc::from(error.to_string()));
                *lock(&last) = Some(Read { directory, at: Instant::now(), found: found.clone() });
                drop(permit);
                found
            };
            tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(Arc::from(error.to_string())))
        };
        let looked = timeout(WAIT_MAX, looked).await;
        looked.map_err(|_elapsed| NoFiles::TooLong)?.map_err(NoFiles::Unreadable)
    }

    /// The right to send a file, if not too many are being sent.
    pub(in crate::web) fn download(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.downloads).try_acquire_owned().ok()
    }
}

fn fresh(last: &Mutex<Option<Read>>, directory: &PathBuf) -> Option<Result<Arc<Tree>, Arc<str>>> {
    let last = lock(last);
    let read = last.as_ref().filter(|read| read.directory == *directory && read.at.elapsed() < FRESH_FOR)?;
    Some(read.found.clone())
}

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is in it is replaced as a whole.
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[tokio::test]
    async fn a_directory_is_read_once_for_readers_of_one_moment() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let files = Files::default();
        assert_eq!(files.look().await, Err(NoFiles::NotKept));
        files.set(Some(Kept { directory: folder.path().to_owned(), downloads: false }));
        assert_eq!(files.look().await.expect("it can be read").files, 0);
        fs::create_dir_all(folder.path().join("web1/set/run")).expect("the folder is ours");
        fs::write(folder.path().join("web1/set/run/a.csv"), "1").expect("the folder is ours");
        assert_eq!(files.look().await.expect("it can be read").files, 0, "as before");
        tokio::time::pause();
        tokio::time::advance(FRESH_FOR).await;
        tokio::time::resume();
        assert_eq!(files.look().await.expect("it can be read").files, 1);
        files.set(Some(Kept { directory: folder.path().join("none"), downloads: false }));
        assert!(
            matches!(files.look().await, Err(NoFiles::Unreadable(_))),
            "another directory is read at once"
        );
    }

    #[tokio::test]
    async fn so_many_files_are_sent_at_a_time() {
        let files = Files::default();
        let held: Vec<_> = (0..DOWNLOADS_MAX).map(|_| files.download()).collect();
        assert!(held.iter().all(Option::is_some));
        assert!(files.download().is_none());
        drop(held);
        assert!(files.download().is_some());
    }
}
