//! Who may use a thread for a file of SQLite.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use crate::WeakMap;
use crate::{SinkError, SinkErrorKind};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::database::error::failure;

/// The permission to use a thread for a file, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _file: OwnedSemaphorePermit,
    _share: OwnedSemaphorePermit,
    _thread: OwnedSemaphorePermit,
}

/// The turns of a file: one at a time, as SQLite has one writer at a time, and others would only wait on their threads.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    file: Arc<Semaphore>,
    /// What all files of its folder may take of the threads.
    share: Arc<Semaphore>,
}

impl Turns {
    /// The turns that all sinks of this path share.
    pub(super) fn of(folder: &Path, name: &str) -> Self {
        Self {
            file: FILES.get_or_insert_with(folder.join(name), || Semaphore::new(1)),
            share: FOLDERS.get_or_insert_with(folder.to_owned(), || Semaphore::new(THREADS_OF_FOLDER_MAX)),
        }
    }

    /// Waits for the file first, then for the folder, then for a thread, so that those that wait take no thread from others.
    pub(super) async fn take(&self) -> Result<Turn, SinkError> {
        let closed = |_| failure(SinkErrorKind::Other, "this process writes no more files of SQLite");
        let file = Arc::clone(&self.file).acquire_owned().await.map_err(closed)?;
        let share = Arc::clone(&self.share).acquire_owned().await.map_err(closed)?;
        let thread = Arc::clone(&THREADS).acquire_owned().await.map_err(closed)?;
        Ok(Turn { _file: file, _share: share, _thread: thread })
    }
}

static FILES: WeakMap<PathBuf, Semaphore> = WeakMap::new();
static FOLDERS: WeakMap<PathBuf, Semaphore> = WeakMap::new();

static THREADS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(THREADS_MAX)));

/// Files of SQLite that are worked on at a time. Plugins have 48 threads for work that may block, of which files of logs take up
/// to 8: a twelfth of them for databases leaves enough for all the rest, even if each of these waits for a dead disk.
const THREADS_MAX: usize = 4;

/// A target's files are in one folder, which may be a mount of its own.
const THREADS_OF_FOLDER_MAX: usize = 2;
