//! The process ends, and another one goes on.

use jiff::SignedDuration;
use jiff::civil::time;
use pla_engine::{Action, Moment, RunSnapshot, RunState, SetDefinition, SetRun};

use crate::world::{DAY, HOUR, MB, MINUTE, World, counters, daily, in_zone};

#[test]
fn a_run_goes_on_for_the_rest_of_its_time_with_a_new_serial_number() {
    let mut world = World::new("2026-01-31T12:00Z", SetDefinition { duration: Some(3 * HOUR), ..counters() });
    assert_eq!(world.start(), Ok(()));
    world.pass(HOUR).restart(HOUR).pass(DAY);
    assert_eq!(
        world.log(),
        [
            "31T12:00:00 start 1: requested",
            "restart",
            "31T14:00:00 start 2: resumed",
            "31T15:00:00 stop 2: duration",
        ]
    );
}

#[test]
fn a_run_without_an_end_goes_on_and_the_segment_before_is_compiled() {
    let managed = SetDefinition {
        is_managed: true,
        is_segmented: true,
        segment_duration_max: Some(HOUR),
        ..counters()
    };
    let mut world = World::new("2026-01-31T12:00Z", managed);
    assert_eq!(world.start(), Ok(()));
    world.pass(10 * MINUTE).restart(30 * DAY).pass(HOUR);
    assert_eq!(
        world.log(),
        [
            "31T12:00:00 start 1: requested",
            "restart",
            "02T12:10:00 start 2: resumed",
            "02T12:10:00 compile segment 1",
            "02T13:10:00 segment 3: Duration",
            "02T13:10:00 compile segment 2",
        ]
    );
}

#[test]
fn a_run_that_learns_of_earlier_ones_late_goes_on_behind_their_serial_numbers() {
    let definition = SetDefinition { is_segmented: true, segment_duration_max: Some(HOUR), ..counters() };
    let at = |hours: u32| Moment {
        wall: jiff::Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours.into()),
        monotonic: HOUR * hours,
    };
    let mut run = SetRun::new(definition, at(0));
    run.handle_start(at(0)).expect("it is stopped");
    let before = run.revision();
    run.handle_earlier_runs(70);
    assert!(run.revision() > before, "it is stored");
    assert_eq!(run.snapshot(at(0)).serial_number, 70);
    run.handle_earlier_runs(3);
    run.handle_time(at(1));
    let actions: Vec<_> = std::iter::from_fn(|| run.poll_action()).collect();
    let [Action::StartRun { serial_number: 1, .. }, Action::NextSegment { serial_number: 71, .. }] =
        actions[..]
    else {
        panic!("{actions:?}")
    };
}

#[test]
fn a_run_whose_time_is_over_is_compiled() {
    let managed = SetDefinition { duration: Some(HOUR), is_managed: true, ..counters() };
    let mut world = World::new("2026-01-31T12:00Z", managed);
    assert_eq!(world.start(), Ok(()));
    world.pass(MINUTE).restart(HOUR);
    assert_eq!(world.log(), ["31T12:00:00 start 1: requested", "restart", "31T13:01:00 compile 1"]);
    assert_eq!(world.state(), RunState::Compiling);
    // A data manager that was at work is started again.
    world.restart(MINUTE);
    assert_eq!(world.log(), ["restart", "31T13:02:00 compile 1"]);
    world.compiled(1);
    assert_eq!(world.state(), RunState::Stopped);
    assert!(world.restart(MINUTE).log().len() == 1);
}

#[test]
fn a_clock_that_is_set_back_meanwhile_does_not_lengthen_the_run() {
    let mut world = World::new("2026-01-31T12:00Z", SetDefinition { duration: Some(HOUR), ..counters() });
    assert_eq!(world.start(), Ok(()));
    let snapshot = world.run.snapshot(world.now());
    let mut before = world.now();
    before.wall -= SignedDuration::from_hours(1_000);
    let run = SetRun::resume(world.run.definition().clone(), &snapshot, before);
    assert_eq!(run.ends(), Some(before.monotonic + HOUR));
}

#[test]
fn a_start_of_the_meantime_takes_place_for_the_rest_of_its_time() {
    let nightly = SetDefinition { duration: Some(HOUR), ..daily(time(4, 0, 0, 0)) };
    let mut world = World::new("2026-01-31T03:00Z", nightly.clone());
    world.pass(MINUTE).restart(89 * MINUTE).pass(HOUR);
    assert_eq!(
        world.log(),
        ["restart", "31T04:30:00 start 1: due at 31T04:00", "31T05:00:00 stop 1: duration"]
    );
    assert_eq!(world.run.counts().missed_starts, 0);
    // A set without an end is late, however late it is.
    let mut world = World::new("2026-01-31T03:00Z", SetDefinition { duration: None, ..nightly });
    world.restart(20 * HOUR).pass(DAY);
    assert_eq!(world.log(), ["restart", "31T23:00:00 start 1: due at 31T04:00"]);
}

#[test]
fn starts_of_the_meantime_whose_time_is_over_were_missed() {
    let nightly = SetDefinition { duration: Some(HOUR), ..daily(time(4, 0, 0, 0)) };
    let mut world = World::new("2026-01-01T03:00Z", nightly);
    world.restart(3 * DAY + 2 * HOUR);
    assert_eq!((world.state(), world.run.counts().missed_starts), (RunState::Stopped, 4));
    world.pass(DAY);
    assert_eq!(
        world.log(),
        ["restart", "05T04:00:00 start 1: due at 05T04:00", "05T05:00:00 stop 1: duration"]
    );
}

#[test]
fn a_start_that_would_have_found_the_set_running_changes_nothing() {
    let twice = SetDefinition { duration: Some(3 * HOUR), ..daily(time(4, 0, 0, 0)) };
    let mut schedules = twice.schedules.clone();
    schedules.extend(daily(time(5, 0, 0, 0)).schedules);
    let twice = SetDefinition { schedules, ..twice };
    // It runs from 4 to 7. The start at 5 is within the pause; the run goes on until 7, or is over.
    let mut world = World::new("2026-01-31T03:59Z", twice.clone());
    world.pass(30 * MINUTE).restart(HOUR).pass(DAY - 2 * HOUR);
    assert_eq!(world.log()[1..], ["restart", "31T05:29:00 start 2: resumed", "31T07:00:00 stop 2: duration"]);
    assert_eq!((world.run.counts().ignored_starts, world.run.counts().missed_starts), (1, 0));
    let mut world = World::new("2026-01-31T03:59Z", twice);
    world.pass(30 * MINUTE).restart(3 * HOUR);
    assert_eq!((world.log()[1..].to_vec(), world.state()), (vec!["restart".to_owned()], RunState::Stopped));
    assert_eq!(world.run.counts().missed_starts, 0);
}

#[test]
fn a_queued_start_waits_on_for_the_data_manager() {
    let managed = SetDefinition { is_managed: true, duration: Some(HOUR), ..daily(time(4, 0, 0, 0)) };
    let mut world = World::new("2026-01-31T02:59Z", managed);
    assert_eq!(world.start(), Ok(()));
    world.pass(90 * MINUTE);
    assert_eq!(world.state(), RunState::Queued);
    world.log();
    world.restart(MINUTE);
    assert_eq!(
        (world.state(), world.log()),
        (RunState::Queued, vec!["restart".to_owned(), "31T04:30:00 compile 1".to_owned()])
    );
    world.compiled(1).pass(DAY / 2);
    assert_eq!(
        world.log(),
        ["31T04:30:00 start 2: due at 31T04:00", "31T05:00:00 stop 2: duration", "31T05:00:00 compile 2"]
    );
}

#[test]
fn what_was_handled_is_not_handled_again_whatever_the_clock_says_after_a_restart() {
    let nightly = SetDefinition { duration: Some(MINUTE), ..daily(time(4, 0, 0, 0)) };
    let mut world = World::new("2026-01-31T03:59Z", nightly);
    world.pass(HOUR).restart(MINUTE).set_clock(SignedDuration::from_hours(-1)).pass(HOUR);
    assert_eq!(
        world.log(),
        ["31T04:00:00 start 1: due at 31T04:00", "31T04:01:00 stop 1: duration", "restart"]
    );
}

#[test]
fn a_set_without_a_snapshot_makes_up_for_nothing() {
    let mut world = World::new("2026-01-31T04:30Z", daily(time(4, 0, 0, 0)));
    world.pass(HOUR);
    assert!(world.log().is_empty());
}

#[test]
fn a_schedule_that_was_changed_meanwhile_makes_up_for_nothing() {
    let at_four = daily(time(4, 0, 0, 0));
    let disabled = SetDefinition { are_schedules_enabled: false, ..at_four.clone() };
    for before in [daily(time(5, 0, 0, 0)), in_zone("Europe/Berlin", at_four.clone()), disabled] {
        let mut world = World::new("2026-01-31T03:30Z", before);
        let snapshot = world.run.snapshot(world.now());
        let later = world.pass(HOUR).now();
        assert_eq!(SetRun::resume(at_four.clone(), &snapshot, later).state(), RunState::Stopped);
    }
    let world = World::new("2026-01-31T03:30Z", at_four.clone());
    let snapshot = world.run.snapshot(world.now());
    let later = Moment { wall: world.now().wall + SignedDuration::from_hours(1), ..world.now() };
    assert_eq!(SetRun::resume(at_four, &snapshot, later).state(), RunState::Running);
}

#[test]
fn a_snapshot_is_to_be_stored_when_what_must_not_happen_twice_has_happened() {
    let limited = SetDefinition {
        is_segmented: true,
        segment_bytes_max: Some(MB),
        is_managed: true,
        ..daily(time(4, 0, 0, 0))
    };
    let mut world = World::new("2026-01-31T03:00Z", limited);
    let mut revision = world.run.revision();
    let mut has_changed =
        |world: &World| std::mem::replace(&mut revision, world.run.revision()) != world.run.revision();
    assert!(!has_changed(world.pass(30 * MINUTE)), "nothing has happened");
    assert!(has_changed(world.pass(HOUR)), "a scheduled start was handled");
    assert!(!has_changed(world.write(1, 1)));
    assert!(has_changed(world.write(1, MB)), "a serial number was used");
    assert_eq!(world.stop(), Ok(()));
    assert!(has_changed(&world), "the run has ended");
    assert!(has_changed(world.compiled(2)), "the data manager is done");
}

#[test]
fn a_snapshot_of_a_stranger_is_no_trap() {
    let definition = SetDefinition { duration: Some(HOUR), ..daily(time(4, 0, 0, 0)) };
    let mut world = World::new("2026-01-31T03:00Z", definition);
    let stranger: RunSnapshot = serde_json::from_str(
        r#"{"serial_number": 4294967295, "schedules": "", "considered": "-009999-01-02T01:59:59Z", "handled": [],
            "running": {"serial_number": 7, "ends": "9999-12-30T22:00:00Z"}, "compiling": null, "queued": {"scheduled": null}}"#,
    )
    .expect("a snapshot");
    // Who can write the file can also make it fit.
    let schedules = world.run.snapshot(world.now()).schedules;
    let stranger = RunSnapshot { schedules, ..stranger };
    let mut run = SetRun::resume(world.run.definition().clone(), &stranger, world.now());
    assert_eq!((run.state(), run.poll_action()), (RunState::Stopped, None));
    assert!(run.counts().missed_starts >= 10_000 && run.handle_start(world.pass(HOUR).now()).is_err());
    let many = RunSnapshot {
        handled: vec![world.now().wall; 1_000_000],
        serial_number: 1,
        running: None,
        ..stranger
    };
    let run = SetRun::resume(world.run.definition().clone(), &many, world.now());
    assert!(run.snapshot(world.now()).handled.len() <= 128);
    assert!(serde_json::from_str::<RunSnapshot>("{}").is_err());
}
