//! The state of RPC run times as people see it: the files of run directories, whether this process keeps its own, and
//! the way of a call through processes. The command `rpc-state` and the pages share this.

mod trail;

pub use self::trail::{end_text, hop_text, trail, trail_json};
use std::fmt;
use std::path::PathBuf;

use rpc_cells::{ReadLimits, Snapshot, boot_ms, read_directory};

/// Where the state of this process is, or why it is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeping {
    Kept {
        directory: PathBuf,
        /// Whether calls of hosts are kept, too: level `full`.
        has_client_calls: bool,
    },
    /// It is not kept.
    Not(NotKept),
}

/// Why the state of this process is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotKept {
    /// The configuration says so.
    ByLevel,
    /// Neither the configuration nor the system names a directory.
    NoDirectory,
    /// The directory cannot be used; the reason.
    Refused(String),
}

impl Default for Keeping {
    fn default() -> Self {
        Self::Not(NotKept::ByLevel)
    }
}

impl NotKept {
    /// What the operator can do about it.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::ByLevel => "set `rpc_state.level: full`, and start the exporter again",
            Self::NoDirectory => "set `rpc_state.directory`, or `rpc_state.level: none`",
            Self::Refused(_) => "correct `rpc_state.directory`, or set `rpc_state.level: none`",
        }
    }
}

impl fmt::Display for NotKept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByLevel => f.write_str("`rpc_state.level` is `none`"),
            Self::NoDirectory => f.write_str("there is no directory for it"),
            Self::Refused(error) => f.write_str(error),
        }
    }
}

/// Problems of one file that are noted.
const PROBLEMS_SHOWN: usize = 5;

/// What is in the files of run directories.
#[derive(Debug, Default)]
pub struct State {
    /// When they were read, in milliseconds after boot.
    pub now_ms: u64,
    /// The files that can be read.
    pub snapshots: Vec<Snapshot>,
    /// For each of these, whether its process runs.
    pub is_running: Vec<bool>,
    /// What a reader should know of the files, a line each. They may have names of other processes.
    pub notes: Vec<String>,
    /// Files, and directories, that cannot be read.
    unreadable: usize,
}

impl State {
    /// Reads all files of these directories. Blocks.
    pub fn read(directories: &[PathBuf]) -> Self {
        let mut state = Self { now_ms: boot_ms(), ..Self::default() };
        for directory in directories {
            match read_directory(directory, &ReadLimits::default()) {
                Ok(files) => files.into_iter().for_each(|found| match found.snapshot {
                    Ok(snapshot) => state.take(&found.file, snapshot),
                    Err(error) => state.refuse(format!("{}: {error}", found.file)),
                }),
                Err(error) => state.refuse(error.to_string()),
            }
        }
        state
    }

    fn refuse(&mut self, note: String) {
        self.notes.push(note);
        self.unreadable += 1;
    }

    fn take(&mut self, file: &str, snapshot: Snapshot) {
        let Snapshot { header, problems, hidden, .. } = &snapshot;
        let is_running = header.process.is_running();
        if !is_running {
            let pid = header.process.pid;
            self.notes.push(format!("{file}: process {pid} has ended; this is its last state"));
        }
        if *hidden > 0 {
            self.notes.push(format!("{file}: {hidden} objects found no cell and are not shown"));
        }
        let shown = problems.listed().iter().take(PROBLEMS_SHOWN);
        self.notes.extend(shown.map(|problem| format!("{file}: {problem}")));
        let more = (problems.listed().len() + problems.more()).saturating_sub(PROBLEMS_SHOWN);
        if more > 0 {
            self.notes.push(format!("{file}: {more} more problems"));
        }
        self.snapshots.push(snapshot);
        self.is_running.push(is_running);
    }

    /// Whether there is something, and nothing of it can be read.
    pub fn is_unreadable(&self) -> bool {
        self.unreadable > 0 && self.snapshots.is_empty()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.unreadable == 0 && self.snapshots.is_empty()
    }
}

/// A decimal number, or a hexadecimal one after `0x`, as options and parameters have it.
pub fn number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    let number =
        parsed.map_err(|error| format!("{error}; write a decimal number, or a hexadecimal one after 0x"))?;
    T::try_from(number).map_err(|_| "the number is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        assert_eq!(number::<u32>("1234"), Ok(1234));
        assert_eq!(number::<u32>("0xb60040e0"), Ok(0xb600_40e0));
        assert_eq!(number::<u16>("65536"), Err("the number is too large".to_owned()));
        assert!(number::<u32>("b6").is_err() && number::<u32>("-1").is_err() && number::<u32>("0x").is_err());
    }
}
