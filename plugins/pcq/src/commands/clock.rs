use wire::{FileTime, SystemTime};

pub(super) fn rfc3339(time: FileTime) -> String {
    let SystemTime { year, month, day, hour, minute, second, milliseconds, .. } = time.into();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

/// `01/01/2026 12:00:00.000`, as typeperf and relog write it.
pub(super) fn american(time: FileTime) -> String {
    let SystemTime { year, month, day, hour, minute, second, milliseconds, .. } = time.into();
    format!("{month:02}/{day:02}/{year:04} {hour:02}:{minute:02}:{second:02}.{milliseconds:03}")
}

/// `12:00:00`, with milliseconds if there are several samples per second.
pub(super) fn of_day(time: FileTime, with_milliseconds: bool) -> String {
    let SystemTime { hour, minute, second, milliseconds, .. } = time.into();
    let fraction = if with_milliseconds { format!(".{milliseconds:03}") } else { String::new() };
    format!("{hour:02}:{minute:02}:{second:02}{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_in_the_way_of_its_reader() {
        // 2026-01-01T00:00:00Z
        let moment = FileTime(134_116_992_000_000_000 + 45_296 * 10_000_000 + 1_230_000);
        assert_eq!(rfc3339(moment), "2026-01-01T12:34:56.123Z");
        assert_eq!(american(moment), "01/01/2026 12:34:56.123");
        assert_eq!((of_day(moment, false), of_day(moment, true)), ("12:34:56".into(), "12:34:56.123".into()));
    }
}
