//! When the simulated host's sets run.

use jiff::civil;
use jiff::tz::TimeZone;
use ms_pla::WeekDays;
use ms_pla::xml::{self, Schedule};
use wire::FileTime;

/// Days in which each day of the week comes at least once.
const DAYS_LOOKED_AT: usize = 8;

/// [MS-PLA] 3.2.4.12: when a schedule starts its set next after a time. Hosts are in UTC.
///
/// A schedule without days starts it once, on its first day. One without a first day and without days never does.
#[must_use]
pub fn next_start(schedule: &Schedule, after: FileTime) -> Option<FileTime> {
    let days = schedule.days.unwrap_or_default();
    let first = schedule.start_date.and_then(day);
    let last = schedule.end_date.and_then(day).unwrap_or(civil::Date::MAX);
    if days == WeekDays::RUN_ONCE {
        return at(first?, schedule).filter(|start| *start > after);
    }
    let today =
        jiff::Timestamp::from_nanosecond(after.to_unix_nanos()).ok()?.to_zoned_datetime(TimeZone::UTC).date();
    let from = first.map_or(today, |first| first.max(today));
    let dates = from.series(jiff::Span::new().days(1)).take(DAYS_LOOKED_AT);
    let wanted = dates.take_while(|date| *date <= last).filter(|date| days.contains(week_day(*date)));
    wanted.filter_map(|date| at(date, schedule)).find(|start| *start > after)
}

fn day(date: xml::Date) -> Option<civil::Date> {
    let xml::Date { year, month, day } = date;
    civil::Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()
}

fn at(date: civil::Date, schedule: &Schedule) -> Option<FileTime> {
    let (hour, minute, second) =
        schedule.start_time.map_or((0, 0, 0), |time| (time.hour, time.minute, time.second));
    let time = civil::Time::new(hour.try_into().ok()?, minute.try_into().ok()?, second.try_into().ok()?, 0);
    let zoned = date.to_datetime(time.ok()?).to_zoned_datetime(TimeZone::UTC).ok()?;
    Some(FileTime::from_unix_nanos(zoned.timestamp().as_nanosecond()))
}

fn week_day(date: civil::Date) -> WeekDays {
    WeekDays(1 << date.weekday().to_sunday_zero_offset())
}
