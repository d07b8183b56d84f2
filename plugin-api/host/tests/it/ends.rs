//! Instances that take their time to end.

use std::time::Duration;

use plugin_abi::raw::{DENIED, END_PROCESS, END_REMOVED, OK, STALE, STOPPED};
use plugin_host::Violation;
use plugin_host::testing::RecordedOutcome;
use serde_json::json;

use crate::rust::{linked, made};
use crate::support::{World, collect, config, instance};

#[test]
fn an_instance_may_take_leave_of_its_target_before_it_is_destroyed() {
    let world = World::new();
    let library = world.load("zoo/slow_end.c");
    let (instance, sink) = instance(&library, "a");
    collect(&world, &instance, &sink);
    drop(instance);
    assert_eq!(world.log.wait_said("left ms"), 10_000);
    assert_eq!(world.log.wait_said("secret"), i64::from(DENIED), "it is asked for, and the broker has none");
    assert_eq!(world.log.wait_said("families"), i64::from(STOPPED), "what it collected is over");
    assert!(sink.recorded().logs.iter().any(|log| log.message == format!("taking leave {END_REMOVED}")));
    assert_eq!(library.instances(), 1);
    library.validate("animal", &config("a")).expect("the source answers");
    assert_eq!(world.log.wait_said("done"), i64::from(OK));
    assert_eq!(library.instances(), 0);
    world.advance(Duration::from_secs(11));
    world.poll();
    assert_eq!(library.violations().of(Violation::SlowEnd), 0);
    assert_eq!(world.log.count("destroyed without a deadline"), 0);
}

#[test]
fn an_instance_that_does_not_end_by_the_deadline_is_forgotten() {
    let world = World::limited(|limits| limits.end_ms_max = 5_000);
    let library = world.load("zoo/slow_end.c");
    let (instance, sink) = instance(&library, "a");
    collect(&world, &instance, &sink);
    drop(instance);
    assert_eq!(world.log.wait_said("left ms"), 5_000);
    world.advance(Duration::from_millis(4_999));
    world.poll();
    assert_eq!(library.instances(), 1, "it still has a millisecond");
    world.advance(Duration::from_millis(1));
    world.poll();
    assert_eq!((library.instances(), library.violations().of(Violation::SlowEnd)), (0, 1));
    library.validate("animal", &config("a")).expect("the source answers");
    assert_eq!(world.log.wait_said("done"), i64::from(STALE));
}

#[test]
fn at_the_end_of_the_process_instances_hear_how_long_they_have() {
    let world = World::new();
    let library = world.load("zoo/slow_end.c");
    let (_instance, sink) = instance(&library, "a");
    world.host.stop(Duration::from_secs(3));
    assert_eq!(world.log.wait_said("left ms"), 3_000);
    assert_eq!(crate::support::said(&sink.recorded(), "taking leave"), i64::from(END_PROCESS));
    library.validate("animal", &config("a")).expect("the source answers");
    assert_eq!(world.host.wait_destroyed(Duration::from_secs(10)), 0);
}

#[test]
fn a_plugin_without_an_end_is_destroyed() {
    let world = World::with(|options| options.limits.end_ms_max = 1);
    let library = world.load("zoo/well_behaved.c");
    let (instance, sink) = instance(&library, "a");
    collect(&world, &instance, &sink);
    drop(instance);
    assert_eq!(world.host.wait_destroyed(Duration::from_secs(10)), 0);
    assert_eq!(library.violations().of(Violation::SlowEnd), 0);
}

#[test]
fn a_source_made_with_the_sdk_ends_in_its_own_time() {
    let (host, library) = linked(|_| {});
    for source in ["counting", "blocking"] {
        let (instance, sink) = made(&library, source, json!({}));
        let recorded = crate::rust::collected(&instance, &sink);
        assert_eq!(recorded.completions[0].outcome, RecordedOutcome::Full);
        drop(instance);
        assert_eq!(host.wait_destroyed(Duration::from_secs(10)), 0);
        let logs = sink.recorded().logs;
        assert_eq!(logs.last().map(|log| log.message.as_str()), Some("Leaving"), "{source}");
    }
}
