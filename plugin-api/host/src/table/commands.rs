//! Output of commands, and metric names.
#![expect(unsafe_code, reason = "reads what plugins hand over")]
// UNSAFETY: as in the module above.

use plugin_abi::raw::{self, Bytes, DENIED, FULL, Malformed, OK, UNSUPPORTED, read_struct};

use super::{guarded, refuse, unknown};
use crate::read::{self, Refusal};
use crate::run::{RUNS, Stream};
use crate::violation::Violation;

pub(super) unsafe extern "C" fn metric_name(
    run: u64,
    configured: u32,
    family: *const raw::Family,
    name_plugin: *mut raw::Text,
) -> i32 {
    guarded(run, || {
        let Some(it) = RUNS.find(run) else { return unknown(run) };
        let Some(names) = &it.metric_names else { return UNSUPPORTED };
        let module = (configured != raw::NO_MODULE).then_some(configured as usize);
        if module.is_some_and(|module| module >= it.modules) {
            return refuse(&it.library, Violation::IdOutOfRange);
        }
        let limits = it.library.limits();
        // SAFETY: the plugin's struct, valid until the call returns.
        let raw = match unsafe { read_struct(family) } {
            Ok(raw) => raw,
            Err(malformed) => return refuse(&it.library, malformed.into()),
        };
        // SAFETY: its strings, valid until the call returns.
        let family = match unsafe { read::family(&raw, limits) } {
            Ok(family) => family,
            Err(Refusal { violation: Some(violation), .. }) => return refuse(&it.library, violation),
            Err(Refusal { violation: None, .. }) => return UNSUPPORTED,
        };
        match names.name(module, &family) {
            // SAFETY: the plugin's room for the name, valid until the call returns.
            Ok(name) => match unsafe { give(name_plugin, &name) } {
                Ok(status) => status,
                Err(malformed) => refuse(&it.library, malformed.into()),
            },
            Err(_) => DENIED,
        }
    })
}

/// Writes a whole text, or returns the needed capacity.
///
/// # Safety
/// A pointer that is not null is the plugin's room for a text, which nobody else touches until the call returns.
unsafe fn give(text_plugin: *mut raw::Text, text: &str) -> Result<i32, Malformed> {
    // SAFETY: the caller promises it.
    let mut room = unsafe { read_struct(text_plugin.cast_const()) }?;
    let fits = text.len() as u64 <= room.capacity;
    if fits && room.ptr.is_null() {
        return Err(Malformed::NullPointer);
    }
    if fits {
        // SAFETY: as many bytes as the text has are behind `ptr` by the promise of `capacity`.
        unsafe { core::ptr::copy_nonoverlapping(text.as_ptr(), room.ptr, text.len()) };
    }
    room.len = text.len() as u64;
    // SAFETY: `read_struct` saw a struct that is at least as long as version 1.0 has it, which is as long as it is here.
    unsafe { text_plugin.write(room) };
    Ok(if fits { OK } else { FULL })
}

pub(super) unsafe extern "C" fn output(run: u64, stream: u32, bytes: *const Bytes) -> i32 {
    guarded(run, || {
        let Some(it) = RUNS.find(run) else { return unknown(run) };
        let stream = match stream {
            raw::OUTPUT_OUT => Stream::Out,
            raw::OUTPUT_ERR => Stream::Err,
            raw::OUTPUT_PROGRESS => Stream::Progress,
            _ => return refuse(&it.library, Violation::BadEnum),
        };
        // SAFETY: null becomes nothing; else the plugin's pair, valid until the call returns.
        let Some(bytes) = (unsafe { bytes.as_ref() }) else {
            return refuse(&it.library, Violation::NullPointer);
        };
        // SAFETY: what it points to, valid until the call returns.
        match unsafe { bytes.read(OUTPUT_BYTES_MAX) } {
            Ok(bytes) if it.write(stream, bytes) => OK,
            Ok(_) => FULL,
            Err(malformed) => refuse(&it.library, malformed.into()),
        }
    })
}

const OUTPUT_BYTES_MAX: usize = 16 << 20;
