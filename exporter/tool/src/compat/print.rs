//! A report as text for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use safe_text::one_line;

use super::verdict::Verdict;
use super::{FileReport, MetricReport, Place, Report};

/// Maximum places shown for a metric.
const PLACES_SHOWN: usize = 5;

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut out = String::new();
    for FileReport { file, metrics, there, unreadable } in &report.files {
        let _ = write!(out, "{}: {there} of {metrics} metrics are there", one_line(file));
        if *unreadable > 0 {
            let s = if *unreadable == 1 { "" } else { "s" };
            let _ = write!(out, ", {unreadable} expression{s} cannot be read");
        }
        out.push('\n');
    }
    let _ = writeln!(out, "(judged by {})", one_line(&report.judged_by));
    for (verdict, heading) in HEADINGS {
        let metrics: Vec<&MetricReport> = report.with(*verdict).collect();
        if !metrics.is_empty() {
            let _ = writeln!(out, "\n{heading}: {}", metrics.len());
            metrics.iter().for_each(|metric| write_metric(&mut out, metric));
        }
    }
    let others: Vec<String> = report.with(Verdict::NotOurs).map(|metric| one_line(&metric.name)).collect();
    if !others.is_empty() {
        let _ =
            writeln!(out, "\nNot from counters of Windows hosts: {}\n  {}", others.len(), others.join(", "));
    }
    if !report.unreadable.is_empty() {
        let _ = writeln!(out, "\nNot readable: {}", report.unreadable.len());
        for ((file, place), why) in &report.unreadable {
            let place = if place.is_empty() { String::new() } else { format!(": {}", one_line(place)) };
            let _ = writeln!(out, "  {}{place}: {}", one_line(file), one_line(why));
        }
    }
    if report.is_without_config {
        write_needs(&mut out, report);
    } else {
        write_next_steps(&mut out, report);
    }
    out
}

const HEADINGS: &[(Verdict, &str)] = &[
    (Verdict::Renamed, "Renamed"),
    (Verdict::Obtainable, "Obtainable"),
    (Verdict::NotObtainable, "Not obtainable"),
    (Verdict::NotChecked, "Not checked"),
];

fn write_metric(out: &mut String, metric: &MetricReport) {
    let judgement = &metric.judgement;
    let _ = writeln!(out, "  {}", one_line(&metric.name));
    let instead = one_line(&judgement.instead);
    match judgement.verdict {
        _ if instead.is_empty() => {}
        Verdict::Renamed => {
            let _ = writeln!(out, "    use {instead}");
        }
        _ => {
            let _ = writeln!(out, "    instead: {instead}");
        }
    }
    if !judgement.reason.is_empty() {
        let _ = writeln!(out, "    {}", one_line(&judgement.reason));
    }
    for step in &judgement.next_steps {
        let _ = writeln!(out, "    next: {}", one_line(step));
    }
    let mut by_file: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (file, place) in &metric.read_by {
        by_file.entry(file).or_default().push(place);
    }
    for (file, places) in by_file {
        let shown: Vec<String> = places.iter().take(PLACES_SHOWN).map(|place| one_line(place)).collect();
        let more = places.len().saturating_sub(PLACES_SHOWN);
        let more = if more == 0 { String::new() } else { format!(", and {more} more") };
        let _ = writeln!(out, "    read by {}: {}{more}", one_line(file), shown.join(", "));
    }
}

/// Every step once, for who does them.
fn write_next_steps(out: &mut String, report: &Report) {
    let steps = report.metrics.iter().flat_map(|metric| &metric.judgement.next_steps);
    let steps: BTreeSet<&String> = steps.collect();
    if !steps.is_empty() {
        out.push_str("\nNext steps:\n");
        for step in steps {
            let _ = writeln!(out, "  {}", one_line(step));
        }
    }
}

fn write_needs(out: &mut String, report: &Report) {
    if report.needs.is_empty() {
        return;
    }
    out.push_str("\nTo be collected for what is there:\n");
    for (namespace, objects) in &report.needs {
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        let what = if namespace.is_empty() { "countersets" } else { "facts" };
        let of = if namespace.is_empty() { String::new() } else { format!(" of `{namespace}`") };
        let _ = writeln!(out, "  {what}{of}: {}", objects.join(", "));
    }
    out.push_str("`--config FILE` judges by a configuration, and says what to add to it.\n");
}

/// The report for programs; docs/naming.md describes it.
pub(super) fn json(report: &Report) -> serde_json::Value {
    let place = |(file, place): &Place| serde_json::json!({"file": file, "place": place});
    let metrics: Vec<_> = report
        .metrics
        .iter()
        .map(|metric| {
            let judgement = &metric.judgement;
            serde_json::json!({
                "name": metric.name,
                "verdict": judgement.verdict.as_str(),
                "reason": judgement.reason,
                "instead": judgement.instead,
                "next_steps": judgement.next_steps,
                "read_by": metric.read_by.iter().map(place).collect::<Vec<_>>(),
            })
        })
        .collect();
    let files: Vec<_> = report
        .files
        .iter()
        .map(|FileReport { file, metrics, there, unreadable }| {
            serde_json::json!({"file": file, "metrics": metrics, "there": there, "unreadable": unreadable})
        })
        .collect();
    let unreadable: Vec<_> = report
        .unreadable
        .iter()
        .map(|((file, place), message)| serde_json::json!({"file": file, "place": place, "message": message}))
        .collect();
    serde_json::json!({
        "schema_version": SCHEMA_VERSION,
        "judged_by": report.judged_by,
        "ok": report.is_ok(),
        "files": files,
        "metrics": metrics,
        "unreadable": unreadable,
    })
}

/// Of the JSON. A later one may have more keys; a key that is there keeps its meaning.
const SCHEMA_VERSION: u32 = 1;
