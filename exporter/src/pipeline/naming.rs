//! How a metric gets its name.
//!
//! The native profile: `perfmon_<object>_<item>[_<part>][_<unit>][_total]`, in the source's own words, so that
//! who knows the counter finds the metric. The rules, in order:
//!
//! 1. Lower case; whatever is not a letter or digit parts words; `%` goes; `#` reads "number"; `I/O` is one word.
//! 2. A counter loses a trailing "/sec", which `rate()` brings back; elsewhere it reads "per second".
//! 3. Words of the item that only repeat the unit go (`Free Megabytes` in bytes: `free_bytes`); so do they in
//!    the base of such an item, that both halves of an average keep one stem.
//! 4. A counter's own trailing "total" goes, and an info's "info": the kind brings its suffix.
//! 5. A word that repeats the one before goes.
//! 6. A gauge that would end in a suffix that OpenMetrics reserves says `_current` behind it.
//! 7. An object that would fall into a namespace which belongs to somebody else stands behind `counterset_`.
//!
//! What comes out matches `[a-z][a-z0-9_]*`, whatever goes in: letters beyond ASCII are spelled `u<code point>`.

use super::verbatim::verbatim;
use crate::model::Kind;

/// What a plugin says about a family, as far as the name goes.
#[derive(Clone, Copy, Debug)]
pub struct Nameable<'a> {
    /// Empty for performance counters, else `complus`, `pla`, `rpc` …
    pub namespace: &'a str,
    /// `Processor Information`.
    pub object: &'a str,
    /// `% Processor Time`.
    pub item: &'a str,
    /// Empty, `base`, `inactive` …
    pub part: &'a str,
    /// What the values mean.
    pub kind: Kind,
    /// The base unit, or empty.
    pub unit: &'a str,
}

/// A family's name by OpenMetrics' rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilyName {
    /// Without the suffix of the kind.
    pub name: String,
    /// The unit as the name ends with it; empty for none.
    pub unit: String,
}

/// Which rules make the names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// This module's doc. All names, those of labels too, are legal in every version of every format.
    #[default]
    Native,
    /// The source's own texts with dots between them. Names may be any UTF-8.
    Verbatim,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Native, Self::Verbatim];

    /// The word in the configuration.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Verbatim => "verbatim",
        }
    }

    /// The name of a family.
    #[must_use]
    pub fn family_name(self, family: &Nameable<'_>) -> FamilyName {
        match self {
            Self::Native => native(family),
            Self::Verbatim => verbatim(family),
        }
    }

    /// Whether names may be more than `[a-zA-Z_:][a-zA-Z0-9_:]*`.
    #[must_use]
    pub fn is_utf8(self) -> bool {
        self == Self::Verbatim
    }
}

fn native(family: &Nameable<'_>) -> FamilyName {
    let unit = if family.kind == Kind::Info { Vec::new() } else { words(family.unit) };
    let object = words(family.object);
    let part = words(family.part);

    let mut name = vec![PREFIX.to_owned()];
    if family.namespace.is_empty() {
        if object.first().is_some_and(|first| RESERVED_NAMESPACES.contains(&first.as_str())) {
            name.push(UNRESERVED.to_owned());
        }
    } else {
        name.extend(words(family.namespace));
    }
    name.extend(object);
    name.extend(item_words(family, &unit));
    name.extend(part);
    name.extend(unit.iter().cloned());
    name.dedup();

    match family.kind {
        Kind::Gauge | Kind::Unknown => {
            if ends_in(&name, RESERVED_SUFFIXES) {
                name.push(GAUGE_SUFFIX.to_owned());
            }
        }
        Kind::Counter => pop_trailing(&mut name, "total"),
        Kind::Info => pop_trailing(&mut name, "info"),
    }
    if name.len() == 1 {
        name.push("value".to_owned());
    }
    let unit = if !unit.is_empty() && name.ends_with(&unit) { unit.join("_") } else { String::new() };
    FamilyName { name: name.join("_"), unit }
}

fn item_words(family: &Nameable<'_>, unit: &[String]) -> Vec<String> {
    let (item, per_second) = without_per_second(family.item);
    let mut item = words(item);
    let is_base = family.part == "base";
    item.retain(|word| {
        let repeats = |unit: &str| unit == word || synonyms(unit).contains(&word.as_str());
        let stem = is_base && (repeats("bytes") || repeats("seconds"));
        !(stem || unit.iter().any(|unit| repeats(unit)))
    });
    match family.kind {
        Kind::Counter => pop_trailing(&mut item, "total"),
        Kind::Info => pop_trailing(&mut item, "info"),
        Kind::Gauge | Kind::Unknown if per_second => item.extend(["per".to_owned(), "second".to_owned()]),
        Kind::Gauge | Kind::Unknown => {}
    }
    item
}

/// Splits off a trailing "/sec" in the ways in which counters say it.
fn without_per_second(item: &str) -> (&str, bool) {
    let item = item.trim();
    let found = PER_SECOND.iter().find_map(|suffix| {
        let at = item.len().checked_sub(suffix.len())?;
        let (rest, end) = item.split_at_checked(at)?;
        end.eq_ignore_ascii_case(suffix).then_some(rest)
    });
    (found.unwrap_or(item), found.is_some())
}

/// The lower-case words of a text, each of `[a-z0-9]+`.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            _ if char.is_ascii_alphanumeric() => word.push(char.to_ascii_lowercase()),
            '/' if word == "i" && chars.peek().is_some_and(|next| next.eq_ignore_ascii_case(&'o')) => {}
            '#' => words.extend([std::mem::take(&mut word), "number".to_owned()]),
            _ if char.is_alphanumeric() => {
                let spelled = format!("u{:x}", u32::from(char));
                words.extend([std::mem::take(&mut word), spelled]);
            }
            _ => words.push(std::mem::take(&mut word)),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn ends_in(name: &[String], suffixes: &[&str]) -> bool {
    name.last().is_some_and(|last| suffixes.contains(&last.as_str()))
}

fn pop_trailing(name: &mut Vec<String>, word: &str) {
    while name.last().is_some_and(|last| last == word) {
        name.pop();
    }
}

fn synonyms(unit: &str) -> &'static [&'static str] {
    match unit {
        "bytes" => {
            &["byte", "kb", "kbytes", "kilobytes", "mb", "mbytes", "megabytes", "gb", "gbytes", "gigabytes"]
        }
        "seconds" => &[
            "sec",
            "secs",
            "second",
            "ms",
            "msec",
            "msecs",
            "millisecond",
            "milliseconds",
            "us",
            "usec",
            "microsecond",
            "microseconds",
            "ns",
            "nanosecond",
            "nanoseconds",
        ],
        _ => &[],
    }
}

const PREFIX: &str = "perfmon";
const UNRESERVED: &str = "counterset";
const GAUGE_SUFFIX: &str = "current";
/// First words that are not a counterset's: the exporter's own, the probe's, and the other sources'.
const RESERVED_NAMESPACES: &[&str] = &["exporter", "probe", "pcq", "complus", "pla", "rpc"];
const RESERVED_SUFFIXES: &[&str] = &["count", "sum", "bucket", "total", "created", "info"];
const PER_SECOND: &[&str] = &["/sec", "/ sec", "/s", "/second", " per sec", " per second"];

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(family: &Nameable<'_>, expected: &Expect) {
        let FamilyName { name, unit } = Profile::Native.family_name(family);
        let unit = if unit.is_empty() { String::new() } else { format!(" in {unit}") };
        expected.assert_eq(&format!("{name}{}{unit}", family.kind.sample_suffix()));
    }

    fn counter<'a>(object: &'a str, item: &'a str, part: &'a str, unit: &'a str) -> Nameable<'a> {
        Nameable { namespace: "", object, item, part, kind: Kind::Counter, unit }
    }

    fn gauge<'a>(object: &'a str, item: &'a str, part: &'a str, unit: &'a str) -> Nameable<'a> {
        Nameable { kind: Kind::Gauge, ..counter(object, item, part, unit) }
    }

    #[test]
    fn counters_of_every_kind_get_names_that_say_what_is_counted() {
        for (family, expected) in [
            // PERF_100NSEC_TIMER_INV: what is counted is the time in which nothing happened.
            (
                counter("Processor Information", "% Processor Time", "inactive", "seconds"),
                expect!["perfmon_processor_information_processor_time_inactive_seconds_total in seconds"],
            ),
            // PERF_100NSEC_TIMER
            (
                counter("Processor Information", "% User Time", "", "seconds"),
                expect!["perfmon_processor_information_user_time_seconds_total in seconds"],
            ),
            // PERF_RAW_FRACTION and PERF_RAW_BASE
            (gauge("LogicalDisk", "% Free Space", "", ""), expect!["perfmon_logicaldisk_free_space"]),
            (
                gauge("LogicalDisk", "% Free Space", "base", ""),
                expect!["perfmon_logicaldisk_free_space_base"],
            ),
            // PERF_AVERAGE_TIMER and PERF_AVERAGE_BASE
            (
                counter("PhysicalDisk", "Avg. Disk sec/Read", "", "seconds"),
                expect!["perfmon_physicaldisk_avg_disk_read_seconds_total in seconds"],
            ),
            (
                counter("PhysicalDisk", "Avg. Disk sec/Read", "base", ""),
                expect!["perfmon_physicaldisk_avg_disk_read_base_total"],
            ),
            // PERF_AVERAGE_BULK
            (
                counter("PhysicalDisk", "Avg. Disk Bytes/Read", "", "bytes"),
                expect!["perfmon_physicaldisk_avg_disk_read_bytes_total in bytes"],
            ),
            // PERF_COUNTER_100NS_QUEUELEN_TYPE
            (
                counter("PhysicalDisk", "Avg. Disk Queue Length", "", "seconds"),
                expect!["perfmon_physicaldisk_avg_disk_queue_length_seconds_total in seconds"],
            ),
            // PERF_COUNTER_RAWCOUNT
            (
                gauge("PhysicalDisk", "Current Disk Queue Length", "", ""),
                expect!["perfmon_physicaldisk_current_disk_queue_length"],
            ),
            // PERF_ELAPSED_TIME
            (
                gauge("Process V2", "Elapsed Time", "", "seconds"),
                expect!["perfmon_process_v2_elapsed_time_seconds in seconds"],
            ),
            // PERF_COUNTER_COUNTER, 32 bits
            (
                counter("System", "Context Switches/sec", "", ""),
                expect!["perfmon_system_context_switches_total"],
            ),
            // PERF_COUNTER_BULK_COUNT in bytes, already said
            (
                counter("Network Interface", "Bytes Received/sec", "", "bytes"),
                expect!["perfmon_network_interface_received_bytes_total in bytes"],
            ),
            (
                counter("Network Interface", "Bytes Total/sec", "", "bytes"),
                expect!["perfmon_network_interface_bytes_total in bytes"],
            ),
            (gauge("Memory", "Free Megabytes", "", "bytes"), expect!["perfmon_memory_free_bytes in bytes"]),
        ] {
            check(&family, &expected);
        }
    }

    #[test]
    fn a_gauge_never_ends_like_something_else() {
        for (item, expected) in [
            ("Handle Count", expect!["perfmon_process_v2_handle_count_current"]),
            ("Bytes Total", expect!["perfmon_process_v2_bytes_total_current"]),
            ("Files Created", expect!["perfmon_process_v2_files_created_current"]),
            ("Check Sum", expect!["perfmon_process_v2_check_sum_current"]),
            ("Boot Info", expect!["perfmon_process_v2_boot_info_current"]),
            ("Requests/sec", expect!["perfmon_process_v2_requests_per_second"]),
        ] {
            check(&gauge("Process V2", item, "", ""), &expected);
        }
    }

    #[test]
    fn text_becomes_an_info_without_a_unit() {
        let text = Nameable { kind: Kind::Info, ..gauge("GPU Engine", "Driver Info", "", "bytes") };
        check(&text, &expect!["perfmon_gpu_engine_driver_info"]);
    }

    #[test]
    fn namespaces_belong_to_their_owners() {
        let complus = Nameable { namespace: "complus", ..gauge("Application", "Calls In Call", "", "") };
        check(&complus, &expect!["perfmon_complus_application_calls_in_call"]);
        check(&gauge("Exporter", "Target Up", "", ""), &expect!["perfmon_counterset_exporter_target_up"]);
        check(
            &counter("RPC/HTTP Proxy", "Requests/sec", "", ""),
            &expect!["perfmon_counterset_rpc_http_proxy_requests_total"],
        );
    }

    #[test]
    fn signs_and_foreign_letters_become_words() {
        for (item, expected) in [
            ("# of Exceps Thrown / sec", expect!["perfmon_x_number_of_exceps_thrown_total"]),
            ("I/O Database Reads/sec", expect!["perfmon_x_io_database_reads_total"]),
            ("Größe", expect!["perfmon_x_gr_uf6_udf_e_total"]),
            ("Total", expect!["perfmon_x_total"]),
            ("\n\"{}", expect!["perfmon_x_total"]),
        ] {
            check(&counter("X", item, "", ""), &expected);
        }
        check(&counter("", "", "", ""), &expect!["perfmon_value_total"]);
    }
}
