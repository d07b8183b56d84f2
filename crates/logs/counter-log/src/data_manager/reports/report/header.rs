use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit};

use super::RunFacts;
use crate::data_manager::reports::tree::{NodeId, Tree};

/// Gaps and files that are listed; all of them are counted.
const LISTED_MAX: usize = 1000;

/// Fills the section on the run: its facts, its files and gaps, and remarks.
pub(super) fn fill(tree: &mut Tree, section: NodeId, facts: &RunFacts, remarks: &[String]) {
    let run = tree.add_element(section, "Table", &[("name", "run"), ("style", "info")]);
    let item = tree.add_element(run, "Item", &[]);
    let gaps: i64 = facts.gaps.iter().map(|gap| seconds(gap.start, gap.end)).sum();
    let values = [
        ("set", "set", facts.set.clone()),
        ("host", "host", facts.host.clone()),
        ("start", "start", time(facts.start, &facts.zone)),
        ("end", "end", time(facts.end, &facts.zone)),
        ("duration", "duration", seconds(facts.start, facts.end).to_string()),
        ("serialnumber", "serialnumber", number(facts.serial_number.map(u64::from))),
        ("records", "records", number(facts.records)),
        ("recordslost", "recordslost", number(facts.records_lost)),
        ("files", "files", facts.files.len().to_string()),
        ("gaps", "gaps", facts.gaps.len().to_string()),
        ("gaptime", "gaptime", gaps.to_string()),
    ];
    for (name, label, value) in values.iter().filter(|(.., value)| !value.is_empty()) {
        let mut attributes = vec![("name", *name), ("header", *label)];
        if matches!(*name, "duration" | "gaptime") {
            attributes.push(("units", "s"));
        }
        let data = tree.add_element(item, "Data", &attributes);
        tree.add_text(data, value);
    }
    files(tree, section, facts);
    gap_table(tree, section, facts);
    if !remarks.is_empty() {
        add_remarks(tree, section, remarks);
    }
}

/// A number that may not be known.
fn number(number: Option<u64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

/// Rows of one sentence each.
pub(super) fn add_remarks(tree: &mut Tree, section: NodeId, remarks: &[String]) {
    let known =
        tree.elements(section, "Table").find(|table| tree.attribute(*table, "name") == Some("remarks"));
    let table = known
        .unwrap_or_else(|| tree.add_element(section, "Table", &[("name", "remarks"), ("style", "info")]));
    for remark in remarks {
        let item = tree.add_element(table, "Item", &[]);
        let data = tree.add_element(item, "Data", &[("name", "remark")]);
        tree.add_text(data, remark);
    }
}

fn files(tree: &mut Tree, section: NodeId, facts: &RunFacts) {
    let rows = facts.files.iter().take(LISTED_MAX);
    let rows = rows.map(|file| {
        let records = file.records.map(|records| records.to_string()).unwrap_or_default();
        vec![file.name.clone(), file.bytes.to_string(), records]
    });
    let columns = [("file", "string"), ("bytes", "number"), ("records", "number")];
    table(tree, section, "files", &columns, rows.collect());
}

fn gap_table(tree: &mut Tree, section: NodeId, facts: &RunFacts) {
    let rows = facts.gaps.iter().take(LISTED_MAX);
    let rows = rows.map(|gap| {
        let length = seconds(gap.start, gap.end).to_string();
        vec![time(gap.start, &facts.zone), time(gap.end, &facts.zone), length, gap.reason.clone()]
    });
    let columns = [("start", "string"), ("end", "string"), ("seconds", "number"), ("reason", "string")];
    table(tree, section, "gaps", &columns, rows.collect());
}

/// A table, unless it would be empty.
fn table(tree: &mut Tree, section: NodeId, name: &str, columns: &[(&str, &str)], rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    let table = tree.add_element(section, "Table", &[("name", name)]);
    let header = tree.add_element(table, "Header", &[]);
    for (name, class) in columns {
        tree.add_element(header, "Data", &[("name", name), ("class", class)]);
    }
    for row in rows {
        let item = tree.add_element(table, "Item", &[]);
        for ((name, _), value) in columns.iter().zip(row) {
            let data = tree.add_element(item, "Data", &[("name", name)]);
            tree.add_text(data, &value);
        }
    }
}

/// ISO 8601, local, to the second and with the offset from UTC.
fn time(time: Timestamp, zone: &TimeZone) -> String {
    let time = time.round(Unit::Second).unwrap_or(time);
    time.display_with_offset(zone.to_offset(time)).to_string()
}

/// The whole seconds between two times; 0 if the second is the earlier one.
fn seconds(start: Timestamp, end: Timestamp) -> i64 {
    (end.as_second() - start.as_second()).max(0)
}
