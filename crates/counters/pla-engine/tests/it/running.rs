use std::time::Duration;

use jiff::civil::{Time, time};
use pla_engine::{Collector, RunState, SetDefinition, Written};

use crate::world::{DAY, HOUR, MB, MINUTE, World, counters, daily, in_zone};

#[test]
fn a_run_that_somebody_asks_for_lasts_for_its_duration() {
    let mut world = World::new("2026-01-31T12:00Z", SetDefinition { duration: Some(HOUR), ..counters() });
    assert_eq!(world.start(), Ok(()));
    assert_eq!(world.state(), RunState::Running);
    assert_eq!(world.start(), Err("the set runs already".to_owned()));
    world.pass(DAY);
    assert_eq!(world.log(), ["31T12:00:00 start 1: requested", "31T13:00:00 stop 1: duration"]);
    assert_eq!(world.state(), RunState::Stopped);
}

#[test]
fn a_run_without_a_duration_lasts_until_it_is_stopped() {
    let mut world = World::new("2026-01-31T12:00Z", counters());
    assert_eq!(world.stop(), Err("the set does not run".to_owned()));
    assert_eq!((world.start(), world.pass(30 * DAY).stop()), (Ok(()), Ok(())));
    assert_eq!(world.log(), ["31T12:00:00 start 1: requested", "02T12:00:00 stop 1: requested"]);
}

#[test]
fn a_set_starts_by_its_schedules_and_a_start_that_finds_it_running_changes_nothing() {
    let twice = SetDefinition { duration: Some(2 * HOUR), ..daily(time(4, 0, 0, 0)) };
    let mut schedules = twice.schedules.clone();
    schedules.extend(daily(time(5, 0, 0, 0)).schedules);
    let mut world = World::new("2026-01-30T12:00Z", SetDefinition { schedules, ..twice });
    assert_eq!(
        world.run.next_start().map(|start| start.to_string()).as_deref(),
        Some("2026-01-31T04:00:00Z")
    );
    world.pass(DAY);
    assert_eq!(world.log(), ["31T04:00:00 start 1: due at 31T04:00", "31T06:00:00 stop 1: duration"]);
    let counts = world.run.counts();
    assert_eq!((counts.runs, counts.ignored_starts, counts.missed_starts), (1, 1, 0));
}

#[test]
fn schedules_that_are_not_enabled_start_nothing() {
    let definition = SetDefinition { are_schedules_enabled: false, ..daily(time(4, 0, 0, 0)) };
    let mut world = World::new("2026-01-30T12:00Z", definition);
    assert_eq!(world.run.next_start(), None);
    assert!(world.pass(3 * DAY).log().is_empty());
}

#[test]
fn runs_that_follow_each_other_are_all_there_even_if_each_call_is_late() {
    let around_the_clock = SetDefinition { duration: Some(DAY), ..daily(Time::midnight()) };
    let mut world =
        World::new("2026-01-28T23:59Z", around_the_clock).with_late_calls(Duration::from_millis(700));
    world.pass(3 * DAY);
    assert_eq!(
        world.log(),
        [
            "29T00:00:00 start 1: due at 29T00:00",
            "30T00:00:00 stop 1: duration",
            "30T00:00:00 start 2: due at 30T00:00",
            "31T00:00:00 stop 2: duration",
            "31T00:00:00 start 3: due at 31T00:00",
        ]
    );
}

#[test]
fn a_change_of_the_clocks_in_spring_or_autumn_changes_no_run() {
    let nightly =
        in_zone("Europe/Berlin", SetDefinition { duration: Some(4 * HOUR), ..daily(time(1, 0, 0, 0)) });
    // It is 01:00 in Berlin. At 01:00 UTC, the clock there goes from 02:00 to 03:00.
    let mut world = World::new("2026-03-28T12:00Z", nightly.clone());
    world.pass(2 * DAY);
    assert_eq!(
        world.log(),
        [
            "29T00:00:00 start 1: due at 29T00:00",
            "29T04:00:00 stop 1: duration",
            "29T23:00:00 start 2: due at 29T23:00",
            "30T03:00:00 stop 2: duration",
        ]
    );
    // At 01:00 UTC, the clock goes from 03:00 back to 02:00.
    let mut world = World::new("2026-10-24T12:00Z", nightly);
    world.pass(2 * DAY);
    assert_eq!(
        world.log(),
        [
            "24T23:00:00 start 1: due at 24T23:00",
            "25T03:00:00 stop 1: duration",
            "26T00:00:00 start 2: due at 26T00:00",
            "26T04:00:00 stop 2: duration",
        ]
    );
}

#[test]
fn a_start_that_the_clock_skips_or_shows_twice_takes_place_once() {
    let nightly =
        in_zone("Europe/Berlin", SetDefinition { duration: Some(10 * MINUTE), ..daily(time(2, 30, 0, 0)) });
    for (from, expected) in
        [("2026-03-28T12:00Z", "29T01:00:00 start 1"), ("2026-10-24T12:00Z", "25T00:30:00 start 1")]
    {
        let mut world = World::new(from, nightly.clone());
        let log = world.pass(DAY).log();
        assert!(log.len() == 2 && log[0].starts_with(expected), "{log:?}");
    }
}

#[test]
fn segments_follow_each_other_by_time_without_a_drift() {
    let hourly = SetDefinition {
        duration: Some(3 * HOUR + 30 * MINUTE),
        is_segmented: true,
        segment_duration_max: Some(HOUR),
        ..counters()
    };
    let mut world = World::new("2026-01-31T12:00Z", hourly).with_late_calls(Duration::from_secs(2));
    assert_eq!(world.start(), Ok(()));
    world.pass(DAY);
    assert_eq!(
        world.log(),
        [
            "31T12:00:00 start 1: requested",
            "31T13:00:02 segment 2: Duration",
            "31T14:00:02 segment 3: Duration",
            "31T15:00:02 segment 4: Duration",
            "31T15:30:00 stop 4: duration",
        ]
    );
    assert_eq!(world.run.counts().segments, 4);
}

#[test]
fn a_segment_ends_when_its_file_has_reached_its_size_or_records() {
    let collectors = vec![Collector::Counters { records_max: Some(100) }];
    let limited = SetDefinition { is_segmented: true, segment_bytes_max: Some(MB), collectors, ..counters() };
    let mut world = World::new("2026-01-31T12:00Z", limited);
    assert_eq!(world.start(), Ok(()));
    world.write(99, MB - 1).write(99, MB).write(99, MB - 1).write(100, 0);
    assert_eq!(
        world.log(),
        ["31T12:00:00 start 1: requested", "31T12:00:00 segment 2: Size", "31T12:00:00 segment 3: Records"]
    );
    // What comes late about a segment that is over, or from nowhere, ends none.
    let late = Written { serial_number: 2, records: 1_000, bytes: MB };
    world.run.handle_written(0, late, world.now());
    world.run.handle_written(7, Written { serial_number: 3, ..late }, world.now());
    assert_eq!(world.run.poll_action(), None);
}

#[test]
fn a_limit_of_zero_is_none_and_a_huge_one_is_no_trap() {
    let zero = Some(Duration::ZERO);
    let collectors = vec![Collector::Counters { records_max: Some(0) }];
    let unlimited = SetDefinition {
        duration: zero,
        is_segmented: true,
        segment_duration_max: zero,
        segment_bytes_max: Some(0),
        collectors,
        ..SetDefinition::default()
    };
    let huge = SetDefinition {
        duration: Some(Duration::MAX),
        segment_duration_max: Some(Duration::MAX),
        ..counters()
    };
    for definition in [unlimited, huge] {
        let mut world = World::new("2026-01-31T12:00Z", definition);
        assert_eq!(world.start(), Ok(()));
        world.write(10, MB).pass(DAY).restart(DAY).pass(DAY);
        assert_eq!(
            world.log(),
            ["31T12:00:00 start 1: requested", "restart", "02T12:00:00 start 2: resumed"]
        );
    }
}

#[test]
fn a_set_that_is_not_segmented_stops_at_the_first_limit() {
    let collectors = vec![Collector::Counters { records_max: Some(100) }];
    let limited = SetDefinition {
        segment_duration_max: Some(HOUR),
        segment_bytes_max: Some(MB),
        collectors,
        ..counters()
    };
    for (records, bytes, expected) in [
        (1, 1, "31T13:00:00 stop 1: segment_duration"),
        (1, MB, "31T12:00:00 stop 1: segment_size"),
        (100, 1, "31T12:00:00 stop 1: segment_records"),
    ] {
        let mut world = World::new("2026-01-31T12:00Z", limited.clone());
        assert_eq!(world.start(), Ok(()));
        world.write(records, bytes).pass(DAY);
        assert_eq!(world.log()[1..], [expected]);
    }
}

#[test]
fn a_set_of_alerts_alone_is_neither_segmented_nor_compiled() {
    let alerts = SetDefinition {
        duration: Some(2 * HOUR),
        is_segmented: true,
        segment_duration_max: Some(MINUTE),
        segment_bytes_max: Some(1),
        is_managed: true,
        collectors: vec![Collector::Alerts],
        ..SetDefinition::default()
    };
    let mut world = World::new("2026-01-31T12:00Z", alerts);
    assert_eq!(world.start(), Ok(()));
    world.pass(DAY);
    assert_eq!(world.log(), ["31T12:00:00 start 1: requested", "31T14:00:00 stop 1: duration"]);
}

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

#[test]
fn a_start_that_fails_leaves_the_set_stopped_until_the_next_one() {
    let managed = SetDefinition { is_managed: true, ..daily(time(4, 0, 0, 0)) };
    let mut world = World::new("2026-01-30T12:00Z", managed);
    world.pass(DAY).failed(7);
    assert_eq!(world.state(), RunState::Running, "another run was meant");
    world.failed(1);
    assert_eq!((world.state(), world.run.counts().failed_starts), (RunState::Stopped, 1));
    world.pass(DAY);
    assert_eq!(world.log(), ["31T04:00:00 start 1: due at 31T04:00", "01T04:00:00 start 2: due at 01T04:00"]);
}

#[test]
fn serial_numbers_begin_with_that_of_the_definition_and_end_at_the_last_one() {
    let numbered = |serial_number| SetDefinition {
        serial_number,
        is_segmented: true,
        segment_bytes_max: Some(1),
        ..counters()
    };
    let mut world = World::new("2026-01-31T12:00Z", numbered(11));
    assert_eq!(world.run.serial_number(), None);
    assert_eq!(world.start(), Ok(()));
    assert_eq!(world.run.serial_number(), Some(11));
    // A lower one does not bring it back.
    world.redefine(numbered(3)).write(1, 1);
    assert_eq!(world.run.serial_number(), Some(12));
    world.redefine(numbered(u32::MAX)).write(1, 1).write(1, 1);
    assert_eq!(
        world.log()[2..],
        ["31T12:00:00 segment 4294967295: Size", "31T12:00:00 stop 4294967295: serial_numbers"]
    );
    assert_eq!(
        world.start(),
        Err("the set has used its last serial number: give it another name".to_owned())
    );
}

#[test]
fn a_new_definition_holds_for_the_run_that_goes_on() {
    let mut world = World::new(
        "2026-01-31T12:00Z",
        SetDefinition { duration: Some(4 * HOUR), ..daily(time(11, 0, 0, 0)) },
    );
    assert_eq!(world.start(), Ok(()));
    world
        .pass(HOUR)
        .redefine(SetDefinition { duration: Some(2 * HOUR), ..daily(time(20, 0, 0, 0)) })
        .pass(9 * HOUR);
    world.redefine(SetDefinition { duration: Some(MINUTE), ..counters() });
    assert_eq!(
        world.log(),
        [
            "31T12:00:00 start 1: requested",
            "31T14:00:00 stop 1: duration",
            "31T20:00:00 start 2: due at 31T20:00",
            // Its two hours are over before the last definition comes.
            "31T22:00:00 stop 2: duration",
        ]
    );
    assert_eq!(world.run.next_start(), None);
}
