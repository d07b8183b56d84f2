//! The catalogue beside what hosts of others have: their names and indexes, their definitions, the length of each value.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use counters::pcq::types::CounterType;
use counters::perflib_v1::{CounterDefinition, DataBlock, Instances, ObjectType};
use windows_sim::model::{BASE_INDEX_LAST, Clock, ValueSource};

use crate::host::{NOON, host, model};
use crate::performance_data::Registry;

/// `Counter 009` of a host with Windows, below 1848: an index and its name in each line, for the names that are used here.
const NAMES: &str = include_str!("data/counter-009.txt");

/// The bytes of each property of the `Win32_PerfRawData` classes of Windows Server 2019, by object and counter. What they
/// say follows from the counter's type. Taken from Go types that github.com/microsoft/wmi generated of these classes.
const PROPERTY_BYTES: &str = include_str!("data/property-bytes.txt");

/// Blocks that a host with Windows has answered, see `tests/it/perflib_v1/golden.rs` of `counters`.
macro_rules! genuine {
    ($($file:literal)*) => {
        [$(include_str!(concat!("../../../../interfaces/counters/tests/it/perflib_v1/data/windows/", $file, ".hex"))),*]
    };
}
const GENUINE: [&str; 7] = genuine![
    "logical_disk" "memory" "network_interface" "physical_disk" "processor" "system" "tcpv4"
];

/// Where `DefaultObject` of `PERF_DATA_BLOCK` is.
const DEFAULT_OBJECT: std::ops::Range<usize> = 32..36;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks_exact(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}

/// What a client is told of a counter, but for the place of its values.
fn definition(counter: &CounterDefinition) -> String {
    let CounterDefinition {
        name_index,
        help_index,
        default_scale,
        detail_level,
        counter_type,
        size_bytes,
        ..
    } = *counter;
    format!(
        "name {name_index}, help {help_index}, scale {default_scale}, {detail_level:?}, {counter_type}, {size_bytes} bytes"
    )
}

/// Of each counter the first one whose values are in the same place.
fn sharing(counters: &[CounterDefinition]) -> Vec<usize> {
    let first =
        |counter: &CounterDefinition| counters.iter().position(|other| other.offset == counter.offset);
    counters.iter().map(|counter| first(counter).unwrap()).collect()
}

/// What a client is told of an object beside its counters.
fn frame(object: &ObjectType<'_>) -> String {
    let ObjectType { help_index, detail_level, default_counter, perf_freq, code_page, .. } = *object;
    let instances = match object.instances() {
        Instances::Single(_) => "none",
        Instances::Many(_) => "many",
        Instances::Unasked => "unasked",
    };
    let has_clock = object.perf_time != 0;
    format!(
        "help {help_index}, {detail_level:?}, default {default_counter}, clock {has_clock} {perf_freq}, page {code_page}, \
         instances: {instances}"
    )
}

#[tokio::test(start_paused = true)]
async fn objects_are_defined_as_on_a_host_with_windows() {
    let mut registry = Registry::connect(&host()).await;
    for hex in GENUINE {
        let genuine = bytes(hex);
        let theirs = DataBlock::decode(&genuine).unwrap().objects().next().unwrap().unwrap();
        let index = theirs.name_index;
        let found = registry.query(&index.to_string()).await.unwrap();
        assert_eq!(found[DEFAULT_OBJECT], genuine[DEFAULT_OBJECT], "{index}");
        let ours = DataBlock::decode(&found).unwrap().objects().next().unwrap().unwrap();
        assert_eq!(frame(&ours), frame(&theirs), "{index}");
        // Later versions of Windows have more counters, at the end.
        let theirs: Vec<_> = theirs.counters().collect();
        let ours: Vec<_> = ours.counters().take(theirs.len()).collect();
        let both = ours.iter().map(definition).zip(theirs.iter().map(definition));
        both.enumerate().for_each(|(place, (ours, theirs))| assert_eq!(ours, theirs, "{index} at {place}"));
        assert_eq!(sharing(&ours), sharing(&theirs), "{index}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_totals_of_disks_are_sums_but_for_shares_of_time() {
    let blocks = [GENUINE[0].to_owned(), {
        let found = Registry::connect(&host()).await.query("236").await.unwrap();
        found.iter().map(|byte| format!("{byte:02x}")).collect()
    }];
    for block in blocks {
        let found = bytes(&block);
        let object = DataBlock::decode(&found).unwrap().objects().next().unwrap().unwrap();
        let rows = crate::performance_data::rows(&object);
        let (total, volumes) = rows.split_last().unwrap();
        assert_eq!(total.0, "_Total");
        for (place, &(index, kind, value)) in total.1.iter().enumerate() {
            let sum: u64 = volumes.iter().map(|(_, row)| row[place].2).sum();
            let expected = match kind {
                CounterType::PERF_PRECISION_100NS_TIMER => sum / volumes.len() as u64,
                CounterType::PERF_LARGE_RAW_BASE => volumes[0].1[place].2,
                _ => sum,
            };
            assert_eq!(value, expected, "{index} at {place}");
        }
    }
}

#[test]
fn names_have_the_indexes_that_they_have_on_all_hosts() {
    let lines = NAMES.lines().map(|line| line.split_once('\t').unwrap());
    let names: HashMap<u32, &str> = lines.map(|(index, name)| (index.parse().unwrap(), name)).collect();
    let check = |index, name| {
        if index <= BASE_INDEX_LAST {
            assert_eq!(names.get(&index), Some(&name), "{index}");
        }
    };
    for object in model(&Clock::manual(NOON)).objects() {
        check(object.index, object.name);
        let named = object.counters.iter().filter(|counter| !counter.name.is_empty());
        named.for_each(|counter| check(counter.index, counter.name));
    }
}

#[test]
fn each_explanation_has_an_index_of_its_own() {
    let mut names = BTreeSet::new();
    let mut texts: BTreeMap<u32, &str> = BTreeMap::new();
    for object in model(&Clock::manual(NOON)).objects() {
        names.insert(object.index);
        assert_eq!(*texts.entry(object.index + 1).or_insert(object.explain), object.explain);
        for counter in object.counters.iter().filter(|counter| !counter.name.is_empty()) {
            names.insert(counter.index);
            let text = texts.entry(counter.help).or_insert(counter.explain);
            assert_eq!(*text, counter.explain, "{} of {}", counter.name, object.name);
        }
    }
    assert!(
        texts.into_keys().all(|index| !names.contains(&index)),
        "no name is in the place of an explanation"
    );
}

// As WMI's classes of Windows say it: CookingType of the properties, and what their counters' explanations call them.
#[test]
fn counters_of_processors_have_the_types_of_windows() {
    let host = model(&Clock::manual(NOON));
    let sets = host.countersets();
    let processor = sets.iter().find(|set| set.name == "Processor Information").expect("all hosts have it");
    for (id, kind) in [
        (15, CounterType::PERF_100NSEC_TIMER_INV),
        (21, CounterType::PERF_PRECISION_100NS_TIMER),
        // `PERF_PRECISION_TIMESTAMP` is another name of it.
        (22, CounterType::PERF_LARGE_RAW_BASE),
    ] {
        let counter = processor.counters.iter().find(|counter| counter.id == id);
        assert_eq!(counter.map(|counter| counter.kind), Some(kind), "{id}");
    }
}

#[test]
fn values_are_as_long_as_the_properties_of_windows_are() {
    let host = model(&Clock::manual(NOON));
    let mut kinds: HashMap<(&str, &str), CounterType> = HashMap::new();
    for set in host.countersets() {
        kinds.extend(set.counters.iter().map(|counter| ((set.name, counter.name), counter.kind)));
    }
    for object in host.objects() {
        kinds.extend(object.counters.iter().map(|counter| ((object.name, counter.name), counter.kind)));
    }
    for line in PROPERTY_BYTES.lines() {
        let [object, counter, bytes] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let kind = kinds.get(&(object, counter)).unwrap_or_else(|| panic!("{line}: no such counter"));
        let expected = if kind.0 & 0x300 == 0 { "4" } else { "8" };
        assert_eq!(bytes, expected, "{counter} of {object}: {kind}");
    }
}
