//! Memory for the state of this library's RPC run time.
#![expect(unsafe_code, reason = "borrows memory of the host")]
// UNSAFETY: the host promises memory that lives as long as the process, and which everybody accesses as atomic words.

use std::io;
use std::slice;
use std::sync::atomic::AtomicU64;

use plugin_abi::raw::{FAILED, FULL, INVALID, NOT_FOUND, OK, UNSUPPORTED};

use crate::host;

/// Memory for cells, in which a library keeps the state of its RPC run time for other processes to read. The crate
/// `rpc-cells` knows its layout: make one writer of it for the whole library. The crate `plugin-session` does that for
/// plugins that read Windows hosts.
#[derive(Clone, Copy, Debug)]
pub struct CellMemory(&'static [AtomicU64]);

/// The memory of this library. `None` if the exporter keeps no cells. Do not call it
/// before [`crate::Source::create`].
///
/// # Errors If there is no room for it; the exporter has logged the reason.
pub fn cell_memory() -> io::Result<Option<CellMemory>> {
    match ask(1) {
        Ok(memory) => Ok(Some(memory)),
        Err(NOT_FOUND | UNSUPPORTED) => Ok(None),
        Err(status) => {
            let kind = if status == FAILED { io::ErrorKind::StorageFull } else { io::ErrorKind::Other };
            let message = format!("the exporter answers status {status} to a request for memory for cells");
            Err(io::Error::new(kind, message))
        }
    }
}

impl CellMemory {
    /// All words, also of sections that are not ready.
    #[must_use]
    pub fn words(&self) -> &'static [AtomicU64] {
        self.0
    }

    /// Makes so many sections ready. Returns false if there is no room for them.
    #[must_use]
    pub fn grow(&self, sections: u16) -> bool {
        ask(sections).is_ok()
    }
}

/// The memory, with so many sections that are ready.
fn ask(sections: u16) -> Result<CellMemory, i32> {
    let (status, memory) = host::cell_memory(sections.into());
    match status {
        OK if memory.sections < u32::from(sections) => Err(FULL),
        OK => {
            let words = memory.words_host.cast::<AtomicU64>();
            let len = usize::try_from(memory.words_len).unwrap_or(usize::MAX);
            if words.is_null() || !words.is_aligned() || len > WORDS_MAX {
                return Err(INVALID);
            }
            // SAFETY: not null and aligned, as seen above; the host promises so many words for the life of the process.
            Ok(CellMemory(unsafe { slice::from_raw_parts(words, len) }))
        }
        status => Err(status),
    }
}

/// More than any layout has.
const WORDS_MAX: usize = 1 << 32;
