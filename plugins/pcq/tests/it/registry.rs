//! Hosts with more countersets than `PerflibV2EnumerateCounterSet` can list, which is 256, and what their registry makes
//! of it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use plugin_host::testing::RecordedOutcome;
use serde_json::json;
use windows_sim::RegistryMode;

use crate::world::{Plugin, SimHost};

/// A host with 303 countersets and more, of which PCQ lists none, and whose registry answers so.
fn crowded(registry: RegistryMode) -> SimHost {
    let sim = SimHost::with_options(|options| options.synthetic = 303);
    sim.behave(|behaviour| behaviour.registry = registry);
    sim
}

/// The registry has a pipe and a bind of its own, so that what a host makes of an alter_context does not matter.
#[test]
fn the_registry_is_read_on_an_association_of_its_own() {
    for mode in [RegistryMode::Open, RegistryMode::AlterFault, RegistryMode::AlterDrop] {
        let (sim, plugin) = (crowded(mode), Plugin::new());
        let watch = plugin.watch(&sim, json!({"countersets": [{"name": "Synthetic 0299"}]}));
        let ended = watch.full();
        let objects: Vec<&str> = ended.families().map(|family| family.object.as_str()).collect();
        assert!(!objects.is_empty() && objects.iter().all(|object| *object == "Synthetic 0299"), "{mode:?}");
        assert_eq!(sim.connections(), 1);
        assert_eq!(sim.logons(), (3, 0), "one over SMB, and one for each of two associations");
    }
}

/// The target goes on with what can be found without the list, and says what is missing and why.
#[test]
fn a_registry_that_refuses_costs_the_names_alone() {
    let settings = json!({"countersets": [
        {"name": "Processor Information", "counters": {"include": ["% Processor Time"]}},
        {"name": "Synthetic 0299"},
        {"name": {"regex": "Synthetic 000.*"}},
    ]});
    for (mode, connections, word) in
        // The host drops the connection over the list, and once more over classic objects.
        [(RegistryMode::BindRefused, 1, "bind refused"), (RegistryMode::BindDrop, 3, "connection")]
    {
        let (sim, plugin) = (crowded(mode), Plugin::new());
        let watch = plugin.watch(&sim, settings.clone());
        for collection in 0..10 {
            let ended = watch.collect();
            let (objects, failure) = ended.partial();
            assert_eq!(objects, ["Processor Information"], "{mode:?}, collection {collection}");
            for name in ["`Synthetic 0299`", "`Synthetic 000.*`"] {
                assert!(failure.message.contains(name), "{}", failure.message);
            }
            assert!(failure.message.contains(word), "{}", failure.message);
            assert!(failure.message.contains("set the counterset's guid"), "{}", failure.message);
        }
        assert_eq!(sim.connections(), connections, "{mode:?}");
        assert!(sim.logons().0 <= 6, "{mode:?}: {:?}", sim.logons());
    }
}

/// Reconnecting does not make it try again, and a healed host is asked again in time.
#[test]
fn a_registry_that_failed_is_tried_again_rarely_and_after_all() {
    let (sim, plugin) = (crowded(RegistryMode::BindRefused), Plugin::new());
    let watch = plugin.watch(
        &sim,
        json!({"countersets": [
            {"name": "Processor Information", "counters": {"include": ["% Processor Time"]}},
            {"name": "Synthetic 0299"},
        ]}),
    );
    watch.collect().partial();
    let pipes = || sim.host.counts().pipes.load(Ordering::Relaxed);
    for _ in 0..5 {
        sim.cut();
        let before = pipes();
        watch.collect().partial();
        assert_eq!(pipes() - before, 1, "the performance counters' alone");
    }
    sim.behave(|behaviour| behaviour.registry = RegistryMode::Open);
    let mut collections = (0..60).take_while(|_| {
        plugin.advance(Duration::from_secs(15));
        watch.collect().outcome != RecordedOutcome::Full
    });
    let collections = collections.by_ref().count();
    assert!((3..12).contains(&collections), "{collections}");
}

/// A bind that nobody answers takes a part of one collection, and no more of the others.
#[test]
fn a_registry_that_is_silent_leaves_time_for_the_values() {
    let (sim, plugin) = (crowded(RegistryMode::BindSilent), Plugin::new());
    let watch = plugin.watch(
        &sim,
        json!({"countersets": [
            {"name": "Processor Information", "counters": {"include": ["% Processor Time"]}},
            {"name": "Synthetic 0299"},
        ]}),
    );
    let ended = watch.collect_within(Duration::from_secs(4));
    let (objects, failure) = ended.partial();
    assert_eq!(objects, ["Processor Information"]);
    assert_eq!(failure.reason.as_str(), "timeout");
    assert_eq!(watch.collect_within(Duration::from_secs(4)).partial().0, ["Processor Information"]);
}
