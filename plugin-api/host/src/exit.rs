//! How the process ends: by its own decision. A plugin that calls `exit` would end it with a status of the plugin's, and
//! the service manager would take 0 for an end that was asked for.
#![expect(
    unsafe_code,
    reason = "registers a handler of the C library and ends the process without the others"
)]
// UNSAFETY: `atexit` takes a function that lives as long as the process; `_exit` ends the process and touches no memory.

use std::io::Write;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// EX_SOFTWARE of sysexits.h: the exit status of a process that a plugin ended.
pub const ENDED_BY_PLUGIN: i32 = 70;

static IS_ALLOWED: AtomicBool = AtomicBool::new(false);
static GUARD: Once = Once::new();

/// From now on the process may end in any way. To be called when the program itself decided to end.
pub fn allow_exit() {
    IS_ALLOWED.store(true, Ordering::SeqCst);
}

/// Ends the process at once. Destructors and exit handlers of plugins do not run: one that hangs in a constructor holds
/// a lock of the dynamic linker that they would wait for.
pub fn leave(status: i32) -> ! {
    // SAFETY: it does not return, and nothing of this process is used any more.
    unsafe { libc::_exit(status) }
}

/// Sees to it that `exit`, called before [`allow_exit`], ends the process with [`ENDED_BY_PLUGIN`] and a line that says so.
pub fn guard_exit() {
    GUARD.call_once(|| {
        // SAFETY: the handler is a function of this program, which is never unloaded.
        let registered = unsafe { libc::atexit(at_exit) };
        if registered != 0 {
            tracing::warn!("No room for an exit handler: a plugin may end the process unnoticed");
        }
    });
}

extern "C" fn at_exit() {
    if IS_ALLOWED.load(Ordering::SeqCst) {
        return;
    }
    let thread = rustix::thread::name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // Nowhere to print is nothing to report. No log: whoever called `exit` may hold its locks.
    let _ = writeln!(
        std::io::stderr(),
        "A plugin ended the process: it called exit() in thread `{thread}`; exit status {ENDED_BY_PLUGIN}"
    );
    leave(ENDED_BY_PLUGIN);
}
