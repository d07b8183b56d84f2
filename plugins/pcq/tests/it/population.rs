//! A host whose instances a test moves about: names that are used again, texts that change, a host that starts again.

use std::sync::Arc;
use std::time::Duration;

use counters::pcq::types::{CounterType, DetailLevel, InstanceType};
use parking_lot::Mutex;
use plugin_abi::Level;
use plugin_host::testing::{RecordedOutcome, Value as Shown};
use serde_json::json;
use windows_sim::model::{Clock, Counter, Counterset, Moment, Provider, Sample, Value, ValueSource};
use wire::{FileTime, Guid};

use crate::world::{BOOT, NOON, Plugin, SimHost, Watch, countersets};

static PROVIDER: Provider =
    Provider { guid: Guid::from_u128(0x1f0c_51f4_70a1_4e0c_8f8a_7a3e_6d0f_2b01), name: "Test" };

static ROOMS: Counterset = Counterset {
    guid: Guid::from_u128(0x1f0c_51f4_70a1_4e0c_8f8a_7a3e_6d0f_2b02),
    name: "Rooms",
    explain: "Rooms of a house.",
    german: None,
    german_explain: None,
    provider: &PROVIDER,
    detail: DetailLevel::NOVICE,
    instances: InstanceType::MULTIPLE,
    counters: &[
        Counter::new(1, CounterType::PERF_COUNTER_COUNTER, "Visits", "Who came in."),
        Counter::new(2, CounterType::PERF_COUNTER_TEXT, "Owner", "Whose it is."),
    ],
};

/// Its first counterset comes before [`ROOMS`] in the data, whatever is added first.
static DOORS: Counterset = Counterset {
    guid: Guid::from_u128(0x0000_0001_70a1_4e0c_8f8a_7a3e_6d0f_2b03),
    name: "Doors",
    explain: "Doors of the house.",
    german: None,
    german_explain: None,
    provider: &PROVIDER,
    detail: DetailLevel::NOVICE,
    instances: InstanceType::SINGLE,
    counters: &[Counter::new(1, CounterType::PERF_COUNTER_RAWCOUNT, "Open", "How many are open.")],
};

/// A host of these two countersets, as a test would have it.
struct House {
    state: Mutex<State>,
}

struct State {
    boot: FileTime,
    rooms: Vec<Sample>,
    has_doors: bool,
}

impl House {
    fn new() -> (Arc<Self>, SimHost) {
        let state = State { boot: BOOT, rooms: Vec::new(), has_doors: false };
        let house = Arc::new(Self { state: Mutex::new(state) });
        let source: Arc<dyn ValueSource> = Arc::<Self>::clone(&house);
        (house, SimHost::with_source(source, Clock::manual(NOON)))
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock());
    }

    /// These rooms are there: number, name, visits, owner.
    fn rooms(&self, rooms: &[(u32, &str, u32, &str)]) {
        let samples = rooms.iter().map(|&(id, name, visits, owner)| {
            let mut sample = Sample::of_numbers(&ROOMS, name, id, &[visits.into(), 0]);
            sample.values[1] = Value::text(owner);
            sample
        });
        self.change(|state| state.rooms = samples.collect());
    }
}

impl ValueSource for House {
    fn countersets(&self) -> Vec<&'static Counterset> {
        if self.state.lock().has_doors { vec![&ROOMS, &DOORS] } else { vec![&ROOMS] }
    }

    fn moment(&self) -> Moment {
        Moment { time: NOON, boot: self.state.lock().boot, perf_freq: 10_000_000 }
    }

    fn sample(&self, counterset: Guid, _at: &Moment) -> Option<Vec<Sample>> {
        let state = self.state.lock();
        if counterset == ROOMS.guid {
            Some(state.rooms.clone())
        } else {
            state.has_doors.then(|| vec![Sample::of_numbers(&DOORS, "", 0, &[7])])
        }
    }
}

/// The series of a full collection, without the object's name.
#[track_caller]
fn shown(watch: &Watch) -> Vec<String> {
    watch.full().series().iter().map(|line| line.replace("Rooms|", "")).collect()
}

fn visits(room: &str, visits: u64) -> String {
    format!("Visits|{{counter_instance={room}}} = Some(U64({visits}))")
}

fn owner(room: &str, owner: &str) -> String {
    format!("Owner|{{counter_instance={room},text={owner}}} = Some(U64(1))")
}

#[test]
fn an_instance_that_takes_the_name_of_one_that_went_gets_its_series() {
    let ((house, sim), plugin) = (House::new(), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["Rooms"]));
    house.rooms(&[(1, "hall", 10, "Ann"), (2, "attic", 20, "Bob")]);
    watch.full();
    house.rooms(&[(2, "attic", 21, "Bob"), (3, "hall", 5, "Ann")]);
    let expected = [owner("attic", "Bob"), owner("hall", "Ann"), visits("attic", 21), visits("hall", 5)];
    assert_eq!(shown(&watch), expected);
    assert_eq!(shown(&watch), expected);
}

#[test]
fn a_total_is_shown_only_as_long_as_it_is_alone() {
    let ((house, sim), plugin) = (House::new(), Plugin::new());
    let settings = json!({"countersets": [{"name": "Rooms", "counters": {"include": ["Visits"]}}]});
    let watch = plugin.watch(&sim, settings);
    house.rooms(&[(0, "_Total", 30, "")]);
    assert_eq!(shown(&watch), [visits("_Total", 30)]);
    house.rooms(&[(0, "_Total", 31, ""), (1, "hall", 10, "")]);
    assert_eq!(shown(&watch), [visits("hall", 10)]);
    assert_eq!(shown(&watch), [visits("hall", 10)]);
    house.rooms(&[(0, "_Total", 32, "")]);
    assert_eq!(shown(&watch), [visits("_Total", 32)]);
}

#[test]
fn of_two_instances_with_one_name_one_is_shown_until_it_goes() {
    let ((house, sim), plugin) = (House::new(), Plugin::new());
    let settings = json!({"countersets": [{"name": "Rooms", "counters": {"include": ["Visits"]}}]});
    let watch = plugin.watch(&sim, settings);
    let left_out =
        |count: u64| format!("Instances|Left Out|{{counterset=Rooms,reason=duplicate}} = Some(U64({count}))");
    // The lowest number, whatever comes first.
    house.rooms(&[(2, "hall", 20, ""), (1, "hall", 10, "")]);
    assert_eq!(shown(&watch), [left_out(1).replace("Rooms|", ""), visits("hall", 10)]);
    assert_eq!(shown(&watch), [left_out(1), visits("hall", 10)]);
    house.rooms(&[(2, "hall", 21, "")]);
    assert_eq!(shown(&watch), [left_out(0), visits("hall", 21)]);
    house.rooms(&[(2, "hall", 20, ""), (1, "hall", 10, "")]);
    let ended = watch.full();
    let said: Vec<_> = ended.lines("Instances are left out").collect();
    let [(Level::Warn, fields)] = &said[..] else { panic!("once, as a warning: {said:?}") };
    assert!(fields.contains(&("counterset", "Rooms")) && fields.contains(&("instances", "1")), "{fields:?}");
    let next_step = fields.iter().find(|(name, _)| *name == "next_step");
    assert!(next_step.is_some_and(|(_, step)| step.contains("`instance_id: true`")), "{fields:?}");
}

#[test]
fn two_instances_with_one_name_are_two_series_where_they_carry_their_number() {
    let ((house, sim), plugin) = (House::new(), Plugin::new());
    let settings = json!({"countersets": [
        {"name": "Rooms", "instance_id": true, "counters": {"include": ["Visits"]}},
    ]});
    let watch = plugin.watch(&sim, settings);
    // Windows does not see to it that the pairs differ, either.
    house.rooms(&[(1, "hall", 10, ""), (2, "hall", 20, ""), (2, "hall", 30, "")]);
    let one = |id: u32, visits: u32| {
        format!("Visits|{{counter_instance=hall,instance_id={id}}} = Some(U64({visits}))")
    };
    assert_eq!(shown(&watch), [one(1, 10), one(2, 20)]);
    assert_eq!(shown(&watch), [one(1, 10), one(2, 20)]);
}

// "I" and its NUL take four bytes, as a number does.
#[test]
fn a_text_that_changes_is_another_series_however_short_it_is() {
    let ((house, sim), plugin) = (House::new(), Plugin::new());
    let settings = json!({"countersets": [{"name": "Rooms", "counters": {"include": ["Owner"]}}]});
    let watch = plugin.watch(&sim, settings);
    for text in ["Ann", "I", "You", "Ann"] {
        house.rooms(&[(1, "hall", 10, text)]);
        assert_eq!(shown(&watch), [owner("hall", text)]);
        assert_eq!(shown(&watch), [owner("hall", text)]);
    }
    assert_eq!(watch.full().recorded.series.len(), 4, "one for each change, none for the polls between");
}

#[test]
fn a_counterset_without_instances_is_complete_and_empty() {
    let ((house, sim), plugin) = (House::new(), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["Rooms"]));
    assert_eq!(shown(&watch), [""; 0]);
    house.rooms(&[(1, "hall", 10, "Ann")]);
    assert_eq!(shown(&watch), [owner("hall", "Ann"), visits("hall", 10)]);
    house.rooms(&[]);
    assert_eq!(shown(&watch), [""; 0]);
}

#[test]
fn a_host_that_started_anew_does_not_make_its_counters_wrap() {
    let ((house, sim), plugin) = (House::new(), Plugin::new());
    let settings = json!({"countersets": [{"name": "Rooms", "counters": {"include": ["Visits"]}}]});
    let watch = plugin.watch(&sim, settings);
    // From here to 5 it is less than 2³¹ on the way round.
    house.rooms(&[(1, "hall", u32::MAX - 9, "")]);
    watch.full();
    house.rooms(&[(1, "hall", 5, "")]);
    assert_eq!(shown(&watch), [visits("hall", (1 << 32) + 5)], "a wrap, as long as the host runs");
    house.rooms(&[(1, "hall", u32::MAX - 9, "")]);
    watch.full();
    house.change(|state| state.boot = FileTime(NOON.0 - 600_000_000));
    house.rooms(&[(1, "hall", 5, "")]);
    sim.cut();
    assert_eq!(shown(&watch), [visits("hall", 5)]);
}

#[test]
fn a_counterset_that_is_installed_later_is_found_and_mixes_nothing_up() {
    let ((house, sim), plugin) = (House::new(), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["Rooms", "Doors"]));
    house.rooms(&[(1, "hall", 10, "Ann")]);
    let (objects, _) = (watch.collect().partial().0.join(" "), ());
    assert_eq!(objects, "Rooms");
    house.change(|state| state.has_doors = true);
    assert_ne!(watch.collect().outcome, RecordedOutcome::Full, "it never was there");
    plugin.advance(Duration::from_secs(60));
    let ended = watch.full();
    let expected = [
        "Doors|Open|{} = Some(U64(7))".to_owned(),
        format!("Rooms|{}", owner("hall", "Ann")),
        format!("Rooms|{}", visits("hall", 10)),
    ];
    assert_eq!(ended.series(), expected);
    assert_eq!(sim.calls(3) - sim.calls(4), 1, "one query is open");
    let value = ended.recorded.series.last().and_then(|series| series.value);
    assert_eq!(value, Some(Shown::U64(7)));
}
