use ms_pla::WeekDays;
use ms_pla::xml::{Date, Schedule, Time};

use super::*;

/// 2026-11-01, a Sunday, at this hour.
fn at(hour: u64) -> FileTime {
    let midnight = FileTime::from_unix_nanos(1_793_491_200_000_000_000);
    FileTime(midnight.0 + hour * 3600 * SECOND)
}

fn schedule(days: WeekDays) -> Schedule {
    Schedule {
        start_date: Some(Date { year: 2026, month: 10, day: 30 }),
        end_date: Some(Date { year: 2026, month: 11, day: 9 }),
        start_time: Some(Time { hour: 4, minute: 0, second: 0 }),
        days: Some(days),
        ..Schedule::default()
    }
}

#[test]
fn a_schedule_starts_its_set_on_its_days_from_the_first_to_the_last() {
    let daily = schedule(WeekDays::EVERYDAY);
    assert_eq!(next_start(&daily, at(0)), Some(at(4)));
    assert_eq!(next_start(&daily, at(4)), Some(at(28)), "not again at the same time");
    assert_eq!(next_start(&daily, at(8 * 24 + 4)), None, "the last day was 2026-11-09");
    let monday = schedule(WeekDays::MONDAY);
    assert_eq!(next_start(&monday, at(0)), Some(at(28)));
    assert_eq!(next_start(&monday, at(28)), Some(at(28 + 7 * 24)));
    let once = schedule(WeekDays::RUN_ONCE);
    assert_eq!(next_start(&once, at(0)), None);
    assert_eq!(
        next_start(&once, FileTime(at(0).0 - 10 * 86_400 * SECOND)).map(|start| start < at(0)),
        Some(true)
    );
}

#[test]
fn a_set_is_started_by_its_schedule_and_stops_after_its_duration() {
    let sets = DataCollectorSets::standard(at(0), at(0));
    let load = |now| sets.find(Category::Server, "web server load", now).unwrap();
    assert!(!load(at(3)).is_running(at(3)));
    let before = load(at(3)).set.serial_number;
    assert!(load(at(4)).is_running(at(4)));
    assert_eq!(load(at(4)).set.serial_number, before.map(|number| number + 1));
    assert!(!load(at(5)).is_running(at(5)), "it runs for 15 minutes");
    assert_eq!(load(at(5 + 48)).set.serial_number, before.map(|number| number + 3));
}

#[test]
fn a_set_is_started_and_stopped_once() {
    let sets = DataCollectorSets::standard(at(0), at(0));
    let now = at(0);
    let name = "Low Memory";
    assert_eq!(sets.stop(Category::Server, name, now), Err(SetError::NotRunning));
    sets.start(Category::Server, name, now).unwrap();
    assert_eq!(sets.start(Category::Server, name, now), Err(SetError::Running));
    assert_eq!(sets.remove(Category::Server, name, now), Err(SetError::Running));
    sets.stop(Category::Server, name, now).unwrap();
    assert_eq!(sets.start(Category::System, name, now), Err(SetError::NotFound));
    sets.remove(Category::Server, name, now).unwrap();
    assert_eq!(sets.find(Category::Server, name, now), Err(SetError::NotFound));
}

#[test]
fn a_trace_that_runs_counts_its_buffers() {
    let sets = DataCollectorSets::standard(at(1), at(0));
    let written = |now| {
        sets.find(Category::TraceSession, "EventLog-Orders", now).unwrap().set.traces[0].buffers_written
    };
    assert_eq!((written(at(1)), written(at(2))), (Some(3600), Some(7200)));
}

#[test]
fn a_name_may_begin_with_its_category() {
    assert_eq!(split_namespace(r"system\System Diagnostics"), (Category::System, "System Diagnostics"));
    assert_eq!(split_namespace(r"Autosession\a"), (Category::BootTraceSession, "a"));
    assert_eq!(split_namespace("Low Memory"), (Category::Server, "Low Memory"));
    assert_eq!(split_namespace(r"other\a"), (Category::Server, r"other\a"));
}
