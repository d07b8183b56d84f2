//! Memory for the state of a library's RPC run time.
#![expect(unsafe_code, reason = "reads what plugins hand over")]
// UNSAFETY: as in the module above.

use plugin_abi::raw::{self, FULL, OK, STALE, read_struct};
use rpc_cells::Memory as _;

use super::{guarded, refuse};
use crate::library;

pub(super) unsafe extern "C" fn cell_memory(
    library: u64,
    sections: u32,
    memory_plugin: *mut raw::CellMemory,
) -> i32 {
    guarded(library, || {
        let Some(it) = library::of_token(library) else { return STALE };
        // SAFETY: the plugin's room for the answer, valid until the call returns.
        let room = match unsafe { read_struct(memory_plugin.cast_const()) } {
            Ok(room) => room,
            Err(malformed) => return refuse(&it, malformed.into()),
        };
        let handed = match it.cells.hand_over(it.host.options.cells.as_deref(), &it.info.name, sections) {
            Ok(handed) => handed,
            Err(status) => return status,
        };
        let words = handed.file.words();
        let answer = raw::CellMemory {
            size: room.size,
            level: handed.level.0.into(),
            // Atomic words may be written through a shared reference.
            words_host: words.as_ptr().cast_mut().cast(),
            words_len: words.len() as u64,
            sections: handed.sections.into(),
            reserved: 0,
        };
        // SAFETY: `read_struct` saw a struct that is at least as long as version 1.0 has it.
        unsafe { memory_plugin.write(answer) };
        if sections > answer.sections { FULL } else { OK }
    })
}
