//! The tables of calls.

use rpc_cells::view::{ClientCallRow, ServerCallRow, label};

use super::tables::table;
use super::view::{Aged, Rows, View};
use super::words::{call_header, cell, cell_link, endpoint_of, process, server, wait};
use crate::pages::html::Html;

pub(super) fn client_calls(html: &mut Html, view: &View) {
    let columns = [
        ("Waits", "near"),
        ("Call", ""),
        ("Server", ""),
        ("Process", ""),
        ("Call id", "number"),
        ("Cell", "near"),
    ];
    let mut trails = view.trails.iter();
    table(html, "calls", "Calls to hosts, the oldest first", &columns, &view.client_calls, |html, call| {
        client_call(html, call, trails.next().map_or(&[], Vec::as_slice));
    });
}

fn client_call(html: &mut Html, call: &Aged<ClientCallRow>, trail: &[String]) {
    let row = &call.row;
    html.ours("<td role=\"cell\" class=\"near\" data-label=\"Waits\">");
    wait(html, call);
    html.ours("</td>");
    call_header(html, &row.names, row.interface_start, row.opnum);
    html.ours("<td role=\"cell\" data-label=\"Server\"><div>");
    server(html, &row.server);
    html.ours("<span class=\"sub\">");
    endpoint_of(html, row);
    html.ours("</span>");
    if !trail.is_empty() {
        html.ours("<ul class=\"trail\" aria-label=\"Where it goes on this machine\">");
        for step in trail {
            html.ours("<li>").name(step).ours("</li>");
        }
        html.ours("</ul>");
    }
    html.ours("</div></td>");
    process(html, &row.found, call.is_running);
    html.ours("<td role=\"cell\" class=\"number\" data-label=\"Call id\">").text(row.call_id).ours("</td>");
    cell(html, &row.found);
}

pub(super) fn server_calls(html: &mut Html, calls: &Rows<ServerCallRow>) {
    let columns = [
        ("For", "near"),
        ("Call", ""),
        ("State", "near"),
        ("Caller", ""),
        ("Thread", "near"),
        ("Process", ""),
        ("Call id", "number"),
        ("Cell", "near"),
    ];
    table(html, "calls", "Calls from hosts, the oldest first", &columns, calls, server_call);
}

fn server_call(html: &mut Html, call: &Aged<ServerCallRow>) {
    let row = &call.row;
    html.ours("<td role=\"cell\" class=\"near\" data-label=\"For\">");
    wait(html, call);
    html.ours("</td>");
    call_header(html, &row.names, row.interface_start, row.opnum);
    html.ours("<td role=\"cell\" class=\"near\" data-label=\"State\">");
    html.text(label(row.status.name(), row.status.0.into()));
    html.ours("</td><td role=\"cell\" data-label=\"Caller\"><div>");
    if row.caller_pid == 0 {
        html.ours("connection ");
        cell_link(html, &row.found, row.connection);
    } else {
        html.ours("process ").text(row.caller_pid).ours(", thread ").text(row.caller_tid);
    }
    html.ours("</div></td><td role=\"cell\" class=\"near\" data-label=\"Thread\">");
    cell_link(html, &row.found, row.servicing_thread);
    html.ours("</td>");
    process(html, &row.found, call.is_running);
    html.ours("<td role=\"cell\" class=\"number\" data-label=\"Call id\">").text(row.call_id).ours("</td>");
    cell(html, &row.found);
}
