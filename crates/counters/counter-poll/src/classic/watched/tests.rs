use allocation_counter::measure;
use counter_types::{CounterType, Selection, Value};
use perflib_v1::NameTable;
use perflib_v1::write::{Counter, Data, Header, Instance, Object, encode};

use super::*;
use crate::{Aggregate, FamilyGroup, NewSeries, PolledFamily, Which};

#[derive(Debug)]
struct Numbers;

impl SeriesIds for Numbers {
    type Family = usize;
    type Series = usize;
    type Unlisted = String;
}

/// Takes everything, and adds up what is pushed.
#[derive(Default)]
struct Sum {
    families: usize,
    series: usize,
    values: usize,
    retired: usize,
    sum: f64,
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
        series.iter().map(|_| Some(0)).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "these numbers are small")]
    fn push(&mut self, _series: usize, value: Value, _start_unix_nanos: i64) {
        self.values += 1;
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
        let name = "Rooms".to_owned();
        let wanted = Wanted {
            label: name.clone(),
            which: Which::Name(name.clone()),
            selection: Selection::default(),
            instance_id: true,
            aggregate: Aggregate::No,
            top_n: None,
        };
        Self {
            objects: WatchedObjects::default(),
            candidates: vec![Candidate { index: 2, name, wanted: 0 }],
            wanted: vec![wanted],
            sink: Sum::default(),
        }
    }

    fn take(&mut self, bytes: &[u8]) -> ClassicSeen<String> {
        let block = DataBlock::decode(bytes).expect("a block");
        let tables = Tables { names: NameTable::default(), helps: NameTable::default(), local_names: None };
        if self.objects.has_news(&block, &self.candidates) {
            let search = Search { wanted: &self.wanted, unmet: &[0], watched_names: &[] };
            self.objects.watch(&block, &self.candidates, search, &tables, &mut self.sink);
        }
        let mut seen = ClassicSeen { missing: Vec::new(), covered: vec![false; 1] };
        self.objects.emit(&block, &self.wanted, &mut seen, &mut self.sink);
        seen
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
    let allocated = measure(|| objects.emit(&decoded, wanted, &mut seen, sink));
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
