//! The host's table: the functions that plugins call.
//!
//! Each function reads what it is given (with the limits, and copying nothing large), hands it on as safe types,
//! and answers a status. A panic of ours stops here.
#![expect(unsafe_code, reason = "reads what plugins hand over")]
// UNSAFETY: every function follows pointers of the plugin, whom the header obliges to pass memory as long as it says
// that stays valid until the call returns. Nulls, alignment, lengths, sizes, UTF-8 and enumerations are checked.

use std::os::fd::IntoRawFd as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use plugin_abi::{
    self as abi, ABI_MAJOR, Array, ArrayMut, Bytes, DENIED, FAILED, FULL, HostApi, INVALID, Malformed,
    NOT_FOUND, OK, STALE, STOPPED, Str, UNSUPPORTED, WAIT, read_struct, struct_size,
};
use plugin_contract::{CredentialKind, CredentialRequest, CredentialVerdict, Event};

use crate::host::HostOptions;
use crate::lease::{self, Lent};
use crate::library::LibraryShared;
use crate::limits::Limits;
use crate::read::{self, Refusal};
use crate::registry::{self, Entry};
use crate::run::Stream;
use crate::shared::{Admission, InstanceShared};
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
    }))
}

unsafe extern "C" fn now_ns() -> u64 {
    crate::monotonic_ns()
}

unsafe extern "C" fn register_families(
    instance: u64,
    families: *const Array,
    verdicts_plugin: *const ArrayMut,
    taken_plugin: *mut u64,
) -> i32 {
    for_instance(instance, |it| {
        let limits = it.library.limits();
        // SAFETY: the plugin's arrays, valid until the call returns.
        let (rows, verdicts, full) =
            unsafe { rows_and_verdicts::<abi::Family>(families, verdicts_plugin, limits) }?;
        let mut refused = Vec::new();
        let checked: Vec<_> = rows
            .map(|row| {
                // SAFETY: the strings of the row, valid until the call returns.
                unsafe { read::family(&row, limits) }.map_err(|refusal| refusal.note(&mut refused))
            })
            .collect();
        let admission = it.register_families(instance, &checked, verdicts);
        refused.into_iter().for_each(|violation| it.violation(violation, 1));
        // SAFETY: the plugin's room for the count, or null.
        unsafe { taken(taken_plugin, checked.len()) };
        Ok(admitted(admission, full))
    })
}

unsafe extern "C" fn register_series(
    instance: u64,
    series: *const Array,
    verdicts_plugin: *const ArrayMut,
    taken_plugin: *mut u64,
) -> i32 {
    for_instance(instance, |it| {
        let limits = it.library.limits();
        // SAFETY: the plugin's arrays, valid until the call returns.
        let (rows, verdicts, full) =
            unsafe { rows_and_verdicts::<abi::Series>(series, verdicts_plugin, limits) }?;
        let mut refused = Vec::new();
        let mut labels = Vec::new();
        let spans: Vec<_> = rows
            .map(|row| {
                // SAFETY: the labels of the row, valid until the call returns.
                unsafe { read::labels(&row, limits, &mut labels) }
                    .map(|span| (row, span))
                    .map_err(|refusal| refusal.note(&mut refused))
            })
            .collect();
        let checked: Vec<_> =
            spans.into_iter().map(|row| row.map(|(row, span)| read::series(&row, &labels[span]))).collect();
        let admission = it.register_series(instance, &checked, verdicts);
        refused.into_iter().for_each(|violation| it.violation(violation, 1));
        // SAFETY: the plugin's room for the count, or null.
        unsafe { taken(taken_plugin, checked.len()) };
        Ok(admitted(admission, full))
    })
}

unsafe extern "C" fn retire(instance: u64, ids: *const Array) -> i32 {
    for_instance(instance, |it| {
        // SAFETY: the plugin's array, valid until the call returns.
        let ids = unsafe { array(ids) }?;
        // SAFETY: as above.
        let ids = unsafe { ids.column::<u32>(it.library.limits().register_rows_max as usize) }?;
        Ok(admitted(it.retire(instance, ids), false))
    })
}

unsafe extern "C" fn batch(instance: u64, batch: *const abi::Batch, taken_plugin: *mut u64) -> i32 {
    for_instance(instance, |it| {
        let rows_max = it.library.limits().batch_rows_max as usize;
        // SAFETY: the plugin's struct, valid until the call returns.
        let raw = unsafe { read_struct(batch) }?;
        // SAFETY: its columns, valid until the call returns.
        let (batch, full) = unsafe { read::batch(&raw, rows_max) }?;
        let (status, rows) = match it.batch(instance, &batch) {
            Err(admission) => (admitted(admission, false), 0),
            Ok(None) => (INVALID, 0),
            Ok(Some(_)) => (admitted(Admission::Open, full), batch.ids.len()),
        };
        // SAFETY: the plugin's room for the count, or null.
        unsafe { taken(taken_plugin, rows) };
        Ok(status)
    })
}

unsafe extern "C" fn complete(instance: u64, collection: u64, completion: *const abi::Completion) -> i32 {
    for_instance(instance, |it| {
        // SAFETY: the plugin's struct, valid until the call returns.
        let raw = unsafe { read_struct(completion) }?;
        let source = it.source_info();
        // SAFETY: its arrays and its message, valid until the call returns.
        let completion = unsafe { read::completion(&raw, source, it.library.limits(), it.family_count()) }?;
        let taken = it.complete(instance, collection, completion.borrow());
        Ok(if taken { OK } else { STALE })
    })
}

unsafe extern "C" fn destroyed(instance: u64) -> i32 {
    guarded(instance, || {
        let Some(Entry::Instance(it)) = registry::find(instance) else { return unknown(instance) };
        registry::remove(instance);
        it.ended(instance);
        it.library.forget(instance);
        OK
    })
}

unsafe extern "C" fn problem(report: u64, problem: *const abi::Problem) -> i32 {
    guarded(report, || {
        let Some(Entry::Report(it)) = registry::find(report) else { return unknown(report) };
        let limits = it.library.limits();
        // SAFETY: the plugin's struct, valid until the call returns.
        let problem = unsafe { read_struct(problem) }
            .map_err(Violation::from)
            // SAFETY: its strings, valid until the call returns.
            .and_then(|raw| unsafe { read::problem(&raw, limits) });
        match problem {
            Ok(problem) if !it.is_full() => {
                it.add(problem);
                OK
            }
            Ok(_) => {
                it.library.violations.count(Violation::OverLimit);
                FULL
            }
            Err(violation) => refuse(&it.library, violation),
        }
    })
}

unsafe extern "C" fn log_enabled(owner: u64, level: u32) -> u8 {
    let enabled = catch_unwind(AssertUnwindSafe(|| {
        let level = read::level(level);
        match registry::find(owner) {
            Some(Entry::Instance(it)) => it.sink.log_enabled(level),
            Some(Entry::Run(it)) => it.library.log_enabled(level),
            _ => registry::library_of(owner).is_some_and(|library| library.log_enabled(level)),
        }
    }));
    u8::from(enabled.unwrap_or(false))
}

unsafe extern "C" fn log(owner: u64, record: *const abi::Log) -> i32 {
    guarded(owner, || {
        let entry = registry::find(owner);
        let Some(library) = registry::library_of(owner) else { return STALE };
        // SAFETY: the plugin's struct, valid until the call returns.
        let raw = match unsafe { read_struct(record) } {
            Ok(raw) => raw,
            Err(malformed) => return refuse(&library, malformed.into()),
        };
        // SAFETY: its strings and fields, valid until the call returns.
        let (message, fields) =
            match unsafe { read::text_and_fields(raw.message, raw.fields, library.limits()) } {
                Ok(read) => read,
                Err(violation) => return refuse(&library, violation),
            };
        let level = read::level(raw.level);
        let bytes = message.len() + fields.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>();
        match entry {
            Some(Entry::Instance(it)) if !it.may_log(bytes) => FULL,
            Some(Entry::Instance(it)) => {
                it.sink.log(level, message, &fields);
                OK
            }
            // The library itself, a run, or an instance that is gone: worth keeping, under the library's name.
            _ if !library.log_budget.take(bytes, &library) => FULL,
            _ => {
                library.log(level, message, &fields);
                OK
            }
        }
    })
}

unsafe extern "C" fn event(instance: u64, event: *const abi::Event) -> i32 {
    for_instance(instance, |it| {
        // SAFETY: the plugin's struct, valid until the call returns.
        let raw = unsafe { read_struct(event) }?;
        let limits = it.library.limits();
        // SAFETY: its strings and fields, valid until the call returns.
        let (body, fields) = unsafe { read::text_and_fields(raw.body, raw.fields, limits) }?;
        // SAFETY: as above.
        let event = unsafe { read::event(&raw, body, &fields, limits) }?;
        let admission = it.admits(instance);
        if admission != Admission::Open {
            return Ok(admitted(admission, false));
        }
        if !it.may_log(body.len()) {
            return Ok(FULL);
        }
        let Some(alert) = it.note_alert(event.alert) else { return Ok(FULL) };
        it.sink.event(&Event { alert, ..event });
        Ok(OK)
    })
}

unsafe extern "C" fn fact(instance: u64, fact: *const abi::Label) -> i32 {
    for_instance(instance, |it| {
        // SAFETY: null becomes nothing; else the plugin's pair, valid until the call returns.
        let raw = unsafe { fact.as_ref() }.ok_or(Violation::NullPointer)?;
        // SAFETY: its strings, valid until the call returns.
        let (name, value) = unsafe { read::fact(raw, it.library.limits()) }?;
        let admission = it.admits(instance);
        if admission == Admission::Open {
            it.sink.fact(name, value);
        }
        Ok(admitted(admission, false))
    })
}

unsafe extern "C" fn min_interval(instance: u64, interval_ms: u64) -> i32 {
    for_instance(instance, |it| {
        if interval_ms > it.library.limits().min_interval_ms_max {
            return Err(Violation::OverLimit);
        }
        let admission = it.admits(instance);
        if admission == Admission::Open {
            it.set_min_interval(interval_ms);
        }
        Ok(admitted(admission, false))
    })
}

unsafe extern "C" fn metric_name(
    run: u64,
    configured: u32,
    family: *const abi::Family,
    name_plugin: *mut abi::Text,
) -> i32 {
    guarded(run, || {
        let Some(Entry::Run(it)) = registry::find(run) else { return unknown(run) };
        let Some(names) = &it.metric_names else { return UNSUPPORTED };
        let module = (configured != abi::NO_MODULE).then_some(configured as usize);
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

unsafe extern "C" fn listening_socket(library: u64, name: *const Str, descriptor_plugin: *mut i32) -> i32 {
    guarded(library, || {
        let Some(it) = registry::library_of(library) else { return STALE };
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

/// Writes a text whole, or says how much room it needs.
///
/// # Safety
/// A pointer that is not null is the plugin's room for a text, which nobody else touches until the call returns.
unsafe fn give(text_plugin: *mut abi::Text, text: &str) -> Result<i32, Malformed> {
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

unsafe extern "C" fn credential_acquire(
    owner: u64,
    request: *const abi::CredentialRequest,
    lease_plugin: *mut abi::CredentialLease,
) -> i32 {
    guarded(owner, || {
        let (library, leases, configured) = match registry::find(owner) {
            Some(Entry::Instance(it)) => match it.admits(owner) {
                Admission::Open => (Arc::clone(&it.library), Arc::clone(&it.leases), Some(it.target())),
                Admission::Stopped if it.is_ending(owner) => {
                    (Arc::clone(&it.library), Arc::clone(&it.leases), Some(it.target()))
                }
                other => return admitted(other, false),
            },
            Some(Entry::Run(it)) => (Arc::clone(&it.library), Arc::clone(&it.leases), None),
            _ => return unknown(owner),
        };
        // SAFETY: the plugin's struct, valid until the call returns.
        let raw = unsafe { read_struct(request) };
        // SAFETY: the plugin's room for the answer, valid until the call returns.
        let room = unsafe { read_struct(lease_plugin.cast_const()) };
        let (raw, mut answer) = match (raw, room) {
            (Ok(raw), Ok(room)) => (raw, empty_lease(room.size)),
            (Err(malformed), _) | (_, Err(malformed)) => return refuse(&library, malformed.into()),
        };
        // SAFETY: the strings of the request, valid until the call returns.
        let (host, identity) = match unsafe { read::host_and_identity(&raw, library.limits()) } {
            Ok(read) => read,
            Err(violation) => return refuse(&library, violation),
        };
        let request = CredentialRequest { configured: configured.as_ref(), host, identity };
        let status = lend(&mut answer, lease::acquire(&library, owner, &leases, &request));
        // SAFETY: `read_struct` saw a struct that is at least as long as version 1.0 has it.
        unsafe { lease_plugin.write(answer) };
        status
    })
}

/// Fills the answer. The strings belong to the lease, which stays in the registry until it is answered.
fn lend(answer: &mut abi::CredentialLease, lent: Lent) -> i32 {
    match lent {
        Lent::Lease { token, lease } => {
            answer.lease = token;
            answer.kind = match lease.lease.kind {
                CredentialKind::Password => abi::CREDENTIAL_KIND_PASSWORD,
            };
            answer.domain_host = Str::of(&lease.lease.domain);
            answer.username_host = Str::of(&lease.lease.username);
            answer.secret_host = Bytes::of(lease.lease.secret.expose());
            OK
        }
        Lent::Wait { retry_after_ms } => {
            answer.retry_after_ms = retry_after_ms;
            WAIT
        }
        Lent::Denied { reason } => {
            answer.reason = reason;
            DENIED
        }
        Lent::OverLimit => FULL,
    }
}

fn empty_lease(size: u32) -> abi::CredentialLease {
    abi::CredentialLease {
        size,
        kind: 0,
        lease: 0,
        domain_host: Str::EMPTY,
        username_host: Str::EMPTY,
        secret_host: Bytes::EMPTY,
        reason: 0,
        retry_after_ms: 0,
    }
}

unsafe extern "C" fn credential_result(lease: u64, verdict: u32) -> i32 {
    guarded(lease, || {
        let verdict = match verdict {
            abi::CREDENTIAL_ACCEPTED => CredentialVerdict::Accepted,
            abi::CREDENTIAL_REJECTED => CredentialVerdict::Rejected,
            abi::CREDENTIAL_LOCKED => CredentialVerdict::Locked,
            _ => CredentialVerdict::Unknown,
        };
        if lease::end(lease, verdict) { OK } else { unknown(lease) }
    })
}

unsafe extern "C" fn output(run: u64, stream: u32, bytes: *const Bytes) -> i32 {
    guarded(run, || {
        let Some(Entry::Run(it)) = registry::find(run) else { return unknown(run) };
        let stream = match stream {
            abi::OUTPUT_OUT => Stream::Out,
            abi::OUTPUT_ERR => Stream::Err,
            abi::OUTPUT_PROGRESS => Stream::Progress,
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

/// Runs `action` for the instance of a token; a violation that it answers is counted.
fn for_instance(token: u64, action: impl FnOnce(&InstanceShared) -> Result<i32, Violation>) -> i32 {
    guarded(token, || {
        let Some(it) = registry::instance(token) else { return unknown(token) };
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

/// No panic of ours crosses the border.
fn guarded(token: u64, action: impl FnOnce() -> i32) -> i32 {
    catch_unwind(AssertUnwindSafe(action)).unwrap_or_else(|_| {
        if let Some(library) = registry::library_of(token) {
            library.violations.count(Violation::HostPanic);
        }
        FAILED
    })
}

/// A token that is over, or never was.
fn unknown(token: u64) -> i32 {
    if let Some(library) = registry::library_of(token) {
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

/// Rows to register, the room for their verdicts, and whether there were more than one call may bring.
///
/// # Safety
/// The pointers are the plugin's, valid until the call returns.
unsafe fn rows_and_verdicts<'a, T: abi::Plain>(
    rows: *const Array,
    verdicts: *const ArrayMut,
    limits: &Limits,
) -> Result<(abi::Structs<'a, T>, &'a mut [abi::Verdict], bool), Violation> {
    let rows_max = limits.register_rows_max as usize;
    // SAFETY: the caller promises it.
    let mut rows = unsafe { array(rows) }?;
    // SAFETY: null becomes nothing; else as the caller promises.
    let verdicts = unsafe { verdicts.as_ref() }.ok_or(Violation::NullPointer)?;
    if verdicts.len < rows.len {
        return Err(Violation::LengthMismatch);
    }
    let full = rows.len > rows_max as u64;
    rows.len = rows.len.min(rows_max as u64);
    let room = ArrayMut { len: rows.len, ..*verdicts };
    // SAFETY: the caller promises it; the length became smaller at most.
    let rows = unsafe { rows.structs(rows_max) }?;
    // SAFETY: as above.
    let verdicts = unsafe { room.column(rows_max) }?;
    Ok((rows, verdicts, full))
}

/// # Safety
/// A pointer that is not null is the plugin's, valid until the call returns.
unsafe fn array(array: *const Array) -> Result<Array, Malformed> {
    // SAFETY: null becomes nothing; else as the caller promises.
    unsafe { array.as_ref() }.copied().ok_or(Malformed::NullPointer)
}

/// # Safety
/// A pointer that is not null is the plugin's room for a count.
unsafe fn taken(taken_plugin: *mut u64, rows: usize) {
    // SAFETY: null becomes nothing; else as the caller promises.
    if let Some(taken) = unsafe { taken_plugin.as_mut() } {
        *taken = rows as u64;
    }
}

impl Refusal {
    /// Remembers the violation and answers the verdict.
    fn note(self, refused: &mut Vec<Violation>) -> plugin_contract::DropReason {
        refused.extend(self.violation);
        self.reason
    }
}
