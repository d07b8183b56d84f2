//! The tables of connections, endpoints, threads and processes.

use rpc_cells::CellId;
use rpc_cells::view::{ConnectionRow, EndpointRow, ThreadRow, label, short};

use super::view::{Aged, Process, Rows};
use super::words::{cell, cell_link, process, server};
use crate::pages::amount::{bytes, count, span, took};
use crate::pages::html::{Html, Url};

/// A table whose rows become cards on a phone; `write` writes the cells of a row.
pub(super) fn table<R>(
    html: &mut Html,
    class: &'static str,
    caption: &'static str,
    columns: &[(&'static str, &'static str)],
    rows: &Rows<R>,
    mut write: impl FnMut(&mut Html, &Aged<R>),
) {
    html.ours("<table class=\"cards ").ours(class).ours("\" role=\"table\"><caption class=\"unseen\">");
    html.ours(caption).ours("</caption><thead role=\"rowgroup\"><tr role=\"row\">");
    for (name, class) in columns {
        html.ours("<th role=\"columnheader\" scope=\"col\"").attr("class", class).ours(">").ours(name);
        html.ours("</th>");
    }
    html.ours("</tr></thead><tbody role=\"rowgroup\">\n");
    for row in &rows.rows {
        html.ours("<tr role=\"row\"").ours(if row.is_running { ">" } else { " class=\"ended\">" });
        write(html, row);
        html.ours("</tr>\n");
    }
    html.ours("</tbody></table>");
    if rows.more > 0 {
        html.ours("<p class=\"note\">and ").text(count(rows.more as u64)).ours(" more</p>");
    }
}

pub(super) fn connections(html: &mut Html, rows: &Rows<ConnectionRow>) {
    let columns = [
        ("Other side", ""),
        ("Last activity", "near"),
        ("Protection", ""),
        ("Sent", "number"),
        ("Received", "number"),
        ("Process", ""),
        ("Cell", "near"),
    ];
    table(html, "state-rows", "Connections", &columns, rows, |html, connection| {
        let row = &connection.row;
        html.ours("<th role=\"rowheader\" scope=\"row\">");
        other_side(html, row);
        html.ours("</th><td role=\"cell\" class=\"near\" data-label=\"Last activity\">");
        match connection.age {
            Some(age) => drop(html.text(took(age)).ours(" ago")),
            None => drop(html.ours("–")),
        }
        html.ours("</td><td role=\"cell\" data-label=\"Protection\"><div>");
        let (level, service) = (row.authentication_level, row.authentication_service);
        html.text(label(level.name(), level.0.into())).ours("<span class=\"sub\">");
        html.text(label(service.name(), service.0.into())).ours("</span></div></td>");
        for (name, carried) in [("Sent", row.bytes_sent), ("Received", row.bytes_received)] {
            html.ours("<td role=\"cell\" class=\"number\"").attr("data-label", name).ours(">");
            #[expect(clippy::cast_precision_loss, reason = "it is shown with three digits")]
            match carried {
                Some(carried) => drop(html.text(bytes(carried as f64))),
                None => drop(html.ours("–")),
            }
            html.ours("</td>");
        }
        process(html, &row.found, connection.is_running);
        cell(html, &row.found);
    });
}

/// The other side of a connection: a server by its name, or a client by its address and the endpoint that it called.
fn other_side(html: &mut Html, row: &ConnectionRow) {
    match row.peer {
        _ if !row.server.is_empty() => {
            server(html, &row.server);
            html.ours("<span class=\"sub\"><code>").name(&row.server_endpoint).ours("</code></span>");
        }
        Some(peer) => drop(html.text(peer)),
        None => drop(html.ours("unknown")),
    }
    if row.endpoint != CellId::NONE {
        html.ours("<span class=\"sub\">to endpoint ");
        cell_link(html, &row.found, row.endpoint);
        html.ours("</span>");
    }
}

pub(super) fn endpoints(html: &mut Html, rows: &Rows<EndpointRow>) {
    let columns =
        [("Endpoint", ""), ("Protocol", "near"), ("State", "near"), ("Process", ""), ("Cell", "near")];
    table(html, "state-rows", "Endpoints", &columns, rows, |html, endpoint| {
        let row = &endpoint.row;
        html.ours("<th role=\"rowheader\" scope=\"row\"><code>").name(&row.endpoint).ours("</code></th>");
        html.ours("<td role=\"cell\" class=\"near\" data-label=\"Protocol\">");
        html.text(short(row.protocol_sequence));
        html.ours("</td><td role=\"cell\" class=\"near\" data-label=\"State\">");
        html.text(label(row.status.name(), row.status.0.into())).ours("</td>");
        process(html, &row.found, endpoint.is_running);
        cell(html, &row.found);
    });
}

pub(super) fn threads(html: &mut Html, rows: &Rows<ThreadRow>) {
    let columns = [("Thread", ""), ("State", "near"), ("Since", "near"), ("Process", ""), ("Cell", "near")];
    table(html, "state-rows", "Threads", &columns, rows, |html, thread| {
        let row = &thread.row;
        html.ours("<th role=\"rowheader\" scope=\"row\">").text(row.tid).ours("</th>");
        html.ours("<td role=\"cell\" class=\"near\" data-label=\"State\">");
        html.text(label(row.status.name(), row.status.0.into()));
        html.ours("</td><td role=\"cell\" class=\"near\" data-label=\"Since\">");
        match thread.age {
            Some(age) => drop(html.text(took(age))),
            None => drop(html.ours("–")),
        }
        html.ours("</td>");
        process(html, &row.found, thread.is_running);
        cell(html, &row.found);
    });
}

pub(super) fn processes(html: &mut Html, rows: &Rows<Process>) {
    let columns = [
        ("State of", ""),
        ("Process", ""),
        ("Kept for", "near"),
        ("Level", "near"),
        ("Objects", "number"),
        ("Not shown", "number"),
    ];
    table(html, "state-rows", "Processes", &columns, rows, |html, file| {
        let row = &file.row;
        html.ours("<th role=\"rowheader\" scope=\"row\">").name(&row.owner).ours("</th>");
        html.ours("<td role=\"cell\" data-label=\"Process\"><div><a");
        html.href(&Url::of("rpc-state").with("pid", row.pid)).ours(">").text(row.pid).ours("</a>");
        html.ours(if file.is_running { "" } else { " has ended" });
        html.ours("</div></td><td role=\"cell\" class=\"near\" data-label=\"Kept for\">");
        match file.age {
            Some(age) => drop(html.text(span(age))),
            None => drop(html.ours("–")),
        }
        html.ours("</td><td role=\"cell\" class=\"near\" data-label=\"Level\">");
        html.text(label(row.level.name(), row.level.0.into()));
        html.ours("</td><td role=\"cell\" class=\"number\" data-label=\"Objects\">");
        html.text(count(row.cells as u64));
        html.ours("</td><td role=\"cell\" class=\"number\" data-label=\"Not shown\">");
        html.text(count(row.hidden)).ours("</td>");
    });
}
