//! Writes logs of performance counters: [`FileLog`], the sink that writes files below one folder, and the bounded [`LogQueue`]
//! between collections and any sink.
//!
//! Files are written in `tokio::task::spawn_blocking`; the writer of a queue waits by tokio's clock.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "files, sockets and clocks")]

mod file;
mod queue;

pub use self::file::{
    Existing, FileFormat, FileLog, FileOptions, FileProgress, OpenFolder, Recovered, cut_unfinished_rows,
    recover,
};
pub use self::queue::{LogCounts, LogQueue, LogWriter, MemoryPool, QueueMemory, QueueOptions, log_queue};
