//! A sink that panics: a collection has one end all the same, and costs nothing but itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use plugin_abi::{
    Batch, BatchOutcome, CollectionId, Completion, DataSink, Event, FamilyDef, GeneralReason, HistogramBatch,
    Level, NoRoom, Notices, SeriesDef, Verdict,
};
use plugin_host::testing::{RecordedOutcome, RecordingSink, Value};
use plugin_host::{Instance, InstanceState, Library, Violation};

use crate::support::{World, config, wait_until};

/// Records like another sink, but panics in some of its calls, once for each time that they are named.
struct PanickingSink {
    inner: RecordingSink,
    panics: Mutex<Vec<&'static str>>,
    completed: AtomicUsize,
}

impl PanickingSink {
    fn new(panics: &[&'static str]) -> Arc<Self> {
        let (inner, completed) = (RecordingSink::default(), AtomicUsize::new(0));
        Arc::new(Self { inner, panics: Mutex::new(panics.to_vec()), completed })
    }

    fn called(&self, call: &str) {
        assert!(!self.takes_panic(call), "no room for {call}");
    }

    fn takes_panic(&self, call: &str) -> bool {
        let mut panics = self.panics.lock();
        let place = panics.iter().position(|panics| *panics == call);
        place.map(|place| panics.remove(place)).is_some()
    }
}

impl DataSink for PanickingSink {
    fn register_families(&self, families: &[FamilyDef<'_>], verdicts: &mut Vec<Verdict>) {
        self.called("register_families");
        self.inner.register_families(families, verdicts);
    }

    fn register_series(&self, series: &[SeriesDef<'_>], verdicts: &mut Vec<Verdict>) {
        self.called("register_series");
        self.inner.register_series(series, verdicts);
    }

    fn retire(&self, ids: &[u32]) {
        self.called("retire");
        self.inner.retire(ids);
    }

    fn batch(&self, batch: &Batch<'_>) -> BatchOutcome {
        self.called("batch");
        self.inner.batch(batch)
    }

    fn histograms(&self, batch: &HistogramBatch<'_>) -> BatchOutcome {
        self.called("histograms");
        self.inner.histograms(batch)
    }

    fn checked(&self, took_ns: u64) {
        self.called("checked");
        self.inner.checked(took_ns);
    }

    fn complete(&self, collection: CollectionId, completion: Completion<'_>) {
        let panics = self.takes_panic("complete");
        // Who waits for this number begins the next collection, which must not take this one's panic.
        self.completed.fetch_add(1, Ordering::SeqCst);
        assert!(!panics, "no room for complete");
        self.inner.complete(collection, completion);
    }

    fn reset(&self) {
        self.called("reset");
        self.inner.reset();
    }
}

impl Notices for PanickingSink {
    fn log_enabled(&self, level: Level) -> bool {
        self.called("log_enabled");
        self.inner.log_enabled(level)
    }

    fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        self.called("log");
        self.inner.log(level, message, fields);
    }

    fn event(&self, event: &Event<'_>) -> Result<(), NoRoom> {
        self.called("event");
        self.inner.event(event)
    }

    fn fact(&self, name: &str, value: &str) {
        self.called("fact");
        self.inner.fact(name, value);
    }
}

const CALLS: [&str; 10] = [
    "register_families",
    "register_series",
    "batch",
    "histograms",
    "fact",
    "event",
    "log",
    "retire",
    "checked",
    "complete",
];

fn made(library: &Library, panics: &[&'static str]) -> (Instance, Arc<PanickingSink>) {
    let sink = PanickingSink::new(panics);
    let source = &library.info().sources[0].name;
    let instance = library.create(source, &config("a"), Arc::<PanickingSink>::clone(&sink));
    (instance.expect("the instance is made"), sink)
}

/// A place at the target that is not given back lets no second collection begin.
fn one_place() -> (World, Library) {
    let world = World::limited(|limits| limits.collections_per_target_max = 1);
    let library = world.load("zoo/all_calls.c");
    (world, library)
}

#[test]
fn a_collection_in_which_the_exporter_panics_fails_once_and_the_next_one_is_full() {
    let (world, library) = one_place();
    for call in CALLS {
        let (instance, sink) = made(&library, &[call]);
        let first = instance.collect(world.deadline()).expect("the first collection begins");
        let recorded = sink.inner.wait_completions(1).expect("it ends");
        let [completion] = &*recorded.completions else { panic!("{call}: more than one end") };
        assert_eq!(completion.collection, first, "{call}");
        let RecordedOutcome::Failed(failure) = &completion.outcome else { panic!("{call}: it did not fail") };
        assert_eq!(failure.reason, GeneralReason::Internal.into(), "{call}");
        let text = format!("the exporter panicked while it took what the plugin sent: no room for {call}");
        assert_eq!(failure.message, text);
        wait_until("an idle instance", || instance.state() == InstanceState::Idle);
        assert_eq!(instance.violations().of(Violation::HostPanic), 1, "{call}");

        instance.collect(world.deadline()).expect("the place at the target was given back");
        let recorded = sink.inner.wait_completions(2).expect("the second collection ends");
        assert_eq!(recorded.completions[1].outcome, RecordedOutcome::Full, "{call}");
        assert_eq!((recorded.resets, recorded.series[0].value), (1, Some(Value::F64(7.0))), "{call}");
        for blamed in [Violation::LateCompletion, Violation::DoubleCompletion, Violation::Hang] {
            assert_eq!(instance.violations().of(blamed), 0, "{call}: the plugin did nothing wrong");
        }
    }
}

#[test]
fn an_end_that_cannot_be_reported_is_tried_twice_and_leaves_the_target_free() {
    let (world, library) = one_place();
    let (instance, sink) = made(&library, &["complete"; 6]);
    for round in 1..=3 {
        instance.collect(world.deadline()).expect("the collection begins");
        wait_until("the end", || sink.completed.load(Ordering::SeqCst) == 2 * round);
        wait_until("an idle instance", || instance.state() == InstanceState::Idle);
    }
    instance.collect(world.deadline()).expect("the collection begins");
    let recorded = sink.inner.wait_completions(1).expect("it ends");
    assert_eq!(recorded.completions[0].outcome, RecordedOutcome::Full);
}

#[test]
fn a_panic_while_the_instance_is_made_anew_ends_the_collection_that_it_is_made_for() {
    let (world, library) = one_place();
    let (instance, sink) = made(&library, &["batch", "reset"]);
    for count in 1..=3 {
        instance.collect(world.deadline()).expect("the collection begins");
        let recorded = sink.inner.wait_completions(count).expect("it ends");
        let outcome = &recorded.completions[count - 1].outcome;
        assert_eq!(matches!(outcome, RecordedOutcome::Full), count == 3, "{outcome:?}");
        wait_until("an idle instance", || instance.state() == InstanceState::Idle);
    }
}
