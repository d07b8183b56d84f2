//! A profile file, with strict keys.
//!
//! ```yaml
//! extends: windows_exporter@0.31      # its entries too, but for the metrics in `without`
//! without: [windows_net_bytes_total]
//! others: native                      # what has no entry; default `drop`
//! drop_instances: '.*_Total'
//! objects:
//!   - object: LogicalDisk             # or several
//!     labels: {volume: {from: counter_instance}}
//!     metrics:
//!       - {name: windows_logical_disk_free_bytes, type: gauge, item: Free Megabytes, multiply: 1048576}
//! ```

use std::collections::HashSet;

use series::pipeline::{Conflict, ConflictReason, Entry, LabelMap, NameMap, Others};

use super::entry::{self, Outer};
use super::{BUILT_IN_PROFILES, Options, Style};
use crate::item::Item;
use crate::node::{Node, Position, SyntaxError};
use crate::problem::{Problem, Problems, Report};

/// What a file has: its entries with their places, those of a file that it extends before its own.
#[derive(Debug, Default)]
struct Contents {
    others: Option<Others>,
    instances: LabelMap,
    entries: Vec<Entry>,
    /// The entries before this one are of the file that it extends.
    own_from: usize,
    /// Of the file's own entries: where they are, and the way there.
    places: Vec<(Position, String)>,
}

/// Reads the text of a file.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn parse(file: &str, text: &str, options: Options) -> Result<NameMap, Report> {
    let root = Node::parse(text).map_err(|SyntaxError { position, message }| {
        Report::new(file, vec![Problem { position, path: String::new(), message, hint: None }])
    })?;
    let problems = Problems::default();
    let contents = contents(&Item::root(&root, &problems), options);
    let map = contents.and_then(|contents| {
        let Contents { others: of_file, entries, own_from, places, .. } = contents;
        let names: Vec<String> = entries.iter().map(|entry| entry.metric.name.clone()).collect();
        let map = NameMap::new(options.others.or(of_file).unwrap_or_default(), entries);
        let conflicts = map.map_err(|conflicts| {
            for conflict in conflicts {
                report_conflict(&conflict, &names[conflict.entry], own_from, &places, &problems);
            }
        });
        conflicts.ok()
    });
    let problems = problems.into_vec();
    match map {
        Some(map) if problems.is_empty() => Ok(map),
        _ => Err(Report::new(file, problems)),
    }
}

fn contents(root: &Item<'_>, options: Options) -> Option<Contents> {
    let mut top = root.section(&[])?;
    let mut contents = match top.get("extends") {
        Some(item) => extended(&item, options),
        None => Contents::default(),
    };
    if let Some(without) = top.get("without") {
        for item in without.list() {
            remove(&item, &mut contents);
        }
    }
    let words = [("drop", Others::Drop), ("native", Others::Native)];
    contents.others = top.choice("others", &words).or(contents.others);
    if let Some(item) = top.get("drop_instances") {
        contents.instances = entry::pattern(&item, &contents.instances, LabelMap::drop_instances);
    }
    let style =
        top.choice("style", &[("prometheus", Style::Prometheus), ("opentelemetry", Style::OpenTelemetry)]);
    let instances = contents.instances.clone();
    let outer = Outer { style: style.unwrap_or_default(), instances, ..Outer::default() };
    let mut own: Vec<(Entry, (Position, String))> = Vec::new();
    for item in top.get("objects").map(|item| item.list()).unwrap_or_default() {
        entry::object(&item, &outer, options.bug_compatible, &mut own);
    }
    top.finish();
    // An entry of the file is in the place of one of the file that it extends.
    let taken: HashSet<String> = own.iter().flat_map(|(entry, _)| entry.keys()).collect();
    contents.entries.retain(|entry| !entry.keys().any(|key| taken.contains(&key)));
    contents.own_from = contents.entries.len();
    let (own, places): (Vec<_>, Vec<_>) = own.into_iter().unzip();
    contents.entries.extend(own);
    contents.places = places;
    Some(contents)
}

/// The contents of a profile of ours.
fn extended(item: &Item<'_>, options: Options) -> Contents {
    let Some(name) = item.text() else { return Contents::default() };
    let Some(text) = super::built_in_text(name) else {
        let hint = safe_text::nearest::suggestion(name, BUILT_IN_PROFILES.iter().copied());
        item.problem(format!("there is no profile `{name}`"), hint);
        return Contents::default();
    };
    // Ours are right: a test reads all of them.
    let problems = Problems::default();
    let root = Node::parse(text).ok();
    root.and_then(|root| contents(&Item::root(&root, &problems), options)).unwrap_or_default()
}

fn remove(item: &Item<'_>, contents: &mut Contents) {
    let Some(name) = item.text() else { return };
    let mut is_there = false;
    contents.entries.retain_mut(|Entry { metric, .. }| {
        is_there |= metric.names().any(|own| own == name);
        metric.also.retain(|own| own != name);
        if metric.name == name && !metric.also.is_empty() {
            metric.name = metric.also.remove(0);
        }
        metric.name != name
    });
    if !is_there {
        let names: Vec<&str> = contents.entries.iter().flat_map(|entry| entry.metric.names()).collect();
        let hint = safe_text::nearest::suggestion(name, names);
        item.problem(format!("the extended profile has no metric `{name}`"), hint);
    }
}

fn report_conflict(
    conflict: &Conflict,
    name: &str,
    own_from: usize,
    places: &[(Position, String)],
    problems: &Problems,
) {
    let place = |entry: usize| entry.checked_sub(own_from).and_then(|index| places.get(index));
    let Some((position, path)) = place(conflict.entry) else { return };
    let earlier = match place(conflict.earlier) {
        Some((earlier, _)) => format!("the one on line {}", earlier.line),
        None => "one of the extended profile".to_owned(),
    };
    let (message, hint) = match conflict.reason {
        ConflictReason::SameFamily => (format!("takes the same family as {earlier}"), "remove one of them"),
        ConflictReason::SameSeries => (
            format!("makes the same series of `{name}` as {earlier}"),
            "give them different values of a label",
        ),
        ConflictReason::OtherMetric => (
            format!("has another type, unit or help than {earlier}, which also makes `{name}`"),
            "write the same in both",
        ),
    };
    problems.push_hint(*position, path, message, Some(hint.to_owned()));
}
