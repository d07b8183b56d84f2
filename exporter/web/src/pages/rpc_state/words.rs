//! Parts of a row that several tables have.

use std::time::Duration;

use rpc_cells::view::{CallNames, ClientCallRow, Found, short};
use rpc_cells::{CellId, Name};

use super::view::Aged;
use crate::pages::amount::took;
use crate::pages::html::{Html, Url};

/// From here on a wait is worth a look.
const LONG: Duration = Duration::from_secs(5);
/// From here on it is most likely a host that hangs.
const VERY_LONG: Duration = Duration::from_secs(30);

/// How long a call waits: a class for the style, and a sign. The colour adds no information.
pub(super) fn class_and_sign(age: Option<Duration>) -> (&'static str, &'static str) {
    match age {
        Some(age) if age >= VERY_LONG => ("down", "✕"),
        Some(age) if age >= LONG => ("partial", "◐"),
        _ => ("waiting", "○"),
    }
}

/// How long a call waits.
pub(in crate::pages) fn wait<R>(html: &mut Html, call: &Aged<R>) {
    let (class, sign) = class_and_sign(call.age);
    html.ours("<span class=\"state ").ours(class).ours("\"><span aria-hidden=\"true\">").ours(sign);
    html.ours("</span> ");
    match call.age {
        Some(age) => drop(html.text(took(age))),
        None if call.is_running => drop(html.ours("unknown")),
        None => drop(html.ours("left open")),
    }
    html.ours("</span>");
}

/// The name of a method, or its numbers.
pub(in crate::pages) fn call_name(html: &mut Html, names: &CallNames, interface_start: u32, opnum: u16) {
    match (&names.interface, &names.method) {
        (Some(interface), Some(method)) => {
            html.ours("<strong>").name(format_args!("{interface}.{method}")).ours("</strong>");
        }
        _ => {
            html.ours("<strong>operation ").text(opnum).ours(" of interface ");
            html.text(format_args!("{interface_start:08x}")).ours("…</strong>");
        }
    }
}

/// The same for a cell of a table, where long names have lines of their own.
pub(super) fn call_header(html: &mut Html, names: &CallNames, interface_start: u32, opnum: u16) {
    html.ours("<th role=\"rowheader\" scope=\"row\">");
    match (&names.interface, &names.method) {
        (Some(interface), Some(method)) => {
            html.ours("<strong>").name(method).ours("</strong><span class=\"sub\">").name(interface);
            html.ours(", operation ").text(opnum).ours("</span>");
        }
        _ => call_name(html, names, interface_start, opnum),
    }
    html.ours("</th>");
}

/// Where a call goes: the host, and how it is reached there.
pub(in crate::pages) fn endpoint_of(html: &mut Html, call: &ClientCallRow) {
    html.ours("<code>").name(&call.endpoint).ours("</code> (").text(short(call.protocol_sequence)).ours(")");
}

/// The name of a server as far as it was kept.
pub(super) fn server(html: &mut Html, name: &str) {
    match name {
        "" => drop(html.ours("this machine, or unknown")),
        name => {
            html.name(name);
            if Name::<SERVER_BYTES>::new(name).as_str().len() == SERVER_BYTES {
                html.ours("…");
            }
        }
    }
}

/// The bytes that a cell keeps of a server's name.
const SERVER_BYTES: usize = 24;

/// The process of a row, with a link to what there is of it.
pub(super) fn process(html: &mut Html, found: &Found, is_running: bool) {
    html.ours("<td role=\"cell\" data-label=\"Process\"><div>").name(&found.owner);
    html.ours("<span class=\"sub\">process <a")
        .href(&Url::of("rpc-state").with("pid", found.pid))
        .ours(">")
        .text(found.pid)
        .ours("</a>");
    if !is_running {
        html.ours(", which has ended");
    }
    html.ours("</span></div></td>");
}

/// A cell, with a link to all that it has.
pub(super) fn cell(html: &mut Html, found: &Found) {
    html.ours("<td role=\"cell\" class=\"near\" data-label=\"Cell\">");
    cell_link(html, found, found.cell);
    html.ours("</td>");
}

/// A link to a cell of the same file; nothing for none.
pub(super) fn cell_link(html: &mut Html, found: &Found, id: CellId) {
    if id != CellId::NONE {
        html.ours("<a").href(&cell_url(found, id)).ours("><code>").text(id).ours("</code></a>");
    }
}

pub(super) fn cell_url(found: &Found, id: CellId) -> Url {
    Url::of("rpc-state").step("cell").with("pid", found.pid).with("cell", id).with("owner", &found.owner)
}
