//! One counter: all its instances.

use std::time::Instant;

use hyper::Response;

use super::amount::{as_f64, count};
use super::catalogue::{Counter, Taken, instance};
use super::counters::cells;
use super::fleet::contains;
use super::frame::crumbs;
use super::html::{Html, Url};
use super::values::{counter_url, frame, nothing, search, set_url};
use super::{Entry, Paging, Query, respond, target_url, values_url};
use crate::model::{Kind, Point};
use crate::web::body::Answer;
use crate::web::site::Site;

/// Instances on one page.
const ROWS_MAX: usize = 60;

/// A series with the module that it came from.
type Row<'a> = (Counter<'a>, Point<'a>);

pub(super) fn page(
    site: &Site,
    entry: &Entry,
    taken: &Taken,
    name: &str,
    query: &Query<'_>,
) -> Response<Answer> {
    let (text, by_value) = (query.get("q"), query.get("sort") == "largest");
    let all: Vec<Counter<'_>> = taken.counters().filter(|counter| counter.family().name == name).collect();
    let Some(&first) = all.first() else { return no_counter(entry, name) };
    let mut rows: Vec<Row<'_>> =
        all.iter().flat_map(|counter| counter.points().map(|point| (*counter, point))).collect();
    let needle = text.trim().to_lowercase();
    if !needle.is_empty() {
        rows.retain(|(_, point)| contains(&instance(point, entry), &needle));
    }
    if by_value {
        rows.sort_by(|(_, one), (_, other)| as_f64(other.value).total_cmp(&as_f64(one.value)));
    }
    let paging = Paging::new(query.page(), rows.len(), ROWS_MAX);
    let title = format!("{} of {}", first.origin.item, entry.name);
    respond(frame(entry, &title).write(|html| {
        let set = first.origin.object;
        let steps = [
            ("Targets", Url::of("")),
            (entry.name.as_str(), target_url(entry)),
            ("Values", values_url(entry)),
            (set, set_url(entry, set)),
        ];
        crumbs(html, &steps);
        html.ours("<h1>")
            .name(first.origin.item)
            .ours(" <span class=\"of\">of ")
            .name(&entry.name)
            .ours("</span></h1>");
        about(html, &first);
        let sort = if by_value { "largest" } else { "" };
        search(html, entry, "Search instances", &text, &[("counter", name), ("sort", sort)]);
        let url = counter_url(entry, &first).with("q", &text);
        html.ours("<p class=\"sort\">Order: ");
        for (is_chosen, sort, word) in
            [(!by_value, "", "as it comes"), (by_value, "largest", "largest first")]
        {
            html.ours("<a").href(&url.clone().with("sort", sort));
            html.ours(if is_chosen { " aria-current=\"true\">" } else { ">" }).ours(word).ours("</a> ");
        }
        html.ours("</p>\n<div id=\"live-values\" data-live>");
        if rows.is_empty() {
            html.ours("<p class=\"empty\">No instance is like that.</p>");
        } else {
            table(html, site, entry, &rows[paging.range()]);
            paging.write(html, &url.with("sort", sort));
        }
        html.ours("</div>");
    }))
}

fn no_counter(entry: &Entry, name: &str) -> Response<Answer> {
    respond(frame(entry, name).write(|html| {
        crumbs(
            html,
            &[("Targets", Url::of("")), (&entry.name, target_url(entry)), ("Values", values_url(entry))],
        );
        html.ours("<h1>").name(name).ours("</h1><div id=\"live-values\" data-live>");
        nothing(html, entry);
        html.ours("</div>");
    }))
}

/// What the counter means.
fn about(html: &mut Html, counter: &Counter<'_>) {
    let family = counter.family();
    if !counter.origin.help.is_empty() {
        html.ours("<p class=\"help\">").name(counter.origin.help).ours("</p>");
    }
    let kind = match family.kind {
        Kind::Gauge => "gauge",
        Kind::Counter => "counter",
        Kind::Info => "info",
        Kind::Unknown => "unknown",
    };
    html.ours("<dl class=\"figures\"><div><dt>Metric</dt><dd><code>").text(family.sample_name());
    html.ours("</code></dd></div><div><dt>Kind</dt><dd>").ours(kind).ours("</dd></div>");
    if !family.unit.is_empty() {
        html.ours("<div><dt>Unit</dt><dd>").text(&family.unit).ours("</dd></div>");
    }
    html.ours("<div><dt>Instances</dt><dd>").text(count(counter.series as u64)).ours("</dd></div></dl>\n");
}

fn table(html: &mut Html, site: &Site, entry: &Entry, rows: &[Row<'_>]) {
    let now = Instant::now();
    html.ours(
        "<table class=\"cards values\" role=\"table\"><caption class=\"unseen\">Instances and their values",
    );
    html.ours("</caption><thead role=\"rowgroup\"><tr role=\"row\">");
    html.ours("<th role=\"columnheader\" scope=\"col\">Instance</th>");
    html.ours("<th role=\"columnheader\" scope=\"col\" class=\"number\">Now</th>");
    html.ours("<th role=\"columnheader\" scope=\"col\">Lately</th></tr></thead><tbody role=\"rowgroup\">\n");
    for (counter, point) in rows {
        let instance = instance(point, entry);
        html.ours("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\">");
        if instance.is_empty() {
            html.ours("(the only one)");
        } else {
            let url = set_url(entry, counter.origin.object).with("instance", &instance);
            html.ours("<a").href(&url).ours(">").name(&instance).ours("</a>");
        }
        html.ours("</th>");
        let moment = counter.moment(entry, now);
        let seen = site.desk.watched.see(&entry.name, counter.family().kind, point, moment);
        cells(html, counter, point, &seen);
        html.ours("</tr>\n");
    }
    html.ours("</tbody></table>");
}
