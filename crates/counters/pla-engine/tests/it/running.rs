use std::time::Duration;

use jiff::civil::{Time, time};
use pla_engine::{RunState, SetDefinition};

use crate::world::{DAY, HOUR, MINUTE, World, counters, daily, in_zone};

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
