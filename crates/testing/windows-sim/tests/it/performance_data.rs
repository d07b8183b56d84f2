//! Performance data of the registry: objects with their names and values, over SMB, RPC and the registry's methods.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use counters::pcq::types::CounterType;
use counters::perflib_v1::{
    CounterBlock, CounterDefinition, DataBlock, Instances, NameTable, ObjectType, Value,
};
use counters::rrp::types::ValueType;
use counters::rrp::winreg::{Key, RegistryClient, ValueRoom};
use windows_sim::WindowsHost;
use windows_sim::model::{Clock, Host, HostOptions, Sample, ValueSource};
use wire::Win32Error;

use crate::client::Rpc;
use crate::host::{NOON, credentials, host, host_of, model};

/// A connection with the root of performance data open.
pub(crate) struct Registry {
    pub(crate) client: RegistryClient<Rpc>,
    pub(crate) data: Key,
    room: ValueRoom,
}

impl Registry {
    pub(crate) async fn connect(host: &Arc<WindowsHost>) -> Self {
        let mut client = Rpc::registry(host, &credentials()).await.unwrap();
        let data = client.open_performance_data().await.unwrap();
        Self { client, data, room: ValueRoom::new(64 << 10) }
    }

    /// A value, whose type is that of all values here that are no tables.
    pub(crate) async fn query(&mut self, name: &str) -> Result<Vec<u8>, Win32Error> {
        let value = self.client.query_value(&self.data, name, &mut self.room).await;
        let value = value.map_err(|error| error.status().unwrap())?;
        assert_eq!(value.value_type, ValueType::REG_BINARY);
        Ok(value.bytes().to_vec())
    }

    pub(crate) async fn names(&mut self, name: &str) -> NameTable {
        let value = self.client.query_value(&self.data, name, &mut self.room).await.unwrap();
        assert_eq!(value.value_type, ValueType::REG_MULTI_SZ);
        NameTable::decode(value.bytes())
    }
}

/// The values of an object by instance, in order, each with the counters' indexes and types.
type Rows = Vec<(String, Vec<(u32, CounterType, u64)>)>;

pub(crate) fn rows(object: &ObjectType<'_>) -> Rows {
    let row = |values: CounterBlock<'_>| {
        let number = |counter: &CounterDefinition| match values.value(counter) {
            Some(Value::Number(value)) => value,
            other => panic!("no number: {other:?}"),
        };
        let counters = object.counters();
        counters.map(|counter| (counter.name_index, counter.counter_type, number(&counter))).collect()
    };
    match object.instances() {
        Instances::Single(values) => vec![(String::new(), row(values))],
        Instances::Many(many) => {
            many.map(|instance| (instance.name().collect(), row(instance.values))).collect()
        }
        Instances::Unasked => panic!("values were asked for"),
    }
}

pub(crate) fn objects(block: &[u8]) -> BTreeMap<u32, Rows> {
    let block = DataBlock::decode(block).unwrap();
    assert_eq!(block.system_name.chars().collect::<String>(), "WEB1");
    block.objects().map(Result::unwrap).map(|object| (object.name_index, rows(&object))).collect()
}

/// The value of a counter in a row.
pub(crate) fn value(rows: &Rows, instance: &str, counter: u32) -> u64 {
    let (_, row) = rows.iter().find(|(name, _)| name == instance).unwrap();
    row.iter().find(|(index, ..)| *index == counter).unwrap().2
}

const SYSTEM: u32 = 2;
const MEMORY: u32 = 4;
const PROCESS: u32 = 230;
const PHYSICAL_DISK: u32 = 234;
const LOGICAL_DISK: u32 = 236;
const PROCESSOR: u32 = 238;
const NETWORK_INTERFACE: u32 = 510;
const NUMA_NODE_MEMORY: u32 = 1850;
/// The place of `Handle Count` in `Process`.
const HANDLE_COUNT: usize = 18;

#[tokio::test(start_paused = true)]
async fn global_has_all_objects_with_names_for_everything() {
    let mut registry = Registry::connect(&host()).await;
    let names = registry.names("Counter 009").await;
    let help = registry.names("Help 009").await;
    let found = registry.query("Global").await.unwrap();
    let block = DataBlock::decode(&found).unwrap();
    assert_eq!(block.header.total_size_bytes as usize, found.len());
    assert_eq!(block.header.perf_time_100ns, NOON);
    let mut indexes = Vec::new();
    for object in block.objects().map(Result::unwrap) {
        indexes.push(object.name_index);
        assert!(names.get(object.name_index).is_some() && help.get(object.help_index).is_some());
        for counter in object.counters() {
            let name = names.get(counter.name_index).unwrap();
            assert!(help.get(counter.help_index).is_some(), "{name}");
        }
        assert!(!rows(&object).is_empty());
    }
    let classic = [2, 4, 86, 230, 234, 236, 238, 260, 262, 330, 510, 546, 582, 638, 658, 700, 1530, 1532];
    assert!(classic.iter().all(|index| indexes.contains(index)), "{indexes:?}");
    assert_eq!(names.get(238), Some("Processor"));
    assert_eq!(names.get(6), Some("% Processor Time"));
    assert_eq!(names.faults(), counters::perflib_v1::NameTableFaults::default());
}

#[tokio::test(start_paused = true)]
async fn a_list_of_indexes_has_these_objects_and_none_for_what_nobody_knows() {
    let mut registry = Registry::connect(&host()).await;
    let found = registry.query("238 2 9999").await.unwrap();
    assert_eq!(objects(&found).into_keys().collect::<Vec<_>>(), [SYSTEM, PROCESSOR]);
    for nothing in ["9999", "Costly"] {
        assert!(objects(&registry.query(nothing).await.unwrap()).is_empty());
    }
    for unknown in ["Globals", "", "2 Processor", "Counter 411"] {
        let refused = registry.query(unknown).await;
        assert_eq!(refused, Err(Win32Error::ERROR_FILE_NOT_FOUND), "{unknown}");
    }
}

#[tokio::test(start_paused = true)]
async fn german_names_are_those_that_were_translated() {
    let mut registry = Registry::connect(&host()).await;
    let (english, german) = (registry.names("counter 009").await, registry.names("COUNTER 007").await);
    assert_eq!(german.get(PROCESS), Some("Prozess"));
    assert_eq!(german.get(6), Some("Prozessorzeit (%)"));
    assert!(german.len() < english.len() && german.iter().all(|(index, _)| english.get(index).is_some()));
}

/// The numbers at these places of the samples, but for those that `skip` is true for.
fn numbers(samples: &[Sample], places: usize) -> Vec<Vec<u64>> {
    let number = |value: &windows_sim::model::Value| match value {
        windows_sim::model::Value::Dword(value) => u64::from(*value),
        windows_sim::model::Value::Large(value) => *value,
        other => panic!("no number: {other:?}"),
    };
    samples.iter().map(|sample| sample.values.iter().take(places).map(number).collect()).collect()
}

#[tokio::test(start_paused = true)]
async fn processors_and_processes_have_the_values_of_their_countersets() {
    let source = Arc::new(model(&Clock::manual(NOON)));
    let mut registry = Registry::connect(&host_of(Arc::clone(&source) as Arc<dyn ValueSource>)).await;
    let objects = objects(&registry.query("230 238").await.unwrap());
    let sample = |name: &str| {
        let set = source.countersets().into_iter().find(|set| set.name == name).unwrap();
        source.sample(set.guid, &source.moment()).unwrap()
    };
    let values = |rows: &Rows| -> Vec<Vec<u64>> {
        rows.iter().map(|(_, row)| row.iter().map(|(.., value)| *value).collect()).collect()
    };
    let mut processors = sample("Processor Information");
    processors.retain(|sample| sample.instance.name != "0,_Total");
    assert_eq!(values(&objects[&PROCESSOR]), numbers(&processors, 15));
    let named: Vec<&str> = objects[&PROCESSOR].iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(named, ["0", "1", "2", "3", "_Total"]);

    let processes = &objects[&PROCESS];
    let (first, last) = (&processes[0].0, &processes[processes.len() - 1].0);
    assert_eq!((first.as_str(), last.as_str()), ("Idle", "_Total"));
    assert_eq!(values(processes)[1..processes.len() - 1], numbers(&sample("Process V2"), 28));
    assert!(processes.iter().filter(|(name, _)| name == "svchost").count() > 1);
    let idle: u64 = (0..4).map(|number| value(&objects[&PROCESSOR], &number.to_string(), 1746)).sum();
    assert_eq!(value(processes, "Idle", 6), idle);
}

#[tokio::test(start_paused = true)]
async fn a_total_of_many_processes_is_a_sum_of_what_can_be_added_up() {
    let options = HostOptions { services: 300, clock: Clock::manual(NOON), ..HostOptions::default() };
    let mut registry = Registry::connect(&host_of(Arc::new(Host::new(options)))).await;
    let processes = &objects(&registry.query("230").await.unwrap())[&PROCESS];
    let (total, own) = processes.split_last().unwrap();
    let handles = own.iter().map(|(_, row)| row[HANDLE_COUNT].2).sum::<u64>();
    assert!(own.len() > 300, "{}", own.len());
    assert_eq!(total.1[HANDLE_COUNT], (952, CounterType::PERF_COUNTER_RAWCOUNT, handles));
    assert_eq!(value(processes, "_Total", 684), value(processes, "Idle", 684), "when the host was started");
}

#[tokio::test(start_paused = true)]
async fn values_are_such_as_a_person_expects_and_move_with_the_clock() {
    let clock = Clock::manual(NOON);
    let mut registry = Registry::connect(&host_of(Arc::new(model(&clock)))).await;
    let before = objects(&registry.query("Global").await.unwrap());
    clock.advance(Duration::from_secs(10));
    let after = objects(&registry.query("Global").await.unwrap());

    let memory = |index| value(&before[&MEMORY], "", index);
    assert!((8 << 30..16 << 30).contains(&memory(24)), "{} available", memory(24));
    assert_eq!(memory(24), [1676, 1680, 1682, 1684].into_iter().map(memory).sum::<u64>());
    assert_eq!((memory(24) >> 10, memory(24) >> 20), (memory(1380), memory(1382)));
    assert_eq!(memory(30), 18 << 30, "the commit limit is memory and page file");
    assert!(memory(26) < memory(30));
    let place = before[&MEMORY][0].1.iter().position(|(index, ..)| *index == 1406).unwrap();
    let (_, base, bytes) = before[&MEMORY][0].1[place + 1];
    assert_eq!((base, bytes), (CounterType::PERF_RAW_BASE, 0xffff_ffff), "of all hosts since Windows 8");
    assert_eq!(value(&before[&NUMA_NODE_MEMORY], "0", 1852), 16 << 10, "mebibytes");
    for (node, counters) in &before[&NUMA_NODE_MEMORY] {
        assert_eq!(counters.iter().map(|(index, ..)| *index).collect::<Vec<_>>(), [1852, 1854], "{node}");
    }

    let adapter = "Intel[R] I210 Gigabit Network Connection _2";
    let bytes = |objects: &BTreeMap<u32, Rows>| value(&objects[&NETWORK_INTERFACE], adapter, 388);
    let per_second = (bytes(&after) - bytes(&before)) / 10;
    assert!(per_second > 0 && per_second < 1_000_000_000 / 8, "{per_second}");

    let names = |index| before[&index].iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    assert_eq!(names(PHYSICAL_DISK), ["0 C:", "1 D:", "_Total"]);
    assert_eq!(names(LOGICAL_DISK), ["HarddiskVolume1", "C:", "D:", "_Total"]);
    for disk in ["0 C:", "1 D:"] {
        let busy = |objects: &BTreeMap<u32, Rows>| value(&objects[&PHYSICAL_DISK], disk, 200);
        let idle = |objects: &BTreeMap<u32, Rows>| value(&objects[&PHYSICAL_DISK], disk, 1482);
        let passed = busy(&after) + idle(&after) - busy(&before) - idle(&before);
        assert_eq!(passed, 100_000_000, "{disk} is busy or idle");
    }
    let free = &before[&LOGICAL_DISK].iter().find(|(name, _)| name == "C:").unwrap().1[..3];
    assert_eq!(free.iter().map(|(index, ..)| *index).collect::<Vec<_>>(), [408, 408, 410]);
    assert!(free[0].2 == free[2].2 && free[0].2 < free[1].2, "{free:?}");
}

#[tokio::test(start_paused = true)]
async fn each_counter_that_needs_a_base_is_followed_by_it() {
    let mut registry = Registry::connect(&host()).await;
    let found = registry.query("Global").await.unwrap();
    let mut pairs = 0;
    for object in DataBlock::decode(&found).unwrap().objects().map(Result::unwrap) {
        let counters: Vec<_> = object.counters().collect();
        for (position, counter) in counters.iter().enumerate() {
            let base = match counter.counter_type {
                CounterType::PERF_RAW_FRACTION => CounterType::PERF_RAW_BASE,
                CounterType::PERF_SAMPLE_FRACTION => CounterType::PERF_SAMPLE_BASE,
                CounterType::PERF_AVERAGE_TIMER | CounterType::PERF_AVERAGE_BULK => {
                    CounterType::PERF_AVERAGE_BASE
                }
                CounterType::PERF_PRECISION_100NS_TIMER => CounterType::PERF_LARGE_RAW_BASE,
                _ => continue,
            };
            assert_eq!(counters[position + 1].counter_type, base, "{} of {}", position, object.name_index);
            assert_eq!(counters[position + 1].name_index, counter.name_index);
            pairs += 1;
        }
    }
    assert!(pairs > 20, "{pairs}");
}

#[tokio::test(start_paused = true)]
async fn uptime_is_what_has_passed_of_the_objects_clock() {
    let mut registry = Registry::connect(&host()).await;
    let found = registry.query("2").await.unwrap();
    let object = DataBlock::decode(&found).unwrap().objects().next().unwrap().unwrap();
    let booted = value(&rows(&object), "", 674);
    assert_eq!((object.perf_time, object.perf_freq), (NOON.0, 10_000_000));
    let uptime = (object.perf_time - booted) / object.perf_freq;
    assert!((86_400..2 * 86_400).contains(&uptime), "{uptime}");
}

#[tokio::test(start_paused = true)]
async fn threads_come_with_the_processes_that_they_are_part_of() {
    let mut registry = Registry::connect(&host()).await;
    let found = registry.query("232").await.unwrap();
    let block = DataBlock::decode(&found).unwrap();
    let [process, thread] = [0, 1].map(|index| block.objects().nth(index).unwrap().unwrap());
    assert_eq!((process.name_index, thread.name_index), (PROCESS, 232));
    let processes = rows(&process);
    let Instances::Many(threads) = thread.instances() else { panic!("there are threads") };
    let mut counts = vec![0_u64; processes.len()];
    let (mut time, all) = (0, value(&processes, "_Total", 6));
    for (thread, (name, row)) in threads.zip(rows(&thread)) {
        let parent = thread.parent.unwrap();
        assert_eq!(parent.object, PROCESS);
        counts[parent.position as usize] += 1;
        if name != "_Total" {
            time += row[0].2;
        }
    }
    for (count, (name, row)) in counts.iter().zip(&processes).filter(|(_, (name, _))| name != "_Total") {
        let expected = row.iter().find(|(index, ..)| *index == 680 /* Thread Count */).unwrap().2;
        assert_eq!(*count, expected, "{name}");
    }
    assert_eq!(time, all, "threads have the time of their processes");
}
