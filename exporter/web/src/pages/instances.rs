//! One counter: all its instances.

use std::time::Instant;

use hyper::Response;
use series::model::{DisplayRule, Family, FamilyPoints, Kind, Point, escape_label_value, is_legacy_name};

use super::amount::count;
use super::catalogue::{Bases, Counter, Taken, instance};
use super::cells::{Cell, headings, note};
use super::frame::crumbs;
use super::html::{Html, Url};
use super::wanted::contains;
use super::{
    Entry, Paging, Query, counter_url, frame, nothing, respond, search, set_url, target_url, values_url,
};
use crate::body::Answer;
use crate::metrics::Site;
use crate::page_state::TRACKS_MAX;

/// Instances on one page.
const ROWS_MAX: usize = 60;
/// Maximum instances that are sorted by their shown value; the others follow in the order of their exported value.
const ORDERED_MAX: usize = TRACKS_MAX / 4;

/// One of the modules that have the counter, the values of its base, and a series of it.
type Row<'a> = (&'a (Counter<'a>, Bases), Point<'a>);

pub(super) fn page(
    site: &Site,
    entry: &Entry,
    taken: &Taken,
    name: &str,
    query: &Query<'_>,
) -> Response<Answer> {
    let (text, by_value) = (query.get("q"), query.get("sort") == "largest");
    let all: Vec<_> = taken.counters().filter(|counter| counter.family().name == name).collect();
    let Some(&first) = all.first() else { return no_counter(site, entry, name) };
    let all: Vec<_> = all.into_iter().map(|counter| (counter, Bases::of(&counter))).collect();
    let mut rows: Vec<Row<'_>> =
        all.iter().flat_map(|one| one.0.points().map(move |point| (one, point))).collect();
    let needle = text.trim().to_lowercase();
    if !needle.is_empty() {
        rows.retain(|(_, point)| contains(&instance(point, entry), &needle));
    }
    if by_value {
        largest_first(site, entry, &mut rows);
    }
    let paging = Paging::new(query.page(), rows.len(), ROWS_MAX);
    let title = format!("{} of {}", first.origin.item, entry.name);
    respond(frame(site, entry, &title).write(|html| {
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
        about(html, entry, &first);
        let sort = if by_value { "largest" } else { "" };
        search(html, entry, "Search instances", &text, &[("counter", name), ("sort", sort)]);
        let url = counter_url(entry, &first).with("q", &text);
        html.ours("<p class=\"sort\">Order: ");
        for (is_chosen, sort, word) in
            [(!by_value, "", "as reported"), (by_value, "largest", "largest first")]
        {
            html.ours("<a").href(&url.clone().with("sort", sort));
            html.ours(if is_chosen { " aria-current=\"true\">" } else { ">" }).ours(word).ours("</a> ");
        }
        html.ours("</p>\n<div id=\"live-values\" data-live>");
        if rows.is_empty() {
            html.ours("<p class=\"empty\">No instance matches.</p>");
        } else {
            table(html, site, entry, &rows[paging.range()]);
            paging.write(html, &url.with("sort", sort));
        }
        html.ours("</div>");
    }))
}

fn no_counter(site: &Site, entry: &Entry, name: &str) -> Response<Answer> {
    respond(frame(site, entry, name).write(|html| {
        crumbs(
            html,
            &[("Targets", Url::of("")), (&entry.name, target_url(entry)), ("Values", values_url(entry))],
        );
        html.ours("<h1>").name(name).ours("</h1><div id=\"live-values\" data-live>");
        nothing(html, entry);
        html.ours("</div>");
    }))
}

/// Writes what the counter means.
fn about(html: &mut Html, entry: &Entry, counter: &Counter<'_>) {
    let family = counter.family();
    if !counter.origin.help.is_empty() {
        html.ours("<p class=\"help\">").name(counter.origin.help).ours("</p>");
    }
    let kind = match family.kind {
        Kind::Gauge => "gauge",
        Kind::Counter => "counter",
        Kind::Info => "info",
        Kind::Histogram => "histogram",
        Kind::Unknown => "unknown",
    };
    html.ours("<dl class=\"figures\"><div><dt>Metric</dt><dd><code>").text(family.sample_name());
    html.ours("</code></dd></div><div><dt>Kind</dt><dd>").ours(kind).ours("</dd></div>");
    if !family.unit.is_empty() {
        html.ours("<div><dt>Unit</dt><dd>").text(&family.unit).ours("</dd></div>");
    }
    html.ours("<div><dt>Instances</dt><dd>").text(count(counter.series as u64)).ours("</dd></div></dl>\n");
    let base = counter.base().map(FamilyPoints::family);
    if let Some(query) = promql_expression(family, base, &entry.name) {
        html.ours("<p class=\"query\"><span class=\"label\">Shown value in PromQL:</span> <code>");
        html.text(query).ours("</code></p>\n");
    }
}

/// Sorts the series by shown value; those without one come last, by exported value.
fn largest_first<'a>(site: &Site, entry: &Entry, rows: &mut [Row<'a>]) {
    rows.sort_by(|(_, one), (_, other)| other.value.as_f64().total_cmp(&one.value.as_f64()));
    let ordered = rows.len().min(ORDERED_MAX);
    let ordered = &mut rows[..ordered];
    let shown =
        |row: &Row<'a>| look(site, entry, row).seen.shown.map_or(f64::NEG_INFINITY, |shown| shown.value);
    let mut by_shown: Vec<(f64, Row<'a>)> = ordered.iter().map(|row| (shown(row), *row)).collect();
    by_shown.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    for (place, (_, row)) in ordered.iter_mut().zip(by_shown) {
        *place = row;
    }
}

fn look<'a>(site: &Site, entry: &Entry, ((counter, bases), point): &Row<'a>) -> Cell<'a> {
    Cell::look(site, entry, *counter, *point, bases.beside(point))
}

fn table(html: &mut Html, site: &Site, entry: &Entry, rows: &[Row<'_>]) {
    let cells: Vec<Cell<'_>> = rows.iter().map(|row| look(site, entry, row)).collect();
    note(html, cells.iter(), Instant::now());
    html.ours(
        "<table class=\"cards values\" role=\"table\"><caption class=\"unseen\">Instances and their values",
    );
    html.ours("</caption><thead role=\"rowgroup\"><tr role=\"row\">");
    html.ours("<th role=\"columnheader\" scope=\"col\">Instance</th>");
    headings(html, entry);
    html.ours("</tr></thead><tbody role=\"rowgroup\">\n");
    for cell in &cells {
        let instance = instance(&cell.point, entry);
        html.ours("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\">");
        if instance.is_empty() {
            html.ours("(single instance)");
        } else {
            let url = set_url(entry, cell.counter.origin.object).with("instance", &instance);
            html.ours("<a").href(&url).ours(">").name(&instance).ours("</a>");
        }
        html.ours("</th>");
        cell.write(html);
        html.ours("</tr>\n");
    }
    html.ours("</tbody></table>");
}

// The query that computes the value that a page shows: between the two last samples, as the page and Windows do.

/// The PromQL expression for the shown values of a counter on a target; `base` is the divisor.
fn promql_expression(family: &Family, base: Option<&Family>, target: &str) -> Option<String> {
    use DisplayRule as R;
    if family.kind == Kind::Histogram {
        let rate = |suffix| format!("irate({}[5m])", selector(&format!("{}{suffix}", family.name), target));
        return Some(format!("{} / ({} > 0)", rate("_sum"), rate("_count")));
    }
    let selected = |family: &Family| selector(&family.sample_name(), target);
    let (n, b) = (selected(family), base.map(selected));
    let rate = |series: &str| format!("irate({series}[5m])");
    // Where nothing happened Windows has 0, and PromQL divides by zero.
    let share = |factor: &str, n: &str, b: &str| {
        let [n, b] = [n, b].map(rate);
        format!("{factor}{n} / ({b} > 0) or {b} == 0")
    };
    Some(match family.display_rule() {
        R::None | R::Base | R::Value => n,
        R::Percent => format!("100 * {n}"),
        R::Delta if family.kind == Kind::Counter => format!("increase({n}[5m])"),
        R::Delta => format!("delta({n}[5m])"),
        R::Rate | R::QueueLength => rate(&n),
        R::PercentOfTime => format!("100 * {}", rate(&n)),
        R::PercentNotOfTime => format!("100 * clamp_min(1 - {}, 0)", rate(&n)),
        R::PercentOfTimeOfMany => format!("100 * {} / ({} > 0)", rate(&n), b?),
        R::PercentNotOfTimeOfMany => format!("100 * clamp_min({} - {}, 0)", b?, rate(&n)),
        R::PercentOfBase => format!("100 * {n} / ({} > 0)", b?),
        R::PercentOfBaseDelta => share("100 * ", &n, &b?),
        R::Average => share("", &n, &b?),
        R::Elapsed => format!("time() - {n}"),
    })
}

fn selector(name: &str, target: &str) -> String {
    let mut escaped = Vec::new();
    escape_label_value(target, &mut escaped);
    let target = String::from_utf8_lossy(&escaped);
    if is_legacy_name(name) {
        return format!("{name}{{target=\"{target}\"}}");
    }
    let mut quoted = Vec::new();
    escape_label_value(name, &mut quoted);
    format!("{{\"{}\", target=\"{target}\"}}", String::from_utf8_lossy(&quoted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(name: &str, kind: Kind, display: DisplayRule) -> Family {
        Family { name: name.into(), kind, display, ..Family::default() }
    }

    fn check(display: DisplayRule, expected: &str) {
        let base = family("base", Kind::Counter, DisplayRule::Base);
        let found = promql_expression(&family("n", Kind::Counter, display), Some(&base), "web1");
        let expected =
            expected.replace('N', "n_total{target=\"web1\"}").replace('B', "base_total{target=\"web1\"}");
        assert_eq!(found, Some(expected), "{display:?}");
    }

    #[test]
    fn the_query_computes_what_the_page_shows() {
        check(DisplayRule::PercentNotOfTime, "100 * clamp_min(1 - irate(N[5m]), 0)");
        check(DisplayRule::PercentOfTime, "100 * irate(N[5m])");
        check(DisplayRule::Average, "irate(N[5m]) / (irate(B[5m]) > 0) or irate(B[5m]) == 0");
        check(DisplayRule::PercentOfBase, "100 * N / (B > 0)");
        let percent = "100 * irate(N[5m]) / (irate(B[5m]) > 0) or irate(B[5m]) == 0";
        check(DisplayRule::PercentOfBaseDelta, percent);
        check(DisplayRule::PercentOfTimeOfMany, "100 * irate(N[5m]) / (B > 0)");
        check(DisplayRule::PercentNotOfTimeOfMany, "100 * clamp_min(B - irate(N[5m]), 0)");
        check(DisplayRule::None, "irate(N[5m])");
        check(DisplayRule::Elapsed, "time() - N");
        let histogram = family("n", Kind::Histogram, DisplayRule::None);
        let expected = r#"irate(n_sum{target="web1"}[5m]) / (irate(n_count{target="web1"}[5m]) > 0)"#;
        assert_eq!(promql_expression(&histogram, None, "web1").as_deref(), Some(expected));
    }

    #[test]
    fn without_its_base_there_is_no_query_and_names_are_quoted_where_they_must() {
        assert_eq!(promql_expression(&family("n", Kind::Counter, DisplayRule::Average), None, "w"), None);
        let verbatim = family("Web Service.Bytes", Kind::Gauge, DisplayRule::Value);
        assert_eq!(
            promql_expression(&verbatim, None, "a\"b").as_deref(),
            Some(r#"{"Web Service.Bytes", target="a\"b"}"#)
        );
    }
}
