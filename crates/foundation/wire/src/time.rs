use crate::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

/// [MS-DTYP] 2.3.3 `FILETIME`: 100-nanosecond intervals since the beginning of 1601, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FileTime(pub u64);

impl FileTime {
    /// 1970-01-01 as a FILETIME.
    pub const UNIX_EPOCH: Self = Self(116_444_736_000_000_000);
    /// Intervals in a second.
    pub const INTERVALS_PER_SECOND: u64 = 10_000_000;
    const NAME: &'static str = "FILETIME";
    const FIXED_PART_SIZE: usize = 4 /* dwLowDateTime */ + 4 /* dwHighDateTime */;

    /// From nanoseconds since 1970; times before 1601 become 0.
    #[must_use]
    pub fn from_unix_nanos(unix_nanos: i128) -> Self {
        let intervals = unix_nanos.div_euclid(100) + i128::from(Self::UNIX_EPOCH.0);
        Self(u64::try_from(intervals.max(0)).unwrap_or(u64::MAX))
    }

    /// Nanoseconds since 1970, negative before it.
    #[must_use]
    pub fn to_unix_nanos(self) -> i128 {
        (i128::from(self.0) - i128::from(Self::UNIX_EPOCH.0)) * 100
    }
}

impl Encode for FileTime {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u64(self.0);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for FileTime {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        Ok(Self(src.read_u64()))
    }
}

/// [MS-DTYP] 2.3.13 `SYSTEMTIME`: a calendar time of eight 16-bit fields.
///
/// Fields are not checked: they may be no real date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct SystemTime {
    /// From 1601 to 30827.
    pub year: u16,
    /// From 1 to 12.
    pub month: u16,
    /// 0 (Sunday) to 6.
    pub day_of_week: u16,
    /// From 1 to 31.
    pub day: u16,
    /// From 0 to 23.
    pub hour: u16,
    /// From 0 to 59.
    pub minute: u16,
    /// From 0 to 59.
    pub second: u16,
    /// From 0 to 999.
    pub milliseconds: u16,
}

impl SystemTime {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 8 * 2;
    const NAME: &'static str = "SYSTEMTIME";
}

impl From<FileTime> for SystemTime {
    /// The calendar time in UTC, cut to milliseconds.
    fn from(time: FileTime) -> Self {
        let milliseconds = time.0 / (FileTime::INTERVALS_PER_SECOND / 1_000);
        let days = milliseconds / 86_400_000;
        let of_day = milliseconds % 86_400_000;
        let (year, month, day) = civil_from_days_since_1601(days);
        let narrow = |value: u64| u16::try_from(value).unwrap_or(u16::MAX);
        Self {
            year: narrow(year),
            month: narrow(month),
            // 1601-01-01 was a Monday.
            day_of_week: narrow((days + 1) % 7),
            day: narrow(day),
            hour: narrow(of_day / 3_600_000),
            minute: narrow(of_day / 60_000 % 60),
            second: narrow(of_day / 1_000 % 60),
            milliseconds: narrow(of_day % 1_000),
        }
    }
}

/// Year, month and day of the proleptic Gregorian calendar. 1601 begins a cycle of 400 years, which makes
/// every division below exact.
fn civil_from_days_since_1601(days: u64) -> (u64, u64, u64) {
    const DAYS_PER_400_YEARS: u64 = 146_097;
    const DAYS_PER_100_YEARS: u64 = 36_524;
    const DAYS_PER_4_YEARS: u64 = 1_461;
    let in_400 = days % DAYS_PER_400_YEARS;
    // The last day of a cycle is the 366th of its last year: it must not open a fifth century or year.
    let century = (in_400 / DAYS_PER_100_YEARS).min(3);
    let in_100 = in_400 - century * DAYS_PER_100_YEARS;
    let in_4 = in_100 % DAYS_PER_4_YEARS;
    let year_of_4 = (in_4 / 365).min(3);
    let year =
        1601 + days / DAYS_PER_400_YEARS * 400 + century * 100 + in_100 / DAYS_PER_4_YEARS * 4 + year_of_4;
    let leap = year_of_4 == 3 && (in_100 / DAYS_PER_4_YEARS != 24 || century == 3);
    let mut day = in_4 - year_of_4 * 365;
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    (year, month, day + 1)
}

impl Encode for SystemTime {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(self.year);
        dst.write_u16(self.month);
        dst.write_u16(self.day_of_week);
        dst.write_u16(self.day);
        dst.write_u16(self.hour);
        dst.write_u16(self.minute);
        dst.write_u16(self.second);
        dst.write_u16(self.milliseconds);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for SystemTime {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        Ok(Self {
            year: src.read_u16(),
            month: src.read_u16(),
            day_of_week: src.read_u16(),
            day: src.read_u16(),
            hour: src.read_u16(),
            minute: src.read_u16(),
            second: src.read_u16(),
            milliseconds: src.read_u16(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Both forms of one moment stand side by side in a QueryCounterData header taken from Windows 11.
    #[test]
    fn a_real_header_tells_the_same_moment_twice() {
        let time: FileTime = crate::decode(&[0x00, 0xa4, 0x0f, 0x7d, 0x38, 0x50, 0xdd, 0x01]).unwrap();
        let calendar: SystemTime = crate::decode(&[
            0xea, 0x07, 0x09, 0x00, 0x02, 0x00, 0x1d, 0x00, 0x11, 0x00, 0x20, 0x00, 0x17, 0x00, 0xf3, 0x02,
        ])
        .unwrap();
        assert_eq!(SystemTime::from(time), calendar);
    }

    #[test]
    fn leap_days_are_where_the_calendar_has_them() {
        // Seconds since 1970 from date(1): 2000-02-29, 2100-02-28 and -03-01, 1972-12-31, 2400-12-31.
        let date = |unix_seconds: i128| {
            let t = SystemTime::from(FileTime::from_unix_nanos(unix_seconds * 1_000_000_000));
            (t.year, t.month, t.day, t.day_of_week)
        };
        assert_eq!(date(951_782_400), (2000, 2, 29, 2));
        assert_eq!(date(4_107_456_000), (2100, 2, 28, 0));
        assert_eq!(date(4_107_542_400), (2100, 3, 1, 1));
        assert_eq!(date(94_608_000), (1972, 12, 31, 0));
        assert_eq!(date(13_601_001_600), (2400, 12, 31, 0));
    }

    #[test]
    fn unix_time_survives_the_round_trip_to_a_hundred_nanoseconds() {
        let nanos = 1_700_000_000_123_456_700;
        assert_eq!(FileTime::from_unix_nanos(nanos).to_unix_nanos(), nanos);
        assert_eq!(FileTime::from_unix_nanos(i128::MIN / 2), FileTime(0));
    }
}
