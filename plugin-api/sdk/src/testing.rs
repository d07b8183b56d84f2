//! A host made of memory, for the unit tests of plugins.
//!
//! It speaks the ABI itself, so that what a test sees went the way that it goes in the exporter; it believes what it
//! is told, which the real host does not.
//!
//! ```text
//! let mut fake = FakeInstance::<MySource>::create(target, json!({"start": 1})).unwrap();
//! let done = fake.collect(Duration::from_secs(5));
//! assert_eq!(done.outcome, FakeOutcome::Full);
//! ```
#![expect(unsafe_code, reason = "plays the host of the ABI")]
// UNSAFETY: the functions of the table follow pointers that the SDK's own host module made on its stack for the call.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use plugin_abi::{
    ABI_MAJOR, ABI_MINOR, Array, ArrayMut, Batch, Bytes, Collect, Completion, CredentialLease,
    CredentialRequest, DENIED, DisplayRule, GeneralReason, HostApi, Label, Log, OK, OUTCOME_FULL,
    OUTCOME_PARTIAL, Plain, STALE, Stage, StageCost, Str, VALUE_F64, VALUE_I64, Verdict, struct_size,
};
use serde_json::Value;

use crate::failure::{Failure, Reason};
use crate::handle::Handle;
use crate::host;
use crate::output::Stamp;
use crate::plugin::{Plugin, SourceEntry, lock};
use crate::slot::Slot;
use crate::source::{BlockingSource, Problem, Source, Target};

/// An instance of a source in a host made of memory.
pub struct FakeInstance {
    token: u64,
    slot: Arc<dyn Slot>,
    world: Arc<World>,
}

/// All that arrived for an instance.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Families by id: object, item and part.
    pub families: Vec<(String, String, String)>,
    /// How each of them is shown, and its base.
    pub displays: Vec<(DisplayRule, String)>,
    /// The help of each.
    pub helps: Vec<String>,
    /// Series by id.
    pub series: Vec<SeenSeries>,
    /// Log messages with their fields.
    pub logs: Vec<(String, Vec<(String, String)>)>,
    /// Events: name and body.
    pub events: Vec<(String, String)>,
    /// What the target says of itself: names and values, in order.
    pub facts: Vec<(String, String)>,
    /// The verdicts of leases, in order: `accepted`, `rejected`, `locked`, `unknown`.
    pub verdicts: Vec<&'static str>,
}

/// A series that arrived, with its last value.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenSeries {
    /// Its family's id.
    pub family: usize,
    /// Its labels.
    pub labels: Vec<(String, String)>,
    /// Its last value.
    pub value: Option<SeenValue>,
    /// The times of its last value.
    pub stamp: Stamp,
    /// Whether it was retired.
    pub retired: bool,
}

/// A value as it came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SeenValue {
    /// From a column of doubles.
    F64(f64),
    /// From an unsigned column.
    U64(u64),
    /// From a signed column.
    I64(i64),
}

/// How a collection ended.
#[derive(Clone, Debug, PartialEq)]
pub enum FakeOutcome {
    /// All there is.
    Full,
    /// These families, and why not the others.
    Partial(Vec<usize>, Option<Failure>),
    /// Nothing.
    Failed(Failure),
}

/// The end of a collection.
#[derive(Clone, Debug)]
pub struct FakeCompletion {
    /// How it ended.
    pub outcome: FakeOutcome,
    /// The stages with their calls and bytes in and out.
    pub stages: Vec<(Stage, u64, u64, u64)>,
}

/// A password that the host lends.
#[derive(Clone, Debug, Default)]
pub struct FakeIdentity {
    /// The account's domain.
    pub domain: String,
    /// The account.
    pub username: String,
    /// Its password.
    pub password: String,
}

#[derive(Default)]
struct World {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    seen: Seen,
    completions: HashMap<u64, FakeCompletion>,
    identity: Option<FakeIdentity>,
    destroyed: bool,
}

impl FakeInstance {
    /// Makes an instance of an async source, without an identity.
    ///
    /// # Errors
    /// What the source does not accept.
    pub fn create<S: Source>(target: Target, settings: &Value) -> Result<Self, Vec<Problem>> {
        Self::of(&SourceEntry::of::<S>(), target, settings, None)
    }

    /// Makes an instance of an async source that is lent `identity` when it asks for a secret.
    ///
    /// # Errors
    /// What the source does not accept.
    pub fn create_with<S: Source>(
        target: Target,
        settings: &Value,
        identity: FakeIdentity,
    ) -> Result<Self, Vec<Problem>> {
        Self::of(&SourceEntry::of::<S>(), target, settings, Some(identity))
    }

    /// Makes an instance of a blocking source.
    ///
    /// # Errors
    /// What the source does not accept.
    pub fn create_blocking<S: BlockingSource>(
        target: Target,
        settings: &Value,
    ) -> Result<Self, Vec<Problem>> {
        Self::of(&SourceEntry::blocking::<S>(), target, settings, None)
    }

    fn of(
        entry: &SourceEntry,
        target: Target,
        settings: &Value,
        identity: Option<FakeIdentity>,
    ) -> Result<Self, Vec<Problem>> {
        host::install(TABLE);
        crate::log::install();
        let token = new_token();
        let world = Arc::new(World::default());
        lock(&world.state).identity = identity;
        lock(worlds()).insert(token, Arc::clone(&world));
        let state = PLUGIN.state(2).map_err(|error| vec![Problem::new("", error.to_string())])?;
        let _inside = state.runtime().enter();
        let handle = Handle { instance: token, wake: Arc::default() };
        let slot = (entry.create)(&settings.to_string(), target, handle)?;
        Ok(Self { token, slot, world })
    }

    /// Gives it new settings, which hold from the next collection on.
    ///
    /// # Errors
    /// What the source does not accept.
    pub fn reconfigure(&self, settings: &Value) -> Result<(), Vec<Problem>> {
        self.slot.reconfigure(&settings.to_string())
    }

    /// Collects once, and waits for the end. Nothing where the SDK itself broke its word, ten seconds after the deadline.
    #[must_use]
    pub fn collect(&self, deadline: Duration) -> Option<FakeCompletion> {
        let collection = new_token();
        let now_ns = host::now_ns();
        let deadline_ns = now_ns.saturating_add(u64::try_from(deadline.as_nanos()).unwrap_or(u64::MAX));
        let size = struct_size::<Collect>();
        let request = Collect { size, reserved: 0, instance: self.token, collection, now_ns, deadline_ns };
        let state = PLUGIN.state.get()?;
        if Arc::clone(&self.slot).collect(state, request) != OK {
            return None;
        }
        self.world.wait(deadline + PATIENCE, |state| state.completions.remove(&collection))
    }

    /// All that arrived so far.
    #[must_use]
    pub fn seen(&self) -> Seen {
        lock(&self.world.state).seen.clone()
    }

    /// Destroys it and waits until it says so.
    #[must_use]
    pub fn destroy(self) -> bool {
        let Some(state) = PLUGIN.state.get() else { return false };
        Arc::clone(&self.slot).destroy(state);
        self.world.wait(PATIENCE, |state| state.destroyed.then_some(())).is_some()
    }
}

impl World {
    fn wait<R>(&self, patience: Duration, mut look: impl FnMut(&mut State) -> Option<R>) -> Option<R> {
        let until = Instant::now() + patience;
        let mut state = lock(&self.state);
        loop {
            if let Some(result) = look(&mut state) {
                return Some(result);
            }
            let pause = until.saturating_duration_since(Instant::now());
            if pause.is_zero() {
                return None;
            }
            state = self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

static PLUGIN: Plugin = Plugin::new("testing", "0", "A host made of memory", &[], &[]);

const PATIENCE: Duration = Duration::from_secs(10);
const ROWS_MAX: usize = 1 << 24;

fn new_token() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn worlds() -> &'static Mutex<HashMap<u64, Arc<World>>> {
    static WORLDS: OnceLock<Mutex<HashMap<u64, Arc<World>>>> = OnceLock::new();
    WORLDS.get_or_init(Mutex::default)
}

/// Changes what an instance has seen; STALE for one that is not known.
fn change(token: u64, action: impl FnOnce(&mut State) -> i32) -> i32 {
    let world = lock(worlds()).get(&token).cloned();
    let Some(world) = world else { return STALE };
    let status = action(&mut lock(&world.state));
    world.changed.notify_all();
    status
}

const TABLE: HostApi = HostApi {
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
    let rows = structs::<plugin_abi::Family>(families);
    let verdicts = room(verdicts);
    change(instance, |state| {
        for (row, verdict) in rows.iter().zip(verdicts) {
            *verdict = accepted(state.seen.families.len());
            state.seen.families.push((text(row.object), text(row.item), text(row.part)));
            let rule = DisplayRule::from_code(row.display).unwrap_or_default();
            state.seen.displays.push((rule, text(row.base)));
            state.seen.helps.push(text(row.help));
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
    let rows = structs::<plugin_abi::Series>(series);
    let verdicts = room(verdicts);
    change(instance, |state| {
        for (row, verdict) in rows.iter().zip(verdicts) {
            *verdict = accepted(state.seen.series.len());
            let (family, labels) = (row.family as usize, pairs(row.labels));
            state.seen.series.push(SeenSeries {
                family,
                labels,
                value: None,
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
            || Reason::Declared(raw.failure_reason.saturating_sub(plugin_abi::REASON_DECLARED)),
            Reason::General,
        ),
        message: text(raw.message),
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

unsafe extern "C" fn event(instance: u64, event: *const plugin_abi::Event) -> i32 {
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
        lease.kind = plugin_abi::CREDENTIAL_KIND_PASSWORD;
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
            plugin_abi::CREDENTIAL_ACCEPTED => "accepted",
            plugin_abi::CREDENTIAL_REJECTED => "rejected",
            plugin_abi::CREDENTIAL_LOCKED => "locked",
            _ => "unknown",
        });
        OK
    })
}

fn accepted(index: usize) -> Verdict {
    Verdict { id: u32::try_from(index).unwrap_or(u32::MAX), verdict: plugin_abi::ACCEPTED }
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
