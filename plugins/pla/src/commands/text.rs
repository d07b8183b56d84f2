//! A set for people.

use std::fmt::Write as _;

use ms_pla::WeekDays;
use ms_pla::xml::{DataCollectorSet, Date, Schedule};
use safe_text::OneLine;

use crate::host::HostXml;
use crate::series::status_word;

/// All that `show` says. Dates and times are the host's own.
pub(super) fn set(name: &str, read: &HostXml) -> String {
    let set = &read.document;
    let mut lines = Lines(String::new());
    lines.add(0, &format!("data collector set {}", set.name.as_deref().unwrap_or(name)));
    lines.fact("status", Some(status_word(read.status)));
    lines.fact("description", set.description.as_deref());
    lines.fact("runs as", set.user_account.as_deref());
    lines.fact("number", set.serial_number.map(|number| number.to_string()).as_deref());
    let duration = match set.duration_s.unwrap_or(0) {
        0 => "until it is stopped".to_owned(),
        seconds => format!("{seconds} seconds"),
    };
    lines.fact("runs", Some(&duration));
    lines.fact("data", set.output_location.as_deref());
    lines.fact("task", set.task.as_deref());
    let schedules = match (set.schedules.len(), set.are_schedules_enabled) {
        (0, _) => "none",
        (_, Some(true)) => "in force, in the host's local time",
        _ => "not in force",
    };
    lines.fact("schedules", Some(schedules));
    for schedule in &set.schedules {
        lines.add(2, &in_words(schedule));
    }
    add_collectors(&mut lines, set);
    lines.0
}

fn add_collectors(lines: &mut Lines, set: &DataCollectorSet) {
    for it in &set.counters {
        lines.collector("counter", it.name.as_deref(), &every(it.sample_interval_s));
        it.counters.iter().for_each(|counter| lines.add(2, counter));
    }
    for it in &set.alerts {
        let mut about = every(it.sample_interval_s);
        if it.logs_events == Some(true) {
            about += ", event";
        }
        for (what, value) in [("task", &it.task), ("starts set", &it.trigger_data_collector_set)] {
            if let Some(value) = value.as_deref().filter(|value| !value.is_empty()) {
                let _ = write!(about, ", {what} {value}");
            }
        }
        lines.collector("alert", it.name.as_deref(), &about);
        it.alerts.iter().for_each(|threshold| lines.add(2, threshold));
    }
    for it in &set.traces {
        lines.collector("trace", it.name.as_deref(), it.session_name.as_deref().unwrap_or_default());
        for provider in &it.providers {
            let guid = provider.guid.map(|guid| format!(" {{{guid}}}")).unwrap_or_default();
            lines.add(2, &format!("{}{guid}", provider.display_name.as_deref().unwrap_or("provider")));
        }
    }
    for it in &set.configurations {
        lines.collector("configuration", it.name.as_deref(), "");
        let all = it.registry_keys.iter().chain(&it.files).chain(&it.management_queries);
        all.for_each(|what| lines.add(2, what));
    }
    for it in &set.api_traces {
        lines.collector("api_trace", it.name.as_deref(), it.exe_path.as_deref().unwrap_or_default());
        it.include_apis.iter().for_each(|function| lines.add(2, function));
    }
}

struct Lines(String);

impl Lines {
    fn add(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.0, "{:indent$}{}", "", OneLine(text), indent = depth * 2);
    }

    fn fact(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.add(1, &format!("{name:12} {value}"));
        }
    }

    fn collector(&mut self, kind: &str, name: Option<&str>, about: &str) {
        let about = if about.is_empty() { String::new() } else { format!(": {about}") };
        self.add(1, &format!("{kind} {}{about}", name.unwrap_or("without a name")));
    }
}

fn every(seconds: Option<u32>) -> String {
    match seconds {
        Some(u32::MAX) => "once".to_owned(),
        // [MS-PLA] 3.2.4.6.
        seconds => format!("every {} s", seconds.unwrap_or(15)),
    }
}

fn in_words(schedule: &Schedule) -> String {
    let day = |date: Date| format!("{:04}-{:02}-{:02}", date.year, date.month, date.day);
    let mut words = match schedule.days.unwrap_or_default() {
        WeekDays::RUN_ONCE => "once".to_owned(),
        WeekDays::EVERYDAY => "every day".to_owned(),
        days => week_days(days).join(", "),
    };
    if let Some(time) = schedule.start_time {
        let _ = write!(words, " at {time}");
    }
    if let Some(first) = schedule.start_date {
        let _ = write!(words, ", from {}", day(first));
    }
    if let Some(last) = schedule.end_date {
        let _ = write!(words, " to {}", day(last));
    }
    words
}

/// The names of the days; none for once.
pub(super) fn week_days(days: WeekDays) -> Vec<&'static str> {
    let names = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
    let chosen = names.into_iter().enumerate().filter(|(bit, _)| days.0 >> bit & 1 == 1);
    chosen.map(|(_, name)| name).collect()
}

/// `2 counter, 1 alert`.
pub(super) fn collectors_in_words(set: &DataCollectorSet) -> String {
    let kinds = [
        (set.counters.len(), "counter"),
        (set.alerts.len(), "alert"),
        (set.traces.len(), "trace"),
        (set.configurations.len(), "configuration"),
        (set.api_traces.len(), "api_trace"),
    ];
    let there = kinds.iter().filter(|(number, _)| *number > 0);
    let words: Vec<String> = there.map(|(number, kind)| format!("{number} {kind}")).collect();
    if words.is_empty() { "no data collectors".to_owned() } else { words.join(", ") }
}
