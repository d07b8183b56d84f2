use std::time::Duration;

use otlp::push::Traces;

use super::item::Item;

/// Reads `otlp[].traces:`.
pub(super) fn traces(item: &Item<'_>) -> Option<Traces> {
    let mut section = item.section(&["ratio", "attributes"])?;
    let one_in = section.count("one_in", 1..=1_000_000);
    let targets = section.get("targets").map(|item| item.texts()).unwrap_or_default();
    let failed = section.flag("failed");
    let slower_than = section.duration("slower_than", SLOWER_THAN);
    section.finish();
    Some(Traces { one_in: one_in.unwrap_or(1), targets, failed: failed.unwrap_or(false), slower_than })
}

const SLOWER_THAN: std::ops::RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(3600);
