//! This machine under the Windows names. What is compared is what the machine says of itself elsewhere.

use windows_sim::live::Live;
use windows_sim::model::{Counterset, ValueSource};

fn set(live: &Live, name: &str) -> &'static Counterset {
    live.countersets().into_iter().find(|set| set.name == name).unwrap()
}

#[test]
fn this_process_is_among_the_processes() {
    let live = Live::new().unwrap();
    let samples = live.sample(set(&live, "Process V2").guid, &live.moment()).unwrap();
    let pid = std::process::id();
    let own = samples.iter().find(|sample| sample.instance.instance_id.0 == pid).unwrap();
    assert!(own.instance.name.ends_with(&format!(":{pid}")), "{}", own.instance.name);
    assert_eq!(own.values.len(), set(&live, "Process V2").counters.len());
}

#[test]
fn there_are_as_many_processors_as_the_kernel_lists() {
    let live = Live::new().unwrap();
    let samples = live.sample(set(&live, "Processor Information").guid, &live.moment()).unwrap();
    let listed = std::fs::read_to_string("/proc/stat").unwrap();
    let listed = listed.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count();
    assert_eq!(samples.len(), listed + 2 /* totals */);
}
