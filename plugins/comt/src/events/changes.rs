//! What changed from one state of a host to the next: a log record for each, where that is wanted.

use std::collections::BTreeMap;

use plugin_sdk::{Handle, Level};
use wire::Guid;

use crate::model::{ApplicationFigures, HostFigures, ProcessFigures};

/// Records of one collection. A host that starts sends no flood.
const RECORDS_MAX: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    name: &'static str,
    level: Level,
    body: String,
    fields: Vec<(&'static str, String)>,
}

pub(crate) fn report(before: &HostFigures, after: &HostFigures, handle: &Handle) {
    let changes = changes(before, after);
    for Change { name, level, body, fields } in changes.iter().take(RECORDS_MAX) {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(key, value)| (*key, value.as_str())).collect();
        handle.event(name, *level, None, body, &fields);
    }
    let above = changes.len().saturating_sub(RECORDS_MAX);
    if above > 0 {
        let body = format!("{above} more changes of COM+ applications and processes");
        handle.event("complus.changes.left_out", Level::Info, None, &body, &[("number", &above.to_string())]);
    }
}

/// What is in one state and not in the other, and what is known in both and differs.
fn changes(before: &HostFigures, after: &HostFigures) -> Vec<Change> {
    let mut changes = Vec::new();
    let (old, new) = (by_id(before), by_id(after));
    // What is above a limit did not end.
    if after.left_out.applications == 0 {
        let gone = old.values().filter(|application| !new.contains_key(&application.id));
        changes.extend(gone.map(|gone| of_application("complus.application.ended", "ended", gone)));
    }
    if before.left_out.applications == 0 {
        let come = new.values().filter(|application| !old.contains_key(&application.id));
        changes.extend(come.map(|come| of_application("complus.application.started", "started", come)));
    }
    if let (Some(old), Some(new)) = (&before.processes, &after.processes) {
        changes.extend(of_processes(old, new));
    }
    changes
}

fn by_id(host: &HostFigures) -> BTreeMap<Guid, &ApplicationFigures> {
    host.applications.iter().map(|application| (application.id, application)).collect()
}

fn of_application(name: &'static str, verb: &str, application: &ApplicationFigures) -> Change {
    let mut fields = vec![("application_id", application.id.to_string())];
    let known = application.about.as_ref().and_then(|about| about.name.as_deref());
    fields.extend(known.map(|name| ("application", name.to_owned())));
    let body = format!("COM+ application {} {verb}", known.unwrap_or(&fields[0].1));
    Change { name, level: Level::Info, body, fields }
}

/// States of processes that are in both. Those that come and go are those of applications.
fn of_processes(old: &[ProcessFigures], new: &[ProcessFigures]) -> Vec<Change> {
    let mut changes = Vec::new();
    for process in new {
        let Some(before) = old.iter().find(|before| before.id == process.id) else { continue };
        let states = [
            (before.is_paused, process.is_paused, PAUSED),
            (before.is_recycling, process.is_recycling, RECYCLING),
        ];
        for (before, after, [set, unset]) in states {
            let (name, what) = match (before, after) {
                (Some(false), Some(true)) => set,
                (Some(true), Some(false)) => unset,
                _ => continue,
            };
            let mut fields = vec![("process_id", process.id.to_string())];
            fields.extend(process.program.as_deref().map(|program| ("program", program.to_owned())));
            let body = format!("Process {} of COM+ applications {what}", process.id);
            changes.push(Change { name, level: Level::Info, body, fields });
        }
    }
    changes
}

/// Name and words of a change to a state, and of one from it.
type States = [(&'static str, &'static str); 2];
const PAUSED: States = [("complus.process.paused", "is paused"), ("complus.process.resumed", "goes on")];
const RECYCLING: States = [
    ("complus.process.recycling", "is being recycled"),
    ("complus.process.not_recycling", "is not recycled any more"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AboutApplication, LeftOut};

    fn application(id: u128, name: Option<&str>) -> ApplicationFigures {
        let about = name.map(|name| AboutApplication { name: Some(name.into()), ..Default::default() });
        ApplicationFigures { id: Guid::from_u128(id), about, ..Default::default() }
    }

    fn process(id: u32, is_paused: Option<bool>, is_recycling: Option<bool>) -> ProcessFigures {
        ProcessFigures { id, is_paused, is_recycling, ..Default::default() }
    }

    fn bodies(before: &HostFigures, after: &HostFigures) -> Vec<String> {
        changes(before, after).into_iter().map(|change| format!("{}: {}", change.name, change.body)).collect()
    }

    #[test]
    fn applications_that_start_and_end_are_named() {
        let before = HostFigures { applications: vec![application(1, Some("Orders"))], ..Default::default() };
        let after = HostFigures { applications: vec![application(2, None)], ..Default::default() };
        assert_eq!(
            bodies(&before, &after),
            [
                "complus.application.ended: COM+ application Orders ended",
                "complus.application.started: COM+ application 00000000-0000-0000-0000-000000000002 started",
            ]
        );
        assert_eq!(bodies(&before, &before), [""; 0]);
        let left_out = LeftOut { applications: 1, ..Default::default() };
        let cut = HostFigures { left_out, ..Default::default() };
        assert_eq!(bodies(&before, &cut), [""; 0], "it may be above the limit");
        assert_eq!(bodies(&cut, &before), [""; 0], "it may have been above the limit");
    }

    #[test]
    fn states_of_processes_are_compared_where_both_are_known() {
        let host = |processes| HostFigures { processes, ..Default::default() };
        let before = host(Some(vec![process(4, Some(false), Some(true)), process(8, None, Some(false))]));
        let after = host(Some(vec![process(4, Some(true), Some(false)), process(8, Some(true), Some(true))]));
        assert_eq!(
            bodies(&before, &after),
            [
                "complus.process.paused: Process 4 of COM+ applications is paused",
                "complus.process.not_recycling: Process 4 of COM+ applications is not recycled any more",
                "complus.process.recycling: Process 8 of COM+ applications is being recycled",
            ]
        );
        assert_eq!(bodies(&before, &host(None)), [""; 0], "a poll does not list them");
        assert_eq!(bodies(&after, &host(Some(Vec::new()))), [""; 0]);
    }
}
