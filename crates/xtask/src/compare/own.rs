//! Values that depend on how fast the machine is and when a page is read. What they are called, their help, types and labels
//! are compared.

use std::sync::LazyLock;

use regex::Regex;

/// Values of these families are not compared.
pub(super) struct Varying {
    pub(super) what: &'static str,
    families: &'static str,
}

pub(super) const VARYING: [Varying; 6] = [
    Varying {
        what: "what an exporter says of its process, and how often, how long and how much it did something",
        families: r"process_\w+|perfmon_(exporter|probe)_\w*(_total|_seconds|_bytes|_series|_age)(_bucket|_sum|_count)?|\
                    perfmon_exporter_(\w*[a-z]_)?series|perfmon_exporter_(ingest|store)_\w+",
    },
    Varying {
        what: "what is under way in an exporter or waits at a moment",
        families: r"perfmon_exporter_(collections_running|connections_\w+|http_connections|alerts_waiting|\
                    otlp_queue_\w+|runtime_\w+|schedule_orders)",
    },
    Varying {
        what: "how far the clock of the host, which stands, is behind",
        families: r"perfmon_host_clock_skew_seconds",
    },
    Varying {
        what: "how often the servers of the host were called",
        families: r"perfmon_rpc_remote_endpoint_\w+(_in|_out)(_total)?",
    },
    Varying {
        what: "how often alerts were judged and how late, how much was logged",
        families: r"perfmon_pla_(alert_(triggered|evaluation_lag|actions)|log_(bytes|records|segments))\w*",
    },
    Varying { what: "how many events came", families: r"perfmon_complus_events_(taken|superseded)(_total)?" },
];

/// A family that is there once a plugin was slow, which a busy machine may make it; other violations are in the log.
const OF_SLOW_PLUGINS: &str = "perfmon_exporter_plugin_violations";
/// Families whose samples come in any order: from maps without one, or by ports that the system chose.
const UNORDERED: [&str; 3] = ["perfmon_exporter_", "perfmon_pla_alert_", "perfmon_rpc_remote_endpoint_"];

static FAMILIES: LazyLock<Regex> = LazyLock::new(|| {
    let families = VARYING.map(|varying| varying.families.replace("\\\n", "").replace(' ', ""));
    Regex::new(&format!(r"^({})$", families.join("|"))).expect("a valid pattern")
});
static DURATIONS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b\d+(\.\d+)?(ns|µs|ms|s)\b").expect("a valid pattern"));

/// Lines of any part that begin with the name of a family: without the values that vary, in an order that does not.
pub(super) fn comparable(text: &str) -> String {
    let mut lines = Vec::new();
    let mut unordered = Vec::new();
    for line in text.lines() {
        let is_unordered = is_sample(line) && UNORDERED.iter().any(|start| line.starts_with(start));
        if !is_unordered {
            unordered.sort();
            lines.append(&mut unordered);
        }
        let lines = if is_unordered { &mut unordered } else { &mut lines };
        lines.extend(kept(line));
    }
    unordered.sort();
    lines.append(&mut unordered);
    lines.into_iter().map(|line| line + "\n").collect()
}

fn kept(line: &str) -> Option<String> {
    let about = ["# HELP ", "# TYPE "].iter().find_map(|head| line.strip_prefix(head));
    if about.unwrap_or(line).starts_with(OF_SLOW_PLUGINS) {
        return None;
    }
    let name = line.split(['{', ' ']).next().unwrap_or_default();
    match line.strip_prefix(name).unwrap_or_default() {
        _ if !FAMILIES.is_match(name) => Some(line.to_owned()),
        // Numbers of protobuf: histograms have as many as they need.
        rest if is_field(rest) => rest.ends_with('"').then(|| line.to_owned()),
        _ => line.rsplit_once(' ').map(|(sample, _)| format!("{sample} <varies>")),
    }
}

fn is_sample(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':');
    rest.starts_with('{') || (rest.starts_with(' ') && !is_field(rest))
}

/// ` 4: value`, as fields of protobuf are written.
fn is_field(rest: &str) -> bool {
    let number = rest.trim_start_matches(' ');
    number
        .split_once(':')
        .is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// A line of the log.
pub(super) fn without_durations(line: &str) -> String {
    DURATIONS.replace_all(line, "<duration>").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_vary_are_not_compared_and_their_names_and_labels_are() {
        let page = "# HELP perfmon_exporter_scrapes Scrapes.\nperfmon_exporter_scrapes_total{a=\"b c\"} 7\n\
                    perfmon_exporter_target_up{target=\"a\"} 1\nprocess_threads 9\n\
                    # TYPE perfmon_exporter_plugin_violations counter\n";
        let expected = "# HELP perfmon_exporter_scrapes Scrapes.\nperfmon_exporter_scrapes_total{a=\"b c\"} <varies>\n\
                        perfmon_exporter_target_up{target=\"a\"} 1\nprocess_threads <varies>\n";
        assert_eq!(comparable(page), expected);
    }

    #[test]
    fn numbers_that_vary_are_left_out_of_protobuf() {
        let page = "process_threads 1: \"process_threads\"\nprocess_threads   3: 9\nmemory   3: 9\n";
        assert_eq!(comparable(page), "process_threads 1: \"process_threads\"\nmemory   3: 9\n");
    }

    #[test]
    fn instances_of_alerts_may_come_in_any_order() {
        let page = |first: &str, second: &str| {
            format!(
                "# TYPE perfmon_pla_alert_value gauge\nperfmon_pla_alert_value{first}\nperfmon_pla_alert_value{second}\nb 1\na 1\n"
            )
        };
        assert_eq!(
            comparable(&page("{a=\"1\"} 5", "{a=\"2\"} 4")),
            comparable(&page("{a=\"2\"} 4", "{a=\"1\"} 5"))
        );
        assert!(comparable("b 1\na 1\n").starts_with("b 1"));
    }

    #[test]
    fn lines_of_the_log_are_compared_without_durations() {
        let line = "INFO Target is up target=\"a\" series=98 took=1.5ms";
        assert_eq!(without_durations(line), "INFO Target is up target=\"a\" series=98 took=<duration>");
    }
}
