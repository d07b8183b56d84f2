//! A set for programs.

use ms_pla::xml::{DataCollectorSet, Schedule};
use serde_json::{Value, json};

use super::text::week_days;
use crate::host::HostXml;
use crate::series::status_word;

/// How many collectors there are of each kind.
pub(super) fn collectors(set: &DataCollectorSet) -> Value {
    json!({
        "counter": set.counters.len(),
        "trace": set.traces.len(),
        "api_trace": set.api_traces.len(),
        "configuration": set.configurations.len(),
        "alert": set.alerts.len(),
    })
}

/// All that `show` says.
pub(super) fn set(host: &str, name: &str, read: &HostXml) -> Value {
    let set = &read.document;
    let counters = set.counters.iter().map(|it| {
        json!({"kind": "counter", "name": it.name, "sample_interval_s": it.sample_interval_s, "counters": it.counters})
    });
    let alerts = set.alerts.iter().map(|it| {
        json!({
            "kind": "alert", "name": it.name, "sample_interval_s": it.sample_interval_s, "thresholds": it.alerts,
            "event": it.logs_events, "task": it.task, "starts_set": it.trigger_data_collector_set,
        })
    });
    let traces = set.traces.iter().map(|it| {
        let provider = |provider: &ms_pla::xml::TraceDataProvider| {
            json!({"name": provider.display_name, "guid": provider.guid.map(|guid| guid.to_string())})
        };
        let providers: Vec<Value> = it.providers.iter().map(provider).collect();
        json!({"kind": "trace", "name": it.name, "session": it.session_name, "providers": providers})
    });
    let configurations = set.configurations.iter().map(|it| {
        json!({
            "kind": "configuration", "name": it.name, "registry_keys": it.registry_keys, "files": it.files,
            "management_queries": it.management_queries,
        })
    });
    let api_traces = set.api_traces.iter().map(|it| {
        json!({"kind": "api_trace", "name": it.name, "program": it.exe_path, "functions": it.include_apis})
    });
    let collectors = counters.chain(alerts).chain(traces).chain(configurations).chain(api_traces);
    json!({
        "host": host,
        "name": set.name.as_deref().unwrap_or(name),
        "status": status_word(read.status),
        "description": set.description,
        "serial_number": set.serial_number,
        "user_account": set.user_account,
        "duration_s": set.duration_s,
        "output_location": set.output_location,
        "schedules_enabled": set.are_schedules_enabled,
        "schedules": set.schedules.iter().map(schedule).collect::<Vec<_>>(),
        "collectors": collectors.collect::<Vec<_>>(),
    })
}

/// Dates and times are the host's own.
fn schedule(schedule: &Schedule) -> Value {
    let day = |date: ms_pla::xml::Date| format!("{:04}-{:02}-{:02}", date.year, date.month, date.day);
    let time = |time: ms_pla::xml::Time| time.to_string();
    json!({
        "start_date": schedule.start_date.map(day),
        "end_date": schedule.end_date.map(day),
        "start_time": schedule.start_time.map(time),
        "days": week_days(schedule.days.unwrap_or_default()),
    })
}
