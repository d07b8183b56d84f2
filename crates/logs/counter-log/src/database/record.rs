//! Records as rows of `CounterData`.

use crate::{LogZone, RawSample, Row, Sample};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::database::log::Halves;

/// A row of `CounterData` without its data set, record and time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value {
    /// What documents call `CounterID`.
    pub(crate) counter: i32,
    /// `CounterValue`; a finite number.
    pub(crate) value: f64,
    pub(crate) raw: Option<RawValue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawValue {
    pub(crate) first: Halves,
    pub(crate) second: Halves,
    pub(crate) multi_count: i32,
}

/// The rows of a record. `counters` has the `CounterID` of each column, and nothing where the column is the same counter as an
/// earlier one.
///
/// A value that is missing has no row. If `is_first`, a counter with raw numbers and without a value has a row with 0:
/// [MS-PLA] 2.2.2.7 says so of the first record, and readers that compute rates from raw numbers need it.
pub(crate) fn values<'a>(
    row: Row<'a>,
    counters: &'a [Option<i32>],
    is_first: bool,
) -> impl Iterator<Item = Value> + use<'a> {
    let value = move |(sample, counter): (&Sample, &Option<i32>)| {
        let raw = sample.raw.map(RawValue::of);
        let value = match sample.value {
            None if is_first && raw.is_some() => Some(0.0),
            value => value.filter(|value| value.is_finite()),
        };
        Some(Value { counter: (*counter)?, value: value?, raw })
    };
    row.samples.iter().zip(counters).filter_map(value)
}

impl RawValue {
    const fn of(raw: RawSample) -> Self {
        Self {
            first: Halves::of(raw.first.cast_unsigned()),
            second: Halves::of(raw.second.cast_unsigned()),
            multi_count: raw.multi_count.cast_signed(),
        }
    }
}

/// A time in UTC as PDH writes it: `yyyy-mm-dd hh:mm:ss.mmm`.
pub(crate) fn time_text(time: Timestamp) -> String {
    let at = TimeZone::UTC.to_datetime(time);
    let (date, clock) = (at.date(), at.time());
    // Years before 0 do not fit; no clock shows them.
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03}",
        date.year().max(0),
        date.month(),
        date.day(),
        clock.hour(),
        clock.minute(),
        clock.second(),
        clock.millisecond()
    )
}

/// `MinutesToUTC` and `TimeZoneName`: what to add to local times to have UTC, and the name of the zone.
pub(crate) fn zone_fields(zone: &TimeZone, at: Timestamp) -> (i32, String) {
    let LogZone { name, bias_minutes, .. } = LogZone::new(zone, at);
    (bias_minutes, name.chars().take(ZONE_CHARACTERS_MAX).collect())
}

/// What the column has room for.
const ZONE_CHARACTERS_MAX: usize = 32;

#[cfg(test)]
mod tests {
    use crate::Batch;

    use super::*;

    const RAW: RawSample = RawSample { first: -2, second: 1 << 32, multi_count: 3 };

    fn check(samples: &[Sample], counters: &[Option<i32>], is_first: bool, expected: &[(i32, f64)]) {
        let mut batch = Batch::new(samples.len());
        batch.push(Timestamp::UNIX_EPOCH, samples.iter().copied());
        let row = batch.rows().next().expect("one was pushed");
        let found: Vec<_> =
            values(row, counters, is_first).map(|value| (value.counter, value.value)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn only_numbers_have_rows() {
        let of = |value| Sample { value, raw: Some(RAW) };
        let samples = [of(Some(1.5)), of(Some(f64::NAN)), of(Some(f64::INFINITY)), of(None), of(Some(-0.0))];
        let counters = [Some(7), Some(8), Some(9), Some(10), Some(11)];
        check(&samples, &counters, false, &[(7, 1.5), (11, 0.0)]);
    }

    #[test]
    fn the_first_record_has_a_zero_where_two_samples_are_needed() {
        let samples = [Sample { value: None, raw: Some(RAW) }, Sample { value: None, raw: None }];
        check(&samples, &[Some(1), Some(2)], true, &[(1, 0.0)]);
        check(&samples, &[Some(1), Some(2)], false, &[]);
    }

    #[test]
    fn a_counter_that_stands_twice_has_one_row() {
        let one = Sample { value: Some(1.0), raw: None };
        let two = Sample { value: Some(2.0), raw: None };
        check(&[one, two], &[Some(4), None], false, &[(4, 1.0)]);
    }

    #[test]
    fn raw_numbers_are_split_low_half_first() {
        let raw = RawValue::of(RAW);
        assert_eq!(raw.first, Halves { low: -2, high: -1 });
        assert_eq!(raw.second, Halves { low: 0, high: 1 });
        assert_eq!(raw.multi_count, 3);
    }

    #[test]
    fn times_are_in_utc_with_a_point_before_the_milliseconds() {
        let time: Timestamp = "2008-09-30T14:10:15.3229+02:00".parse().expect("it is a time");
        assert_eq!(time_text(time), "2008-09-30 12:10:15.322");
        assert_eq!(time_text(Timestamp::MIN).len(), 23);
        assert_eq!(time_text(Timestamp::MAX).len(), 23);
    }

    #[test]
    fn zones_are_named_as_windows_names_them_with_the_bias_that_makes_utc_of_local_times() {
        let zone = |name| TimeZone::get(name).expect("the database has it");
        let july: Timestamp = "2026-07-01T00:00:00Z".parse().expect("it is a time");
        assert_eq!(
            zone_fields(&zone("America/Los_Angeles"), july),
            (420, "Pacific Daylight Time".to_owned())
        );
        let fixed = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(zone_fields(&fixed, july), (-120, "UTC+02:00".to_owned()));
    }
}
