use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Waker};

use allocation_counter::measure;
use counter_types::{CounterType, Selection, Value};
use counters::perflib_v1::NameTable;
use counters::perflib_v1::write::{Counter, Data, Header, Instance, Object, encode};
use test_support::future::now;

use super::*;
use crate::classic::Unmet;
use crate::{Aggregate, FamilyGroup, NewSeries, PolledFamily, Which};

#[derive(Debug)]
struct Numbers;

impl SeriesIds for Numbers {
    type Family = usize;
    type Series = usize;
    type Unlisted = String;
}

const UNMET: Unmet = Unmet { wanted: 0, names_max: 1 };

/// Takes everything, and adds up what is pushed.
#[derive(Default)]
struct Sum {
    families: usize,
    series: usize,
    values: usize,
    retired: usize,
    sum: f64,
    /// Registrations and values since this was set to zero.
    done: Rc<Cell<usize>>,
    /// Of each series that was registered.
    labels: Vec<String>,
}

impl SeriesSink<Numbers> for Sum {
    fn register_families(
        &mut self,
        _counterset: &Counterset,
        _group: FamilyGroup,
        families: &[PolledFamily],
    ) -> Vec<Option<usize>> {
        self.families += families.len();
        families.iter().enumerate().map(|(index, _)| Some(index)).collect()
    }

    fn register_series(&mut self, series: &[NewSeries<'_, Numbers>]) -> Vec<Option<usize>> {
        self.series += series.len();
        self.done.set(self.done.get() + series.len());
        let text = |new: &NewSeries<'_, Numbers>| {
            new.labels.iter().map(|(name, value)| format!("{name}={value} ")).collect::<String>()
        };
        self.labels.extend(series.iter().map(text));
        series.iter().map(|_| Some(0)).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "these numbers are small")]
    fn push(&mut self, _series: usize, value: Value, _start_unix_nanos: i64) {
        self.values += 1;
        self.done.set(self.done.get() + 1);
        self.sum += match value {
            Value::U64(value) => value as f64,
            Value::F64(value) => value,
        };
    }

    fn retire(&mut self, series: &[usize]) {
        self.retired += series.len();
    }
}

/// An object of four-byte and eight-byte counters, with instances of which some share a name.
fn block(names: &[&str], value: u64, more_counters: usize) -> Vec<u8> {
    let of = |counter_type| Counter { name_index: 6, counter_type, ..Counter::default() };
    let mut counters = vec![of(CounterType::PERF_COUNTER_RAWCOUNT), of(CounterType::PERF_COUNTER_BULK_COUNT)];
    counters.resize(2 + more_counters, of(CounterType::PERF_COUNTER_RAWCOUNT));
    let values = vec![value; counters.len()];
    let instance =
        |name: &&str| Instance { name: (*name).to_owned(), values: values.clone(), ..Instance::default() };
    let data = Data::Instances(names.iter().map(instance).collect());
    let object = Object { name_index: 2, counters, data, ..Object::default() };
    let header = Header { perf_time: 1, perf_freq: 1, ..Header::default() };
    encode(&header, &[object]).expect("it fits")
}

struct Polled {
    objects: WatchedObjects<Numbers>,
    candidates: Vec<Candidate>,
    wanted: Vec<Wanted>,
    sink: Sum,
}

impl Polled {
    fn new() -> Self {
        Self::of("Rooms")
    }

    fn of(name: &str) -> Self {
        let name = name.to_owned();
        let wanted = Wanted {
            label: name.clone(),
            which: Which::Name(name.clone()),
            selection: Selection::default(),
            instance_id: true,
            aggregate: Aggregate::No,
            top_n: None,
            is_optional: false,
        };
        Self {
            objects: WatchedObjects::default(),
            candidates: vec![Candidate { index: 2, name, wanted: 0, rank: 0, is_beaten: false }],
            wanted: vec![wanted],
            sink: Sum::default(),
        }
    }

    fn take(&mut self, bytes: &[u8]) -> ClassicSeen<String> {
        self.take_named(bytes, NameTable::default())
    }

    fn take_named(&mut self, bytes: &[u8], names: NameTable) -> ClassicSeen<String> {
        self.watch(bytes, names);
        let block = DataBlock::decode(bytes).expect("a block");
        let mut seen = ClassicSeen { missing: Vec::new(), covered: vec![false; 1] };
        now(self.objects.emit(&block, &self.wanted, &mut seen, &mut self.sink));
        seen
    }

    fn watch(&mut self, bytes: &[u8], names: NameTable) {
        let block = DataBlock::decode(bytes).expect("a block");
        let tables = Tables { names, helps: NameTable::default(), local_names: None };
        if self.objects.has_news(&block, &self.candidates) {
            let search = Search { wanted: &self.wanted, unmet: &[UNMET], watched_names: &[] };
            self.objects.watch(&block, &self.candidates, search, &tables, &mut self.sink);
        }
    }

    /// Takes a reply as a runtime does that has other tasks, too. Returns how often they ran, and most of what was done
    /// between two of those times.
    fn take_in_turns(&mut self, bytes: &[u8]) -> (usize, usize) {
        self.watch(bytes, NameTable::default());
        let block = DataBlock::decode(bytes).expect("a block");
        let mut seen = ClassicSeen { missing: Vec::new(), covered: vec![false; 1] };
        let done = Rc::clone(&self.sink.done);
        let mut emitted = pin!(self.objects.emit(&block, &self.wanted, &mut seen, &mut self.sink));
        let (mut turns, mut most) = (0, 0);
        loop {
            done.set(0);
            let polled = emitted.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            (turns, most) = (turns + 1, most.max(done.get()));
            if polled.is_ready() {
                return (turns, most);
            }
        }
    }
}

#[test]
fn a_reply_with_what_the_last_one_held_is_read_without_an_allocation() {
    let mut polled = Polled::new();
    let names = ["hall", "attic", "hall", "cellar"];
    polled.take(&block(&names, 7, 0));
    assert_eq!((polled.sink.families, polled.sink.series, polled.sink.values), (2, 8, 8));
    // Two buffers take turns.
    polled.take(&block(&names, 7, 0));
    let next = block(&names, 8, 0);
    let decoded = DataBlock::decode(&next).expect("a block");
    let mut seen = ClassicSeen { missing: Vec::new(), covered: vec![false; 1] };
    let Polled { objects, wanted, sink, .. } = &mut polled;
    let allocated = measure(|| now(objects.emit(&decoded, wanted, &mut seen, sink)));
    assert_eq!(allocated.count_total, 0);
    assert_eq!((polled.sink.series, polled.sink.values, polled.sink.sum), (8, 24, 8.0 * (7.0 + 7.0 + 8.0)));
    assert_eq!(seen.covered, [true]);
}

#[test]
fn an_object_with_other_counters_is_watched_anew_and_the_old_series_end() {
    let mut polled = Polled::new();
    polled.take(&block(&["hall"], 7, 0));
    let seen = polled.take(&block(&["hall"], 7, 2));
    assert_eq!((polled.sink.families, polled.sink.series, polled.sink.retired), (2 + 4, 2 + 4, 2));
    assert_eq!(seen.covered, [true]);
}

/// As many instances as are taken of a host.
const MANY: usize = 1 << 17;

#[test]
fn a_host_with_many_instances_lets_others_run_all_the_time() {
    let numbered = |from: usize, count: usize| -> Vec<String> {
        (from..from + count).map(|number| format!("room {number}")).collect()
    };
    let of_names = |names: &[String]| block(&names.iter().map(String::as_str).collect::<Vec<_>>(), 7, 0);
    for instance_id in [false, true] {
        let mut polled = Polled::new();
        polled.wanted[0].instance_id = instance_id;
        // All come, all stay, all go and others come.
        for names in [numbered(0, MANY), numbered(0, MANY), numbered(MANY, MANY)] {
            let (turns, most) = polled.take_in_turns(&of_names(&names));
            assert!(turns > 16 && most <= 8_192, "{turns} turns, {most} at once");
        }
        assert_eq!((polled.sink.series, polled.sink.retired), (4 * MANY, 2 * MANY));
    }
}

#[test]
fn of_many_instances_of_few_names_each_name_is_shown_as_long_as_one_has_it() {
    let mut polled = Polled::new();
    polled.wanted[0].instance_id = false;
    let (few, many) = (["hall", "attic"].repeat(MANY / 4), ["hall"].repeat(MANY / 2));
    assert!(polled.take_in_turns(&block(&few, 7, 0)).0 > 8);
    assert_eq!(polled.sink.labels.len(), 2 * 2, "{:?}", polled.sink.labels);
    polled.take_in_turns(&block(&many, 7, 0));
    assert_eq!((polled.sink.labels.len(), polled.sink.retired), (2 * 2, 2));
}

#[test]
fn who_had_a_name_is_followed_by_the_next_one_that_has_it() {
    let mut polled = Polled::of("Process");
    polled.wanted[0].instance_id = false;
    // Names without the identifiers of processes are all that tells these apart.
    polled.take(&block(&["hall", "hall", "attic"], 7, 0));
    polled.sink.values = 0;
    polled.take(&block(&["attic", "hall"], 7, 0));
    assert_eq!(polled.sink.values, 2 * 2);
    polled.take(&block(&["attic"], 7, 0));
    polled.take(&block(&["attic", "hall", "hall"], 7, 0));
    assert_eq!(polled.sink.labels.iter().filter(|labels| labels.contains("hall")).count(), 2 * 2);
}

/// Threads with their identifiers, and the places of their processes among `PROCESSES`, which are `Idle` and two of one name.
fn threads(threads: &[(&str, u64, u32)]) -> Vec<u8> {
    let counter = |name_index| Counter {
        name_index,
        counter_type: CounterType::PERF_COUNTER_RAWCOUNT,
        ..Counter::default()
    };
    let thread = |(name, id, position): &(&str, u64, u32)| Instance {
        name: (*name).to_owned(),
        parent: Some(counters::perflib_v1::Parent { object: 230, position: *position }),
        values: vec![PROCESSES[*position as usize].1, *id],
        ..Instance::default()
    };
    let process = |(name, id): &(&str, u64)| Instance {
        name: (*name).to_owned(),
        values: vec![*id],
        ..Instance::default()
    };
    let of = |name_index, counters, instances| Object {
        name_index,
        counters,
        data: Data::Instances(instances),
        ..Object::default()
    };
    let threads = of(2, vec![counter(784), counter(804)], threads.iter().map(thread).collect());
    let processes = of(230, vec![counter(784)], PROCESSES.iter().map(process).collect());
    encode(&Header { perf_time: 1, perf_freq: 1, ..Header::default() }, &[threads, processes])
        .expect("it fits")
}

const PROCESSES: [(&str, u64); 3] = [("Idle", 0), ("svchost", 812), ("svchost", 900)];

#[test]
fn a_thread_keeps_its_series_whatever_place_it_has_in_its_process() {
    let text = "784\0ID Process\0804\0ID Thread\0\0";
    let names = || NameTable::decode(&text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    let mut polled = Polled::of("Thread");
    polled.wanted[0].instance_id = false;
    let first = [("0", 0, 0), ("1", 0, 0), ("0", 4711, 1), ("1", 4712, 1), ("0", 4713, 2)];
    polled.take_named(&threads(&first), names());
    let labels =
        |process, process_id, id| format!("process={process} process_id={process_id} thread_id={id} ");
    let mut seen = polled.sink.labels.clone();
    seen.sort();
    seen.dedup();
    assert_eq!(
        seen,
        [
            labels("Idle", 0, 0),
            labels("Idle", 0, 1),
            labels("svchost", 812, 4711),
            labels("svchost", 812, 4712),
            labels("svchost", 900, 4713)
        ]
    );
    // The first thread of a process ends, and the others move up.
    polled.take_named(&threads(&[("0", 0, 0), ("1", 0, 0), ("0", 4712, 1), ("0", 4713, 2)]), names());
    assert_eq!((polled.sink.series, polled.sink.retired), (5 * 2, 2));
}

#[test]
fn instances_of_one_name_are_told_apart_by_their_process_wherever_a_counter_has_it() {
    let values = |processes: &[u64]| {
        let counter = |name_index| Counter {
            name_index,
            counter_type: CounterType::PERF_COUNTER_RAWCOUNT,
            ..Counter::default()
        };
        let one =
            |id: &u64| Instance { name: "w3wp".to_owned(), values: vec![*id, 7], ..Instance::default() };
        let instances = Data::Instances(processes.iter().map(one).collect());
        let counters = vec![counter(784), counter(804)];
        let object = Object { name_index: 2, counters, data: instances, ..Object::default() };
        encode(&Header { perf_time: 1, perf_freq: 1, ..Header::default() }, &[object]).expect("it fits")
    };
    for (object, counter, label) in [
        ("Process", "ID Process", "process"),
        (".NET CLR Memory", "Process ID", "process"),
        (".NET CLR Exceptions", "Process ID", "process"),
        ("Process Address Space_Costly", "ID Process", "process"),
        ("Job Object Details", "ID Process", "counter_instance"),
    ] {
        let text = format!("784\0{counter}\0804\0Bytes\0\0");
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut polled = Polled::of(object);
        polled.wanted[0].instance_id = false;
        polled.take_named(&values(&[812, 900]), NameTable::decode(&bytes));
        let mut seen = polled.sink.labels.clone();
        seen.sort();
        seen.dedup();
        assert_eq!(seen, [812, 900].map(|id| format!("{label}=w3wp process_id={id} ")), "{object}");
        // The first process ends, and the second one moves up.
        polled.take_named(&values(&[900]), NameTable::decode(&bytes));
        assert_eq!((polled.sink.series, polled.sink.retired), (2 * 2, 2), "{object}");
    }
}
