//! Alerts on classic counters, which come from the registry of the host.

use serde_json::json;

use crate::world::{Plugin, SimHost, set};

#[test]
fn classic_counters_and_those_of_version_2_are_judged_together() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let alerts = json!([
        {"name": "memory", "counter": r"\Memory\Available Bytes", "above": 1},
        {"name": "disk", "counter": r"\LogicalDisk(*)\% Free Space", "below": 101},
        {"name": "processor", "counter": r"\Processor Information(_Total)\% Processor Time", "above": -1},
        {"name": "nothing", "counter": r"\LogicalDisk(*)\% Fre Space", "below": 101},
    ]);
    let watch = plugin.watch(&sim, set(&alerts));
    let ended = watch.collect();
    let said = ended.partial();
    assert!(said.contains("did you mean `% Free Space`?"), "{said}");
    sim.pass(std::time::Duration::from_secs(15));
    let (data, values) = (sim.calls(6), sim.host.counts().calls("winreg", 17));
    let states = watch.collect().states();
    assert_eq!((sim.calls(6) - data, sim.host.counts().calls("winreg", 17) - values), (1, 1));
    for expected in ["memory() firing", "disk(C:) firing", "processor(_Total) firing", "nothing() unresolved"]
    {
        assert!(states.iter().any(|state| state == expected), "{expected} is not among {states:?}");
    }
}

#[test]
fn a_registry_that_refuses_costs_the_classic_counters_only() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.behave(|behaviour| behaviour.refuses_performance_data = true);
    let alerts = json!([
        {"name": "memory", "counter": r"\Memory\Available Bytes", "above": 1},
        {"name": "processor", "counter": r"\Processor Information(_Total)\% Processor Time", "above": -1},
    ]);
    let watch = plugin.watch(&sim, set(&alerts));
    let ended = watch.collect();
    let said = ended.partial();
    assert!(said.contains("classic counters cannot be read"), "{said}");
    let calls = sim.host.counts().calls("winreg", 17);
    sim.pass(std::time::Duration::from_secs(15));
    let states = watch.collect().states();
    assert_eq!(states, ["memory() unresolved", "processor(_Total) firing"]);
    assert_eq!(sim.host.counts().calls("winreg", 17), calls, "what is refused is not asked for each time");
}
