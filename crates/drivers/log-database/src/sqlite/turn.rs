//! Who may use a thread for a file of SQLite.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use counter_log::{SinkError, SinkErrorKind};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use weak_map::WeakMap;

use crate::error::failure;

/// The permission to use a thread for a file, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _file: OwnedSemaphorePermit,
    _thread: OwnedSemaphorePermit,
}

/// The turns of a file: one at a time, as SQLite has one writer at a time, and others would only wait on their threads.
#[derive(Clone, Debug)]
pub(super) struct Turns(Arc<Semaphore>);

impl Turns {
    /// The turns that all sinks of this path share.
    pub(super) fn of(path: PathBuf) -> Self {
        Self(FILES.get_or_insert_with(path, || Semaphore::new(1)))
    }

    /// Waits for the file first, then for a thread, so that those that wait for a file take no thread from others.
    pub(super) async fn take(&self) -> Result<Turn, SinkError> {
        let closed = |_| failure(SinkErrorKind::Other, "this process writes no more files of SQLite");
        let file = Arc::clone(&self.0).acquire_owned().await.map_err(closed)?;
        let thread = Arc::clone(&THREADS).acquire_owned().await.map_err(closed)?;
        Ok(Turn { _file: file, _thread: thread })
    }
}

static FILES: WeakMap<PathBuf, Semaphore> = WeakMap::new();

static THREADS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(THREADS_MAX)));

/// Files of SQLite that are worked on at a time. Plugins have 32 threads for work that may block, of which files of logs take up
/// to 8: an eighth of them for databases leaves enough for all the rest, even if each of these waits for a dead disk.
const THREADS_MAX: usize = 4;
