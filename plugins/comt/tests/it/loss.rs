//! What was lost between two collections is opened again in the next one.

use std::time::Duration;

use plugin_abi::Stage;
use serde_json::json;

use crate::world::{Asked as _, Plugin, SimHost};

#[test]
fn connections_that_were_cut_are_opened_again_in_the_same_collection() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    watch.full();
    let connections = sim.connections();
    sim.cut();
    let ended = watch.full();
    assert_eq!(ended.count("Application"), 20);
    assert_eq!(sim.connections(), 2 * connections);
}

#[test]
fn an_object_that_the_host_forgot_is_activated_again() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    watch.full();
    for rule in ["tracker/4x1=status:0x80010108", "tracker/4x1=drop", "tracker/5x1=drop"] {
        sim.rule(rule);
        assert_eq!(watch.full().count("Application"), 20, "{rule}");
    }
}

#[test]
fn a_host_that_hangs_fails_at_the_deadline_and_is_read_again_afterwards() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    watch.full();
    sim.rule("tracker/4=stall");
    let ended = watch.collect_within(Duration::from_secs(1));
    let (stage, reason, ..) = ended.failed();
    assert_eq!((stage, reason), (Stage::Query, "timeout"));
    sim.heal();
    watch.full();
}

#[test]
fn an_answer_that_is_none_fails_the_collection_and_nothing_after_it() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    for (rule, expected) in [
        ("tracker/4=garbage", (Stage::Query, "malformed_reply")),
        ("tracker/4=truncate", (Stage::Query, "connection_reset")),
        ("tracker/4=oversize:5", (Stage::Decode, "malformed_reply")),
        ("activator/4=oversize:40", (Stage::Decode, "malformed_reply")),
        ("resolver/5=garbage", (Stage::Query, "malformed_reply")),
    ] {
        sim.rule(rule);
        sim.cut();
        let ended = watch.collect();
        let (stage, reason, message) = ended.failed();
        assert_eq!((stage, reason), expected, "{rule}: {message}");
        sim.heal();
        assert_eq!(watch.full().count("Application"), 20, "{rule}");
    }
}

#[test]
fn a_ping_that_is_refused_ends_no_collection() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    for rule in ["resolver/1=fault:5", "resolver/2=fault:5", "resolver/2=status:5"] {
        sim.rule(rule);
        sim.cut();
        let connections = sim.connections();
        for _ in 0..4 {
            assert_eq!(
                watch.full().count("Application"),
                20,
                "{rule}: the object lives without pings for a while"
            );
        }
        assert!(sim.connections() - connections <= 3, "{rule}: it is not activated again");
        sim.heal();
    }
}

#[test]
fn an_instance_that_ends_gives_its_object_back() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    watch.full();
    let released = || {
        let releases = |service| sim.host.counts().calls(service, 5);
        releases("rem-unknown") + releases("rem-unknown2")
    };
    assert_eq!(released(), 0);
    drop(watch);
    plugin.wait_ended();
    assert_eq!(released(), 1);
}

#[test]
fn new_limits_keep_the_connection() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    watch.full();
    let connections = sim.connections();
    let settings = json!({"max_applications": 1});
    let config = plugin_host::InstanceConfig { settings, ..watch.config.clone() };
    watch.instance.reconfigure(&config).expect("the source takes the settings");
    assert_eq!(watch.full().count("Application"), 5);
    assert_eq!(sim.connections(), connections);
}
