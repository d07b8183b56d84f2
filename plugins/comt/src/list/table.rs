//! Applications and components as lines for reading.

use std::fmt::Write as _;

use safe_text::one_line;

use crate::model::{ApplicationFigures, ComponentFigures, HostFigures, Place, ProcessFigures};

/// Width of a CLSID.
const CLSID_WIDTH: usize = 36;
const COLUMNS: [&str; 7] = ["references", "bound", "pooled", "in call", "call time", "completed", "failed"];
const UNTRACKED: &str = "-";

/// Each application with its components below it.
pub(super) fn table(host: &str, polled: &HostFigures) -> String {
    let HostFigures { applications, processes, left_out, failure } = polled;
    let mut text = format!("COM+ applications of {host}: {}\n", applications.len());
    let mut has_untracked = false;
    for application in applications {
        has_untracked |= application.components.iter().any(|component| component.references.is_none());
        write_application(&mut text, application, processes.as_deref().unwrap_or_default());
    }
    if has_untracked {
        text +=
            "\n-: the host does not track it; see EventsEnabled of the application in Component Services\n";
    }
    let left_out = super::in_words(left_out);
    if !left_out.is_empty() {
        let _ = writeln!(text, "\nnot shown: {left_out}");
    }
    if let Some(failure) = failure {
        let _ = writeln!(text, "{}", one_line(&failure.message));
    }
    text
}

fn write_application(text: &mut String, figures: &ApplicationFigures, processes: &[ProcessFigures]) {
    let counted = |number: u64, things: &str| {
        format!("{number} {}", if number == 1 { things.trim_end_matches('s') } else { things })
    };
    let name = figures.about.as_ref().and_then(|about| about.name.as_deref());
    let _ = writeln!(
        text,
        "\napplication {}{}\n  {}, {}, {} in progress, {}/s",
        figures.id,
        name.map(|name| format!(" {}", one_line(name))).unwrap_or_default(),
        counted(figures.containers, "containers"),
        counted(figures.instances.unwrap_or_default(), "instances"),
        counted(figures.calls.unwrap_or_default(), "calls"),
        counted(figures.calls_per_second.unwrap_or_default(), "calls"),
    );
    for place in &figures.places {
        write_place(text, place, processes);
    }
    let components = &figures.components;
    if components.is_empty() {
        return;
    }
    let _ = write!(text, "  {:CLSID_WIDTH$}", "component");
    for column in COLUMNS {
        let _ = write!(text, "  {column:>width$}", width = column.len().max(9));
    }
    text.push('\n');
    for component in components {
        let _ = write!(text, "  {:CLSID_WIDTH$}", component.clsid.to_string());
        for (column, value) in COLUMNS.iter().zip(cells(component)) {
            let width = column.len().max(9);
            let _ = write!(text, "  {value:>width$}");
        }
        text.push('\n');
    }
}

/// `container ID in process 4711 (dllhost.exe, paused)`, or as much of it as is known.
fn write_place(text: &mut String, place: &Place, processes: &[ProcessFigures]) {
    let container = place.container_id.map(|id| format!("container {id}"));
    let process = place.process_id.map(|id| format!("process {id}"));
    let known: Vec<String> = container.into_iter().chain(process).collect();
    let _ = write!(text, "  {}", known.join(" in "));
    let Some(id) = place.process_id else {
        text.push('\n');
        return;
    };
    let process = processes.iter().find(|process| process.id == id);
    let mut words = Vec::new();
    if let Some(process) = process {
        let program = process.program.as_deref().map(one_line);
        words.extend(program);
        let states = [
            (process.is_paused, "paused"),
            (process.is_recycling, "recycling"),
            (process.is_service, "service"),
        ];
        words.extend(states.into_iter().filter(|(is, _)| *is == Some(true)).map(|(_, word)| word.to_owned()));
    }
    let words = words.join(", ");
    let _ = if words.is_empty() { writeln!(text) } else { writeln!(text, " ({words})") };
}

fn cells(component: &ComponentFigures) -> [String; COLUMNS.len()] {
    let cell = |figure: Option<u64>| figure.map_or_else(|| UNTRACKED.to_owned(), |figure| figure.to_string());
    [
        cell(component.references),
        cell(component.bound_references),
        cell(component.pooled),
        cell(component.in_call),
        component.call_time_ms.map_or_else(|| UNTRACKED.to_owned(), |ms| format!("{ms} ms")),
        cell(component.calls_completed),
        cell(component.calls_failed),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::AboutApplication;

    #[test]
    fn what_a_host_calls_its_applications_and_programs_cannot_command_a_terminal() {
        let hostile = "Night\u{1b}[2J\u{202e}gpj\n";
        let about = AboutApplication { name: Some(hostile.into()), ..AboutApplication::default() };
        let place = Place { process_id: Some(4711), container_id: None };
        let application =
            ApplicationFigures { about: Some(about), places: vec![place], ..ApplicationFigures::default() };
        let process = ProcessFigures { id: 4711, program: Some(hostile.into()), ..ProcessFigures::default() };
        let mut text = String::new();
        write_application(&mut text, &application, &[process]);
        let shown = r"Night\u{1b}[2J\u{202e}gpj\n";
        assert!(text.contains(&format!(" {shown}\n")) && text.contains(&format!("({shown})")), "{text}");
        assert!(!text.contains(|c: char| c != '\n' && safe_text::is_hidden(c)), "{text:?}");
    }
}
