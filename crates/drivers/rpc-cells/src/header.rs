use std::sync::atomic::{AtomicU64, Ordering};

use wire::open_enum;

use super::cell::Kind;
use crate::cell::Name;
use crate::error::Error;
use crate::layout::{CELL_BYTES, CELL_WORDS, Capacity, VERSION};
use crate::process::ProcessIdentity;

/// What is at the front of a file and does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileHeader {
    /// How many cells the file has room for.
    pub capacity: Capacity,
    /// What is kept in cells.
    pub level: Level,
    /// The process that made the file.
    pub process: ProcessIdentity,
    /// When it did so, in milliseconds after boot.
    pub created_ms: u64,
    /// The owner of the state: the process itself, or an instance of a plugin.
    pub name: Name<NAME_BYTES>,
}

/// The words of a header, which takes the place of cell 0.0.
pub(crate) type HeaderWords = [u64; CELL_WORDS];

impl FileHeader {
    pub(crate) fn encode(&self) -> HeaderWords {
        let mut words = [0; CELL_WORDS];
        words[MAGIC_WORD] = MAGIC;
        words[VERSION_WORD] = u64::from(VERSION) | (CELL_BYTES as u64) << 32;
        words[CAPACITY_WORD] = u64::from(self.capacity.cells_per_section)
            | u64::from(self.capacity.sections_max) << 16
            | u64::from(self.level.0) << 32;
        words[PID_WORD] = self.process.pid.into();
        words[START_WORD] = self.process.start_ticks;
        words[BOOT_WORD] = self.process.boot_id;
        words[CREATED_WORD] = self.created_ms;
        words[SECTIONS_WORD] = 1;
        let mut name = [0_u8; 8 * (CELL_WORDS - NAME_WORD)];
        let (length, bytes) = name.split_at_mut(1);
        length[0] = self.name.len();
        bytes[..NAME_BYTES].copy_from_slice(self.name.padded());
        for (word, bytes) in words[NAME_WORD..].iter_mut().zip(name.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().expect("chunks of eight bytes"));
        }
        words
    }

    pub(crate) fn decode(words: &HeaderWords) -> Result<Self, Error> {
        if words[MAGIC_WORD] != MAGIC {
            return Err(Error::Magic);
        }
        let [version, cell_bytes] = halves(words[VERSION_WORD]);
        if (version, cell_bytes as usize) != (VERSION, CELL_BYTES) {
            return Err(Error::Version { version, cell_bytes });
        }
        let [a, b, c, d, level, ..] = words[CAPACITY_WORD].to_le_bytes();
        let capacity = Capacity {
            cells_per_section: u16::from_le_bytes([a, b]),
            sections_max: u16::from_le_bytes([c, d]),
        };
        if !capacity.is_valid() {
            return Err(Error::Capacity(capacity));
        }
        let mut name = [0_u8; 8 * (CELL_WORDS - NAME_WORD)];
        for (bytes, word) in name.chunks_exact_mut(8).zip(&words[NAME_WORD..]) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Ok(Self {
            capacity,
            level: Level(level),
            process: ProcessIdentity {
                pid: halves(words[PID_WORD])[0],
                start_ticks: words[START_WORD],
                boot_id: words[BOOT_WORD],
            },
            created_ms: words[CREATED_WORD],
            name: Name::from_padded(name[0], &name[1..]).ok_or(Error::Name)?,
        })
    }
}

/// Writes the header of a new file, whose words are all zero.
///
/// # Errors
/// When the header has a capacity that no file can have, or one with more than `words`.
pub fn format(words: &[AtomicU64], header: &FileHeader) -> Result<(), Error> {
    let capacity = header.capacity;
    if !capacity.is_valid() || words.len() < capacity.cells_max() * CELL_WORDS {
        return Err(Error::Capacity(capacity));
    }
    // The magic comes last: who finds it finds the rest.
    for (word, value) in words.iter().zip(header.encode()).rev() {
        word.store(value, Ordering::Release);
    }
    Ok(())
}

fn halves(word: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = word.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
}

/// Bytes of the name of a file's owner.
pub(crate) const NAME_BYTES: usize = 48;
const MAGIC: u64 = u64::from_le_bytes(*b"rpccells");

const MAGIC_WORD: usize = 0;
const VERSION_WORD: usize = 1;
const CAPACITY_WORD: usize = 2;
const PID_WORD: usize = 3;
const START_WORD: usize = 4;
const BOOT_WORD: usize = 5;
const CREATED_WORD: usize = 6;
/// The sections that there are; it only grows.
pub(crate) const SECTIONS_WORD: usize = 7;
/// The objects that found no cell; it only grows.
pub(crate) const HIDDEN_WORD: usize = 8;
const NAME_WORD: usize = 9;

const _: () = assert!(NAME_BYTES < 8 * (CELL_WORDS - NAME_WORD));

open_enum! {
    /// How much of the state is kept in cells.
    pub struct Level(u8) {
        NONE = 0,
        /// Endpoints, threads, connections, server calls, and client calls that are made within a server call.
        SERVER = 1,
        FULL = 2,
    }
}

/// Where a client call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallOrigin {
    /// Within a server call, whose caller waits for both.
    ServerCall,
    Client,
}

impl Level {
    /// Whether objects of a kind have cells. A client call has its origin; other objects have none.
    #[must_use]
    pub fn keeps(self, kind: Kind, origin: Option<CallOrigin>) -> bool {
        let is_client_call = kind == Kind::CLIENT_CALL || kind == Kind::CALL_TARGET;
        match self {
            Self::FULL => true,
            // "Information about client calls made within a server call is maintained even when only Server state
            // information is being gathered."
            Self::SERVER => !is_client_call || origin == Some(CallOrigin::ServerCall),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> FileHeader {
        FileHeader {
            capacity: Capacity { cells_per_section: 16, sections_max: 3 },
            level: Level::FULL,
            process: ProcessIdentity { pid: 77, start_ticks: 98765, boot_id: 0xab },
            created_ms: 0x7_2c09,
            name: Name::new("comt@host-a.example"),
        }
    }

    #[test]
    fn a_header_is_read_as_it_is_written() {
        assert_eq!(FileHeader::decode(&header().encode()), Ok(header()));
    }

    #[test]
    fn what_is_not_a_header_is_refused_with_the_reason() {
        let refused = |word: usize, value: u64| {
            let mut words = header().encode();
            words[word] = value;
            FileHeader::decode(&words).expect_err("refused").to_string()
        };
        let check = |word, value, start: &str| {
            let message = refused(word, value);
            assert!(message.starts_with(start), "{message}");
        };
        check(MAGIC_WORD, 0, "not a file of RPC cells");
        check(VERSION_WORD, 2 | 128 << 32, "version 2 with cells of 128 bytes is not known");
        check(VERSION_WORD, 1 | 64 << 32, "version 1 with cells of 64 bytes is not known");
        check(CAPACITY_WORD, 1 | 1 << 16, "1 cells in each of 1 sections are outside of the limits");
        check(NAME_WORD, 49, "the name of the owner is malformed");
        check(NAME_WORD, 1 | 0xff << 8, "the name of the owner is malformed");
    }

    #[test]
    fn a_file_is_not_made_in_less_memory_than_it_needs() {
        let words: Vec<AtomicU64> = (0..16 * 3 * CELL_WORDS).map(|_| AtomicU64::new(0)).collect();
        assert_eq!(format(&words, &header()), Ok(()));
        let capacity = header().capacity;
        assert_eq!(format(&words[1..], &header()), Err(Error::Capacity(capacity)));
    }

    #[test]
    fn server_state_has_only_the_client_calls_of_server_calls() {
        for (kind, origin, server, full) in [
            (Kind::ENDPOINT, None, true, true),
            (Kind::THREAD, None, true, true),
            (Kind::CONNECTION, None, true, true),
            (Kind::SERVER_CALL, None, true, true),
            (Kind::INTERFACE, None, true, true),
            (Kind::OPERATION, None, true, true),
            (Kind::OBJECT_CALL, None, true, true),
            (Kind::CONNECTION_TOTALS, None, true, true),
            (Kind::CLIENT_CALL, Some(CallOrigin::ServerCall), true, true),
            (Kind::CALL_TARGET, Some(CallOrigin::ServerCall), true, true),
            (Kind::CLIENT_CALL, Some(CallOrigin::Client), false, true),
            (Kind::CALL_TARGET, Some(CallOrigin::Client), false, true),
        ] {
            assert_eq!(Level::SERVER.keeps(kind, origin), server, "{kind} {origin:?}");
            assert_eq!(Level::FULL.keeps(kind, origin), full, "{kind} {origin:?}");
            assert!(!Level::NONE.keeps(kind, origin), "{kind}");
            assert!(!Level(9).keeps(kind, origin), "{kind}");
        }
    }
}
