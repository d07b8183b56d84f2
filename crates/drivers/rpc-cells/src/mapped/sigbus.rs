#![expect(unsafe_code, reason = "a signal handler, and a page that it maps")]
// UNSAFETY: the handler calls only what is safe in one: loads and adds of atomics, and system calls. It maps pages only
// within registered ranges, whose owner accesses them as atomic words alone.

use std::ffi::{c_int, c_void};
use std::mem::{self, MaybeUninit};
use std::sync::OnceLock;
use std::{io, ptr};

use parking_lot::Mutex;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

use super::count_lost_page_at;
use crate::error::Error;

/// The proof that a truncated file cannot end this process.
///
/// Memory of a mapped file that the file does not have any more raises SIGBUS when it is accessed. The handler puts an
/// empty page there, so that the thread goes on: what it writes is lost, and nothing else. Any other SIGBUS goes to the
/// handler that was there before.
#[derive(Clone, Copy, Debug)]
pub struct SigbusGuard(());

/// What the handler needs. Set before the handler can run.
struct Installed {
    page_bytes: usize,
    previous: libc::sigaction,
}

static INSTALLED: OnceLock<Installed> = OnceLock::new();
static INSTALLING: Mutex<()> = Mutex::new(());

impl SigbusGuard {
    /// Installs the handler, the first time that it is called. Only the program does this, never a library that it
    /// loads: signals belong to the process.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn install() -> Result<Self, Error> {
        let _installing = INSTALLING.lock();
        if INSTALLED.get().is_some() {
            return Ok(Self(()));
        }
        let failed = |error| Error::Handler { error };
        let mut previous = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: without a new action, the call only writes the current one.
        let found = unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), previous.as_mut_ptr()) };
        check(found).map_err(failed)?;
        // SAFETY: the call succeeded, so it was written.
        let previous = unsafe { previous.assume_init() };
        INSTALLED.get_or_init(|| Installed { page_bytes: rustix::param::page_size(), previous });
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle;
        let action =
            action(handler as libc::sighandler_t, libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART);
        // SAFETY: the handler has the form that SA_SIGINFO asks for, and is never unloaded: it is the program's.
        let installed = unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) };
        check(installed).map_err(failed)?;
        Ok(Self(()))
    }
}

fn check(result: c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn action(handler: libc::sighandler_t, flags: c_int) -> libc::sigaction {
    // SAFETY: zeros are a valid action: the default one, with an empty mask.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    action
}

extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a valid pointer to handlers with SA_SIGINFO.
    let facts = unsafe { &*info };
    let code = facts.si_code;
    // Only then is there an address: a process can send SIGBUS as well.
    if code == libc::BUS_ADRERR {
        // SAFETY: signals with this code have an address.
        let address = unsafe { facts.si_addr() }.addr();
        if replace_page(address) {
            return;
        }
    }
    pass_on(signal, code, info, context);
}

/// Maps an empty page where a page of a registered range is missing.
fn replace_page(address: usize) -> bool {
    let Some(installed) = INSTALLED.get() else { return false };
    if !count_lost_page_at(address) {
        return false;
    }
    let page = ptr::without_provenance_mut(address & !(installed.page_bytes - 1));
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::PRIVATE | MapFlags::FIXED;
    // SAFETY: the page lies in a registered range: the thread accesses it right now, so it is still mapped, and nothing but
    // atomic words is there.
    let mapped = unsafe { mmap_anonymous(page, installed.page_bytes, protection, flags) };
    mapped.is_ok()
}

/// Does what happened without the guard.
fn pass_on(signal: c_int, code: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let previous = INSTALLED.get().map(|installed| &installed.previous);
    match previous {
        Some(previous) if previous.sa_sigaction == libc::SIG_IGN && code <= 0 => {}
        Some(previous) if !matches!(previous.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN) => {
            call(previous, signal, info, context);
        }
        _ => {
            let default = action(libc::SIG_DFL, 0);
            // SAFETY: the default action needs no handler.
            let _ = unsafe { libc::sigaction(signal, &raw const default, ptr::null_mut()) };
            // An access raises the signal again when the handler returns; a signal that was sent does not.
            if code <= 0 {
                // SAFETY: takes a number.
                let _ = unsafe { libc::raise(signal) };
            }
        }
    }
}

fn call(previous: &libc::sigaction, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let address = ptr::with_exposed_provenance::<()>(previous.sa_sigaction);
    if previous.sa_flags & libc::SA_SIGINFO != 0 {
        // SAFETY: an action with this flag has a handler of this form.
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
            unsafe { mem::transmute(address) };
        handler(signal, info, context);
    } else {
        // SAFETY: an action without the flag has a handler of this form.
        let handler: extern "C" fn(c_int) = unsafe { mem::transmute(address) };
        handler(signal);
    }
}
