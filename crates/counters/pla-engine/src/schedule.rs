//! When a set starts by its schedules, [MS-PLA] 3.2.4.12.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, ToSpan};

/// [MS-PLA] 3.2.4.12: a schedule of a set. Days and times are those of a time zone.
///
/// There is one start for each of its days: at the first moment at which the clock of the zone shows that day and the start
/// time, or a later time. So if the time does not exist on that day, the set starts when the clock has been put forward,
/// which for a whole day that a zone left out is the beginning of the next one; and if the time exists twice, the set starts
/// the first time.
///
/// ```
/// use jiff::tz::TimeZone;
/// use pla_engine::StartSchedule;
///
/// let berlin = TimeZone::get("Europe/Berlin")?;
/// let nightly = StartSchedule { time: jiff::civil::time(2, 30, 0, 0), week_days: 0x7f, ..StartSchedule::default() };
/// // On 2026-03-29, the clock goes from 02:00 to 03:00.
/// let start = nightly.next_start("2026-03-28T12:00Z".parse()?, &berlin);
/// assert_eq!(start, Some("2026-03-29T01:00Z".parse()?));
/// # Ok::<(), jiff::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartSchedule {
    /// `StartDate`: the first day. Without it every day is late enough.
    pub first: Option<Date>,
    /// `EndDate`: the last day.
    pub last: Option<Date>,
    /// `StartTime`: the time of day.
    pub time: Time,
    /// `Days`, [MS-PLA] 2.2.2.12: the days of the week, a bit for each from Sunday on; none is the first day alone
    /// (`plaRunOnce`).
    pub week_days: u16,
}

impl StartSchedule {
    /// The first start after a moment.
    #[must_use]
    pub fn next_start(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        // Starts of earlier days have been: the clock of the zone has shown a later time than theirs.
        let today = zone.to_datetime(after).date();
        if self.week_days & ALL_DAYS == 0 {
            let once = self.first.filter(|first| self.last.is_none_or(|last| *first <= last))?;
            return start_on(once.to_datetime(self.time), zone).filter(|start| *start > after);
        }
        let from = self.first.map_or(today, |first| first.max(today));
        let days = (0..DAYS_SEARCHED).map_while(|days| from.checked_add(days.days()).ok());
        days.take_while(|day| self.last.is_none_or(|last| *day <= last))
            .filter(|day| self.week_days >> day.weekday().to_sunday_zero_offset() & 1 == 1)
            .filter_map(|day| start_on(day.to_datetime(self.time), zone))
            .find(|start| *start > after)
    }
}

/// The first start of several schedules after a moment.
#[must_use]
pub fn next_start(schedules: &[StartSchedule], after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    schedules.iter().filter_map(|schedule| schedule.next_start(after, zone)).min()
}

/// The first moment at which the clock of the zone shows this or more. None if it is outside of what can be counted.
fn start_on(local: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(local).ok(),
        AmbiguousOffset::Fold { before, .. } => before.to_timestamp(local).ok(),
        AmbiguousOffset::Gap { after, .. } => {
            // By the offset after the gap, the time is before the gap; the gap is the next change.
            let earlier = after.to_timestamp(local).ok()?;
            zone.following(earlier).next().map(|change| change.timestamp())
        }
    }
}

const ALL_DAYS: u16 = 0x7f;
/// A week, and the days that may be over: today's start, and that of the next day where a zone repeated a day.
const DAYS_SEARCHED: i32 = 7 + 2;
