//! `/rpc-state`: which RPC calls are in flight, in this process and others with files in its run directory.
//!
//! `?pid=`, `?interface=`, `?operation=` and `?call_id=` filter as the options of the command `rpc-state` do.
//! `?format=json` is for programs. `/rpc-state/cell?pid=&cell=&owner=` shows one cell in full.

mod cell;
mod tables;
mod view;
mod waiting;
mod words;

use http_server::{plain, typed};
use hyper::header::{CACHE_CONTROL, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use rpc_cells::view::{CallFilter, ClientCallRow, ServerCallRow, label};

pub(super) use self::cell::page as cell_page;
pub(super) use self::waiting::Waiting;

use self::tables::table;
use self::view::{Aged, Rows, View, json_of};
use self::words::{
    call_header, call_name, cell, cell_link, class_and_sign, endpoint_of, process, server, wait,
};
use super::amount::{count, took};
use super::frame::{Frame, Section};
use super::html::{Html, Query, Url};
use super::respond;
use crate::body::Answer;
use crate::metrics::Site;
use crate::page_state::NoState;
use crate::rpc_state::number;

/// Calls come and go quickly; reading some megabytes does not.
const REFRESH_S: u64 = 3;
/// Notes on files that are shown.
const NOTES_SHOWN: usize = 20;

pub(super) async fn page(site: &Site, query: &Query<'_>) -> Response<Answer> {
    let wanted = Wanted::of(query);
    if query.get("format") == "json" {
        return for_programs(site, &wanted).await;
    }
    let filter = wanted.calls;
    let view = site.page_state.rpc_state.look(move |state| View::of(state, &filter)).await;
    let frame = Frame {
        title: "RPC state",
        section: Section::RpcState,
        root: "",
        refresh_s: Some(REFRESH_S),
        has_files: site.keeps_files(),
    };
    respond(frame.write(|html| {
        html.ours("<h1>RPC state</h1>\n");
        match &view {
            Ok(view) => {
                html.ours("<div id=\"live-summary\" data-live>");
                summary(html, view);
                html.ours("</div>\n");
                wanted.write(html);
                html.ours("<div id=\"live-state\" data-live>");
                tables(html, view, site.page_state.rpc_state.has_client_calls(), wanted.is_all());
                html.ours("</div>");
            }
            Err(why) => {
                html.ours("<div id=\"live-state\" data-live>");
                no_state(html, why);
                html.ours("</div>");
            }
        }
    }))
}

async fn for_programs(site: &Site, wanted: &Wanted) -> Response<Answer> {
    if let Some(problem) = &wanted.problem {
        return plain(StatusCode::BAD_REQUEST, format!("{problem}\n"));
    }
    let filter = wanted.calls;
    let json = site.page_state.rpc_state.look(move |state| json_of(state, &filter).to_string()).await;
    let mut response = match json {
        Ok(json) => typed("application/json", json),
        Err(NoState::NotKept(why)) => {
            let next_step = why.next_step();
            plain(StatusCode::NOT_FOUND, format!("RPC state is not kept: {why}: {next_step}\n"))
        }
        Err(NoState::TooLong | NoState::Failed) => {
            let mut busy =
                plain(StatusCode::SERVICE_UNAVAILABLE, "RPC state cannot be read now; try again\n");
            busy.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
            busy
        }
    };
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Why there is nothing to show, and what to do.
fn no_state(html: &mut Html, why: &NoState) {
    match why {
        NoState::NotKept(why) => {
            html.ours("<p class=\"empty\">RPC state is not kept: ").name(why);
            html.ours(". To see which calls are in flight, ").text(next_step(why)).ours(".</p>");
        }
        NoState::TooLong => {
            html.ours("<p class=\"notice\">The files of the state cannot be read in time: other readers read them, ");
            html.ours("or the disk that they are on hangs. Try again.</p>");
        }
        NoState::Failed => {
            html.ours("<p class=\"notice\">The files of the state cannot be read. Try again.</p>");
        }
    }
}

/// How the state is kept from the next start on; whoever reads this wants it.
fn next_step(why: &crate::rpc_state::NotKept) -> &'static str {
    use crate::rpc_state::NotKept;
    match why {
        NotKept::ByLevel => why.next_step(),
        NotKept::NoDirectory => "set rpc_state.directory in the configuration, and start the exporter again",
        NotKept::Refused(_) => {
            "correct rpc_state.directory in the configuration, and start the exporter again"
        }
    }
}

/// What an operator has to see first: the oldest call.
fn summary(html: &mut Html, view: &View) {
    let oldest = view.client_calls.rows.first().filter(|call| call.is_running);
    let (class, sign) = class_and_sign(oldest.and_then(|call| call.age));
    let longest = oldest.and_then(|call| call.age).map_or("–".to_owned(), took);
    let figures = [
        (count(view.summary.client_calls as u64), "Calls in flight", "plain", ""),
        (longest, "Longest wait", class, sign),
        (count(view.summary.server_calls as u64), "Calls served", "plain", ""),
        (count(view.summary.connections as u64), "Connections", "plain", ""),
    ];
    html.ours("<ul class=\"tiles\">");
    for (figure, label, class, sign) in figures {
        html.ours("<li class=\"tile ").ours(class).ours("\"><span class=\"figure\">");
        if !sign.is_empty() {
            html.ours("<span class=\"sign\" aria-hidden=\"true\">").ours(sign).ours("</span>");
        }
        html.text(figure).ours("</span> <span class=\"label\">").ours(label).ours("</span></li>");
    }
    for (status, threads) in &view.summary.threads {
        html.ours("<li class=\"tile plain\"><span class=\"figure\">").text(count(*threads as u64));
        html.ours("</span> <span class=\"label\">Threads ");
        html.text(label(status.name(), status.0.into()).to_lowercase()).ours("</span></li>");
    }
    html.ours("</ul>");
    let Some((call, age)) = oldest.and_then(|call| Some((&call.row, call.age?))) else { return };
    html.ours("<p class=\"oldest ").ours(class).ours("\">");
    html.name(&call.found.owner).ours(" waits <strong>").text(took(age)).ours("</strong> for ");
    call_name(html, &call.names, call.interface_start, call.opnum);
    html.ours(" of ");
    server(html, &call.server);
    html.ours(" at ");
    endpoint_of(html, call);
    html.ours("</p>");
}

/// Writes all tables that have rows. Where calls are missed, it is said why there are none.
fn tables(html: &mut Html, view: &View, has_client_calls: bool, is_all: bool) {
    if view.client_calls.count() == 0 {
        let nothing = match (is_all, has_client_calls) {
            (false, _) => "No call in flight matches.",
            (true, true) => "No call is in flight.",
            (true, false) => {
                "Calls to hosts are not kept. To see them, set rpc_state.level: full in the configuration, and start \
                 the exporter again."
            }
        };
        section(html, "Calls to hosts", 0, |html| {
            html.ours("<p class=\"empty\">").ours(nothing).ours("</p>");
        });
    } else {
        section(html, "Calls to hosts", view.client_calls.count(), |html| client_calls(html, view));
    }
    some(html, "Calls from hosts", &view.server_calls, server_calls);
    some(html, "Connections", &view.connections, tables::connections);
    some(html, "Endpoints", &view.endpoints, tables::endpoints);
    some(html, "Threads", &view.threads, tables::threads);
    some(html, "Processes", &view.processes, tables::processes);
    if !view.notes.is_empty() {
        section(html, "Notes on files", view.notes.len(), |html| {
            html.ours("<ul class=\"counted\">");
            for note in view.notes.iter().take(NOTES_SHOWN) {
                html.ours("<li>").name(note).ours("</li>");
            }
            html.ours("</ul>");
            let more = view.notes.len().saturating_sub(NOTES_SHOWN);
            if more > 0 {
                html.ours("<p class=\"note\">and ").text(count(more as u64)).ours(" more</p>");
            }
        });
    }
}

fn some<R>(html: &mut Html, title: &'static str, rows: &Rows<R>, write: impl FnOnce(&mut Html, &Rows<R>)) {
    if rows.count() > 0 {
        section(html, title, rows.count(), |html| write(html, rows));
    }
}

fn section(html: &mut Html, title: &'static str, rows: usize, write: impl FnOnce(&mut Html)) {
    html.ours("<section").attr("aria-label", title).ours("><h2>").ours(title);
    if rows > 0 {
        html.ours(" <span class=\"of\">").text(count(rows as u64)).ours("</span>");
    }
    html.ours("</h2>");
    write(html);
    html.ours("</section>\n");
}

fn client_calls(html: &mut Html, view: &View) {
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

fn server_calls(html: &mut Html, calls: &Rows<ServerCallRow>) {
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

// Which calls a reader asked to see: the filters of the command, as parameters.

/// The parameters, their labels, and what is an example of them.
const PARAMETERS: [(&str, &str, &str); 4] = [
    ("pid", "Process", "1234"),
    ("interface", "Interface", "0xb60040e0"),
    ("operation", "Operation", "4"),
    ("call_id", "Call id", "3"),
];

/// What a reader asked to see.
struct Wanted {
    calls: CallFilter,
    /// The parameters as they were given.
    texts: [String; 4],
    /// What is wrong with them.
    problem: Option<String>,
}

impl Wanted {
    fn of(query: &Query<'_>) -> Self {
        let texts = PARAMETERS.map(|(name, _, _)| query.get(name).trim().to_owned());
        let [pid, interface, operation, call_id] = &texts;
        let mut problem = None;
        let calls = CallFilter {
            pid: value("pid", pid, &mut problem),
            interface_start: value("interface", interface, &mut problem),
            opnum: value("operation", operation, &mut problem),
            call_id: value("call_id", call_id, &mut problem),
        };
        Self { calls, texts, problem }
    }

    fn is_all(&self) -> bool {
        self.texts.iter().all(String::is_empty)
    }

    fn write(&self, html: &mut Html) {
        html.ours("<form class=\"search numbers\" role=\"search\" aria-label=\"Calls\" method=\"get\"");
        html.action(&Url::of("rpc-state")).ours(">");
        for ((name, label, example), text) in PARAMETERS.iter().zip(&self.texts) {
            html.ours("<label>").ours(label).ours(" <input").attr("name", name).attr("value", text);
            html.attr("placeholder", example).ours(" autocomplete=\"off\" spellcheck=\"false\"></label>");
        }
        html.ours("<button type=\"submit\">Show</button>");
        if !self.is_all() {
            html.ours("<a").href(&Url::of("rpc-state")).ours(">Show all</a>");
        }
        html.ours("</form>\n");
        if let Some(problem) = &self.problem {
            html.ours("<p class=\"notice\">").text(problem).ours("</p>");
        }
    }
}

/// The value of a parameter that was given; the first that is wrong is the problem.
fn value<T: TryFrom<u64>>(name: &str, text: &str, problem: &mut Option<String>) -> Option<T> {
    if text.is_empty() {
        return None;
    }
    let number = number(text);
    number.map_err(|error| problem.get_or_insert(format!("{name} `{text}` is ignored: {error}"))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(query: &str) -> Wanted {
        Wanted::of(&Query::of(&format!("/rpc-state?{query}").parse().expect("it is an address")))
    }

    #[test]
    fn parameters_are_those_of_the_command() {
        let all = wanted("pid=7&interface=0xb60040e0&operation=4&call_id=3");
        let expected =
            CallFilter { pid: Some(7), interface_start: Some(0xb600_40e0), opnum: Some(4), call_id: Some(3) };
        assert_eq!((all.calls, all.problem), (expected, None));
        let none = wanted("pid=+&operation=");
        assert!(none.is_all() && none.calls == CallFilter::default());
    }

    #[test]
    fn a_parameter_that_is_no_number_is_ignored_and_said() {
        let bad = wanted("pid=b6&operation=65536&call_id=2");
        assert_eq!(bad.calls, CallFilter { call_id: Some(2), ..CallFilter::default() });
        let problem = bad.problem.expect("it is said");
        assert!(problem.starts_with("pid `b6` is ignored: ") && problem.contains("after 0x"), "{problem}");
    }
}
