//! A host with few countersets in which each number is there once: odd numbers of counters, one instance, two instances
//! of one name, instances to be added up, and one counterset that nobody watches.

use std::sync::Arc;

use counters::pcq::types::{CounterType as T, DetailLevel, InstanceType};
use serde_json::{Value as Json, json};
use test_support::perflib::{Gaps, RawValue, buffer, read};
use windows_sim::RecordedCall;
use windows_sim::model::{Clock, Counter, Counterset, Moment, Provider, Sample, Value, ValueSource};
use wire::{FileTime, Guid};

use crate::world::{BOOT, NOON, SimHost};

static PROVIDER: Provider =
    Provider { guid: Guid::from_u128(0x7d1e_0001_5a0e_4d0c_9a1f_3b7e_6d0f_2b00), name: "Orchard" };

macro_rules! counterset {
    ($name:ident, $title:literal, $guid:literal, $instances:ident, [$(($id:literal, $kind:ident, $item:literal)),*]) => {
        static $name: Counterset = Counterset {
            guid: Guid::from_u128($guid),
            name: $title,
            explain: $title,
            german: None,
            german_explain: None,
            provider: &PROVIDER,
            detail: DetailLevel::NOVICE,
            instances: InstanceType::$instances,
            counters: &[$(Counter::new($id, T::$kind, $item, $item)),*],
        };
    };
}

// Their GUIDs sort otherwise than their names.
counterset!(
    ALPHA,
    "Alpha",
    0x7d1e_0009_5a0e_4d0c_9a1f_3b7e_6d0f_2b00,
    SINGLE,
    [
        (1, PERF_COUNTER_LARGE_RAWCOUNT, "Trees"),
        (2, PERF_COUNTER_TEXT, "Owner"),
        (3, PERF_COUNTER_RAWCOUNT, "Ladders")
    ]
);
counterset!(
    BETA,
    "Beta",
    0x7d1e_0005_5a0e_4d0c_9a1f_3b7e_6d0f_2b00,
    MULTIPLE,
    [
        (1, PERF_COUNTER_RAWCOUNT, "Ripe"),
        (2, PERF_COUNTER_LARGE_RAWCOUNT, "Green"),
        (3, PERF_COUNTER_RAWCOUNT, "Eaten"),
        (7, PERF_COUNTER_LARGE_RAWCOUNT, "Fallen"),
        (9, PERF_COUNTER_RAWCOUNT, "Sold")
    ]
);
counterset!(
    GAMMA,
    "Gamma",
    0x7d1e_0007_5a0e_4d0c_9a1f_3b7e_6d0f_2b00,
    MULTIPLE,
    [
        (1, PERF_COUNTER_RAWCOUNT, "Cows"),
        (2, PERF_COUNTER_RAWCOUNT, "Goats"),
        (3, PERF_COUNTER_LARGE_RAWCOUNT, "Bees"),
        (4, PERF_COUNTER_RAWCOUNT, "Hens")
    ]
);
counterset!(
    DELTA,
    "Delta",
    0x7d1e_0003_5a0e_4d0c_9a1f_3b7e_6d0f_2b00,
    GLOBAL_AGGREGATE,
    [
        (1, PERF_COUNTER_RAWCOUNT, "Workers"),
        (2, PERF_COUNTER_RAWCOUNT, "Wagons"),
        (3, PERF_COUNTER_LARGE_RAWCOUNT, "Steps")
    ]
);
counterset!(
    OMEGA,
    "Omega",
    0x7d1e_0001_5a0e_4d0c_9a1f_3b7e_6d0f_2b00,
    MULTIPLE,
    [(1, PERF_COUNTER_RAWCOUNT, "Clouds")]
);

static ALL: [&Counterset; 5] = [&OMEGA, &ALPHA, &BETA, &GAMMA, &DELTA];

/// The countersets that the tests watch. They are added in this order, which is not that of their GUIDs.
pub(crate) const WATCHED: [&str; 4] = ["Alpha", "Beta", "Gamma", "Delta"];
/// The one that they do not, and that comes first when names are asked for.
pub(crate) const UNWATCHED: &str = "Omega";
const OWNER: &str = "Ann";

struct Orchard(Clock);

/// The host, at noon.
pub(crate) fn host() -> SimHost {
    let clock = Clock::manual(NOON);
    SimHost::with_source(Arc::new(Orchard(clock.clone())), clock)
}

pub(crate) fn settings(names: &[&str]) -> Json {
    let countersets: Vec<Json> =
        names.iter().map(|name| json!({"name": name, "instance_id": true})).collect();
    json!({ "countersets": countersets })
}

impl ValueSource for Orchard {
    fn countersets(&self) -> Vec<&'static Counterset> {
        ALL.to_vec()
    }

    fn moment(&self) -> Moment {
        Moment { time: self.0.now(), boot: BOOT, perf_freq: 10_000_000 }
    }

    fn sample(&self, counterset: Guid, at: &Moment) -> Option<Vec<Sample>> {
        let place = ALL.iter().position(|set| set.guid == counterset)?;
        let seconds = (at.time.0 - NOON.0) / FileTime::INTERVALS_PER_SECOND;
        let sample = |name: &str, id: u32| {
            let set = ALL[place];
            let own = 1_000_000 * (place as u64 + 1) + 1_000 * u64::from(id + 1);
            let numbers: Vec<u64> =
                set.counters.iter().map(|counter| own + 100 * u64::from(counter.id) + seconds).collect();
            let mut sample = Sample::of_numbers(set, name, id, &numbers);
            let texts = sample.values.iter_mut().zip(set.counters);
            for (value, _) in texts.filter(|(_, counter)| counter.kind == T::PERF_COUNTER_TEXT) {
                *value = Value::text(OWNER);
            }
            sample
        };
        Some(match ALL[place].name {
            "Alpha" => vec![sample("", 0)],
            "Gamma" => vec![sample("one", 1), sample("one", 2)],
            _ => vec![sample("apple", 0), sample("banana", 1), sample("cherry", 2)],
        })
    }
}

/// What the second reader finds in the last data that a host sent, as the plugin's series.
pub(crate) fn read_again(calls: &[RecordedCall], gaps: Gaps) -> Vec<String> {
    let last = |opnum| calls.iter().rfind(|call| call.opnum == opnum).expect("it was called");
    let values = read(buffer(&last(5).response), buffer(&last(6).response), gaps);
    let mut lines: Vec<String> = values.iter().map(line).collect();
    lines.sort();
    lines
}

fn line(value: &RawValue) -> String {
    let set = ALL.iter().find(|set| set.guid.to_bytes() == value.set).expect("a counterset of ours");
    let counter = set.counter(value.counter_id).expect("a counter of ours");
    let mut labels = Vec::new();
    if set.instances != InstanceType::SINGLE {
        labels.push(format!("counter_instance={}", value.instance));
        labels.push(format!("instance_id={}", value.instance_id));
    }
    let number = if counter.kind == T::PERF_COUNTER_TEXT {
        labels.push(format!("text={OWNER}"));
        1
    } else {
        value.number().expect("all others are numbers")
    };
    format!("{}|{}|{{{}}} = Some(U64({number}))", set.name, counter.name, labels.join(","))
}
