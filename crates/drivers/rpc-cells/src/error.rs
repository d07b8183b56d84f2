use std::io;
use std::path::PathBuf;

use crate::layout::{Capacity, VERSION};

/// Why cells cannot be kept, or cannot be read.
///
/// None of these is a reason to stop: a process that cannot keep cells works on without them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system does not tell about a process.
    #[error("read /proc of process {pid}: {error}")]
    Proc {
        pid: u32,
        #[source]
        error: io::Error,
    },
    /// The run directory cannot be made or opened.
    #[error("open run directory {}: {error}", path.display())]
    Directory {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    /// The run directory is not a directory of this user alone.
    #[error("refused run directory {}: {reason}", path.display())]
    Refused {
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A file cannot be made, opened, or given its size.
    #[error("{doing} {}: {error}", path.display())]
    File {
        doing: &'static str,
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    /// A file of a run directory that is none, and may lead elsewhere or never end.
    #[error("refused {}: it is {found}, and no file: remove it", path.display())]
    NotRegular { path: PathBuf, found: &'static str },
    /// The signal handler that protects mapped files cannot be installed.
    #[error("install a handler for SIGBUS: {error}")]
    Handler {
        #[source]
        error: io::Error,
    },
    /// There are as many mapped files as the signal handler can protect.
    #[error("{files_max} files are mapped already, which is the limit")]
    TooManyFiles { files_max: usize },
    /// Bytes of a file cannot be read.
    #[error("read cells: {error}")]
    Read {
        #[source]
        error: io::Error,
    },
    /// A file that ends before its header does.
    #[error("cut short: the header needs {expected_bytes} bytes, {found_bytes} are there")]
    HeaderCutShort {
        /// The size of a header.
        expected_bytes: usize,
        /// The size of the file.
        found_bytes: usize,
    },
    /// A file of another kind, or one that is being made.
    #[error("not a file of RPC cells, or not yet")]
    Magic,
    /// A file of another version.
    #[error(
        "version {version} with cells of {cell_bytes} bytes is not known: read it with the program that wrote it (known here: version {VERSION})"
    )]
    Version {
        version: u32,
        /// The size of its cells.
        cell_bytes: u32,
    },
    /// A file that says to have more cells than any may have.
    #[error("{} cells in each of {} sections are outside of the limits, or of the memory", .0.cells_per_section, .0.sections_max)]
    Capacity(Capacity),
    /// The name in the header.
    #[error("the name of the owner is malformed")]
    Name,
}

/// For tests: errors are the same if they say the same.
#[cfg(test)]
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}
