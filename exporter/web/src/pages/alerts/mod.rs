//! `/alerts`: which alerts of targets are open; all that are watched, with their values against their thresholds; which
//! closed lately; and what receivers know of them. `?page=` turns what is open, `?watched=` what is watched, `?q=` and
//! `?state=` choose among the latter.
//!
//! Tables: open and closed ones, `open`; watched ones, `watched`; receivers, here.

mod chart;
mod open;
mod series;
mod value;
mod watched;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use alerts::{Counts, Last, OpenAlert};
use hyper::Response;

use self::series::Source;
use self::watched::Wanted;
use super::amount::{count, span};
use super::catalogue::Taken;
use super::frame::{Frame, Section};
use super::html::{Html, Query, Url};
use super::{Entry, Paging, cell, head, respond, section, tile};
use crate::body::Answer;
use crate::metrics::Site;

/// As often as most alerts are judged; the charts get a point with each look.
const REFRESH_S: u64 = 5;
const ROWS_MAX: usize = 50;
/// Closed alerts that are shown.
const CLOSED_SHOWN: usize = 20;

pub(super) fn page(site: &Site, query: &Query<'_>) -> Response<Answer> {
    let (now, wanted) = (SystemTime::now(), Wanted::of(query));
    let targets = site.target_registry.targets();
    let taken: Vec<(&Entry, Taken)> = targets.iter().map(|entry| (entry, Taken::from(entry))).collect();
    let sources = series::sources(&taken);
    let is_there = |name: &str| targets.iter().any(|target| target.name == name);
    let frame = Frame {
        title: "Alerts",
        section: Section::Alerts,
        root: "",
        refresh_s: Some(REFRESH_S),
        has_files: site.keeps_files(),
    };
    respond(frame.write(|html| {
        html.ours("<h1>Alerts</h1>\n<div id=\"live-summary\" data-live>");
        summary(html, site);
        html.ours("</div>\n<div id=\"live-alerts\" data-live>");
        open_alerts(html, site, &sources, query, now, is_there);
        html.ours("</div>\n");
        if !sources.is_empty() {
            html.ours("<section id=\"watched\" aria-labelledby=\"watched-alerts\"><h2 id=\"watched-alerts\">Watched</h2>");
            watched::search(html, &wanted);
            html.ours("<div id=\"live-watched\" data-live>");
            watched::table(html, site, &sources, &wanted, now);
            html.ours("</div></section>\n");
        }
        html.ours("<div id=\"live-others\" data-live>");
        let (closed, receivers) = (site.page_state.alerts.recent(), site.page_state.receivers.get());
        if !closed.is_empty() {
            section(html, "Closed lately", closed.len(), |html| {
                let rows = closed.get(..CLOSED_SHOWN.min(closed.len())).unwrap_or_default();
                open::table_of_closed(html, rows, now, is_there);
            });
        }
        section(html, "Receivers", receivers.len(), |html| receivers_table(html, &receivers, now));
        html.ours("</div>");
    }))
}

/// Writes those that are open, the newest first.
fn open_alerts(
    html: &mut Html,
    site: &Site,
    sources: &[Source<'_>],
    query: &Query<'_>,
    now: SystemTime,
    is_there: impl Fn(&str) -> bool,
) {
    let mut open: Vec<OpenAlert> = site.page_state.alerts.open();
    open.sort_by_key(|open| std::cmp::Reverse(open.alert.starts_at));
    section(html, "Open", open.len(), |html| {
        let paging = Paging::new(query.page(), open.len(), ROWS_MAX);
        match open.get(paging.range()).filter(|rows| !rows.is_empty()) {
            Some(rows) => {
                let compared = open::compared(site, rows, sources, now);
                open::table_of_open(html, rows, &compared, now, is_there);
            }
            None => drop(html.ours("<p class=\"empty\">No alert is open.</p>")),
        }
        paging.write(html, &Url::of("alerts"));
    });
}

fn summary(html: &mut Html, site: &Site) {
    let state = &site.page_state;
    let open = state.alerts.open_count();
    let (class, sign) = if open > 0 { ("partial", "◐") } else { ("up", "✓") };
    html.ours("<ul class=\"tiles\">");
    tile(html, class, sign, &count(open as u64), "Open");
    let receivers = state.receivers.get();
    let failing = receivers.iter().filter(|receiver| receiver.last().is_up() == Some(false)).count();
    let (class, sign) = if failing > 0 { ("down", "✕") } else { ("plain", "") };
    tile(html, class, sign, &count(failing as u64), "Receivers failing");
    let waiting = receivers.iter().map(|receiver| receiver.waiting()).sum();
    tile(html, "plain", "", &count(waiting), "To be sent");
    html.ours("</ul>");
    let over_limit = state.alerts.over_limit();
    if over_limit > 0 {
        html.ours("<p class=\"notice\">").text(count(over_limit));
        html.ours(" events would have opened an alert, but too many were open. Raise <code>alerts.max_alerts</code>.</p>");
    }
}

fn target(html: &mut Html, name: &str, module: &str, is_there: impl Fn(&str) -> bool) {
    html.ours("<td role=\"cell\" data-label=\"Target\"><div>");
    if is_there(name) {
        html.ours("<a").href(&Url::of("targets").step(name)).ours(">").name(name).ours("</a>");
    } else {
        html.name(name);
    }
    html.ours("<span class=\"sub\">").name(module).ours("</span></div></td>");
}

fn labels<'a>(html: &mut Html, labels: impl Iterator<Item = (&'a str, &'a str)>) {
    html.ours("<td role=\"cell\" data-label=\"Labels\"><ul class=\"labels\">");
    for (name, value) in labels {
        html.ours("<li>").name(name).ours("=").name(value).ours("</li>");
    }
    html.ours("</ul></td>");
}

fn ago(now: SystemTime, then: SystemTime) -> String {
    format!("{} ago", span(since(now, then)))
}

/// Clocks may go back.
fn since(now: SystemTime, then: SystemTime) -> Duration {
    now.duration_since(then).unwrap_or_default()
}

/// A state, and how it is shown.
#[derive(Debug)]
struct State {
    /// The value of the label; empty for those that this page does not know.
    word: &'static str,
    /// The title of its count.
    title: &'static str,
    /// What it means for a reader.
    class: &'static str,
    /// Each has another shape.
    sign: &'static str,
}

static STATES: [State; 8] = [
    State { word: "firing", title: "Firing", class: "down", sign: "✕" },
    State { word: "pending", title: "Pending", class: "partial", sign: "◐" },
    State { word: "no_data", title: "No data", class: "partial", sign: "∅" },
    State { word: "unresolved", title: "Unresolved", class: "partial", sign: "?" },
    State { word: "unsupported", title: "Unsupported", class: "partial", sign: "≠" },
    State { word: "", title: "Other", class: "waiting", sign: "·" },
    State { word: "waiting", title: "Waiting", class: "waiting", sign: "○" },
    State { word: "ok", title: "OK", class: "up", sign: "✓" },
];
const OTHER: usize = 5;

/// The place of a state in [`STATES`].
fn place_of(word: &str) -> usize {
    STATES.iter().position(|state| state.word == word).unwrap_or(OTHER)
}

fn receivers_table(html: &mut Html, receivers: &[Arc<Counts>], now: SystemTime) {
    if receivers.is_empty() {
        html.ours("<p class=\"empty\">Alerts are sent to nobody. To send them to Alertmanager, write ");
        html.ours(
            "<code>alerts: {alertmanagers: [{url: 'http://HOST:9093'}]}</code> in the configuration.</p>",
        );
        return;
    }
    let columns = [
        ("Receiver", ""),
        ("State", "near"),
        ("Last success", "near"),
        ("Sent", "number"),
        ("To be sent", "number"),
        ("Not delivered", "number"),
        ("Last failure", ""),
    ];
    head(html, "Receivers", columns.into_iter());
    for receiver in receivers {
        let last = receiver.last();
        html.ours("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\"><strong>").name(receiver.name());
        html.ours("</strong><span class=\"sub\">").ours(receiver.kind().as_str()).ours("</span></th>");
        receiver_state(html, &last);
        cell(html, "Last success", last.success.map_or("–".to_owned(), |time| ago(now, time)));
        receiver_number(html, "Sent", receiver.sent());
        receiver_number(html, "To be sent", receiver.waiting());
        receiver_number(html, "Not delivered", receiver.dropped().iter().map(|(_, count)| count).sum());
        receiver_failure(html, &last, now);
        html.ours("</tr>\n");
    }
    html.ours("</tbody></table>");
}

fn receiver_state(html: &mut Html, last: &Last) {
    let (class, sign, word) = match last.is_up() {
        Some(true) => ("up", "✓", "up"),
        Some(false) => ("down", "✕", "failing"),
        None => ("waiting", "○", "nothing sent yet"),
    };
    html.ours("<td role=\"cell\" class=\"near\" data-label=\"State\"><span class=\"state ").ours(class);
    html.ours("\"><span aria-hidden=\"true\">").ours(sign).ours("</span> ").ours(word).ours("</span></td>");
}

fn receiver_number(html: &mut Html, name: &'static str, number: u64) {
    html.ours("<td role=\"cell\" class=\"number\"").attr("data-label", name).ours(">");
    html.text(count(number)).ours("</td>");
}

fn receiver_failure(html: &mut Html, last: &Last, now: SystemTime) {
    let Some((time, trouble, message)) = &last.failure else {
        html.ours("<td role=\"cell\"></td>");
        return;
    };
    html.ours("<td role=\"cell\" data-label=\"Last failure\"><div>").text(ago(now, *time)).ours(": <code>");
    html.text(trouble.as_str()).ours("</code><p class=\"trouble\">").prose(message).ours("</p>");
    if last.is_up() == Some(false) {
        html.ours("<p class=\"step\"><span class=\"label\">Next step:</span> ").prose(trouble.next_step());
        html.ours("</p>");
    }
    html.ours("</div></td>");
}
