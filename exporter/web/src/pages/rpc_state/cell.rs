//! `/rpc-state/cell`: one cell in full. Each file of a process may have a cell with an id: `?owner=` says of which.

use std::time::Duration;

use hyper::{Response, StatusCode};
use rpc_cells::CellId;
use rpc_cells::view::CellText;

use super::no_state;
use crate::body::Answer;
use crate::metrics::Site;
use crate::pages::frame::{Frame, Section, crumbs};
use crate::pages::html::{Html, Query, Url};
use crate::pages::respond;
use crate::rpc_state::{State, number};

/// An object in a cell. Cell ids are those of a file, and a process may have several.
struct Object {
    owner: String,
    text: String,
    /// When it was read, in milliseconds after boot.
    now_ms: u64,
    is_running: bool,
}

pub(in crate::pages) async fn page(site: &Site, query: &Query<'_>) -> Response<Answer> {
    let pid = number::<u32>(&query.get("pid"));
    let id = query.get("cell").parse::<CellId>();
    let (title, found) = match (pid, id) {
        (Ok(pid), Ok(id)) => {
            let owner = query.get("owner");
            let found = site.page_state.rpc_state.look(move |state| objects(state, pid, id, &owner)).await;
            (format!("Cell {id} of process {pid}"), found)
        }
        _ => ("No such cell".to_owned(), Ok(Vec::new())),
    };
    let is_there = found.as_ref().is_ok_and(|found| !found.is_empty());
    let frame = Frame {
        title: &title,
        section: Section::RpcState,
        root: "../",
        refresh_s: None,
        has_files: site.keeps_files(),
    };
    let html = frame.write(|html| {
        crumbs(html, &[("RPC state", Url::of("rpc-state"))]);
        html.ours("<h1>").text(&title).ours("</h1>");
        match &found {
            Ok(found) if found.is_empty() => {
                html.ours("<p class=\"empty\">Nothing is there. Calls, and the objects that belong to them, go when ");
                html.ours("they have ended.</p>");
            }
            Ok(found) => found.iter().for_each(|object| write(html, object)),
            Err(why) => no_state(html, why),
        }
    });
    let mut response = respond(html);
    if !is_there {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response
}

fn write(html: &mut Html, object: &Object) {
    html.ours("<section><h2>").name(&object.owner).ours("</h2><pre class=\"config\" tabindex=\"0\"");
    html.attr("aria-label", "The object").ours("><code>");
    // The first line says what the tool of Windows does.
    for line in object.text.lines().skip(1) {
        html.text(line).ours("\n");
    }
    html.ours("</code></pre>");
    let now = Duration::from_millis(object.now_ms);
    html.ours("<p class=\"note\">Read ").text(format_args!("{:.3}", now.as_secs_f64())).ours(" s after boot");
    html.ours(if object.is_running { ".</p>" } else { "; its process has ended.</p>" });
    html.ours("</section>\n");
}

/// What is in cells with this id, in files of this owner, or of all if it is empty.
fn objects(state: &State, pid: u32, id: CellId, owner: &str) -> Vec<Object> {
    let found = rpc_cells::view::cell(&state.snapshots, pid, id);
    let of_process = state.snapshots.iter().zip(&state.is_running);
    let is_running = of_process.filter(|(snapshot, _)| snapshot.header.process.pid == pid).any(|(_, is)| *is);
    let object = |one: &CellText<'_>| Object {
        owner: one.owner().to_owned(),
        text: one.to_string(),
        now_ms: state.now_ms,
        is_running,
    };
    found.iter().filter(|one| owner.is_empty() || one.owner() == owner).map(object).collect()
}
