//! Sockets that the service manager opened.
#![expect(unsafe_code, reason = "reads what plugins hand over")]
// UNSAFETY: as in the module above.

use std::os::fd::IntoRawFd as _;

use plugin_abi::raw::{FAILED, NOT_FOUND, OK, STALE, Str};

use super::{guarded, refuse};
use crate::library;
use crate::read;
use crate::violation::Violation;

pub(super) unsafe extern "C" fn listening_socket(
    library: u64,
    name: *const Str,
    descriptor_plugin: *mut i32,
) -> i32 {
    guarded(library, || {
        let Some(it) = library::of_token(library) else { return STALE };
        // SAFETY: null becomes nothing; else the plugin's pair, valid until the call returns.
        let Some(name) = (unsafe { name.as_ref() }) else { return refuse(&it, Violation::NullPointer) };
        // SAFETY: its text, valid until the call returns.
        let name = match unsafe { read::socket_name(*name) } {
            Ok(name) => name,
            Err(violation) => return refuse(&it, violation),
        };
        // SAFETY: null becomes nothing; else the plugin's room for a number.
        let Some(room) = (unsafe { descriptor_plugin.as_mut() }) else {
            return refuse(&it, Violation::NullPointer);
        };
        match it.host.options.sockets.socket(&it.info.name, name) {
            Ok(Some(socket)) => {
                *room = socket.into_raw_fd();
                OK
            }
            Ok(None) => NOT_FOUND,
            Err(error) => {
                tracing::warn!(plugin = %it.info.name, socket = name, %error, "Socket not handed over");
                FAILED
            }
        }
    })
}
