use counters::perflib_v1::write::{Data, Instance};

use super::super::super::schema::Sample;
use super::figures::{Figures, number, total};

/// The places of counters that others ask for.
const PROCESSOR_TIME: usize = 0;
pub(super) const USER_TIME: usize = 1;
pub(super) const PRIVILEGED_TIME: usize = 2;
pub(super) const THREAD_COUNT: usize = 11;
pub(super) const PRIORITY_BASE: usize = 12;
pub(super) const ELAPSED_TIME: usize = 13;
pub(super) const ID_PROCESS: usize = 14;
const CREATING_PROCESS_ID: usize = 15;
/// The place of `% Idle Time` in `Processor Information`.
const IDLE_TIME: usize = 8;

pub(super) fn modelled(figures: &Figures<'_>) -> Data {
    data(figures.processes(), figures.processors(), figures.at.boot.0)
}

/// The first counters of `Process V2` are those of this object, in the same order. Its instances have their id in the name;
/// here, they have not, and there are `Idle` and `_Total` besides.
pub(crate) fn data(processes: &[Sample], processors: &[Sample], boot: u64) -> Data {
    let counters = super::object("Process").counters.len();
    let instance = |sample: &Sample| {
        let name = sample.instance.name.rsplit_once(':').map_or("", |(name, _)| name);
        let values = (0..counters).map(|position| number(sample, position)).collect();
        Instance { name: name.to_owned(), values, ..Instance::default() }
    };
    let mut instances = vec![idle(processors, boot, counters)];
    instances.extend(processes.iter().map(instance));
    let total = total_of(&instances, counters);
    instances.push(total);
    Data::Instances(instances)
}

/// Process 0, with a thread for each processor, runs when nobody else does.
fn idle(processors: &[Sample], boot: u64, counters: usize) -> Instance {
    let own = processors.iter().filter(|sample| !sample.instance.name.ends_with("_Total"));
    let own: Vec<Sample> = own.cloned().collect();
    let idle = total(&own, IDLE_TIME);
    let mut values = vec![0; counters];
    values[PROCESSOR_TIME] = idle;
    values[PRIVILEGED_TIME] = idle;
    values[THREAD_COUNT] = own.len() as u64;
    values[ELAPSED_TIME] = boot;
    Instance { name: "Idle".to_owned(), values, ..Instance::default() }
}

/// The sum of all instances. Of what cannot be added up it has nothing: elapsed time has begun with `Idle`.
fn total_of(instances: &[Instance], counters: usize) -> Instance {
    let sum = |position| match position {
        PRIORITY_BASE | ID_PROCESS | CREATING_PROCESS_ID => 0,
        ELAPSED_TIME => instances.first().map_or(0, |idle| idle.values[ELAPSED_TIME]),
        _ => instances.iter().map(|instance| instance.values[position]).sum(),
    };
    let values: Vec<u64> = (0..counters).map(sum).collect();
    Instance { name: "_Total".to_owned(), values, ..Instance::default() }
}
