//! What cannot be read of one application, or exceeds a limit, costs nothing else.

use plugin_contract::Stage;
use serde_json::json;

use crate::world::{Plugin, SimHost};

#[test]
fn an_application_whose_components_cannot_be_read_does_not_lose_its_neighbours() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    let components = watch.full().count("Component");
    for (rule, expected) in [
        ("tracker/5x1=status:0x8000ffff", (Stage::Query, "server_fault")),
        ("tracker/5x1=fault:1783", (Stage::Query, "server_fault")),
        ("tracker/5x1=oversize:3", (Stage::Decode, "malformed_reply")),
    ] {
        sim.rule(rule);
        let ended = watch.collect();
        let (stage, reason, message, _) = ended.partial();
        assert_eq!((stage, reason), expected, "{rule}");
        assert!(message.contains("get component data by container"), "{message}");
        // The first application has three components.
        assert_eq!(ended.count("Component"), components - 21, "{rule}");
        assert_eq!((ended.count("Application"), ended.left_out("container", "unread")), (20, 1.0), "{rule}");
        let healed = watch.full();
        assert_eq!((healed.count("Component"), healed.left_out("container", "unread")), (components, 0.0));
    }
    assert_eq!(plugin.lender.verdicts().len(), 1, "nothing was opened again");
}

#[test]
fn a_container_that_ended_after_it_was_listed_is_counted_and_no_failure() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    sim.rule("tracker/5x1=status:0x80070057");
    let ended = watch.full();
    assert_eq!((ended.count("Application"), ended.left_out("container", "ended")), (20, 1.0));
}

#[test]
fn what_exceeds_a_limit_is_counted_and_the_same_each_time() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let all = plugin.watch(&sim).full();
    let watch = plugin.watch_with(sim.port, json!({"max_applications": 2, "max_components": 4}));
    for _ in 0..2 {
        let ended = watch.full();
        assert_eq!((ended.count("Application"), ended.left_out("application", "limit")), (10, 2.0));
        // Three of the first application, and one of two of the second, which has two containers.
        assert_eq!((ended.count("Component"), ended.left_out("component", "limit")), (28, 2.0));
    }
    assert_eq!((all.left_out("application", "limit"), all.left_out("component", "limit")), (0.0, 0.0));
    let calls = sim.calls().1;
    let watch = plugin.watch_with(sim.port, json!({"max_components": 3}));
    let ended = watch.full();
    assert_eq!((ended.count("Application"), ended.count("Component")), (20, 21));
    assert_eq!(ended.left_out("component", "limit"), 5.0);
    assert_eq!(sim.calls().1, calls + 1, "components that are not shown are not asked for");
}

#[test]
fn settings_that_are_wrong_are_told_by_their_place() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    let settings = json!({"mode": "events", "max_applications": 0});
    let config = plugin_host::InstanceConfig { settings, ..watch.config.clone() };
    let problems = plugin.library.validate("comt", &config).expect("the source answers");
    let places: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
    assert_eq!(places, ["/mode", "/max_applications"]);
    assert!(problems[0].message.contains("events"), "{problems:?}");
}
