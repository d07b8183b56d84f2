//! The host's table: the functions that plugins call.
//!
//! Each function reads its arguments (within the limits, and without large copies), passes them on as safe types,
//! and returns a status. Panics of the host stop here.
#![expect(unsafe_code, reason = "reads what plugins hand over")]
// UNSAFETY: every function follows pointers of the plugin, whom the header obliges to pass memory as long as it says
// that stays valid until the call returns. Nulls, alignment, lengths, sizes, UTF-8 and enumerations are checked.

mod cells;
mod collections;
mod commands;
mod credentials;
mod data;
mod histograms;
mod records;
mod sockets;

use std::panic::{AssertUnwindSafe, catch_unwind};

use plugin_abi::raw::{
    ABI_MAJOR, Array, FAILED, FULL, HostApi, INVALID, Malformed, OK, STALE, STOPPED, Str, struct_size,
};

use self::cells::cell_memory;
use self::collections::{complete, destroyed, fact, min_interval};
use self::commands::{metric_name, output};
use self::credentials::{credential_acquire, credential_result};
use self::data::{batch, register_families, register_series, retire};
use self::histograms::histograms;
use self::records::{event, log, log_enabled, problem};
use self::sockets::listening_socket;
use crate::instance::{Admission, INSTANCES, InstanceShared};
use crate::library::{self, LibraryShared};
use crate::options::HostOptions;
use crate::violation::Violation;

/// A table for one library. It lives as long as the process, as the header promises.
pub(crate) fn leak(library: u64, options: &HostOptions) -> &'static HostApi {
    let program: &'static str = Box::leak(options.program.clone().into_boxed_str());
    Box::leak(Box::new(HostApi {
        size: struct_size::<HostApi>(),
        abi_major: ABI_MAJOR,
        abi_minor: options.abi_minor,
        library,
        worker_threads: options.worker_threads,
        reserved: 0,
        program: Str::of(program),
        now_ns: Some(now_ns),
        register_families: Some(register_families),
        register_series: Some(register_series),
        retire: Some(retire),
        batch: Some(batch),
        complete: Some(complete),
        destroyed: Some(destroyed),
        problem: Some(problem),
        log_enabled: Some(log_enabled),
        log: Some(log),
        event: Some(event),
        credential_acquire: Some(credential_acquire),
        credential_result: Some(credential_result),
        output: Some(output),
        fact: Some(fact),
        min_interval: Some(min_interval),
        metric_name: Some(metric_name),
        listening_socket: Some(listening_socket),
        histograms: Some(histograms),
        cell_memory: Some(cell_memory),
    }))
}

unsafe extern "C" fn now_ns() -> u64 {
    crate::monotonic_ns()
}

/// Runs `action` for the instance of a token; counts a violation that it returns.
fn for_instance(token: u64, action: impl FnOnce(&InstanceShared) -> Result<i32, Violation>) -> i32 {
    guarded(token, || {
        let Some(it) = INSTANCES.find(token) else { return unknown(token) };
        match action(&it) {
            Ok(status) => {
                if status == STOPPED {
                    it.violation(Violation::AfterDestroy, 1);
                }
                status
            }
            Err(violation) => {
                it.violation(violation, 1);
                INVALID
            }
        }
    })
}

/// Catches panics, so that none crosses the ABI. An instance whose data was lost by one ends its collection as failed.
fn guarded(token: u64, action: impl FnOnce() -> i32) -> i32 {
    catch_unwind(AssertUnwindSafe(action)).unwrap_or_else(|panic| {
        match INSTANCES.find(token) {
            Some(it) => it.host_panicked(&*panic),
            None => library::of_token(token)
                .into_iter()
                .for_each(|library| library.violations.count(Violation::HostPanic)),
        }
        FAILED
    })
}

/// The status for an expired or unknown token.
fn unknown(token: u64) -> i32 {
    if let Some(library) = library::of_token(token) {
        library.violations.count(Violation::UnknownToken);
    }
    STALE
}

fn refuse(library: &LibraryShared, violation: Violation) -> i32 {
    library.violations.count(violation);
    INVALID
}

fn admitted(admission: Admission, full: bool) -> i32 {
    match admission {
        Admission::Open if full => FULL,
        Admission::Open => OK,
        Admission::Stopped => STOPPED,
        Admission::Stale => STALE,
    }
}

/// # Safety
/// A pointer that is not null is the plugin's room for a count.
unsafe fn taken(taken_plugin: *mut u64, rows: usize) {
    // SAFETY: null becomes nothing; else as the caller promises.
    if let Some(taken) = unsafe { taken_plugin.as_mut() } {
        *taken = rows as u64;
    }
}

/// # Safety
/// A pointer that is not null is the plugin's, valid until the call returns.
unsafe fn array(array: *const Array) -> Result<Array, Malformed> {
    // SAFETY: null becomes nothing; else as the caller promises.
    unsafe { array.as_ref() }.copied().ok_or(Malformed::NullPointer)
}
