//! When a set starts by its schedules, [MS-PLA] 3.2.4.12.

/// A day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    /// The year.
    pub year: u16,
    /// The month, from 1.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
}

/// A schedule of a set. Days and times are the host's local ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartSchedule {
    /// The first day. Without it every day is late enough.
    pub first: Option<Day>,
    /// The last day.
    pub last: Option<Day>,
    /// The time of day, in seconds since midnight.
    pub time_s: u32,
    /// The days of the week, a bit for each from Sunday on; none is the first day alone.
    pub week_days: u16,
}

impl StartSchedule {
    /// The first start after `now_s`. Both are local times of the host, in seconds since 1970-01-01 00:00 there.
    #[must_use]
    pub fn next_start(&self, now_s: i64) -> Option<i64> {
        let first = self.first.map(Day::number);
        let time_s = i64::from(self.time_s);
        let start_on = |day: i64| day * DAY_S + time_s;
        if self.week_days & ALL_DAYS == 0 {
            return first.map(start_on).filter(|start| *start > now_s);
        }
        let today = now_s.div_euclid(DAY_S);
        let from = first.map_or(today, |first| first.max(today));
        let last = self.last.map_or(i64::MAX, Day::number);
        // One day more than a week has, since that of today may be over.
        let days = (from..=from + WEEK_DAYS).take_while(|day| *day <= last);
        days.filter(|day| self.week_days >> week_day(*day) & 1 == 1)
            .map(start_on)
            .find(|start| *start > now_s)
    }
}

impl Day {
    /// Days since 1970-01-01.
    const fn number(self) -> i64 {
        let Self { year, month, day } = self;
        let (year, month, day) = (year as i64, month as i64, day as i64);
        // Years that begin with March end with the day that only some have.
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - DAYS_TO_1970
    }
}

/// 0 is Sunday; 1970-01-01 was a Thursday.
const fn week_day(day: i64) -> i64 {
    (day + 4).rem_euclid(WEEK_DAYS)
}

const DAY_S: i64 = 86_400;
const WEEK_DAYS: i64 = 7;
const ALL_DAYS: u16 = 0x7f;
/// Days from 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    const fn day(year: u16, month: u8, day: u8) -> Day {
        Day { year, month, day }
    }

    fn at(date: Day, hour: i64, minute: i64) -> i64 {
        date.number() * DAY_S + hour * 3_600 + minute * 60
    }

    #[test]
    fn days_are_counted_as_the_calendar_has_them() {
        assert_eq!(day(1970, 1, 1).number(), 0);
        assert_eq!(day(2000, 2, 29).number() + 1, day(2000, 3, 1).number());
        assert_eq!(day(2100, 2, 28).number() + 1, day(2100, 3, 1).number());
        // 2026-01-01 00:00 UTC is the time 1767225600.
        assert_eq!(day(2026, 1, 1).number() * DAY_S, 1_767_225_600);
        assert_eq!([day(2026, 1, 1), day(2026, 1, 4)].map(|day| week_day(day.number())), [4, 0]);
    }

    #[test]
    fn the_next_start_is_on_a_day_of_the_week_between_the_first_and_the_last() {
        let sundays = StartSchedule {
            first: Some(day(2020, 9, 14)),
            last: Some(day(2020, 12, 31)),
            time_s: 16 * 3_600 + 30 * 60,
            week_days: 1,
        };
        let check = |now: i64, expected| assert_eq!(sundays.next_start(now), expected, "{now}");
        check(at(day(2020, 1, 1), 0, 0), Some(at(day(2020, 9, 20), 16, 30)));
        check(at(day(2020, 9, 20), 16, 29), Some(at(day(2020, 9, 20), 16, 30)));
        check(at(day(2020, 9, 20), 16, 30), Some(at(day(2020, 9, 27), 16, 30)));
        check(at(day(2020, 12, 27), 16, 30), None);
        let every_day = StartSchedule { time_s: 4 * 3_600, week_days: ALL_DAYS, ..StartSchedule::default() };
        let now = at(day(2026, 2, 28), 4, 0);
        assert_eq!(every_day.next_start(now), Some(at(day(2026, 3, 1), 4, 0)));
    }

    #[test]
    fn a_schedule_without_days_starts_once() {
        let once = StartSchedule { first: Some(day(2026, 1, 2)), time_s: 60, ..StartSchedule::default() };
        assert_eq!(once.next_start(at(day(2026, 1, 2), 0, 0)), Some(at(day(2026, 1, 2), 0, 1)));
        assert_eq!(once.next_start(at(day(2026, 1, 2), 0, 1)), None);
        assert_eq!(StartSchedule::default().next_start(0), None);
    }
}
