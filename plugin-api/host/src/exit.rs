//! Ensures that only the program itself ends the process. A plugin that calls `exit` would end it with the plugin's
//! status, and the service manager would take 0 for a normal end.
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

/// Of `main`, which keeps it until it is left: whatever way that is, it is the program's own.
#[derive(Debug)]
#[must_use]
pub struct ExitGuard(());

impl Drop for ExitGuard {
    fn drop(&mut self) {
        IS_ALLOWED.store(true, Ordering::SeqCst);
    }
}

/// Ends the process at once, without destructors and exit handlers of plugins: they would wait for a lock of the
/// dynamic linker if a plugin hangs in a constructor.
pub fn leave(status: i32) -> ! {
    // SAFETY: it does not return, and nothing of this process is used any more.
    unsafe { libc::_exit(status) }
}

/// Makes `exit`, if called before the guard is dropped, end the process with [`ENDED_BY_PLUGIN`] and a message.
pub fn guard_exit() -> ExitGuard {
    GUARD.call_once(|| {
        // SAFETY: the handler is a function of this program, which is never unloaded.
        let registered = unsafe { libc::atexit(at_exit) };
        if registered != 0 {
            tracing::warn!("No room for an exit handler: a plugin may end the process unnoticed");
        }
    });
    ExitGuard(())
}

extern "C" fn at_exit() {
    if IS_ALLOWED.load(Ordering::SeqCst) {
        return;
    }
    let thread = rustix::thread::name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // Errors of printing are ignored. There is no log record, because the caller of `exit` may hold locks of the
    // log.
    let _ = writeln!(
        std::io::stderr(),
        "A plugin ended the process: it called exit() in thread `{thread}`; exit status {ENDED_BY_PLUGIN}"
    );
    leave(ENDED_BY_PLUGIN);
}
