//! The state of the RPC run time in cells: endpoints, threads, connections, server calls, client calls and their
//! targets. Another process can read them while this one runs, and after it has hung or died.
//!
//! This is what Windows calls RPC state information, kept the same way: the fields, their lengths, the status values and
//! the levels are those of its documentation.
//!
//! ```
//! use std::sync::atomic::AtomicU64;
//! use rpc_cells::{
//!     Cell, Endpoint, EndpointStatus, FileHeader, Level, Capacity, Name, ProcessIdentity, ProtocolSequence, ReadLimits,
//!     Writer, format, read,
//! };
//!
//! // A program has a file for this: `RunDirectory::create`.
//! let capacity = Capacity { cells_per_section: 16, sections_max: 1 };
//! let words: Vec<AtomicU64> = (0..capacity.bytes_max() / 8).map(|_| AtomicU64::new(0)).collect();
//! let words: &'static [AtomicU64] = words.leak();
//! let header = FileHeader {
//!     capacity,
//!     level: Level::SERVER,
//!     process: ProcessIdentity { pid: 7, start_ticks: 1, boot_id: 1 },
//!     created_ms: 0,
//!     name: Name::new("example"),
//! };
//! format(words, &header)?;
//!
//! let writer = Writer::over(words)?;
//! let mut endpoint = writer.endpoint(Endpoint {
//!     protocol_sequence: ProtocolSequence::TCP,
//!     status: EndpointStatus::ALLOCATED,
//!     name: Name::new("135"),
//! });
//! endpoint.update(|endpoint| endpoint.status = EndpointStatus::ACTIVE);
//!
//! let snapshot = read(words, &ReadLimits::default())?;
//! assert_eq!(snapshot.get(endpoint.id()), Some(&Cell::Endpoint(*endpoint.get())));
//! # Ok::<(), rpc_cells::Error>(())
//! ```
//!
//! # Roles
//!
//! - The program makes a file for itself and one for each instance of a plugin: [`RunDirectory::create`]. It installs the
//!   [`SigbusGuard`] once. If a file cannot be made, it says so and works on with [`Writer::disabled`].
//! - The code that makes calls keeps their objects with a [`Writer`] over the file's memory. The memory may be somebody else's: a
//!   library that was loaded into the program gets it, and touches neither files nor signals. Objects are shown until
//!   their [`CellHandle`] is dropped. If there is no cell, the object is not shown, and counted.
//! - Another program reads all files of the directory: [`read_directory`], or one by one, [`read_files`]. It never blocks a
//!   writer.
//! - The next start of the program removes the files of dead processes: [`RunDirectory::remove_stale`].
//!
//! Times are milliseconds after boot (`CLOCK_BOOTTIME`), and arguments: nothing here reads a clock but [`boot_ms`], for the
//! callers.
//!
//! # Layout, version 1
//!
//! A file is an array of sections, a section an array of cells of 128 bytes, a cell 16 words of 64 bits in the byte order of
//! the machine. The bytes of an object are those of its words in little-endian order. Cell `section.cell` is at byte
//! `128 * (section * cells_per_section + cell)`. The first cell of a section is no object's; in section 0 it is the header
//! of the file:
//!
//! | word | header |
//! | --- | --- |
//! | 0 | the bytes `rpccells`, written last |
//! | 1 | bits 0 to 31: version, 1; bits 32 to 63: bytes of a cell, 128 |
//! | 2 | bits 0 to 15: cells of a section; 16 to 31: the most sections; 32 to 39: [`Level`] |
//! | 3 | process id |
//! | 4 | start time of the process, in clock ticks after boot |
//! | 5 | the first 64 bits of the boot id |
//! | 6 | when the file was made, in milliseconds after boot |
//! | 7 | the sections that there are; it only grows |
//! | 8 | objects that found no cell; it only grows |
//! | 9 to 15 | byte 0: length of the name; bytes 1 to 48: the name, UTF-8 |
//!
//! | word | cell |
//! | --- | --- |
//! | 0 | sequence number; its lowest bit says which copy is the current one |
//! | 1 to 7 | copy 0 of the object |
//! | 8 to 14 | copy 1 of the object |
//! | 15 | reserved, 0 |
//!
//! To write an object, fill the copy that is not the current one, then add 1 to the sequence number. To read it, read the
//! number, then the current copy, then the number again; start again if it changed.
//!
//! Bytes of an object; byte 0 is the [`Kind`], which is 0 in a free cell. A name is a byte with its length, then the bytes
//! of its field, UTF-8, padded with zeros. Ids are `section << 16 | cell`; 0 is no cell.
//!
//! | object | bytes |
//! | --- | --- |
//! | [`Endpoint`], 1 | 1: status; 2–3: protocol sequence; 4–32: name of at most 28 bytes |
//! | [`Thread`], 2 | 1: status; 4–7: thread id; 8–15: last update |
//! | [`Connection`], 3 | 1: flags; 2: authentication level; 3: authentication service; 4–7: size of the last fragment sent; 8–11: endpoint; 12–15: totals; 16–23: last send; 24–31: last receive; 32–47: address of the peer as IPv6, or 0; 48–51: target |
//! | [`ServerCall`], 4 | 1: status; 2–3: opnum; 4–7: start of the interface; 8–11: thread; 12–15: flags; 16–23: last update; 24–27: call id; 28–31: connection; 32–35: process of the caller; 36–39: thread of the caller; 40–43: object; 44–47: operation |
//! | [`ClientCall`], 5 | 2–3: opnum; 4–7: start of the interface; 8–11: thread; 12–15: call id; 16–19: target; 20–32: endpoint of at most 12 bytes; 36–39: object; 40–43: operation |
//! | [`CallTarget`], 6 | 2–3: protocol sequence; 8–15: last update; 16–40: server of at most 24 bytes; 42–54: endpoint of at most 12 bytes |
//! | [`Interface`], 7 | 2–3: major version; 4–19: UUID; 20–52: name of at most 32 bytes |
//! | [`Operation`], 8 | 2–3: opnum; 4–7: interface; 8–55: name of at most 47 bytes |
//! | [`ObjectCall`], 9 | 8–23: IPID; 24–39: causality id |
//! | [`ConnectionTotals`], 10 | 8–15: fragments sent; 16–23: fragments received; 24–31: bytes sent; 32–39: bytes received |
//!
//! A name that does not fit ends in `…`.
//!
//! The call id, a server call's connection and a connection's peer are not in the list of fields that the documentation
//! has, but in the output of its tools. Ours are names of interfaces and operations, what a call of a DCOM object has besides,
//! the totals of a connection, and where a client's connection leads.

mod cell;
mod error;
mod header;
mod layout;
mod mapped;
mod process;
mod read;
mod run_dir;
mod sequence;
pub mod view;
mod writer;

pub use self::cell::{
    AuthenticationLevel, AuthenticationService, CallFlags, CallStatus, CallTarget, Cell, ClientCall,
    Connection, ConnectionFlags, ConnectionTotals, Endpoint, EndpointStatus, Interface, Kind, Malformed,
    Name, Object, ObjectCall, Operation, ProtocolSequence, ServerCall, Thread, ThreadStatus,
};
pub use self::error::Error;
pub use self::header::{CallOrigin, FileHeader, Level, format};
pub use self::layout::{CELL_BYTES, CELL_WORDS, Capacity, CellId, ParseCellIdError, VERSION};
pub use self::mapped::{MappedFile, SigbusGuard};
pub use self::process::ProcessIdentity;
pub use self::read::{Problem, Problems, ReadLimits, Snapshot, Source, read};
pub use self::run_dir::{
    DirectoryFiles, FileSnapshot, RunDirectory, SectionFile, SectionFileOptions, read_directory, read_files,
};
pub use self::writer::{CellHandle, ClientCallHandle, Writer};
use std::sync::atomic::AtomicU64;

use rustix::time::{ClockId, clock_gettime};

/// The time now, as cells have it: in milliseconds after boot.
#[must_use]
pub fn boot_ms() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u64::try_from(now.tv_nsec));
    seconds.unwrap_or(0).saturating_mul(1_000).saturating_add(nanos.unwrap_or(0) / 1_000_000)
}

/// Memory that cells live in. Another process may read it at any time.
pub trait Memory: Send + Sync {
    /// All words, also of sections that are not there yet. They are always the same ones.
    fn words(&self) -> &[AtomicU64];

    /// Makes `sections` sections writable. Returns false if that is not possible.
    fn grow(&self, sections: u16) -> bool {
        let _ = sections;
        true
    }
}

/// Memory of somebody else, which lives as long as the process.
impl Memory for &'static [AtomicU64] {
    fn words(&self) -> &[AtomicU64] {
        self
    }
}

/// Memory of this process, which no other reads.
impl Memory for Box<[AtomicU64]> {
    fn words(&self) -> &[AtomicU64] {
        self
    }
}
