//! `config:` and `log:`, about the process itself.

use std::ops::RangeInclusive;
use std::time::Duration;

use support::telemetry::log::check_filter;

use super::item::Item;

const WATCH_INTERVALS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(3600);
const WATCH_INTERVAL: Duration = Duration::from_secs(5);

/// `config:` about this file; returns how often it is checked.
pub(super) fn watch(item: &Item<'_>) -> Option<Duration> {
    let mut section = item.section(&[])?;
    let watch = section.flag("watch").unwrap_or(false);
    let interval = section.duration("watch_interval", WATCH_INTERVALS);
    section.finish();
    watch.then(|| interval.unwrap_or(WATCH_INTERVAL))
}

/// `log:` returns its `level`.
pub(super) fn log(item: &Item<'_>) -> Option<String> {
    let mut section = item.section(&["format"])?;
    let level = section.get("level");
    section.finish();
    let level = level?;
    let text = level.text()?;
    match check_filter(text) {
        Ok(()) => Some(text.to_owned()),
        Err(error) => {
            let hint = "write `info`, `debug`, or `'info,perfmon_exporter::web=debug'`".to_owned();
            level.problem(error, Some(hint));
            None
        }
    }
}
