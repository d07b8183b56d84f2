//! What the exporter's own metrics say of each target.

use std::collections::HashMap;

/// One target as a page shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct TargetFigures {
    pub(super) is_up: bool,
    pub(super) series: f64,
    /// Of the last collection.
    pub(super) seconds: f64,
    /// Collections that ended, successful or not.
    pub(super) collections: f64,
    /// Those of them that did not bring everything.
    pub(super) not_full: f64,
    pub(super) calls: f64,
    pub(super) received_bytes: f64,
    pub(super) sent_bytes: f64,
}

/// A page of the exporter's own metrics.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    /// In the order of the names that were asked for.
    pub(super) targets: Vec<TargetFigures>,
    /// Slots of the schedule that were skipped.
    pub(super) skipped: f64,
}

impl Page {
    /// Reads a page. Of targets that are not in `places` it takes nothing.
    pub(super) fn read(text: &str, places: &HashMap<String, usize>) -> Self {
        let mut page = Self { targets: vec![TargetFigures::default(); places.len()], skipped: 0.0 };
        for line in text.lines().filter_map(|line| line.strip_prefix("perfmon_exporter_")) {
            page.enter(line, places);
        }
        page
    }

    fn enter(&mut self, line: &str, places: &HashMap<String, usize>) -> Option<()> {
        if let Some((_, value)) =
            line.strip_prefix("intervals_missed_total{").and_then(|row| row.rsplit_once(' '))
        {
            self.skipped += value.parse::<f64>().ok()?;
        }
        let (family, rest) = line.split_once("{target=\"")?;
        let (target, rest) = rest.split_once('"')?;
        let (labels, value) = rest.rsplit_once(' ')?;
        let figures = &mut self.targets[*places.get(target)?];
        let value: f64 = value.parse().ok()?;
        match family {
            "target_up" => figures.is_up = value == 1.0,
            "target_series" => figures.series = value,
            "target_collection_seconds" => figures.seconds = value,
            "target_calls_total" => figures.calls = value,
            "target_received_bytes_total" => figures.received_bytes = value,
            "target_sent_bytes_total" => figures.sent_bytes = value,
            "collections_total" => {
                figures.collections += value;
                figures.not_full += if labels.contains("\"full\"") { 0.0 } else { value };
            }
            _ => {}
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_by_target_and_what_others_say_is_left_out() {
        let text = "# HELP perfmon_exporter_target_up Whether …\n\
            perfmon_exporter_target_up{target=\"a\"} 1\n\
            perfmon_exporter_target_up{target=\"b\"} 0\n\
            perfmon_exporter_target_series{target=\"a\"} 500\n\
            perfmon_exporter_target_collection_seconds{target=\"a\"} 0.0125\n\
            perfmon_exporter_target_stage_seconds{target=\"a\",stage=\"query\"} 9\n\
            perfmon_exporter_target_calls_total{target=\"a\"} 21\n\
            perfmon_exporter_target_received_bytes_total{target=\"a\"} 4096\n\
            perfmon_exporter_target_sent_bytes_total{target=\"a\"} 128\n\
            perfmon_exporter_collections_total{target=\"a\",outcome=\"full\"} 5\n\
            perfmon_exporter_collections_total{target=\"a\",outcome=\"failed\"} 2\n\
            perfmon_exporter_intervals_missed_total{cause=\"busy\"} 1\n\
            perfmon_exporter_intervals_missed_total{cause=\"connecting\"} 2\n\
            perfmon_processor_information_seconds_total{target=\"a\"} 77\n\
            process_threads 9\n";
        let page = Page::read(text, &HashMap::from([("a".to_owned(), 0)]));
        let expected = TargetFigures {
            is_up: true,
            series: 500.0,
            seconds: 0.0125,
            collections: 7.0,
            not_full: 2.0,
            calls: 21.0,
            received_bytes: 4096.0,
            sent_bytes: 128.0,
        };
        assert_eq!((page.targets, page.skipped), (vec![expected], 3.0));
    }
}
