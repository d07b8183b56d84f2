//! Applications and components as lines for reading.

use std::fmt::Write as _;

use crate::poll::{ApplicationFigures, ComponentFigures, Polled};

/// Width of a CLSID.
const CLSID_WIDTH: usize = 36;
const COLUMNS: [&str; 7] = ["references", "bound", "pooled", "in call", "call time", "completed", "failed"];
const UNTRACKED: &str = "-";

/// Each application with its components below it.
pub(super) fn table(host: &str, polled: &Polled) -> String {
    let Polled { applications, left_out, failure } = polled;
    let mut text = format!("COM+ applications of {host}: {}\n", applications.len());
    let mut has_untracked = false;
    for application in applications {
        has_untracked |= application.components.iter().any(|component| component.references.is_none());
        write_application(&mut text, application);
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
        let _ = writeln!(text, "{}", failure.message);
    }
    text
}

fn write_application(text: &mut String, figures: &ApplicationFigures) {
    let ApplicationFigures { application, components } = figures;
    let counted = |number: u64, things: &str| {
        format!("{number} {}", if number == 1 { things.trim_end_matches('s') } else { things })
    };
    let _ = writeln!(
        text,
        "\napplication {}\n  {}, {}, {} in progress, {}/s",
        application.id,
        counted(application.containers.len() as u64, "containers"),
        counted(application.instances, "instances"),
        counted(application.calls, "calls"),
        counted(application.calls_per_second, "calls"),
    );
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
