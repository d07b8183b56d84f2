//! Any schedules around any change of a clock: their starts are those of a walk over all minutes.

use jiff::civil::{Date, DateTime, Time, date, time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};
use pla_engine::{StartSchedule, next_start};
use proptest::prelude::*;

use crate::schedules::{EVERY_DAY, zone};

/// Whether a day and its start time are in force.
fn has_start(schedule: &StartSchedule, day: Date) -> bool {
    let is_after_first = schedule.first.is_none_or(|first| day >= first);
    let is_before_last = schedule.last.is_none_or(|last| day <= last);
    let is_day = 1 << day.weekday().to_sunday_zero_offset() & schedule.week_days != 0;
    let is_once = schedule.week_days == 0 && schedule.first == Some(day);
    is_after_first && is_before_last && (is_day || is_once)
}

/// The starts of some days, by a walk over their minutes: a start is due when the clock on the wall shows more than it has ever
/// shown, and passes the time.
fn walked(schedules: &[StartSchedule], zone: &TimeZone, from: Timestamp, days: i32) -> Vec<Timestamp> {
    let mut starts = Vec::new();
    let mut highest: DateTime = zone.to_datetime(from);
    for minute in 1..=days * 24 * 60 {
        let now = from + SignedDuration::from_mins(minute.into());
        let shown = zone.to_datetime(now);
        if shown <= highest {
            continue;
        }
        let passed = highest.date().series(1.day()).take_while(|day| *day <= shown.date());
        let is_due = passed.into_iter().any(|day| {
            schedules.iter().any(|schedule| {
                let start = day.to_datetime(schedule.time);
                has_start(schedule, day) && highest < start && start <= shown
            })
        });
        if is_due {
            starts.push(now);
        }
        highest = shown;
    }
    starts
}

const ZONES: [&str; 14] = [
    "Europe/Berlin",
    "Europe/Dublin",
    "America/New_York",
    "America/Sao_Paulo",
    "America/Caracas",
    "America/St_Johns",
    "Africa/Casablanca",
    "Asia/Kathmandu",
    "Asia/Tehran",
    "Australia/Lord_Howe",
    "Antarctica/Troll",
    "Pacific/Apia",
    "Pacific/Kwajalein",
    "UTC",
];

fn schedule(around: Date) -> impl Strategy<Value = StartSchedule> {
    let day = move |days: i32| around.checked_add(days.days()).unwrap_or(around);
    let near = proptest::option::weighted(0.2, -15..15_i32);
    // Most clocks change at night.
    let time = prop_oneof![2 => 0..4_i8, 1 => 0..24_i8].prop_flat_map(|hour| (Just(hour), 0..60_i8));
    (near.clone(), near, time, prop_oneof![Just(EVERY_DAY), 0..0x80_u16]).prop_map(
        move |(first, last, (hour, minute), week_days)| StartSchedule {
            first: first.map(day),
            last: last.map(day),
            time: time_of(hour, minute),
            week_days,
        },
    )
}

fn time_of(hour: i8, minute: i8) -> Time {
    time(hour, minute, 0, 0)
}

/// A zone, a moment some days before its clock is changed, and schedules.
fn around_a_change() -> impl Strategy<Value = (&'static str, Timestamp, Vec<StartSchedule>)> {
    let moment = (1975..2037_i32, 0..365_i32).prop_map(|(year, day)| {
        let first = date(i16::try_from(year).unwrap_or(2000), 1, 1);
        let day = first.checked_add(day.days()).unwrap_or(first);
        day.to_datetime(Time::midnight())
            .to_zoned_datetime(TimeZone::UTC)
            .map_or(Timestamp::UNIX_EPOCH, |day| day.timestamp())
    });
    (proptest::sample::select(&ZONES[..]), moment, 0..5_i32).prop_flat_map(|(name, moment, days)| {
        let zone = zone(name);
        let change = zone.following(moment).next().map_or(moment, |change| change.timestamp());
        // Whole minutes: no offset had seconds then.
        let change = Timestamp::from_second(change.as_second().div_euclid(60) * 60).unwrap_or(change);
        let from = change - SignedDuration::from_hours(24 * i64::from(days) + 30);
        let day = zone.to_datetime(change).date();
        (Just(name), Just(from), proptest::collection::vec(schedule(day), 1..4))
    })
}

proptest! {
    // Each walk has 10,000 minutes.
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn starts_are_those_of_a_walk_over_all_minutes((name, from, schedules) in around_a_change()) {
        const DAYS: i32 = 7;
        let zone = zone(name);
        let until = from + SignedDuration::from_hours(i64::from(DAYS) * 24);
        let first = next_start(&schedules, from, &zone);
        let all = std::iter::successors(first, |start| next_start(&schedules, *start, &zone));
        let all: Vec<Timestamp> = all.take_while(|start| *start <= until).collect();
        prop_assert_eq!(all, walked(&schedules, &zone, from, DAYS));
    }

    #[test]
    fn the_next_start_is_later_and_grows_with_the_moment(
        (name, from, schedules) in around_a_change(), seconds in 0..4_000_000_i64, more in 0..4_000_000_i64,
    ) {
        let zone = zone(name);
        let (one, other) = (from + SignedDuration::from_secs(seconds), from + SignedDuration::from_secs(seconds + more));
        let next = |after| next_start(&schedules, after, &zone);
        prop_assert!(next(one).is_none_or(|start| start > one));
        prop_assert!(next(other).is_none_or(|start| start > other));
        match (next(one), next(other)) {
            (Some(first), Some(second)) => prop_assert!(first <= second),
            (None, second) => prop_assert_eq!(second, None),
            (Some(first), None) => prop_assert!(first <= other, "a start that is not over"),
        }
        if let Some(first) = next(one).filter(|first| *first > other) {
            prop_assert_eq!(next(other), Some(first), "nothing was between");
        }
    }
}
