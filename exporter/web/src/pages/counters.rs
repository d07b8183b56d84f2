//! One counterset: its counters, for one instance at a time.

use std::collections::BTreeSet;
use std::time::Instant;

use hyper::Response;
use series::model::{DisplayRule, Point};
use targets::TargetState;

use super::amount::count;
use super::catalogue::{Counter, Taken, instance};
use super::cells::{Cell, headings, note};
use super::frame::crumbs;
use super::html::{Html, Url};
use super::{Entry, Paging, Query, counter_url, frame, nothing, respond, set_url, target_url, values_url};
use crate::body::Answer;
use crate::metrics::Site;

/// Counters on one page.
const ROWS_MAX: usize = 60;

pub(super) fn page(
    site: &Site,
    entry: &Entry,
    taken: &Taken,
    set: &str,
    query: &Query<'_>,
) -> Response<Answer> {
    let all: Vec<Counter<'_>> = taken.counters().filter(|counter| counter.origin.object == set).collect();
    let offered = offered(&all, entry);
    let asked = query.get("instance");
    let Usual { instance: chosen, reason } =
        if asked.is_empty() { usual(&all, &offered, entry) } else { Usual { instance: asked, reason: "" } };
    let url = set_url(entry, set).with("instance", &chosen);
    let paging = Paging::new(query.page(), all.len(), ROWS_MAX);
    let title = format!("{set} of {}", entry.name);
    respond(frame(site, entry, &title).write(|html| {
        let steps = [
            ("Targets", Url::of("")),
            (entry.name.as_str(), target_url(entry)),
            ("Values", values_url(entry)),
        ];
        crumbs(html, &steps);
        html.ours("<h1>").name(set).ours(" <span class=\"of\">of ").name(&entry.name).ours("</span></h1>\n");
        if offered.len() > 1 || offered.first().is_some_and(|only| !only.is_empty()) {
            choice(html, entry, set, &offered, &chosen);
        }
        html.ours("<div id=\"live-values\" data-live>");
        if all.is_empty() {
            nothing(html, entry);
        } else {
            if !reason.is_empty() {
                html.ours("<p class=\"note\">Instance <strong>").name(&chosen);
                html.ours("</strong>, ").ours(reason).ours("</p>\n");
            }
            table(html, site, entry, &all[paging.range()], &chosen);
            paging.write(html, &url);
        }
        html.ours("</div>");
    }))
}

fn choice(html: &mut Html, entry: &Entry, set: &str, offered: &[String], chosen: &str) {
    html.ours("<form class=\"search\" method=\"get\"").action(&values_url(entry));
    html.ours("><input type=\"hidden\" name=\"set\"").attr("value", set);
    html.ours("><label for=\"instance\">Instance</label><select id=\"instance\" name=\"instance\">");
    if !offered.iter().any(|name| name == chosen) {
        html.ours("<option selected>").text(chosen).ours("</option>");
    }
    for name in offered {
        html.ours("<option").attr("value", name);
        if name == chosen {
            html.ours(" selected");
        }
        html.ours(">").text(if name.is_empty() { "(none)" } else { name }).ours("</option>");
    }
    html.ours("</select><button type=\"submit\">Show</button></form>\n");
}

fn table<'a>(html: &mut Html, site: &Site, entry: &Entry, shown: &[Counter<'a>], chosen: &str) {
    let look = |counter: &Counter<'a>| {
        let point = counter.points().find(|point| instance(point, entry) == chosen)?;
        let base = counter.base().and_then(|base| base.value_beside(&point));
        Some(Cell::look(site, entry, *counter, point, base))
    };
    let cells: Vec<Option<Cell<'_>>> = shown.iter().map(look).collect();
    note(html, cells.iter().flatten(), Instant::now());
    html.ours(
        "<table class=\"cards values\" role=\"table\"><caption class=\"unseen\">Counters and their values",
    );
    html.ours("</caption><thead role=\"rowgroup\"><tr role=\"row\">");
    html.ours("<th role=\"columnheader\" scope=\"col\">Counter</th>");
    headings(html, entry);
    html.ours("<th role=\"columnheader\" scope=\"col\" class=\"number\">Instances</th></tr></thead>");
    html.ours("<tbody role=\"rowgroup\">\n");
    for (counter, cell) in shown.iter().zip(&cells) {
        html.ours("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\"><a")
            .href(&counter_url(entry, counter));
        html.ours(">").name(counter.origin.item).ours("</a><code class=\"sub\">");
        html.text(counter.family().sample_name()).ours("</code></th>");
        match cell {
            Some(cell) => cell.write(html),
            None => {
                html.ours("<td role=\"cell\" class=\"number\" data-label=\"Now\"><span class=\"when\">no value</span>");
                html.ours(
                    "</td><td role=\"cell\" class=\"history\"></td><td role=\"cell\" class=\"raw\"></td>",
                );
            }
        }
        html.ours("<td role=\"cell\" class=\"number\" data-label=\"Instances\"><a")
            .href(&counter_url(entry, counter));
        html.ours(">").text(count(counter.series as u64)).ours("</a></td></tr>\n");
    }
    html.ours("</tbody></table>");
}

/// Maximum instances in the list; the pages of the counters show all.
const OFFERED_MAX: usize = 200;
/// Maximum series of a counterset that are searched for the names of its instances.
const LOOKED_AT_MAX: usize = 20_000;
/// The instance that adds up all others.
const TOTAL: &str = "_Total";
/// The idle process never counts as the busiest.
const IDLE: &str = "Idle";

/// The instances that a reader can choose, by name.
pub(super) fn offered(all: &[Counter<'_>], entry: &TargetState) -> Vec<String> {
    let mut instances = BTreeSet::new();
    let mut left = LOOKED_AT_MAX;
    // Nearly always the first counter has them all.
    for counter in all {
        for point in counter.points().take(left) {
            left -= 1;
            let name = instance(&point, entry);
            if instances.len() < OFFERED_MAX || name == TOTAL {
                instances.insert(name);
            }
        }
    }
    instances.into_iter().collect()
}

/// The instance that is shown by default.
pub(super) struct Usual {
    pub(super) instance: String,
    /// Why it is this one, for people; empty if it is the only one.
    pub(super) reason: &'static str,
}

/// Chooses the default instance: the total if there is one, else the busiest, else the first.
fn usual(all: &[Counter<'_>], offered: &[String], entry: &TargetState) -> Usual {
    let (instance, reason) = if offered.iter().any(|name| name == TOTAL) {
        (TOTAL.to_owned(), "total")
    } else if let Some(busiest) = busiest(all, entry) {
        // Activity since the instance began is known after one collection; current activity needs two.
        (busiest, "busiest so far")
    } else {
        (offered.first().cloned().unwrap_or_default(), "first by name")
    };
    Usual { instance, reason: if offered.len() > 1 { reason } else { "" } }
}

/// The instance with the most activity since it began, by the first counter that measures activity.
fn busiest(all: &[Counter<'_>], entry: &TargetState) -> Option<String> {
    let counts = |rule| all.iter().find(|counter| counter.rule() == rule);
    let counter = counts(DisplayRule::PercentOfTime)
        .or_else(|| counts(DisplayRule::PercentNotOfTime))
        .or_else(|| counts(DisplayRule::Rate))?;
    let is_inverse = counter.rule() == DisplayRule::PercentNotOfTime;
    let done = |point: &Point<'_>| point.value.as_f64() * if is_inverse { -1.0 } else { 1.0 };
    let points = counter.points().take(LOOKED_AT_MAX);
    let names = points.map(|point| (done(&point), instance(&point, entry)));
    names
        .filter(|(_, name)| !name.starts_with(IDLE))
        .reduce(|most, next| if next.0 > most.0 { next } else { most })
        .map(|(_, name)| name)
}
