//! A log as a file.

mod failure;
mod growing;
mod parquet;
mod recover;
mod series;
mod text;

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use cap_std::fs::Dir;
use parking_lot::Mutex;
use safe_files::WeakMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinHandle, spawn_blocking};

pub use self::recover::{Recovered, cut_unfinished_rows, recover};

use self::failure::{failure, refused};
use self::series::FileSeries;
use crate::{Batch, LogHeader, LogSink, SinkError, SinkErrorKind, Written};

/// Opens the folder of a log, each time that a file is begun: a handle of a folder that was removed stays dead when there is
/// another of its name.
pub type OpenFolder = Arc<dyn Fn() -> io::Result<Dir> + Send + Sync>;

/// In which format a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileFormat {
    /// `plaCommaSeparated` of [MS-PLA] 2.2.2.7.
    Csv,
    /// `plaTabSeparated` of [MS-PLA] 2.2.2.7.
    Tsv,
    Parquet,
}

/// What a log does if a file of its name exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// [MS-PLA] 3.2.4.5 `LogOverwrite`: it is replaced.
    Replace,
    /// It stays, and the log is written beside it, as `NAME (2).csv`.
    Keep,
}

/// How the file of a log is written.
#[derive(Clone, Copy, Debug)]
pub struct FileOptions {
    pub format: FileFormat,
    /// What the log does if its file exists.
    pub existing: Existing,
    /// [MS-PLA] 3.2.4.5 `LogCircular`: the most bytes that the log takes. When its file has half of them it becomes
    /// `NAME (previous).csv`, in place of the one before, and another is begun. A file has at least one record.
    pub circular_bytes_max: Option<u64>,
}

/// The file of a log. Nothing is opened before the first record.
///
/// Records that [`LogSink::write`] reports are with the operating system, and survive the end of this process at any point; they
/// are on the disk for sure after [`LogSink::finish`]. A row is written whole or not at all: what a full disk cuts off is removed
/// at once. The end of the process may leave a part of a row at the end of a text, which [`cut_unfinished_rows`] cuts off. A Parquet
/// file is made whole by [`recover`].
///
/// If the file loses its name, or is changed by somebody else, the next records begin another file with a header of its own,
/// under the same name if it is free.
///
/// `Written::bytes` of text are those that were added. Those of Parquet are counted when they become a row group, the last ones
/// by [`LogSink::finish`].
///
/// All files of a process take at most 8 threads at a time of those that tokio has for blocking work, and those with counters of
/// one host at most 2 of these.
///
/// A write whose future is dropped goes on in the background. Its records are not reported, and the next call waits for it.
#[derive(Debug)]
pub struct FileLog {
    progress: Arc<FileProgress>,
    begin: Begin,
    /// What all logs of the host may take of the threads.
    share: Arc<Semaphore>,
    /// The files, unless a write has them, or has panicked.
    series: Option<Box<FileSeries>>,
    writing: Option<JoinHandle<(Box<FileSeries>, Written)>>,
}

/// What the first file of a log needs.
#[derive(Clone)]
struct Begin {
    folder: OpenFolder,
    name: String,
    header: Arc<LogHeader>,
    options: FileOptions,
}

impl std::fmt::Debug for Begin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Begin")
            .field("name", &self.name)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl FileLog {
    /// A log in the file `name` of `folder`; `name` has no folder in it.
    #[must_use]
    pub fn new(folder: OpenFolder, name: &str, header: Arc<LogHeader>, options: FileOptions) -> Self {
        let begin = Begin { folder, name: name.to_owned(), header, options };
        let progress = Arc::<FileProgress>::default();
        let series = Some(Box::new(FileSeries::new(begin.clone(), Arc::clone(&progress))));
        let host = begin.header.columns.first().map(|column| column.machine.clone()).unwrap_or_default();
        let share = HOSTS.get_or_insert_with(host, || Semaphore::new(THREADS_OF_HOST_MAX));
        Self { progress, begin, share, series, writing: None }
    }

    /// The files of this log, also while it is written.
    #[must_use]
    pub fn progress(&self) -> Arc<FileProgress> {
        Arc::clone(&self.progress)
    }

    /// Lets `work` have the files, on a thread that may wait.
    async fn run(
        &mut self,
        prepare: impl FnOnce(&mut FileSeries),
        work: impl FnOnce(&mut FileSeries) -> Written + Send + 'static,
    ) -> Written {
        self.wait_for_writing().await;
        let Some(permits) = permits(Arc::clone(&self.share)).await else {
            let message = format!("write {}: this process writes no more files", self.begin.name);
            let failure = Some(SinkError { kind: SinkErrorKind::Other, message });
            return Written { failure, ..Written::default() };
        };
        let mut series = self.take_series();
        prepare(&mut series);
        let writing = self.writing.insert(spawn_blocking(move || {
            let written = work(&mut series);
            // Also if nobody waits for it any more.
            drop(permits);
            (series, written)
        }));
        let ended = writing.await;
        self.writing = None;
        match ended {
            Ok((series, written)) => {
                self.series = Some(series);
                written
            }
            Err(error) => {
                let message = format!("write {}: {error}", self.begin.name);
                Written {
                    failure: Some(SinkError { kind: SinkErrorKind::Other, message }),
                    ..Written::default()
                }
            }
        }
    }

    /// Takes the files back when a write that was given up has ended.
    async fn wait_for_writing(&mut self) {
        if let Some(writing) = &mut self.writing {
            let ended = writing.await;
            self.writing = None;
            self.series = ended.ok().map(|(series, _)| series);
        }
    }

    /// The files. After a panic, others are begun beside them.
    fn take_series(&mut self) -> Box<FileSeries> {
        self.series.take().unwrap_or_else(|| {
            let options = FileOptions { existing: Existing::Keep, ..self.begin.options };
            Box::new(FileSeries::new(Begin { options, ..self.begin.clone() }, Arc::clone(&self.progress)))
        })
    }
}

impl LogSink for FileLog {
    async fn write(&mut self, batch: &Batch) -> Written {
        self.run(|series| series.take(batch), FileSeries::write).await
    }

    async fn finish(&mut self) -> Result<u64, SinkError> {
        let finish = |series: &mut FileSeries| match series.finish() {
            Ok(bytes) => Written { bytes, ..Written::default() },
            Err(failure) => Written { failure: Some(failure), ..Written::default() },
        };
        let Written { bytes, failure, .. } = self.run(|_| {}, finish).await;
        failure.map_or(Ok(bytes), Err)
    }
}

/// A thread for a file. The share comes first, so that those that wait for it take no thread from others.
async fn permits(share: Arc<Semaphore>) -> Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)> {
    let share = share.acquire_owned().await.ok()?;
    Some((share, Arc::clone(&THREADS).acquire_owned().await.ok()?))
}

/// By the host whose counters they have.
static HOSTS: WeakMap<String, Semaphore> = WeakMap::new();

static THREADS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(THREADS_MAX)));

/// Files that are written at a time. Plugins have 48 threads for work that may block, and all logs are in one directory: if its
/// disk does not answer, most of the threads are left for everything else.
const THREADS_MAX: usize = 8;

/// The files of a host are in one folder, which may be a mount of its own.
const THREADS_OF_HOST_MAX: usize = 2;

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

    fn begun(&self, name: &str) {
        *self.name.lock() = Some(name.to_owned());
    }

    fn grown(&self, bytes: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }
}

// Files of one folder, by names without a folder in them.

/// Removes a file, if there is one.
fn remove_file(folder: &Dir, name: &str) -> io::Result<()> {
    match folder.remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether there is something of this name, be it a link that leads nowhere.
fn has_file(folder: &Dir, name: &str) -> io::Result<bool> {
    match folder.symlink_metadata(name) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The first of `NAME`, `NAME (2)`, `NAME (3)` … that is free.
fn free_name(name: &str, is_taken: impl Fn(&str) -> io::Result<bool>) -> Result<String, SinkError> {
    for number in 1..=NUMBERS_MAX {
        let candidate = if number == 1 { name.to_owned() } else { beside(name, &format!("({number})")) };
        match is_taken(&candidate) {
            Ok(false) => return Ok(candidate),
            Ok(true) => {}
            Err(error) => return Err(failure(format_args!("look for {candidate}"), &error)),
        }
    }
    Err(refused(format!("{name} and {NUMBERS_MAX} names beside it are taken; remove older files")))
}

/// `NAME.csv` with a mark is `NAME MARK.csv`.
fn beside(name: &str, mark: &str) -> String {
    match name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) {
        Some((stem, extension)) => format!("{stem} {mark}.{extension}"),
        None => format!("{name} {mark}"),
    }
}

const NUMBERS_MAX: u32 = 9_999;

#[cfg(test)]
mod tests;
