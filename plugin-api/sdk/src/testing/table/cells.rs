#![expect(unsafe_code, reason = "plays the host of the ABI")]
// UNSAFETY: as in the module above.

use std::sync::atomic::AtomicU64;

use parking_lot::Mutex;
use plugin_abi::raw::{CELLS_FULL, CellMemory, FULL, NOT_FOUND, OK};

/// The memory that the host has for cells.
#[derive(Clone, Copy)]
struct Memory {
    words: &'static [AtomicU64],
    sections: u32,
    sections_max: u32,
}

static MEMORY: Mutex<Option<Memory>> = Mutex::new(None);

pub(in super::super) fn set(words: &'static [AtomicU64], sections_max: u16) {
    *MEMORY.lock() = Some(Memory { words, sections: 1, sections_max: sections_max.into() });
}

pub(super) unsafe extern "C" fn cell_memory(
    _library: u64,
    sections: u32,
    memory_plugin: *mut CellMemory,
) -> i32 {
    let mut memory = MEMORY.lock();
    let Some(memory) = memory.as_mut() else { return NOT_FOUND };
    memory.sections = memory.sections.max(sections.min(memory.sections_max));
    // SAFETY: the SDK hands over room on its stack.
    let size = unsafe { (*memory_plugin).size };
    let answer = CellMemory {
        size,
        level: CELLS_FULL,
        words_host: memory.words.as_ptr().cast_mut().cast(),
        words_len: memory.words.len() as u64,
        sections: memory.sections,
        reserved: 0,
    };
    // SAFETY: as above.
    unsafe { memory_plugin.write(answer) };
    if sections > memory.sections { FULL } else { OK }
}
