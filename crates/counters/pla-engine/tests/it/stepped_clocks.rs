//! The clock on the wall is set while a set runs, or waits for its start.

use jiff::SignedDuration;
use jiff::civil::time;
use pla_engine::{SetDefinition, StartSchedule};

use crate::world::{DAY, HOUR, MINUTE, World, counters, daily, in_zone};

const AN_HOUR: SignedDuration = SignedDuration::from_hours(1);

fn at_four() -> SetDefinition {
    SetDefinition { duration: Some(HOUR), ..daily(time(4, 0, 0, 0)) }
}

#[test]
fn a_clock_that_is_set_lengthens_and_shortens_no_run() {
    for step in [AN_HOUR * 30, AN_HOUR * -30] {
        let mut world = World::new("2026-01-31T12:00Z", SetDefinition { duration: Some(HOUR), ..counters() });
        assert_eq!(world.start(), Ok(()));
        world.pass(10 * MINUTE).set_clock(step).pass(49 * MINUTE);
        assert_eq!(world.log().len(), 1);
        world.pass(MINUTE);
        assert_eq!(world.log().len(), 1);
    }
}

#[test]
fn a_start_that_the_clock_is_set_beyond_takes_place_for_the_rest_of_its_time() {
    let mut world = World::new("2026-01-31T03:00Z", at_four());
    world.pass(30 * MINUTE).set_clock(AN_HOUR).pass(DAY);
    assert_eq!(
        world.log(),
        [
            "31T04:30:00 start 1: due at 31T04:00",
            "31T05:00:00 stop 1: duration",
            "01T04:00:00 start 2: due at 01T04:00",
        ]
    );
}

#[test]
fn a_start_whose_whole_time_the_clock_is_set_beyond_takes_place_for_all_of_it() {
    let mut world = World::new("2026-01-31T03:00Z", at_four());
    world.pass(30 * MINUTE).set_clock(AN_HOUR * 5).pass(2 * HOUR);
    assert_eq!(world.log(), ["31T08:30:00 start 1: due at 31T04:00", "31T09:30:00 stop 1: duration"]);
}

#[test]
fn a_start_is_not_repeated_when_the_clock_is_set_back() {
    let mut world = World::new("2026-01-31T03:59Z", at_four());
    world.pass(90 * MINUTE).set_clock(AN_HOUR * -2).pass(DAY);
    // It is four once more, and nothing happens.
    assert_eq!(world.log(), ["31T04:00:00 start 1: due at 31T04:00", "31T05:00:00 stop 1: duration"]);
    world.pass(HOUR);
    assert_eq!(world.log(), ["01T04:00:00 start 2: due at 01T04:00"]);
}

#[test]
fn a_run_that_is_as_good_as_over_makes_room_for_the_next_one() {
    let around_the_clock = SetDefinition { duration: Some(DAY), ..daily(time(4, 0, 0, 0)) };
    for (seconds, runs) in [(9, 2), (11, 1)] {
        let mut world = World::new("2026-01-30T03:00Z", around_the_clock.clone());
        // The next start comes so many seconds before the end.
        world.pass(HOUR * 2).set_clock(SignedDuration::from_secs(seconds)).pass(DAY);
        assert_eq!(world.run.counts().runs, runs, "{:?}", world.log());
    }
    // A short run is not cut by ten seconds.
    let short = SetDefinition { duration: Some(MINUTE / 2), ..around_the_clock };
    let mut schedules = short.schedules.clone();
    schedules.extend(daily(time(4, 0, 25, 0)).schedules);
    let mut world = World::new("2026-01-30T03:59Z", SetDefinition { schedules, ..short });
    world.pass(HOUR);
    assert_eq!(world.log(), ["30T04:00:00 start 1: due at 30T04:00", "30T04:00:30 stop 1: duration"]);
}

#[test]
fn a_start_waits_for_the_clock_that_is_set_back_before_it() {
    let mut world = World::new("2026-01-31T03:59Z", at_four());
    world.set_clock(AN_HOUR * -1).pass(HOUR);
    assert!(world.log().is_empty());
    world.pass(2 * MINUTE);
    assert_eq!(world.log(), ["31T04:00:00 start 1: due at 31T04:00"]);
}

#[test]
fn starts_that_were_only_skipped_take_place_when_the_clock_is_right_again() {
    let mut world = World::new("2026-01-28T12:00Z", at_four());
    // Three starts are due at once: the last of them takes place.
    world.set_clock(AN_HOUR * 72).pass(2 * HOUR);
    assert_eq!(world.log(), ["31T12:00:00 start 1: due at 31T04:00", "31T13:00:00 stop 1: duration"]);
    assert_eq!(world.run.counts().missed_starts, 2);
    world.set_clock(AN_HOUR * -72).pass(4 * DAY);
    assert_eq!(
        world.log(),
        [
            "29T04:00:00 start 2: due at 29T04:00",
            "29T05:00:00 stop 2: duration",
            "30T04:00:00 start 3: due at 30T04:00",
            "30T05:00:00 stop 3: duration",
            // That of the 31st has been.
            "01T04:00:00 start 4: due at 01T04:00",
            "01T05:00:00 stop 4: duration",
        ]
    );
}

#[test]
fn a_machine_that_boots_with_a_wrong_clock_starts_its_sets_when_it_is_right() {
    for boot in ["1970-01-01T00:00Z", "2099-01-01T05:00Z"] {
        let mut world = World::new(boot, at_four());
        let right: jiff::Timestamp = "2026-01-31T03:59Z".parse().expect("a moment");
        world.set_clock(right.duration_since(world.now().wall)).log();
        world.pass(2 * HOUR).log();
        let late = world.pass(DAY).log();
        assert_eq!(late.len(), 2, "{boot}: one run a day: {late:?}");
    }
}

#[test]
fn of_very_many_starts_that_are_due_at_once_the_last_takes_place() {
    // A machine without a battery boots in 1970, with a set that starts 120 times a day: two million starts are after it then.
    let schedules = (0..120).map(|number| StartSchedule {
        time: time(number / 5, number % 5 * 12, 0, 0),
        week_days: 0x7f,
        ..StartSchedule::default()
    });
    let often = SetDefinition { schedules: schedules.collect(), duration: Some(MINUTE), ..at_four() };
    let mut world = World::new("1970-01-01T00:00Z", in_zone("Europe/Berlin", often));
    let right: jiff::Timestamp = "2026-01-31T04:12:20Z".parse().expect("a moment");
    world.set_clock(right.duration_since(world.now().wall));
    assert_eq!(
        world.pass(MINUTE).log(),
        ["31T04:12:20 start 1: due at 31T04:12", "31T04:13:00 stop 1: duration"]
    );
    assert!(world.run.counts().missed_starts >= 10_000);
}

#[test]
fn a_monotonic_time_that_goes_back_is_the_newest_one() {
    let mut world = World::new("2026-01-31T12:00Z", SetDefinition { duration: Some(HOUR), ..counters() });
    assert_eq!(world.start(), Ok(()));
    world.pass(50 * MINUTE);
    let now = world.now();
    world.run.handle_time(pla_engine::Moment { monotonic: std::time::Duration::ZERO, ..now });
    world.pass(10 * MINUTE);
    assert_eq!(world.log(), ["31T12:00:00 start 1: requested", "31T13:00:00 stop 1: duration"]);
}
