#![expect(unsafe_code, reason = "plays the host of the ABI")]
// UNSAFETY: the functions of the table follow pointers that the SDK's own host module made on its stack for the call.

mod cells;
mod histograms;

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use plugin_abi::raw::{
    ABI_MAJOR, ABI_MINOR, Array, ArrayMut, Batch, Bytes, Completion, CredentialLease, CredentialRequest,
    DENIED, HostApi, Label, Log, OK, OUTCOME_FULL, OUTCOME_PARTIAL, Plain, STALE, StageCost, Str, VALUE_F64,
    VALUE_I64, Verdict, struct_size,
};
use plugin_abi::{DisplayRule, GeneralReason, Stage};

pub(super) use self::cells::set as set_cells;
use super::{FakeCompletion, FakeOutcome, SeenSeries, SeenValue, change};
use crate::failure::{Failure, Reason};
use crate::output::Stamp;

const ROWS_MAX: usize = 1 << 24;

/// The functions of the host, which record their arguments.
pub(super) const TABLE: HostApi = HostApi {
    size: struct_size::<HostApi>(),
    abi_major: ABI_MAJOR,
    abi_minor: ABI_MINOR,
    library: u64::MAX,
    worker_threads: 2,
    reserved: 0,
    program: Str::EMPTY,
    now_ns: Some(now_ns),
    register_families: Some(register_families),
    register_series: Some(register_series),
    retire: Some(retire),
    batch: Some(batch),
    complete: Some(complete),
    destroyed: Some(destroyed),
    problem: None,
    log_enabled: Some(log_enabled),
    log: Some(log),
    event: Some(event),
    credential_acquire: Some(credential_acquire),
    credential_result: Some(credential_result),
    output: None,
    fact: Some(fact),
    min_interval: Some(min_interval),
    metric_name: None,
    listening_socket: None,
    histograms: Some(histograms::histograms),
    cell_memory: Some(cells::cell_memory),
};

unsafe extern "C" fn now_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let passed = START.get_or_init(Instant::now).elapsed();
    u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX).saturating_add(1_000_000_000)
}

unsafe extern "C" fn register_families(
    instance: u64,
    families: *const Array,
    verdicts: *const ArrayMut,
    _taken: *mut u64,
) -> i32 {
    let rows = structs::<plugin_abi::raw::Family>(families);
    let verdicts = room(verdicts);
    change(instance, |state| {
        for (row, verdict) in rows.iter().zip(verdicts) {
            *verdict = accepted(state.seen.families.len());
            state.seen.families.push((text(row.object), text(row.item), text(row.part)));
            let rule = DisplayRule::from_code(row.display).unwrap_or_default();
            state.seen.displays.push((rule, text(row.base)));
            state.seen.helps.push(text(row.help));
            state.seen.bounds.push(column(row.bounds));
        }
        OK
    })
}

unsafe extern "C" fn register_series(
    instance: u64,
    series: *const Array,
    verdicts: *const ArrayMut,
    _taken: *mut u64,
) -> i32 {
    let rows = structs::<plugin_abi::raw::Series>(series);
    let verdicts = room(verdicts);
    change(instance, |state| {
        for (row, verdict) in rows.iter().zip(verdicts) {
            *verdict = accepted(state.seen.series.len());
            let (family, labels) = (row.family as usize, pairs(row.labels));
            state.seen.series.push(SeenSeries {
                family,
                labels,
                value: None,
                histogram: None,
                stamp: Stamp::default(),
                retired: false,
            });
        }
        OK
    })
}

unsafe extern "C" fn retire(instance: u64, ids: *const Array) -> i32 {
    let ids = structs::<u32>(ids);
    change(instance, |state| {
        for id in ids {
            state.seen.series[id as usize].retired = true;
        }
        OK
    })
}

unsafe extern "C" fn batch(instance: u64, batch: *const Batch, _taken: *mut u64) -> i32 {
    // SAFETY: the SDK hands over a batch on its stack.
    let batch = unsafe { *batch };
    let values: Vec<SeenValue> = match batch.value_kind {
        VALUE_F64 => column(batch.values).into_iter().map(SeenValue::F64).collect(),
        VALUE_I64 => column(batch.values).into_iter().map(SeenValue::I64).collect(),
        _ => column(batch.values).into_iter().map(SeenValue::U64).collect(),
    };
    let ids = column::<u32>(batch.ids);
    let (times, starts) = (column::<i64>(batch.timestamps), column::<i64>(batch.start_times));
    let at = |column: &[i64], row: usize| column.get(row).copied().unwrap_or(0);
    change(instance, |state| {
        for (row, (id, value)) in ids.into_iter().zip(values).enumerate() {
            let series = &mut state.seen.series[id as usize];
            series.value = Some(value);
            series.stamp = Stamp { time_unix_nanos: at(&times, row), start_unix_nanos: at(&starts, row) };
        }
        OK
    })
}

unsafe extern "C" fn complete(instance: u64, collection: u64, completion: *const Completion) -> i32 {
    // SAFETY: the SDK hands over a completion on its stack.
    let raw = unsafe { *completion };
    // SAFETY: its stages are borrowed for the call.
    let rows = unsafe { raw.stages.structs::<StageCost>(ROWS_MAX) };
    let stages = rows
        .into_iter()
        .flatten()
        .filter_map(|row| Some((Stage::from_code(row.stage)?, row.calls, row.bytes_in, row.bytes_out)))
        .collect();
    let failure = || Failure {
        stage: Stage::from_code(raw.failure_stage).unwrap_or(Stage::Plugin),
        reason: GeneralReason::from_code(raw.failure_reason).map_or_else(
            || Reason::Declared(raw.failure_reason.saturating_sub(plugin_abi::raw::REASON_DECLARED)),
            Reason::General,
        ),
        message: text(raw.message),
        retry_after: (raw.retry_after_ms > 0).then(|| Duration::from_millis(raw.retry_after_ms)),
    };
    let outcome = match raw.outcome {
        OUTCOME_FULL => FakeOutcome::Full,
        OUTCOME_PARTIAL => {
            let families = column::<u32>(raw.families).into_iter().map(|family| family as usize).collect();
            FakeOutcome::Partial(families, (raw.failure_reason != 0).then(failure))
        }
        _ => FakeOutcome::Failed(failure()),
    };
    change(instance, |state| {
        state.completions.insert(collection, FakeCompletion { outcome, stages });
        OK
    })
}

unsafe extern "C" fn destroyed(instance: u64) -> i32 {
    change(instance, |state| {
        state.destroyed = true;
        OK
    })
}

unsafe extern "C" fn log_enabled(_owner: u64, _level: u32) -> u8 {
    1
}

unsafe extern "C" fn log(owner: u64, record: *const Log) -> i32 {
    // SAFETY: the SDK hands over a record on its stack.
    let record = unsafe { *record };
    change(owner, |state| {
        state.seen.logs.push((text(record.message), pairs(record.fields)));
        OK
    })
}

unsafe extern "C" fn event(instance: u64, event: *const plugin_abi::raw::Event) -> i32 {
    // SAFETY: the SDK hands over an event on its stack.
    let event = unsafe { *event };
    change(instance, |state| {
        state.seen.events.push((text(event.name), text(event.body)));
        OK
    })
}

unsafe extern "C" fn fact(instance: u64, fact: *const Label) -> i32 {
    // SAFETY: the SDK hands over a pair on its stack.
    let fact = unsafe { *fact };
    change(instance, |state| {
        state.seen.facts.push((text(fact.name), text(fact.value)));
        OK
    })
}

unsafe extern "C" fn min_interval(instance: u64, interval_ms: u64) -> i32 {
    change(instance, |state| {
        state.seen.min_interval = (interval_ms > 0).then(|| Duration::from_millis(interval_ms));
        OK
    })
}

/// The lease is the instance's own token: one at a time is enough here. Its strings are leaked.
unsafe extern "C" fn credential_acquire(
    owner: u64,
    _request: *const CredentialRequest,
    lease: *mut CredentialLease,
) -> i32 {
    // SAFETY: the SDK hands over room on its stack.
    let Some(lease) = (unsafe { lease.as_mut() }) else { return STALE };
    change(owner, |state| {
        let Some(identity) = state.identity.clone() else {
            lease.reason = GeneralReason::CredentialsWithheld.code();
            return DENIED;
        };
        let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        lease.kind = plugin_abi::raw::CREDENTIAL_KIND_PASSWORD;
        lease.lease = owner;
        lease.domain_host = Str::of(leak(identity.domain));
        lease.username_host = Str::of(leak(identity.username));
        lease.secret_host = Bytes::of(leak(identity.password).as_bytes());
        OK
    })
}

unsafe extern "C" fn credential_result(lease: u64, verdict: u32) -> i32 {
    change(lease, |state| {
        state.seen.verdicts.push(match verdict {
            plugin_abi::raw::CREDENTIAL_ACCEPTED => "accepted",
            plugin_abi::raw::CREDENTIAL_REJECTED => "rejected",
            plugin_abi::raw::CREDENTIAL_LOCKED => "locked",
            plugin_abi::raw::CREDENTIAL_DISABLED => "disabled",
            plugin_abi::raw::CREDENTIAL_PASSWORD_EXPIRED => "password expired",
            _ => "unknown",
        });
        OK
    })
}

fn accepted(index: usize) -> Verdict {
    Verdict { id: u32::try_from(index).unwrap_or(u32::MAX), verdict: plugin_abi::raw::ACCEPTED }
}

fn structs<T: Plain>(array: *const Array) -> Vec<T> {
    // SAFETY: the SDK hands over an array on its stack.
    column(unsafe { *array })
}

fn column<T: Plain>(array: Array) -> Vec<T> {
    // SAFETY: the SDK hands over arrays that are borrowed for the call.
    unsafe { array.column::<T>(ROWS_MAX) }.map(<[T]>::to_vec).unwrap_or_default()
}

fn room<'a>(verdicts: *const ArrayMut) -> &'a mut [Verdict] {
    // SAFETY: the SDK hands over an array on its stack.
    let verdicts = unsafe { *verdicts };
    // SAFETY: its room is borrowed for the call.
    unsafe { verdicts.column(ROWS_MAX) }.unwrap_or_default()
}

fn text(text: Str) -> String {
    // SAFETY: the SDK hands over strings that are borrowed for the call.
    unsafe { text.read(ROWS_MAX) }.unwrap_or_default().to_owned()
}

fn pairs(labels: Array) -> Vec<(String, String)> {
    column::<Label>(labels).into_iter().map(|label| (text(label.name), text(label.value))).collect()
}
