//! Logs in a file of SQLite.

mod failure;
mod file;
mod store;
mod tables;
mod turn;

use std::sync::Arc;

use crate::{Batch, LogSink, SinkError, SinkErrorKind, Written};
use jiff::Timestamp;
use tokio::task::spawn_blocking;

pub use self::file::SqliteFile;
use self::store::Store;
use self::turn::Turn;
use crate::database::chunk::{Chunk, Outcome, another_writer};
use crate::database::error::failure;
use crate::database::log::Log;
use crate::database::progress::{Counted, Progress};

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
