use jiff::Timestamp;
use jiff::civil::{Date, Time, date, time};
use jiff::tz::TimeZone;
use pla_engine::{StartSchedule, next_start};

pub(crate) const EVERY_DAY: u16 = 0x7f;

pub(crate) fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).expect("the database is compiled in")
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("a moment in UTC")
}

fn daily(time: Time) -> StartSchedule {
    StartSchedule { time, week_days: EVERY_DAY, ..StartSchedule::default() }
}

/// The starts after a moment, as moments in UTC.
fn starts(schedules: &[StartSchedule], zone: &TimeZone, after: &str, count: usize) -> Vec<String> {
    let all = std::iter::successors(next_start(schedules, at(after), zone), |start| {
        next_start(schedules, *start, zone)
    });
    all.take(count).map(|start| start.to_string()).collect()
}

#[test]
fn a_set_starts_on_its_days_between_the_first_and_the_last() {
    let sundays = StartSchedule {
        first: Some(date(2020, 9, 14)),
        last: Some(date(2020, 10, 4)),
        time: time(16, 30, 0, 0),
        week_days: 1,
    };
    let all = starts(&[sundays], &zone("Europe/Berlin"), "2020-01-01T00:00Z", 9);
    assert_eq!(all, ["2020-09-20T14:30:00Z", "2020-09-27T14:30:00Z", "2020-10-04T14:30:00Z"]);
    let weekdays = StartSchedule { week_days: 0x3e, ..daily(time(4, 0, 0, 0)) };
    // 2026-02-27 is a Friday.
    let all = starts(&[weekdays], &TimeZone::UTC, "2026-02-27T04:00Z", 2);
    assert_eq!(all, ["2026-03-02T04:00:00Z", "2026-03-03T04:00:00Z"]);
}

#[test]
fn a_schedule_without_days_starts_once_and_not_after_its_last_day() {
    let once =
        StartSchedule { first: Some(date(2026, 1, 2)), time: time(0, 1, 0, 0), ..StartSchedule::default() };
    assert_eq!(starts(&[once], &TimeZone::UTC, "2026-01-02T00:00Z", 9), ["2026-01-02T00:01:00Z"]);
    assert_eq!(starts(&[once], &TimeZone::UTC, "2026-01-02T00:01Z", 9), [""; 0]);
    let over = StartSchedule { last: Some(date(2026, 1, 1)), ..once };
    assert_eq!(starts(&[over], &TimeZone::UTC, "2025-01-01T00:00Z", 9), [""; 0]);
    assert_eq!(starts(&[StartSchedule::default()], &TimeZone::UTC, "2025-01-01T00:00Z", 9), [""; 0]);
}

#[test]
fn two_schedules_that_meet_are_one_start() {
    let schedules = [daily(time(4, 0, 0, 0)), StartSchedule { week_days: 2, ..daily(time(4, 0, 0, 0)) }];
    // 2026-03-02 is a Monday.
    let all = starts(&schedules, &TimeZone::UTC, "2026-03-01T12:00Z", 2);
    assert_eq!(all, ["2026-03-02T04:00:00Z", "2026-03-03T04:00:00Z"]);
}

#[test]
fn a_time_that_a_day_does_not_have_is_when_the_clock_is_put_forward() {
    for (name, time, after, expected) in [
        // From 02:00 to 03:00.
        (
            "Europe/Berlin",
            time(2, 30, 0, 0),
            "2026-03-28T12:00Z",
            ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"],
        ),
        (
            "Europe/Berlin",
            time(3, 0, 0, 0),
            "2026-03-28T12:00Z",
            ["2026-03-29T01:00:00Z", "2026-03-30T01:00:00Z"],
        ),
        (
            "Europe/Berlin",
            time(1, 59, 0, 0),
            "2026-03-28T12:00Z",
            ["2026-03-29T00:59:00Z", "2026-03-29T23:59:00Z"],
        ),
        (
            "America/New_York",
            time(2, 0, 0, 0),
            "2026-03-07T12:00Z",
            ["2026-03-08T07:00:00Z", "2026-03-09T06:00:00Z"],
        ),
        // From 02:00 to 02:30.
        (
            "Australia/Lord_Howe",
            time(2, 15, 0, 0),
            "2026-10-03T12:00Z",
            ["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"],
        ),
        // From midnight to 01:00.
        (
            "America/Sao_Paulo",
            time(0, 0, 0, 0),
            "2018-11-03T12:00Z",
            ["2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"],
        ),
        (
            "America/Sao_Paulo",
            time(0, 59, 59, 0),
            "2018-11-03T12:00Z",
            ["2018-11-04T03:00:00Z", "2018-11-05T02:59:59Z"],
        ),
    ] {
        assert_eq!(starts(&[daily(time)], &zone(name), after, 2), expected, "{name} {time}");
    }
}

#[test]
fn a_time_that_a_day_has_twice_is_the_first_of_the_two() {
    for (name, time, after, expected) in [
        // From 03:00 back to 02:00.
        (
            "Europe/Berlin",
            time(2, 30, 0, 0),
            "2026-10-24T12:00Z",
            ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"],
        ),
        (
            "Europe/Berlin",
            time(3, 0, 0, 0),
            "2026-10-24T12:00Z",
            ["2026-10-25T02:00:00Z", "2026-10-26T02:00:00Z"],
        ),
        // Between the first and the second of the two.
        (
            "Europe/Berlin",
            time(2, 30, 0, 0),
            "2026-10-25T01:00Z",
            ["2026-10-26T01:30:00Z", "2026-10-27T01:30:00Z"],
        ),
        (
            "America/New_York",
            time(1, 30, 0, 0),
            "2026-10-31T12:00Z",
            ["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"],
        ),
        // From 02:00 back to 01:30.
        (
            "Australia/Lord_Howe",
            time(1, 45, 0, 0),
            "2026-04-04T02:00Z",
            ["2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"],
        ),
        // From midnight back to 23:00 of the day before.
        (
            "America/Sao_Paulo",
            time(23, 30, 0, 0),
            "2019-02-16T12:00Z",
            ["2019-02-17T01:30:00Z", "2019-02-18T02:30:00Z"],
        ),
    ] {
        assert_eq!(starts(&[daily(time)], &zone(name), after, 2), expected, "{name} {time}");
    }
}

#[test]
fn a_day_that_a_zone_left_out_has_its_start_when_the_next_one_begins() {
    // Samoa had no 2011-12-30: it went from -10 to +14 at the end of the 29th.
    let apia = zone("Pacific/Apia");
    let all = starts(&[daily(time(10, 0, 0, 0))], &apia, "2011-12-29T00:00Z", 4);
    let expected =
        ["2011-12-29T20:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T20:00:00Z", "2011-12-31T20:00:00Z"];
    assert_eq!(all, expected);
    // The start of the 30th and that of the 31st are one.
    let all = starts(&[daily(Time::midnight())], &apia, "2011-12-28T12:00Z", 3);
    assert_eq!(all, ["2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"]);
    let friday = StartSchedule { week_days: 0x20, ..daily(time(10, 0, 0, 0)) };
    let all = starts(&[friday], &apia, "2011-12-24T12:00Z", 2);
    assert_eq!(all, ["2011-12-30T10:00:00Z", "2012-01-05T20:00:00Z"]);
    let only = StartSchedule {
        first: Some(date(2011, 12, 30)),
        time: time(10, 0, 0, 0),
        ..StartSchedule::default()
    };
    assert_eq!(starts(&[only], &apia, "2011-12-24T12:00Z", 2), ["2011-12-30T10:00:00Z"]);
}

#[test]
fn dates_at_the_ends_of_the_calendar_are_no_trap() {
    let schedule = daily(time(12, 0, 0, 0));
    for zone in [TimeZone::UTC, zone("Pacific/Apia"), zone("Europe/Berlin")] {
        assert_eq!(schedule.next_start(Timestamp::MAX, &zone), None);
        assert!(schedule.next_start(Timestamp::MIN, &zone).is_some());
        let late = StartSchedule { first: Some(Date::MAX), ..schedule };
        assert!(
            late.next_start(at("2026-01-01T00:00Z"), &zone)
                .is_none_or(|start| start > at("9999-12-30T00:00Z"))
        );
        let early = StartSchedule { first: Some(Date::MIN), last: Some(Date::MIN), ..schedule };
        assert_eq!(early.next_start(at("2026-01-01T00:00Z"), &zone), None);
    }
}
