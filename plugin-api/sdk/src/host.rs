//! The host's table, as safe functions.
#![expect(unsafe_code, reason = "calls the functions of the host's table")]
// UNSAFETY: the table was copied at the entry from the host, whose header promises that it lives as long as the
// process and that any thread may call any function at any time. Each argument points to values on the caller's stack or
// borrowed by it, which outlive the call; the host keeps none of the pointers.

use std::os::fd::{FromRawFd as _, OwnedFd};
use std::sync::OnceLock;
use std::time::Duration;

use plugin_abi::raw::{
    self, Array, ArrayMut, Batch, Bytes, CellMemory, Completion, CredentialLease, CredentialRequest, DENIED,
    FULL, Family, HistogramBatch, HostApi, Label, Log, Malformed, NOT_FOUND, OK, PROBLEM_ERROR,
    PROBLEM_WARNING, Plain as _, START_TIME_INFERRED, START_TIME_KNOWN, START_TIME_UNKNOWN, Series, Str,
    Text, UNSUPPORTED, Verdict, WAIT, struct_size,
};
use plugin_abi::{CredentialKind, CredentialVerdict, Event, FamilyDef, NoRoom, Problem, SeriesDef, Start};
use zeroize::Zeroizing;

static HOST: OnceLock<HostApi> = OnceLock::new();

/// Keeps the table. All hosts of a process have the same functions, so the first one is used.
pub(crate) fn install(host: HostApi) -> &'static HostApi {
    HOST.get_or_init(|| host)
}

/// The answer to a request for a secret.
pub(crate) enum Acquired {
    Lease(Lease),
    Wait { retry_after_ms: u32 },
    Denied(u32),
    Refused(i32),
}

/// A copy of a lease. [`credential_result`] ends it.
pub(crate) struct Lease {
    pub(crate) token: u64,
    pub(crate) domain: String,
    pub(crate) username: String,
    pub(crate) kind: CredentialKind,
    pub(crate) service: String,
    pub(crate) allows_rc4: bool,
    pub(crate) secret: Zeroizing<String>,
}

/// The token under which the library itself logs.
pub(crate) fn library() -> u64 {
    HOST.get().map_or(0, |host| host.library)
}

/// How many threads the host suggests for the runtime.
pub(crate) fn worker_threads() -> u32 {
    HOST.get().map_or(1, |host| host.worker_threads)
}

pub(crate) fn now_ns() -> u64 {
    let Some(function) = HOST.get().and_then(|host| host.now_ns) else { return 0 };
    // SAFETY: takes nothing.
    unsafe { function() }
}

/// Offers families, passes each verdict to `each`, and returns their number.
pub(crate) fn register_families(
    instance: u64,
    families: &[FamilyDef<'_>],
    each: impl FnMut(Verdict),
) -> usize {
    let Some(function) = HOST.get().and_then(|host| host.register_families) else { return 0 };
    let rows: Vec<Family> = families.iter().map(row_of).collect();
    let mut verdicts = vec![Verdict { id: 0, verdict: 0 }; rows.len()];
    let mut taken = 0_u64;
    // SAFETY: rows, their strings and bounds and the room for verdicts outlive the call.
    let status =
        unsafe { function(instance, &Array::of(&rows), &ArrayMut::of(&mut verdicts), &raw mut taken) };
    let answered = answered(status, taken, &verdicts);
    answered.iter().copied().for_each(each);
    answered.len()
}

/// It points to the family's texts and bounds, which must outlive its use.
fn row_of(family: &FamilyDef<'_>) -> Family {
    Family {
        size: struct_size::<Family>(),
        kind: family.kind.code(),
        value_kind: family.value.code(),
        reserved: 0,
        space: Str::of(family.namespace),
        object: Str::of(family.object),
        item: Str::of(family.item),
        part: Str::of(family.part),
        unit: Str::of(family.unit),
        help: Str::of(family.help),
        origin: Str::of(family.origin),
        base: Str::of(family.display.base),
        display: family.display.rule.code(),
        reserved2: 0,
        bounds: Array::of(family.bounds),
    }
}

/// The name of a family's samples, if the host provides it.
pub(crate) fn metric_name(run: u64, configured: Option<usize>, family: &FamilyDef<'_>) -> Option<String> {
    let function = HOST.get().and_then(|host| host.metric_name)?;
    let configured = match configured {
        Some(index) => u32::try_from(index).ok()?,
        None => raw::NO_MODULE,
    };
    let row = row_of(family);
    let mut room = vec![0_u8; METRIC_NAME_BYTES];
    loop {
        let mut text = Text {
            size: struct_size::<Text>(),
            ptr: room.as_mut_ptr(),
            capacity: room.len() as u64,
            ..Text::ZERO
        };
        // SAFETY: the family's texts and the room for the name outlive the call.
        let status = unsafe { function(run, configured, &row, &raw mut text) };
        let len = usize::try_from(text.len).ok()?;
        match status {
            OK => {
                room.truncate(len);
                return String::from_utf8(room).ok();
            }
            FULL if len > room.len() && len <= METRIC_NAME_BYTES_MAX => room.resize(len, 0),
            _ => return None,
        }
    }
}

const METRIC_NAME_BYTES: usize = 256;
const METRIC_NAME_BYTES_MAX: usize = 65_536;

/// As [`register_families`], for series.
pub(crate) fn register_series(instance: u64, series: &[SeriesDef<'_>], each: impl FnMut(Verdict)) -> usize {
    let Some(function) = HOST.get().and_then(|host| host.register_series) else { return 0 };
    let labels: Vec<Label> = series
        .iter()
        .flat_map(|series| series.labels.iter().map(|(name, value)| Label::of(name, value)))
        .collect();
    let mut rest = labels.as_slice();
    let rows: Vec<Series> = series
        .iter()
        .map(|series| {
            let (own, others) = rest.split_at(series.labels.len());
            rest = others;
            Series {
                size: struct_size::<Series>(),
                family: series.family.0,
                labels: Array::of(own),
                start_time_unix_ns: series.start.map_or(0, |start| start.unix_nanos),
                start_time_kind: match series.start {
                    None => START_TIME_UNKNOWN,
                    Some(Start { is_inferred: false, .. }) => START_TIME_KNOWN,
                    Some(Start { is_inferred: true, .. }) => START_TIME_INFERRED,
                },
                reserved: 0,
            }
        })
        .collect();
    let mut verdicts = vec![Verdict { id: 0, verdict: 0 }; rows.len()];
    let mut taken = 0_u64;
    // SAFETY: rows, labels, their strings and the room for verdicts outlive the call.
    let status =
        unsafe { function(instance, &Array::of(&rows), &ArrayMut::of(&mut verdicts), &raw mut taken) };
    let answered = answered(status, taken, &verdicts);
    answered.iter().copied().for_each(each);
    answered.len()
}

pub(crate) fn retire(instance: u64, ids: &[u32]) {
    let Some(function) = HOST.get().and_then(|host| host.retire) else { return };
    // SAFETY: the ids outlive the call.
    unsafe { function(instance, &Array::of(ids)) };
}

/// The status and the number of accepted rows.
pub(crate) fn batch(instance: u64, batch: &Batch) -> (i32, usize) {
    let Some(function) = HOST.get().and_then(|host| host.batch) else { return (UNSUPPORTED, 0) };
    let mut taken = 0_u64;
    // SAFETY: the columns belong to the caller's buffers, which outlive the call.
    let status = unsafe { function(instance, batch, &raw mut taken) };
    (status, usize::try_from(taken).unwrap_or(0))
}

/// As [`batch`], of histograms.
pub(crate) fn histograms(instance: u64, batch: &HistogramBatch) -> (i32, usize) {
    let Some(function) = HOST.get().and_then(|host| host.histograms) else { return (UNSUPPORTED, 0) };
    let mut taken = 0_u64;
    // SAFETY: the columns belong to the caller's buffers, which outlive the call.
    let status = unsafe { function(instance, batch, &raw mut taken) };
    (status, usize::try_from(taken).unwrap_or(0))
}

pub(crate) fn complete(instance: u64, collection: u64, completion: &Completion) {
    let Some(function) = HOST.get().and_then(|host| host.complete) else { return };
    // SAFETY: what the completion points to belongs to the caller and outlives the call.
    unsafe { function(instance, collection, completion) };
}

pub(crate) fn destroyed(instance: u64) {
    let Some(function) = HOST.get().and_then(|host| host.destroyed) else { return };
    // SAFETY: takes a number.
    unsafe { function(instance) };
}

pub(crate) fn problem(report: u64, problem: &Problem) {
    let Some(function) = HOST.get().and_then(|host| host.problem) else { return };
    let row = raw::Problem {
        size: struct_size::<raw::Problem>(),
        severity: if problem.is_warning { PROBLEM_WARNING } else { PROBLEM_ERROR },
        pointer: Str::of(&problem.pointer),
        message: Str::of(&problem.message),
        suggestion: Str::of(&problem.suggestion),
    };
    // SAFETY: the problem's strings outlive the call.
    unsafe { function(report, &row) };
}

pub(crate) fn log_enabled(owner: u64, level: u32) -> bool {
    let Some(function) = HOST.get().and_then(|host| host.log_enabled) else { return false };
    // SAFETY: takes numbers.
    unsafe { function(owner, level) != 0 }
}

pub(crate) fn log(owner: u64, level: u32, message: &str, fields: &[Label]) {
    let Some(function) = HOST.get().and_then(|host| host.log) else { return };
    let record =
        Log { size: struct_size::<Log>(), level, message: Str::of(message), fields: Array::of(fields) };
    // SAFETY: message and fields outlive the call.
    unsafe { function(owner, &record) };
}

pub(crate) fn event(instance: u64, event: &Event<'_>) -> Result<(), NoRoom> {
    let Some(function) = HOST.get().and_then(|host| host.event) else { return Ok(()) };
    let pairs = |pairs: &[(&str, &str)]| pairs.iter().map(|(key, value)| Label::of(key, value)).collect();
    let (fields, labels): (Vec<Label>, Vec<Label>) =
        (pairs(event.fields), pairs(event.alert.map_or(&[], |alert| alert.labels)));
    let alert = event.alert.map(|alert| raw::Alert {
        size: struct_size::<raw::Alert>(),
        state: alert.state.code(),
        id: Str::of(alert.id),
        labels: Array::of(&labels),
        comparison: alert.evaluation.map_or(raw::COMPARISON_NONE, |compared| compared.comparison.code()),
        reserved: 0,
        value: alert.evaluation.and_then(|compared| compared.value).unwrap_or(f64::NAN),
        threshold: alert.evaluation.map_or(f64::NAN, |compared| compared.threshold),
        interval_ns: nanos(alert.interval),
        hold_ns: nanos(alert.hold),
    });
    let row = raw::Event {
        size: struct_size::<raw::Event>(),
        level: event.level.code(),
        name: Str::of(event.name),
        time_unix_ns: event.time_unix_nanos.unwrap_or(0),
        body: Str::of(event.body),
        fields: Array::of(&fields),
        alert: alert.as_ref().map_or(std::ptr::null(), |alert| &raw const *alert),
    };
    // SAFETY: strings, fields and the alert outlive the call.
    let status = unsafe { function(instance, &row) };
    if status == FULL { Err(NoRoom) } else { Ok(()) }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) fn fact(instance: u64, name: &str, value: &str) {
    let Some(function) = HOST.get().and_then(|host| host.fact) else { return };
    // SAFETY: the strings outlive the call.
    unsafe { function(instance, &Label::of(name, value)) };
}

/// A descriptor of the library's socket with this name; `None` if it has none, or if the host is older.
///
/// # Errors
/// The status of the host.
pub(crate) fn listening_socket(name: &str) -> Result<Option<OwnedFd>, i32> {
    let Some(function) = HOST.get().and_then(|host| host.listening_socket) else { return Ok(None) };
    let mut descriptor = -1;
    // SAFETY: the name and the room for the descriptor outlive the call.
    match unsafe { function(library(), &Str::of(name), &raw mut descriptor) } {
        // SAFETY: the host hands over a descriptor that is open and belongs to the plugin.
        OK => Ok(Some(unsafe { OwnedFd::from_raw_fd(descriptor) })),
        NOT_FOUND => Ok(None),
        status => Err(status),
    }
}

/// The status, and the library's memory for cells if that is OK or FULL.
pub(crate) fn cell_memory(sections: u32) -> (i32, CellMemory) {
    let mut memory = CellMemory { size: struct_size::<CellMemory>(), ..CellMemory::ZERO };
    let Some(function) = HOST.get().and_then(|host| host.cell_memory) else { return (UNSUPPORTED, memory) };
    // SAFETY: the room for the answer outlives the call.
    let status = unsafe { function(library(), sections, &raw mut memory) };
    (status, memory)
}

pub(crate) fn min_interval(instance: u64, interval_ms: u64) {
    let Some(function) = HOST.get().and_then(|host| host.min_interval) else { return };
    // SAFETY: takes numbers.
    unsafe { function(instance, interval_ms) };
}

pub(crate) fn credential_acquire(owner: u64, host_name: &str, identity: &str) -> Acquired {
    let Some(function) = HOST.get().and_then(|host| host.credential_acquire) else {
        return Acquired::Refused(UNSUPPORTED);
    };
    let request = CredentialRequest {
        size: struct_size::<CredentialRequest>(),
        reserved: 0,
        host: Str::of(host_name),
        identity: Str::of(identity),
    };
    let mut lease = CredentialLease {
        size: struct_size::<CredentialLease>(),
        kind: 0,
        lease: 0,
        domain_host: Str::EMPTY,
        username_host: Str::EMPTY,
        secret_host: Bytes::EMPTY,
        reason: 0,
        retry_after_ms: 0,
        service_host: Str::EMPTY,
        flags: 0,
        reserved: 0,
    };
    // SAFETY: request and lease outlive the call.
    match unsafe { function(owner, &request, &raw mut lease) } {
        OK => leased(&lease),
        WAIT => Acquired::Wait { retry_after_ms: lease.retry_after_ms },
        DENIED => Acquired::Denied(lease.reason),
        status => Acquired::Refused(status),
    }
}

pub(crate) fn credential_result(lease: u64, verdict: CredentialVerdict) {
    let Some(function) = HOST.get().and_then(|host| host.credential_result) else { return };
    // SAFETY: takes numbers.
    unsafe { function(lease, verdict.code()) };
}

pub(crate) fn output(run: u64, stream: u32, bytes: &[u8]) {
    let Some(function) = HOST.get().and_then(|host| host.output) else { return };
    // SAFETY: the bytes outlive the call.
    unsafe { function(run, stream, &Bytes::of(bytes)) };
}

fn answered(status: i32, taken: u64, verdicts: &[Verdict]) -> &[Verdict] {
    match status {
        OK => verdicts,
        FULL => &verdicts[..usize::try_from(taken).unwrap_or(0).min(verdicts.len())],
        _ => &[],
    }
}

/// Copies a lease; ends it unused if this version does not know its kind.
fn leased(lease: &CredentialLease) -> Acquired {
    let (refused, verdict) = match copied(lease) {
        Ok(Some(copy)) => return Acquired::Lease(copy),
        Ok(None) => (UNSUPPORTED, CredentialVerdict::Unsuitable),
        Err(_) => (raw::INVALID, CredentialVerdict::Unknown),
    };
    credential_result(lease.lease, verdict);
    Acquired::Refused(refused)
}

fn copied(lease: &CredentialLease) -> Result<Option<Lease>, Malformed> {
    let kind = match lease.kind {
        raw::CREDENTIAL_KIND_PASSWORD => CredentialKind::Password,
        raw::CREDENTIAL_KIND_KERBEROS => CredentialKind::Kerberos,
        raw::CREDENTIAL_KIND_KERBEROS_PASSWORD => CredentialKind::KerberosPassword,
        raw::CREDENTIAL_KIND_KERBEROS_KEY => CredentialKind::KerberosKey,
        _ => return Ok(None),
    };
    // SAFETY: the host keeps the strings of a lease until it is answered, which happens after this at the earliest.
    let domain = unsafe { lease.domain_host.read(CREDENTIAL_BYTES_MAX) }?.to_owned();
    // SAFETY: as above.
    let username = unsafe { lease.username_host.read(CREDENTIAL_BYTES_MAX) }?.to_owned();
    // SAFETY: as above.
    let secret = unsafe { lease.secret_host.read(CREDENTIAL_BYTES_MAX) }?;
    // SAFETY: as above.
    let service = unsafe { lease.service_host.read(CREDENTIAL_BYTES_MAX) }?.to_owned();
    let allows_rc4 = lease.flags & raw::CREDENTIAL_ALLOWS_RC4 != 0;
    let secret = core::str::from_utf8(secret).map_err(|_| Malformed::NotUtf8)?;
    Ok(Some(Lease {
        token: lease.lease,
        domain,
        username,
        kind,
        service,
        allows_rc4,
        secret: Zeroizing::new(secret.to_owned()),
    }))
}

const CREDENTIAL_BYTES_MAX: usize = 65_536;
