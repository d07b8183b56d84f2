//! The library's tokio runtime.
#![expect(unsafe_code, reason = "masks signals on the threads of the run time")]
// UNSAFETY: the calls change the signal mask of the calling thread only, on sets that live on its stack. Signals
// belong to the exporter's threads; a plugin's thread must never run its handlers.

use std::mem::MaybeUninit;

use tokio::runtime::{Builder, Runtime};

/// Builds a runtime with this number of workers; their threads block signals.
///
/// # Errors If the operating system cannot create threads.
pub(crate) fn build(plugin: &'static str, workers: u32) -> std::io::Result<Runtime> {
    let workers = usize::try_from(workers).unwrap_or(1).clamp(1, WORKERS_MAX);
    // Threads inherit the mask, so a new one never handles signals.
    let before = block_signals();
    let runtime = Builder::new_multi_thread()
        .worker_threads(workers)
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .thread_name(format!("plugin-{plugin}"))
        .on_thread_start(|| {
            block_signals();
        })
        .enable_all()
        .build();
    restore_signals(&before);
    runtime
}

/// Blocks all signals on this thread but those that its own instructions cause. Returns the previous mask.
fn block_signals() -> libc::sigset_t {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: fills the set that it is given.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT] {
        // SAFETY: the set was filled above.
        unsafe { libc::sigdelset(all.as_mut_ptr(), signal) };
    }
    let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: reads the filled set and writes the other; both are on this stack.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr()) };
    // SAFETY: all zeros are a set, too, should the call have written nothing.
    unsafe { before.assume_init() }
}

fn restore_signals(mask: &libc::sigset_t) {
    // SAFETY: reads a set that `block_signals` answered; a null pointer means that the old one is not wanted.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut()) };
}

const WORKERS_MAX: usize = 64;
/// A thread ends when it has had nothing to do for 10 seconds.
const BLOCKING_THREADS_MAX: usize = 48;
