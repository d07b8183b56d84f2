//! Hosts with more countersets than they can list by PerflibV2, which is 256.

use serde_json::json;
use windows_sim::RegistryMode;

use crate::world::{Plugin, SimHost, set};

fn crowded(registry: RegistryMode) -> SimHost {
    let sim = SimHost::with_options(|options| options.synthetic = 303);
    sim.behave(|behaviour| behaviour.registry = registry);
    sim
}

#[test]
fn the_registry_says_which_countersets_there_are() {
    let (sim, plugin) = (crowded(RegistryMode::Open), Plugin::new());
    let alerts = json!([
        {"name": "late", "counter": r"\Synthetic 0299(*)\Number", "above": -1},
        {"name": "memory", "counter": r"\Memory\Available Bytes", "above": 1},
    ]);
    let watch = plugin.watch(&sim, set(&alerts));
    let states = watch.collect().states();
    assert_eq!(states[states.len() - 1], "memory() firing");
    assert!(states.iter().all(|state| state.ends_with("firing")), "{states:?}");
    assert_eq!(sim.logons(), (3, 0), "one over SMB, one for each of two pipes");
}

#[test]
fn a_registry_that_refuses_leaves_the_well_known_ones_and_is_asked_rarely() {
    let (sim, plugin) = (crowded(RegistryMode::BindRefused), Plugin::new());
    let alerts = json!([
        {"name": "late", "counter": r"\Synthetic 0299(*)\Number", "above": -1},
        {"name": "processor", "counter": r"\Processor Information(_Total)\% Processor Time", "above": -1},
    ]);
    let watch = plugin.watch(&sim, set(&alerts));
    let ended = watch.collect();
    let said = ended.partial();
    assert!(said.contains("more countersets than it can list"), "{said}");
    assert_eq!(ended.states()[0], "late() unresolved");
    let mut attempts = Vec::new();
    for collection in 1..=12 {
        let before = plugin.lender.hosts().len();
        sim.pass(std::time::Duration::from_secs(60));
        let states = watch.collect().states();
        assert_eq!(states, ["late() unresolved", "processor(_Total) firing"]);
        attempts.extend((plugin.lender.hosts().len() > before).then_some(collection));
    }
    assert_eq!(attempts, [1, 2, 3, 5, 8, 12], "minutes");
}
