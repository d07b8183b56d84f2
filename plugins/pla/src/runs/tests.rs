//! What is counted of sets that log, and what it costs to show that.

use std::sync::Arc;
use std::time::Duration;

use counter_log::writer::QueueOptions;
use counter_log::{LogHeader, SinkError, SinkErrorKind};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use parking_lot::Mutex;
use pla_engine::Moment;
use plugin_sdk::testing::{FakeInstance, FakeOutcome, Seen, SeenSeries, SeenValue};
use plugin_sdk::{Collection, Coverage, Failure, Problem, Setup, Source, Target};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::open_log::OpenLog;
use super::work::Compiled;
use super::{ActiveCollector, AnySink, Runs};
use crate::actions::Actions;
use crate::config::{self, Settings, StorageSettings};
use crate::counters::Paths;
use crate::series::AlertSeries;
use crate::sets::{self, LoadedSet, ShownSet};
use crate::threads::{LOADS, Place, STORES};

/// Takes a record of each log in each collection, for a sink that takes none, and records what it allocates to show that.
struct Unwritten {
    sets: Vec<LoadedSet>,
    runs: Runs,
    actions: Actions,
    series: AlertSeries,
}

static ALLOCATIONS: Mutex<Vec<u64>> = Mutex::new(Vec::new());

impl Source for Unwritten {
    const NAME: &'static str = "unwritten";
    const HELP: &'static str = "Takes records that are not written";
    type Settings = Settings;

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        let runs = Runs::new("web1".to_owned(), StorageSettings::new(&setup.settings, false));
        let actions = Actions::new("web1", "web1.example.com");
        let mut source = Self { sets: Vec::new(), runs, actions, series: AlertSeries::default() };
        source.reconfigure(setup.settings);
        Ok(source)
    }

    fn reconfigure(&mut self, settings: Settings) {
        self.sets = sets::loaded(config::compile(&settings).expect("settings that are right").sets);
        self.runs.select(self.sets.iter().map(LoadedSet::set), &mut Paths::default(), |_| true);
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        let moment = Moment { wall: Timestamp::UNIX_EPOCH, monotonic: collection.began() };
        self.runs.step(|_| false, moment, Instant::now() + Duration::from_secs(60)).await;
        for active in self.runs.runs.iter_mut().flat_map(|run| &mut run.collectors) {
            if active.log.is_none() {
                active.begin(unwritten());
            }
            if let ActiveCollector { log: Some(log), .. } = active {
                log.push(Timestamp::UNIX_EPOCH, &[]);
            }
        }
        let Self { sets, runs, actions, series } = self;
        let sets: Vec<ShownSet<'_>> = sets.iter().map(ShownSet::from).collect();
        let show = || {
            series.send_sets(&sets, &[], actions, collection.output());
            series.send_logs(runs.all(), collection.output());
        };
        let allocated = allocation_counter::measure(show).count_total;
        ALLOCATIONS.lock().push(allocated);
        Ok(Coverage::Full)
    }
}

fn unwritten() -> OpenLog {
    let header = LogHeader { columns: Vec::new(), zone: TimeZone::UTC, description: String::new() };
    let error = SinkError { kind: SinkErrorKind::Refused, message: "not today".to_owned() };
    OpenLog::open(
        Arc::new(header),
        (String::new(), AnySink::Refused(error)),
        None,
        (None, QueueOptions::default()),
    )
}

fn collected(fake: &FakeInstance) -> Seen {
    let done = fake.collect(Duration::from_secs(60)).expect("the collection ends");
    assert_eq!(done.outcome, FakeOutcome::Full);
    fake.seen()
}

/// The series that are there.
fn live(seen: &Seen) -> impl Iterator<Item = (&str, &SeenSeries)> {
    let live = seen.series.iter().filter(|series| !series.retired);
    live.map(|series| (&*seen.families[series.family].1, series))
}

/// The value of the only series of an item that is of this set.
fn of(seen: &Seen, item: &str, set: &str) -> f64 {
    let is_it = |series: &SeenSeries| series.labels[0].1 == set;
    let mut found = live(seen).filter(|(of, series)| *of == item && is_it(series));
    let Some((_, SeenSeries { value: Some(SeenValue::F64(value)), .. })) = found.next() else {
        panic!("`{item}` of {set} is not there")
    };
    assert!(found.next().is_none(), "`{item}` of {set} is there twice");
    *value
}

#[test]
fn logs_are_shown_without_an_allocation_until_sets_come_or_go_and_their_counts_go_on() {
    let place = tempfile::tempdir().expect("a folder");
    let settings = |sets: Value| json!({"sets": sets, "storage": {"directory": place.path().join("web1")}});
    let set = |name: &str, counter: &str| json!({"name": name, "counters": [counter]});
    let (day, night) = (set("Day", r"\Water\Level"), set("Night", r"\Water\Level"));
    let fake = FakeInstance::create::<Unwritten>(Target::default(), &settings(json!([day, night])));
    let fake = fake.expect("settings that are right");
    for earlier in 0..6_u32 {
        let seen = collected(&fake);
        assert_eq!(of(&seen, "Waiting", "Day"), f64::from(earlier), "those of earlier collections");
        assert_eq!(of(&seen, "Segments", "Night"), 1.0);
    }
    let seen = fake.seen();
    assert!(seen.series.iter().all(|series| series.value.is_some() && !series.retired));
    let allocations = ALLOCATIONS.lock().clone();
    assert!(allocations[0] > 0, "the first one registers");
    assert_eq!(allocations[2..], [0; 4], "{allocations:?}");

    let before = seen.series.len();
    // One is defined otherwise: its log goes on in another.
    fake.reconfigure(&settings(json!([set("Day", r"\Water\Depth"), night])))
        .expect("settings that are right");
    let seen = collected(&fake);
    assert_eq!(seen.series.len(), before, "no series is new");
    assert_eq!((of(&seen, "Segments", "Day"), of(&seen, "Segments", "Night")), (2.0, 1.0));
    assert_eq!(of(&collected(&fake), "Waiting", "Day"), 7.0, "in both of its logs");

    fake.reconfigure(&settings(json!([night, set("Noon", r"\Water\Level")])))
        .expect("settings that are right");
    let seen = collected(&fake);
    let mut sets: Vec<&str> = live(&seen).map(|(_, series)| &*series.labels[0].1).collect();
    sets.dedup();
    assert_eq!(sets, ["Night", "Noon"], "the series of a set that is gone end");
    assert_eq!(of(&seen, "Waiting", "Night"), 8.0, "it goes on in its series");
    assert_eq!(seen.series.len(), before + before / 2, "those of the new set alone are new");
    assert!(fake.destroy(), "it says that it is destroyed");
}

#[test]
fn a_data_manager_that_fails_leaves_when_the_last_one_ended() {
    let mut compiled = Compiled::default();
    compiled.add(Compiled { took_s: 2.0, ended: Some(Timestamp::UNIX_EPOCH), ..Compiled::default() });
    compiled.add(Compiled { failures: 1, ..Compiled::default() });
    let expected =
        Compiled { failures: 1, took_s: 2.0, ended: Some(Timestamp::UNIX_EPOCH), ..Compiled::default() };
    assert_eq!(compiled, expected);
}

#[tokio::test]
async fn sets_begin_and_store_their_states_while_the_folder_of_another_target_hangs() {
    let place = tempfile::tempdir().expect("a folder");
    let at = |target: &str| place.path().join(target);
    let runs = |target: &str| {
        let settings = json!({
            "sets": [{"name": "Day", "counters": [r"\Water\Level"]}],
            "storage": {"directory": at(target)}
        });
        let settings: Settings = serde_json::from_value(settings).expect("settings");
        let mut runs = Runs::new(target.to_owned(), StorageSettings::new(&settings, false));
        let sets = sets::loaded(config::compile(&settings).expect("settings that are right").sets);
        runs.select(sets.iter().map(LoadedSet::set), &mut Paths::default(), |_| true);
        runs
    };
    let moment = Moment { wall: Timestamp::UNIX_EPOCH, monotonic: Duration::ZERO };
    let soon = || Instant::now() + Duration::from_secs(30);
    let (mut hangs, mut other) = (runs("hangs"), runs("other"));
    let (loads, stores) =
        (LOADS.hang(Place::Target(at("hangs"))).await, STORES.hang(Place::Target(at("hangs"))).await);

    hangs.step(|_| false, moment, Instant::now()).await;
    other.step(|_| false, moment, soon()).await;
    assert!(other.runs[0].state_machine().is_some(), "it has begun");
    hangs.step(|_| false, moment, Instant::now()).await;
    assert!(hangs.runs[0].state_machine().is_none(), "it waits for its folder");
    drop(loads);
    hangs.step(|_| false, moment, soon()).await;
    assert!(hangs.runs[0].state_machine().is_some());

    let is_stored = |target: &str| at(target).join("Day").join(".run.json").exists();
    let stored = async |target: &str, runs: &mut Runs| {
        let deadline = soon();
        while !is_stored(target) {
            assert!(Instant::now() < deadline, "{target}");
            runs.store(moment);
            tokio::task::yield_now().await;
        }
    };
    stored("other", &mut other).await;
    assert!(!is_stored("hangs"), "it waits for its folder");
    drop(stores);
    stored("hangs", &mut hangs).await;
}
