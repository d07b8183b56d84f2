//! A host whose counters have the values that a test gives them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use counters::pcq::types::{CounterType as T, DetailLevel, InstanceType};
use parking_lot::Mutex;
use windows_sim::model::{
    Clock, Counter, Counterset, Data, Instance, Moment, PerfCounter, PerfObject, Provider, Sample, Value,
    ValueSource,
};
use wire::{FileTime, Guid};

use crate::world::{NOON, SimHost};

static PROVIDER: Provider =
    Provider { guid: Guid::from_u128(0x7d1e_0001_5a0e_4d0c_9a1f_3b7e_6d0f_2b01), name: "Mill" };

static WHEELS: Counterset = Counterset {
    guid: Guid::from_u128(0x7d1e_0002_5a0e_4d0c_9a1f_3b7e_6d0f_2b01),
    name: "Wheels",
    explain: "Wheels",
    german: None,
    german_explain: None,
    provider: &PROVIDER,
    detail: DetailLevel::NOVICE,
    instances: InstanceType::MULTIPLE,
    counters: &[
        Counter::new(1, T::PERF_COUNTER_LARGE_RAWCOUNT, "Load", "Load"),
        Counter::new(2, T::PERF_COUNTER_BULK_COUNT, "Turns/sec", "Turns"),
        Counter::new(3, T::PERF_COUNTER_TEXT, "Maker", "Maker"),
        Counter::new(4, T::PERF_AVERAGE_BULK, "Grain/Sack", "Grain").base(5),
        Counter::new(5, T::PERF_AVERAGE_BASE, "Sacks", "Sacks").hidden(),
    ],
};

static WATER: Counterset = Counterset {
    guid: Guid::from_u128(0x7d1e_0003_5a0e_4d0c_9a1f_3b7e_6d0f_2b01),
    name: "Water",
    explain: "Water",
    german: None,
    german_explain: None,
    provider: &PROVIDER,
    detail: DetailLevel::NOVICE,
    instances: InstanceType::SINGLE,
    counters: &[Counter::new(1, T::PERF_COUNTER_LARGE_RAWCOUNT, "Level", "Level")],
};

static PROCESS: PerfObject = PerfObject::new(
    230,
    "Process",
    "Processes",
    &[
        PerfCounter::new(784, T::PERF_COUNTER_RAWCOUNT, "ID Process", "Its number"),
        PerfCounter::new(1423, T::PERF_COUNTER_BULK_COUNT, "IO Data Operations/sec", "Operations"),
        PerfCounter::new(186, T::PERF_COUNTER_LARGE_RAWCOUNT, "Private Bytes", "Bytes"),
    ],
);

static ALL: [&Counterset; 2] = [&WHEELS, &WATER];

/// A process of the host: its name, its number, operations so far, and bytes.
pub(crate) type Process = (&'static str, u64, u64, u64);

/// What the counters of a wheel are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wheel {
    pub(crate) load: u64,
    pub(crate) turns: u64,
    pub(crate) grain: u64,
    pub(crate) sacks: u64,
}

#[derive(Debug)]
struct State {
    wheels: BTreeMap<String, Wheel>,
    processes: Vec<Process>,
    level: u64,
    is_restarted: bool,
    is_water_away: bool,
}

/// The host, and what steers it.
pub(crate) struct Mill {
    pub(crate) sim: SimHost,
    state: Arc<Mutex<State>>,
}

struct Source {
    clock: Clock,
    state: Arc<Mutex<State>>,
}

impl Mill {
    /// With one wheel, `big`, at noon.
    pub(crate) fn new() -> Self {
        let clock = Clock::manual(NOON);
        let wheels = BTreeMap::from([("big".to_owned(), Wheel::default())]);
        let state = Arc::new(Mutex::new(State {
            wheels,
            processes: Vec::new(),
            level: 50,
            is_restarted: false,
            is_water_away: false,
        }));
        let source = Source { clock: clock.clone(), state: Arc::clone(&state) };
        Self { sim: SimHost::with_source(Arc::new(source), clock), state }
    }

    /// Changes a wheel, which is new if the host has none of this name.
    pub(crate) fn wheel(&self, name: &str, change: impl FnOnce(&mut Wheel)) {
        change(self.state.lock().wheels.entry(name.to_owned()).or_default());
    }

    pub(crate) fn remove(&self, name: &str) {
        self.state.lock().wheels.remove(name);
    }

    /// The processes that run now, which classic counters tell of.
    pub(crate) fn processes(&self, processes: &[Process]) {
        self.state.lock().processes = processes.to_vec();
    }

    pub(crate) fn level(&self, level: u64) {
        self.state.lock().level = level;
    }

    /// The performance counter begins again.
    pub(crate) fn restart(&self) {
        self.state.lock().is_restarted = true;
    }

    /// The provider of the water has not started, or has.
    pub(crate) fn set_water_away(&self, is_away: bool) {
        self.state.lock().is_water_away = is_away;
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.sim.pass(Duration::from_secs(seconds));
    }
}

impl ValueSource for Source {
    fn countersets(&self) -> Vec<&'static Counterset> {
        let is_water_away = self.state.lock().is_water_away;
        ALL.into_iter().filter(|set| !(is_water_away && set.guid == WATER.guid)).collect()
    }

    fn moment(&self) -> Moment {
        let is_restarted = self.state.lock().is_restarted;
        let hours = if is_restarted { 0 } else { 48 };
        let boot = FileTime(NOON.0 - hours * 3_600 * FileTime::INTERVALS_PER_SECOND);
        Moment { time: self.clock.now(), boot, perf_freq: 10_000_000 }
    }

    fn sample(&self, counterset: Guid, _at: &Moment) -> Option<Vec<Sample>> {
        let state = self.state.lock();
        if counterset == WATER.guid {
            return Some(vec![Sample::of_numbers(&WATER, "", 0, &[state.level])]);
        }
        let wheel = |(index, (name, wheel)): (u32, (&String, &Wheel))| {
            let Wheel { load, turns, grain, sacks } = *wheel;
            let mut sample = Sample::of_numbers(&WHEELS, name, index, &[load, turns, 0, grain, sacks]);
            sample.values[2] = Value::text("Ann");
            sample
        };
        (counterset == WHEELS.guid).then(|| (0..).zip(&state.wheels).map(wheel).collect())
    }

    fn objects(&self) -> Vec<&'static PerfObject> {
        vec![&PROCESS]
    }

    fn object_data(&self, _object: &PerfObject, _at: &Moment) -> Option<Data> {
        let state = self.state.lock();
        let process = |&(name, id, operations, bytes): &Process| Instance {
            name: name.to_owned(),
            values: vec![id, operations, bytes],
            ..Instance::default()
        };
        Some(Data::Instances(state.processes.iter().map(process).collect()))
    }
}
