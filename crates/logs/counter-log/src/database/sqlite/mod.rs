//! Logs in a file of SQLite.

mod file;
mod store;
mod tables;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use rusqlite::{Error, ErrorCode, ffi};
use safe_files::WeakMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

pub use self::file::SqliteFile;

use self::store::Store;
use super::{Chunk, Outcome, another_writer};
use crate::database::failure;
use crate::database::log::Log;
use crate::database::progress::{Counted, Progress};
use crate::{Batch, LogSink, SinkError, SinkErrorKind, Written};

/// Writes one log into a file of SQLite. The file is opened when the first records come, and again after a failure.
///
/// A record counts as written when its transaction is done: it survives the end of the process. It may not survive a power
/// failure, because the write-ahead log is synchronised at checkpoints only. Several sinks, of several processes too, may
/// write logs into one file; each transaction waits up to 10 seconds for the others.
///
/// All work is done on tokio's threads for blocking work: at most 4 of them, 2 for the files of a folder, and one for each path
/// of a file. If a future is dropped, its transaction is done nevertheless, and the next call finds that out.
#[derive(Debug)]
pub struct SqliteSink {
    file: SqliteFile,
    log: Arc<Log>,
    progress: Progress,
    store: Option<Store>,
}

impl SqliteSink {
    /// A sink that writes `log` into `file`. Opens nothing yet. Its futures need a runtime of tokio.
    #[must_use]
    pub fn new(file: SqliteFile, log: Log) -> Self {
        Self { file, log: Arc::new(log), progress: Progress::default(), store: None }
    }

    async fn open(&mut self, first: Timestamp, turn: &Arc<Turn>) -> Result<Store, SinkError> {
        if let Some(store) = self.store.take() {
            return Ok(store);
        }
        let (file, log) = (self.file.clone(), Arc::clone(&self.log));
        let store = blocking(turn, move || Store::open(&file, log, first)).await??;
        self.settle(&store.found)?;
        Ok(store)
    }

    fn settle(&mut self, found: &Counted) -> Result<(), SinkError> {
        let settled = self.progress.settle(found);
        settled.map_err(|found| another_writer(&self.file.to_string(), &self.log, &found))
    }

    /// After a failure there is no store, so that the next call opens the file again.
    async fn write_all(&mut self, batch: &Batch, written: &mut Written) -> Result<(), SinkError> {
        let Some(first) = batch.rows().next() else { return Ok(()) };
        let turn = Arc::new(self.file.turns.take().await?);
        let mut store = self.open(first.time, &turn).await?;
        written.records = self.progress.written_before(batch, 0);
        let batch = Arc::new(batch.clone());
        let mut has_moved = false;
        while written.records < batch.len() {
            let chunk = Chunk::next(&mut self.progress, &batch, written.records, self.log.counters.len());
            let (shared, end) = (Arc::clone(&batch), chunk.records.end);
            // A store that fails is dropped there, because SQLite may write when it closes a file.
            let added = blocking(&turn, move || store.add(&shared, &chunk).map(|outcome| (store, outcome)));
            let (kept, outcome) = added.await??;
            store = kept;
            match outcome {
                Outcome::Done { records, bytes } => {
                    self.progress.done(records);
                    written.records = end;
                    written.bytes += bytes;
                }
                // A transaction that was left to itself was done after the file was opened again.
                Outcome::Moved(found) if !has_moved => {
                    has_moved = true;
                    self.progress.not_done();
                    self.settle(&found)?;
                    written.records += self.progress.written_before(&batch, written.records);
                }
                Outcome::Moved(found) => return Err(self.moved_twice(&found)),
            }
        }
        self.store = Some(store);
        Ok(())
    }

    fn moved_twice(&self, found: &Counted) -> SinkError {
        another_writer(&self.file.to_string(), &self.log, &self.progress.differs(found.records))
    }
}

impl LogSink for SqliteSink {
    async fn write(&mut self, batch: &Batch) -> Written {
        let mut written = Written::default();
        written.failure = self.write_all(batch, &mut written).await.err();
        written
    }

    /// Closes the file. The last sink that closes a file empties its write-ahead log.
    async fn finish(&mut self) -> Result<u64, SinkError> {
        if self.store.is_some() {
            let turn = Arc::new(self.file.turns.take().await?);
            let store = self.store.take();
            blocking(&turn, move || drop(store)).await?;
        }
        Ok(0)
    }
}

/// The turn ends with the work, also if nobody waits for that any more.
async fn blocking<T: Send + 'static>(
    turn: &Arc<Turn>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SinkError> {
    let turn = Arc::clone(turn);
    let done = spawn_blocking(move || {
        let done = work();
        drop(turn);
        done
    })
    .await;
    done.map_err(|error| failure(SinkErrorKind::Other, format!("the work on a database ended: {error}")))
}

/// What a failure of SQLite means for a log, and what to do about it.
fn failed(database: &str, doing: &str, error: &Error) -> SinkError {
    use SinkErrorKind::{Denied, Full, Other, Refused, Unavailable};
    let (kind, advice) = match error.sqlite_error() {
        // The file of the write-ahead log's index cannot grow.
        Some(error) if error.extended_code == ffi::SQLITE_IOERR_SHMSIZE => (Full, ADVICE_FULL),
        Some(error) => match error.code {
            ErrorCode::DiskFull => (Full, ADVICE_FULL),
            ErrorCode::PermissionDenied
            | ErrorCode::ReadOnly
            | ErrorCode::AuthorizationForStatementDenied => {
                (Denied, "let this account write the file and its folder")
            }
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                (Unavailable, "another program keeps the database locked: end its transaction")
            }
            ErrorCode::CannotOpen => (
                Unavailable,
                "check that the folder is there, that this account may write it, and that the file is no link",
            ),
            ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => {
                (Refused, "move the file away, and a new one is made")
            }
            ErrorCode::ConstraintViolation => {
                (Refused, "the database has rows or constraints that are not of this log: use another file")
            }
            _ => (Other, "check the disk and the file"),
        },
        None => (Refused, "a row has a value that Windows does not write; use another file"),
    };
    failure(kind, format!("{database}: {doing}: {error}; {advice}"))
}

const ADVICE_FULL: &str = "free space on its disk";

/// The permission to use a thread for a file, until it is dropped.
#[derive(Debug)]
struct Turn {
    _file: OwnedSemaphorePermit,
    _share: OwnedSemaphorePermit,
    _thread: OwnedSemaphorePermit,
}

/// The turns of a file: one at a time, as SQLite has one writer at a time, and others would only wait on their threads.
#[derive(Clone, Debug)]
struct Turns {
    file: Arc<Semaphore>,
    /// What all files of its folder may take of the threads.
    share: Arc<Semaphore>,
}

impl Turns {
    /// The turns that all sinks of this path share.
    fn of(folder: &Path, name: &str) -> Self {
        Self {
            file: FILES.get_or_insert_with(folder.join(name), || Semaphore::new(1)),
            share: FOLDERS.get_or_insert_with(folder.to_owned(), || Semaphore::new(THREADS_OF_FOLDER_MAX)),
        }
    }

    /// Waits for the file first, then for the folder, then for a thread, so that those that wait take no thread from others.
    async fn take(&self) -> Result<Turn, SinkError> {
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
