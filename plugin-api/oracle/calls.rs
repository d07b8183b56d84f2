//! Calls of the plugin, each made of a few bytes.
#![expect(unsafe_code, reason = "calls the functions of the host's table")]
// UNSAFETY: by the invariant of `Memory` there is as much behind each pointer as the host may read; what is handed over
// lives on the stack, or in a memory there, until the call has returned.

mod histograms;

use std::sync::Arc;

use parking_lot::Mutex;
use plugin_abi::CollectionId;
use plugin_abi::raw::{
    self, ABI_MAJOR, Array, DENIED, FULL, HostApi, INVALID, NOT_FOUND, OK, Plain, STALE, StageCost, Str,
    struct_size,
};
use plugin_host::testing::Recorded;
use plugin_host::{Instance, InstanceConfig, Violation};
use test_support::oracle::Input;

use crate::plugin::expected;
use crate::plugin::guest::{LIMITS, NAME, NOW_NS, host, instance, library};
use crate::plugin::memory::{Memory, Verdicts};
use crate::plugin::watch::Watch;

/// Calls in one input.
const CALLS_MAX: usize = 24;

/// Families, series, values, completions, records, events and requests of one instance: only data that the header
/// allows reaches the exporter, within the limits. Other data is refused as a whole or row by row, with a status or
/// verdict; and nothing panics.
pub fn handed_over(bytes: &[u8]) {
    // The library knows only the last created instance.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock();
    let watch = Arc::new(Watch::default());
    let made = library().create(NAME, &InstanceConfig::default(), Arc::<Watch>::clone(&watch));
    let made = made.expect("the plugin accepts everything");
    let mut plugin = Plugin { host: host(), instance: made, token: instance(), collection: None, watch };
    let mut input = Input::new(bytes);
    for _ in 0..CALLS_MAX {
        if input.is_empty() {
            break;
        }
        plugin.call(&mut input);
        assert_eq!(library().violations().of(Violation::HostPanic), 0, "the host panicked");
    }
}

struct Plugin {
    host: &'static HostApi,
    instance: Instance,
    token: u64,
    /// The last collection; it may be over.
    collection: Option<CollectionId>,
    watch: Arc<Watch>,
}

impl Plugin {
    fn call(&mut self, input: &mut Input<'_>) {
        let memory = &mut Memory::default();
        let before = Tally::of(&self.watch.0.recorded());
        let status = match input.byte() % 11 {
            0 | 1 => self.register_families(memory, input),
            2 | 3 => self.register_series(memory, input),
            4 => self.retire(memory, input),
            5 => self.batch(memory, input),
            6 => self.complete(memory, input),
            7 => self.log(memory, input),
            8 => self.event(memory, input),
            9 => self.histograms(memory, input),
            _ => self.others(memory, input),
        };
        let recorded = self.watch.0.recorded();
        let after = Tally::of(&recorded);
        assert!(
            [OK, FULL].contains(&status) || before == after,
            "{status}, and something arrived all the same"
        );
        assert!(recorded.families.len() <= LIMITS.families_max as usize);
    }

    /// Mostly the instance's token.
    fn token(&self, input: &mut Input<'_>) -> u64 {
        match input.byte() {
            0 => 0,
            1 => self.token + 1,
            2 => self.token ^ 1 << 60,
            3 => input.number(),
            _ => self.token,
        }
    }

    fn register_families(&self, memory: &mut Memory, input: &mut Input<'_>) -> i32 {
        let (token, rows_max) = (self.token(input), LIMITS.register_rows_max);
        let rows = memory.structs(input, rows_max, FAMILY, |memory, input| {
            let kind = u32::from(input.byte() % 6);
            raw::Family {
                size: struct_size::<raw::Family>(),
                kind,
                value_kind: u32::from(input.byte() % 6),
                reserved: input.byte().into(),
                space: memory.text(input),
                object: memory.text(input),
                item: memory.text(input),
                part: memory.text(input),
                unit: memory.text(input),
                help: memory.text(input),
                origin: memory.text(input),
                base: memory.text(input),
                display: u32::from(input.byte() % 17),
                reserved2: 0,
                bounds: histograms::bounds(memory, input, kind),
            }
        });
        let register = self.host.register_families.expect(COMPLETE);
        let before = self.watch.0.recorded().families.len();
        let (status, accepted) = self.register(register, token, &rows, input, |after| after.families.len());
        assert_eq!(self.watch.0.recorded().families.len(), before + accepted);
        status
    }

    fn register_series(&self, memory: &mut Memory, input: &mut Input<'_>) -> i32 {
        let (token, rows_max) = (self.token(input), LIMITS.register_rows_max);
        let rows = memory.structs(input, rows_max, SERIES, |memory, input| raw::Series {
            size: struct_size::<raw::Series>(),
            family: id(input),
            labels: memory.column(input, LIMITS.labels_max, LABEL, label),
            start_time_unix_ns: time(input),
            start_time_kind: u32::from(input.byte() % 4),
            reserved: 0,
        });
        let register = self.host.register_series.expect(COMPLETE);
        let before = self.watch.0.recorded().series.len();
        let (status, accepted) = self.register(register, token, &rows, input, |after| after.series.len());
        assert_eq!(self.watch.0.recorded().series.len(), before + accepted);
        status
    }

    fn register(
        &self,
        function: Register,
        token: u64,
        rows: &Array,
        input: &mut Input<'_>,
        ids: impl FnOnce(&Recorded) -> usize,
    ) -> (i32, usize) {
        let mut verdicts = Verdicts::new(LIMITS.register_rows_max);
        let room = verdicts.array(input, rows.len);
        let mut taken = u64::MAX;
        let which = input.byte();
        let rows_ptr = if which == 0 { core::ptr::null() } else { core::ptr::from_ref(rows) };
        let room_ptr = if which == 1 { core::ptr::null() } else { &raw const room };
        let taken_ptr = if which == 2 { core::ptr::null_mut() } else { &raw mut taken };
        // SAFETY: see UNSAFETY above; the room for verdicts has more rows than the host may write.
        let status = unsafe { function(token, rows_ptr, room_ptr, taken_ptr) };
        let count = (which != 2).then_some(taken);
        let accepted =
            expected::registered(status, rows.len, count, &verdicts, ids(&self.watch.0.recorded()));
        (status, accepted)
    }

    fn retire(&self, memory: &mut Memory, input: &mut Input<'_>) -> i32 {
        let token = self.token(input);
        let ids = memory.column(input, LIMITS.register_rows_max, 0, |_, input| id(input));
        let ids_ptr = if input.byte() == 0 { core::ptr::null() } else { &raw const ids };
        // SAFETY: see UNSAFETY above.
        let status = unsafe { self.host.retire.expect(COMPLETE)(token, ids_ptr) };
        assert!([OK, STALE, INVALID].contains(&status), "retire answers {status}");
        status
    }

    fn batch(&self, memory: &mut Memory, input: &mut Input<'_>) -> i32 {
        let (token, rows_max) = (self.token(input), LIMITS.batch_rows_max);
        let mut given = Vec::new();
        let mut raw = raw::Batch {
            size: size::<raw::Batch>(input),
            value_kind: u32::from(input.byte() % 5),
            ids: memory.column(input, rows_max, 0, |_, input| {
                given.push(id(input));
                given[given.len() - 1]
            }),
            values: memory.column(input, rows_max, 0, |_, input| input.number()),
            timestamps: memory.column(input, rows_max, 0, |_, input| input.number()),
            start_times: memory.column(input, rows_max, 0, |_, input| input.number()),
        };
        given.resize(rows_max as usize, 0);
        // Columns of one length are rare by themselves.
        let columns = [&mut raw.values, &mut raw.timestamps, &mut raw.start_times];
        let mended = input.byte();
        for (bit, column) in columns.into_iter().enumerate() {
            match mended >> (2 * bit) & 3 {
                0 => {}
                1 => *column = Array::EMPTY,
                _ => column.len = raw.ids.len,
            }
        }
        let mut taken = u64::MAX;
        // SAFETY: see UNSAFETY above; columns have room for as many rows as the host may read, whatever they say.
        let status = unsafe { self.host.batch.expect(COMPLETE)(token, &raw const raw, &raw mut taken) };
        let series = self.watch.0.recorded().series.len();
        let right = expected::batch(&raw, size_of::<raw::Batch>(), &given, series);
        assert_eq!(status, if token == self.token { right } else { STALE }, "{raw:?}");
        if [OK, FULL].contains(&status) {
            assert_eq!(taken, raw.ids.len.min(rows_max.into()));
        }
        status
    }

    fn complete(&mut self, memory: &mut Memory, input: &mut Input<'_>) -> i32 {
        if input.byte() & 1 == 0 {
            // One at a time: an error where one is in flight.
            self.collection = self.instance.collect(NOW_NS + 1).ok().or(self.collection);
        }
        let token = self.token(input);
        let CollectionId(mut collection) = self.collection.unwrap_or(CollectionId(self.token));
        collection ^= u64::from(input.byte() == 0);
        let raw = raw::Completion {
            size: size::<raw::Completion>(input),
            outcome: u32::from(input.byte() % 5),
            families: memory.column(input, LIMITS.families_max, 0, |_, input| id(input)),
            stages: memory.structs(input, 9, STAGE, |_, input| StageCost {
                stage: u32::from(input.byte() % 11),
                start_ns: input.number(),
                ..STAGE
            }),
            failure_stage: u32::from(input.byte() % 11),
            failure_reason: u32::from(input.byte()) + u32::from(input.byte()),
            message: memory.text(input),
            retry_after_ms: input.byte().into(),
        };
        let before = self.watch.0.recorded().completions.len();
        // SAFETY: see UNSAFETY above.
        let status = unsafe { self.host.complete.expect(COMPLETE)(token, collection, &raw const raw) };
        assert!([OK, STALE, INVALID].contains(&status), "complete answers {status}");
        assert_eq!(self.watch.0.recorded().completions.len(), before + usize::from(status == OK));
        status
    }

    fn log(&self, memory: &mut Memory, input: &mut Input<'_>) -> i32 {
        let token = self.token(input);
        let raw = raw::Log {
            size: size::<raw::Log>(input),
            level: u32::from(input.byte() % 7),
            message: memory.text(input),
            fields: memory.column(input, LIMITS.fields_max, LABEL, label),
        };
        let before = self.watch.0.recorded().logs.len();
        // SAFETY: see UNSAFETY above.
        let status = unsafe { self.host.log.expect(COMPLETE)(token, &raw const raw) };
        assert!([OK, FULL, STALE, INVALID].contains(&status), "log answers {status}");
        let is_own = status == OK && token == self.token;
        assert_eq!(self.watch.0.recorded().logs.len(), before + usize::from(is_own));
        status
    }

    fn event(&self, memory: &mut Memory, input: &mut Input<'_>) -> i32 {
        let token = self.token(input);
        let number =
            |input: &mut Input<'_>| [f64::NAN, 0.0, -1.5, f64::INFINITY][usize::from(input.byte() % 4)];
        let alert = raw::Alert {
            size: size::<raw::Alert>(input),
            state: u32::from(input.byte() % 5),
            id: memory.text(input),
            labels: memory.column(input, LIMITS.labels_max, LABEL, label),
            comparison: u32::from(input.byte() % 4),
            reserved: 0,
            value: number(input),
            threshold: number(input),
            interval_ns: u64::from(input.byte()),
            hold_ns: u64::MAX,
        };
        let raw = raw::Event {
            size: size::<raw::Event>(input),
            level: u32::from(input.byte() % 7),
            name: memory.text(input),
            time_unix_ns: time(input),
            body: memory.text(input),
            fields: memory.column(input, LIMITS.fields_max, LABEL, label),
            alert: if input.byte().is_multiple_of(4) { std::ptr::null() } else { &raw const alert },
        };
        let before = self.watch.0.recorded().events.len();
        // SAFETY: see UNSAFETY above.
        let status = unsafe { self.host.event.expect(COMPLETE)(token, &raw const raw) };
        assert!([OK, FULL, STALE, INVALID].contains(&status), "event answers {status}");
        assert_eq!(self.watch.0.recorded().events.len(), before + usize::from(status == OK));
        status
    }

    /// Calls without series: requests for a secret or for memory, a fact, an unexpected problem, a null pointer for a struct.
    fn others(&self, memory: &mut Memory, input: &mut Input<'_>) -> i32 {
        let token = self.token(input);
        match input.byte() % 9 {
            0 => {
                let request = raw::CredentialRequest {
                    size: size::<raw::CredentialRequest>(input),
                    reserved: 0,
                    host: memory.text(input),
                    identity: memory.text(input),
                };
                let mut lease = LEASE;
                let acquire = self.host.credential_acquire.expect(COMPLETE);
                // SAFETY: see UNSAFETY above; the room for the answer is as large as it says.
                let status = unsafe { acquire(token, &raw const request, &raw mut lease) };
                assert!([DENIED, STALE, INVALID].contains(&status), "acquire answers {status}");
                assert_eq!((lease.lease, lease.secret_host.len), (0, 0), "nobody lends anything here");
                status
            }
            1 => {
                let problem = raw::Problem {
                    size: size::<raw::Problem>(input),
                    severity: 0,
                    pointer: memory.text(input),
                    message: memory.text(input),
                    suggestion: memory.text(input),
                };
                // SAFETY: see UNSAFETY above.
                let status = unsafe { self.host.problem.expect(COMPLETE)(token, &raw const problem) };
                assert_eq!(status, STALE, "nobody asked for problems");
                status
            }
            2 => {
                let fact = label(memory, input);
                let fact_ptr = if input.byte() == 0 { core::ptr::null() } else { &raw const fact };
                let before = self.watch.0.recorded().facts.len();
                // SAFETY: see UNSAFETY above.
                let status = unsafe { self.host.fact.expect(COMPLETE)(token, fact_ptr) };
                assert!([OK, STALE, INVALID].contains(&status), "fact answers {status}");
                assert_eq!(self.watch.0.recorded().facts.len(), before + usize::from(status == OK));
                status
            }
            3 => {
                // SAFETY: a null pointer is refused.
                let status = unsafe {
                    self.host.batch.expect(COMPLETE)(token, core::ptr::null(), core::ptr::null_mut())
                };
                assert_eq!(status, if token == self.token { INVALID } else { STALE });
                status
            }
            4 => {
                let interval_ms = u64::from(input.byte()) * 5;
                // SAFETY: takes numbers.
                let status = unsafe { self.host.min_interval.expect(COMPLETE)(token, interval_ms) };
                let is_taken = token == self.token && interval_ms <= LIMITS.min_interval_ms_max;
                assert_eq!(status == OK, is_taken, "min_interval answers {status}");
                status
            }
            5 => {
                let mut name = raw::Text { size: size::<raw::Text>(input), ..raw::Text::ZERO };
                let family = FAMILY;
                let family_ptr = if input.byte() == 0 { core::ptr::null() } else { &raw const family };
                let metric_name = self.host.metric_name.expect(COMPLETE);
                // SAFETY: see UNSAFETY above; the room for the name is empty.
                let status = unsafe { metric_name(token, input.byte().into(), family_ptr, &raw mut name) };
                assert_eq!(status, STALE, "an instance names nothing");
                status
            }
            6 => {
                let name = memory.text(input);
                let name_ptr = if input.byte() == 0 { core::ptr::null() } else { &raw const name };
                let mut descriptor = -1;
                let listening_socket = self.host.listening_socket.expect(COMPLETE);
                // SAFETY: see UNSAFETY above.
                let status = unsafe { listening_socket(token, name_ptr, &raw mut descriptor) };
                assert!([NOT_FOUND, STALE, INVALID].contains(&status), "listening_socket answers {status}");
                assert_eq!(descriptor, -1, "nobody opened any");
                status
            }
            7 => {
                let mut room =
                    raw::CellMemory { size: size::<raw::CellMemory>(input), ..raw::CellMemory::ZERO };
                let room_ptr = if input.byte() == 0 { core::ptr::null_mut() } else { &raw mut room };
                let cell_memory = self.host.cell_memory.expect(COMPLETE);
                // SAFETY: see UNSAFETY above.
                let status = unsafe { cell_memory(token, input.byte().into(), room_ptr) };
                assert!([NOT_FOUND, STALE, INVALID].contains(&status), "cell_memory answers {status}");
                assert!(room.words_host.is_null(), "this host keeps no cells");
                status
            }
            _ => {
                // SAFETY: takes numbers.
                let status =
                    unsafe { self.host.credential_result.expect(COMPLETE)(token, input.byte().into()) };
                assert_eq!(status, STALE, "there are no leases");
                status
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Tally([usize; 8]);

impl Tally {
    fn of(recorded: &Recorded) -> Self {
        Self([
            recorded.families.len(),
            recorded.series.len(),
            recorded.series.iter().filter(|series| series.retired).count(),
            usize::try_from(recorded.batches).unwrap_or(usize::MAX),
            recorded.completions.len(),
            recorded.logs.len(),
            recorded.events.len(),
            recorded.facts.len(),
        ])
    }
}

type Register = unsafe extern "C" fn(u64, *const Array, *const raw::ArrayMut, *mut u64) -> i32;

/// An id that may have been assigned.
fn id(input: &mut Input<'_>) -> u32 {
    match input.byte() {
        255 => u32::MAX,
        254 => u32::MAX - 1,
        other => (other & 0x1f).into(),
    }
}

fn time(input: &mut Input<'_>) -> i64 {
    if input.byte() & 1 == 0 { 0 } else { input.number().cast_signed() }
}

/// The size that a struct says it has: mostly its own.
fn size<T: Plain>(input: &mut Input<'_>) -> u32 {
    match input.byte() {
        0 => 0,
        1 => struct_size::<T>() - 1,
        2 => u32::MAX,
        _ => struct_size::<T>(),
    }
}

fn label(memory: &mut Memory, input: &mut Input<'_>) -> raw::Label {
    raw::Label { name: memory.text(input), value: memory.text(input) }
}

const COMPLETE: &str = "the host's table is complete";
const _: () = assert!(ABI_MAJOR == 1, "another header needs other laws");
const LABEL: raw::Label = raw::Label { name: Str::EMPTY, value: Str::EMPTY };
const FAMILY: raw::Family = raw::Family {
    size: struct_size::<raw::Family>(),
    kind: 0,
    value_kind: 0,
    reserved: 0,
    space: Str::EMPTY,
    object: Str::EMPTY,
    item: Str::EMPTY,
    part: Str::EMPTY,
    unit: Str::EMPTY,
    help: Str::EMPTY,
    origin: Str::EMPTY,
    base: Str::EMPTY,
    display: 0,
    reserved2: 0,
    bounds: Array::EMPTY,
};
const SERIES: raw::Series = raw::Series {
    size: struct_size::<raw::Series>(),
    family: 0,
    labels: Array::EMPTY,
    start_time_unix_ns: 0,
    start_time_kind: 0,
    reserved: 0,
};
const STAGE: StageCost = StageCost {
    size: struct_size::<StageCost>(),
    stage: 0,
    start_ns: 0,
    duration_ns: 0,
    calls: 0,
    bytes_in: 0,
    bytes_out: 0,
};
const LEASE: raw::CredentialLease = raw::CredentialLease {
    size: struct_size::<raw::CredentialLease>(),
    kind: 0,
    lease: 0,
    domain_host: Str::EMPTY,
    username_host: Str::EMPTY,
    secret_host: raw::Bytes::EMPTY,
    reason: 0,
    retry_after_ms: 0,
    service_host: Str::EMPTY,
    flags: 0,
    reserved: 0,
};
