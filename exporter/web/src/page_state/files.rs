//! What sources keep below the configured directory, for pages: read elsewhere than on a thread of the async runtime, by one
//! reader at a time, and kept for a moment.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http_server::PeerKey;
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use crate::page_permits::{PagePermit, PagePermits};
use targets::storage::{self, Tree};

/// How long a reader waits for those before it, and for the directory.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// For this long the same is shown to all.
const FRESH_FOR: Duration = Duration::from_secs(3);
/// Files that are sent at a time, and threads that read them.
const DOWNLOADS_MAX: usize = 8;
/// What was ended for another reader needs a moment.
const THREAD_WAIT_MAX: Duration = Duration::from_secs(1);

/// Where files are, and whether readers may have them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) directory: PathBuf,
    pub(crate) downloads: bool,
}

/// Reads what is kept.
pub(crate) struct Files {
    kept: Mutex<Option<Kept>>,
    last: Arc<Mutex<Option<Read>>>,
    listings: Arc<Semaphore>,
    downloads: Arc<PagePermits>,
    threads: Arc<Semaphore>,
}

#[derive(Clone)]
struct Read {
    directory: PathBuf,
    at: Instant,
    found: Result<Arc<Tree>, Arc<str>>,
}

/// Why there are no files to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoFiles {
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
            downloads: PagePermits::new(DOWNLOADS_MAX),
            threads: Arc::new(Semaphore::new(DOWNLOADS_MAX)),
        }
    }
}

impl Files {
    /// From now on these are where files are.
    pub(crate) fn set(&self, kept: Option<Kept>) {
        *self.kept.lock() = kept;
    }

    /// Where files are; nothing if none are kept.
    pub(crate) fn kept(&self) -> Option<Kept> {
        self.kept.lock().clone()
    }

    /// The files that there are, or were a moment ago.
    pub(crate) async fn look(&self) -> Result<Arc<Tree>, NoFiles> {
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
                *last.lock() = Some(Read { directory, at: Instant::now(), found: found.clone() });
                drop(permit);
                found
            };
            tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(Arc::from(error.to_string())))
        };
        let looked = timeout(WAIT_MAX, looked).await;
        looked.map_err(|_elapsed| NoFiles::TooLong)?.map_err(NoFiles::Unreadable)
    }

    /// The right of `peer` to have a file sent, and a thread to read it: if not too many are being sent, and not too many disks
    /// hang. `end` is notified if it is ended for another reader.
    pub(crate) async fn download(
        &self,
        peer: PeerKey,
        end: Arc<Notify>,
    ) -> Option<(PagePermit, OwnedSemaphorePermit)> {
        let permit = self.downloads.acquire(peer, end).await.ok()?;
        let thread = timeout(THREAD_WAIT_MAX, Arc::clone(&self.threads).acquire_owned()).await.ok()?.ok()?;
        Some((permit, thread))
    }
}

fn fresh(last: &Mutex<Option<Read>>, directory: &PathBuf) -> Option<Result<Arc<Tree>, Arc<str>>> {
    let last = last.lock();
    let read = last.as_ref().filter(|read| read.directory == *directory && read.at.elapsed() < FRESH_FOR)?;
    Some(read.found.clone())
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

    #[tokio::test(start_paused = true)]
    async fn one_reader_leaves_places_to_others_and_a_disk_that_hangs_takes_so_many_threads() {
        let files = Files::default();
        let ask = |last: u8| files.download(PeerKey::of([192, 0, 2, last].into()), Arc::default());
        let mut held = Vec::new();
        for peer in [1, 1, 1, 1, 1, 1, 2, 3] {
            let began = Instant::now();
            held.push(ask(peer).await.expect("one reader has not all places"));
            assert_eq!(began.elapsed(), Duration::ZERO);
        }
        // Nobody reads: the place of the reader that has the most goes to another. Its thread ends a moment later.
        let (next, ()) = tokio::join!(ask(4), async {
            while !held.iter().any(|(permit, _)| permit.is_ended()) {
                tokio::task::yield_now().await;
                tokio::time::advance(Duration::from_millis(100)).await;
            }
            let ended = held.iter().position(|(permit, _)| permit.is_ended()).expect("one is");
            assert!(ended < 6, "one of the first reader");
        });
        assert!(next.is_none(), "the thread of the one before hangs");
        let ended = held.iter().position(|(permit, _)| permit.is_ended()).expect("one is");
        drop(held.remove(ended));
        assert!(ask(4).await.is_some());
    }
}
