use jiff::civil::time;
use pla_engine::{Collector, RunState, SetDefinition};

use crate::world::{DAY, HOUR, MINUTE, World, counters, daily};

#[test]
fn a_set_that_stops_on_completion_ends_with_its_first_segment() {
    let segmented = SetDefinition {
        stops_on_completion: true,
        is_segmented: true,
        segment_duration_max: Some(HOUR),
        collectors: vec![Collector::Counters { records_max: None }, Collector::Alerts],
        ..SetDefinition::default()
    };
    let mut world = World::new("2026-01-31T12:00Z", segmented);
    assert_eq!(world.start(), Ok(()));
    world.pass(DAY);
    assert_eq!(world.log(), ["31T12:00:00 start 1: requested", "31T13:00:00 stop 1: completed"]);
}

#[test]
fn a_set_that_stops_on_completion_does_not_wait_for_what_has_no_limit() {
    for collectors in
        [vec![Collector::Alerts], vec![Collector::Counters { records_max: None }, Collector::Alerts]]
    {
        let definition = SetDefinition { stops_on_completion: true, collectors, ..SetDefinition::default() };
        let mut world = World::new("2026-01-31T12:00Z", definition);
        assert_eq!(world.start(), Ok(()));
        assert_eq!(world.log(), ["31T12:00:00 start 1: requested", "31T12:00:00 stop 1: completed"]);
    }
    // A duration is a limit of a file.
    let timed = SetDefinition { stops_on_completion: true, duration: Some(HOUR), ..counters() };
    let mut world = World::new("2026-01-31T12:00Z", timed);
    assert_eq!(world.start(), Ok(()));
    world.pass(DAY);
    assert_eq!(world.log(), ["31T12:00:00 start 1: requested", "31T13:00:00 stop 1: duration"]);
}

#[test]
fn a_set_that_stops_on_completion_waits_for_the_configuration_of_the_host() {
    let collectors = vec![Collector::Configuration, Collector::Counters { records_max: None }];
    let definition = SetDefinition { stops_on_completion: true, collectors, ..SetDefinition::default() };
    let mut world = World::new("2026-01-31T12:00Z", definition);
    assert_eq!(world.start(), Ok(()));
    world.pass(MINUTE).collected(0, 7);
    assert_eq!(world.state(), RunState::Running, "another run was meant");
    world.collected(0, 1);
    assert_eq!(world.log(), ["31T12:00:00 start 1: requested", "31T12:01:00 stop 1: completed"]);
}

#[test]
fn a_data_manager_compiles_each_segment_and_the_set_is_compiling_after_the_last_one() {
    let managed = SetDefinition {
        duration: Some(90 * MINUTE),
        is_segmented: true,
        segment_duration_max: Some(HOUR),
        is_managed: true,
        ..counters()
    };
    let mut world = World::new("2026-01-31T12:00Z", managed);
    assert_eq!(world.start(), Ok(()));
    world.pass(2 * HOUR);
    assert_eq!(world.state(), RunState::Compiling);
    world.compiled(1);
    assert_eq!(world.state(), RunState::Compiling, "the last segment is not done");
    assert_eq!(world.stop(), Err("the set does not run".to_owned()));
    world.compiled(2);
    assert_eq!(world.state(), RunState::Stopped);
    assert_eq!(
        world.log(),
        [
            "31T12:00:00 start 1: requested",
            "31T13:00:00 segment 2: Duration",
            "31T13:00:00 compile segment 1",
            "31T13:30:00 stop 2: duration",
            "31T13:30:00 compile 2",
        ]
    );
}

#[test]
fn a_start_that_comes_while_the_set_is_compiled_is_queued() {
    let managed = SetDefinition { duration: Some(HOUR), is_managed: true, ..daily(time(13, 30, 0, 0)) };
    let mut world = World::new("2026-01-31T12:00Z", managed);
    assert_eq!(world.start(), Ok(()));
    world.pass(2 * HOUR);
    assert_eq!(world.state(), RunState::Queued);
    assert_eq!(world.start(), Err("the set runs already".to_owned()));
    // The run takes the place of the one from 13:30 to 14:30.
    world.compiled(1).pass(HOUR);
    assert_eq!(
        world.log(),
        [
            "31T12:00:00 start 1: requested",
            "31T13:00:00 stop 1: duration",
            "31T13:00:00 compile 1",
            "31T14:00:00 start 2: due at 31T13:30",
            "31T14:30:00 stop 2: duration",
            "31T14:30:00 compile 2",
        ]
    );
    assert_eq!((world.start(), world.state()), (Ok(()), RunState::Queued));
    assert_eq!((world.stop(), world.state()), (Ok(()), RunState::Compiling));
    world.compiled(2);
    assert_eq!((world.state(), world.log().len()), (RunState::Stopped, 0));
}
