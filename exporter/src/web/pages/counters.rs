//! One counterset: its counters, for one instance at a time.

use std::collections::BTreeSet;
use std::time::Instant;

use hyper::Response;

use super::amount::{count, rate, value};
use super::catalogue::{Counter, Taken, instance};
use super::frame::crumbs;
use super::html::{Html, Url};
use super::values::{counter_url, frame, nothing, set_url};
use super::watched::Seen;
use super::{Entry, Paging, Query, chart, respond, target_url, values_url};
use crate::model::{Kind, Point};
use crate::web::body::Answer;
use crate::web::site::Site;

/// Counters on one page.
const ROWS_MAX: usize = 60;
/// Instances that the box offers; of more, the pages of the counters have all.
const OFFERED_MAX: usize = 200;
/// So many series of a counterset are looked through for the names of its instances.
const LOOKED_AT_MAX: usize = 20_000;

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
    let chosen = if asked.is_empty() { offered.first().cloned().unwrap_or_default() } else { asked };
    let url = set_url(entry, set).with("instance", &chosen);
    let paging = Paging::new(query.page(), all.len(), ROWS_MAX);
    let title = format!("{set} of {}", entry.name);
    respond(frame(entry, &title).write(|html| {
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
            table(html, site, entry, &all[paging.range()], &chosen);
            paging.write(html, &url);
        }
        html.ours("</div>");
    }))
}

/// The instances that there are to choose from.
fn offered(all: &[Counter<'_>], entry: &Entry) -> Vec<String> {
    let mut instances = BTreeSet::new();
    let mut left = LOOKED_AT_MAX;
    // Nearly always the first counter has them all.
    for counter in all {
        for point in counter.points().take(left.min(OFFERED_MAX)) {
            left -= 1;
            if instances.len() < OFFERED_MAX {
                instances.insert(instance(&point, entry));
            }
        }
    }
    instances.into_iter().collect()
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

fn table(html: &mut Html, site: &Site, entry: &Entry, shown: &[Counter<'_>], chosen: &str) {
    let now = Instant::now();
    html.ours(
        "<table class=\"cards values\" role=\"table\"><caption class=\"unseen\">Counters and their values",
    );
    html.ours("</caption><thead role=\"rowgroup\"><tr role=\"row\">");
    html.ours("<th role=\"columnheader\" scope=\"col\">Counter</th>");
    html.ours("<th role=\"columnheader\" scope=\"col\" class=\"number\">Now</th>");
    html.ours("<th role=\"columnheader\" scope=\"col\">Lately</th>");
    html.ours("<th role=\"columnheader\" scope=\"col\" class=\"number\">Instances</th></tr></thead>");
    html.ours("<tbody role=\"rowgroup\">\n");
    for counter in shown {
        let (family, moment) = (counter.family(), counter.moment(entry, now));
        html.ours("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\"><a")
            .href(&counter_url(entry, counter));
        html.ours(">").name(counter.origin.item).ours("</a><code class=\"sub\">").text(family.sample_name());
        html.ours("</code>");
        html.ours("</th>");
        match counter.points().find(|point| instance(point, entry) == chosen) {
            Some(point) => {
                let seen = site.desk.watched.see(&entry.name, family.kind, &point, moment);
                cells(html, counter, &point, &seen);
            }
            None => {
                html.ours("<td role=\"cell\" class=\"number\" data-label=\"Now\"><span class=\"when\">no value</span>");
                html.ours("</td><td role=\"cell\" data-label=\"Lately\"></td>");
            }
        }
        html.ours("<td role=\"cell\" class=\"number\" data-label=\"Instances\"><a")
            .href(&counter_url(entry, counter));
        html.ours(">").text(count(counter.series as u64)).ours("</a></td></tr>\n");
    }
    html.ours("</tbody></table>");
}

/// A value, and its line.
pub(super) fn cells(html: &mut Html, counter: &Counter<'_>, point: &Point<'_>, seen: &Seen) {
    let family = counter.family();
    html.ours("<td role=\"cell\" class=\"number\" data-label=\"Now\"><div>");
    let now = value(point.value, family.kind, &family.unit);
    match (family.kind, seen.rate) {
        (Kind::Info, _) => drop(html.ours("<span class=\"when\">text</span>")),
        (Kind::Counter, Some(per_second)) => {
            html.ours("<strong>").text(rate(per_second, &family.unit)).ours("</strong><span class=\"sub\">");
            html.text(now).ours(" in all</span>");
        }
        (Kind::Counter, None) => drop(html.text(now).ours("<span class=\"sub\">in all</span>")),
        _ => drop(html.ours("<strong>").text(now).ours("</strong>")),
    }
    html.ours("</div></td><td role=\"cell\" data-label=\"Lately\">");
    if family.kind != Kind::Info {
        chart::line(html, &seen.points, |point| {
            if family.kind == Kind::Counter {
                rate(f64::from(point), &family.unit)
            } else {
                value(crate::model::Value::F64(f64::from(point)), family.kind, &family.unit)
            }
        });
    }
    html.ours("</td>");
}
