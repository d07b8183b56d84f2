//! `/`: the fleet.

use std::time::{Duration, Instant};

use hyper::Response;

use super::amount::{ago, bytes, count, took};
use super::fleet::{Fleet, Wanted, sign, title};
use super::frame::{Frame, Section};
use super::html::{Html, Url};
use super::troubles::{changes, state, trouble};
use super::{Entry, Paging, Query, respond, target_url};
use crate::config::FileState;
use crate::telemetry::{ProcessUsage, ScrapeOutcome, TargetState, TargetStatus};
use crate::web::body::Answer;
use crate::web::site::Site;

/// Targets on one page.
const ROWS_MAX: usize = 50;
/// Changes of state on the page.
const CHANGES_SHOWN: usize = 12;

pub(super) fn page(site: &Site, query: &Query<'_>) -> Response<Answer> {
    let (entries, wanted, now) = (site.book.targets(), Wanted::of(query), Instant::now());
    let fleet = Fleet::look(&entries, &wanted);
    let paging = Paging::new(query.page(), fleet.wanted.len(), ROWS_MAX);
    let rate = site.desk.pulse.look(now, fleet.collections);
    let frame = Frame { title: "Targets", section: Section::Targets, root: "", refresh_s: Some(5) };
    respond(frame.write(|html| {
        html.ours("<h1>Targets</h1>\n<div id=\"live-summary\" data-live>");
        summary(html, &fleet, &wanted, rate);
        refused(html, &site.book.files());
        html.ours("</div>\n");
        search(html, &wanted);
        html.ours("<div id=\"live-targets\" data-live>");
        targets(html, &entries, &fleet, &wanted, &paging, now);
        html.ours("</div>\n<section aria-labelledby=\"changes\"><h2 id=\"changes\">Last changes</h2>");
        html.ours("<div id=\"live-changes\" data-live>");
        last_changes(html, site, now);
        html.ours(
            "</div></section>\n<section aria-labelledby=\"process\"><h2 id=\"process\">This exporter</h2>",
        );
        html.ours("<div id=\"live-process\" data-live>");
        own_figures(html, site);
        html.ours("</div></section>");
    }))
}

/// How many are how. Each figure is a link to those targets; the text that a screen reader hears of when it changes
/// is made of them, too.
fn summary(html: &mut Html, fleet: &Fleet, wanted: &Wanted, rate: Option<f64>) {
    html.ours("<ul class=\"tiles\">");
    let all: usize = fleet.counts.iter().sum();
    let mut tile = |which: Option<TargetState>, count_of: usize| {
        let (class, title) = which.map_or(("all", "All"), |state| (state.as_str(), title(state)));
        html.ours("<li><a class=\"tile ").ours(class).ours(if count_of == 0 { " none\"" } else { "\"" });
        html.href(&wanted.url(which));
        if wanted.state == which {
            html.ours(" aria-current=\"true\"");
        }
        html.ours("><span class=\"figure\">");
        if let Some(state) = which {
            html.ours("<span class=\"sign\" aria-hidden=\"true\">").ours(sign(state)).ours("</span>");
        }
        html.text(count(count_of as u64))
            .ours("</span> <span class=\"label\">")
            .ours(title)
            .ours("</span></a></li>");
    };
    tile(None, all);
    for state in TargetState::ALL {
        tile(Some(state), fleet.count(state));
    }
    let mut figure = |text: String, label: &'static str| {
        html.ours("<li class=\"tile plain\"><span class=\"figure\">").text(text);
        html.ours("</span> <span class=\"label\">").ours(label).ours("</span></li>");
    };
    figure(count(fleet.series as u64), "Series");
    figure(rate.map_or("…".to_owned(), |rate| format!("{rate:.1}")), "Collections/s");
    html.ours("</ul>");
}

/// That targets of files are not asked, and where it says why.
fn refused(html: &mut Html, files: &[FileState]) {
    let targets: usize = files.iter().map(|file| file.refused).sum();
    let broken = files.iter().filter(|file| !file.is_good).count();
    if targets + broken == 0 {
        return;
    }
    html.ours("<p class=\"trouble\">Of the target files ")
        .text(count(broken as u64))
        .ours(" cannot be read and ");
    html.text(count(targets as u64)).ours(" targets are refused: <a").href(&Url::of("config"));
    html.ours(">what is wrong with them</a></p>");
}

fn search(html: &mut Html, wanted: &Wanted) {
    html.ours("<form class=\"search\" role=\"search\" method=\"get\"").action(&Url::of("")).ours(">");
    html.ours("<label for=\"q\">Search targets</label><input id=\"q\" name=\"q\" type=\"search\" autocomplete=\"off\"");
    html.attr("value", &wanted.text).ours(" placeholder=\"name, host, label or reason\">");
    html.ours("<label for=\"state\">State</label><select id=\"state\" name=\"state\"><option value=\"\">any</option>");
    for state in TargetState::ALL {
        html.ours("<option").attr("value", state.as_str());
        if wanted.state == Some(state) {
            html.ours(" selected");
        }
        html.ours(">").ours(state.as_str()).ours("</option>");
    }
    html.ours("</select><button type=\"submit\">Show</button>");
    if wanted.state.is_some() || !wanted.text.is_empty() {
        html.ours("<a").href(&Url::of("")).ours(">Show all</a>");
    }
    html.ours("</form>\n");
}

fn targets(
    html: &mut Html,
    entries: &[Entry],
    fleet: &Fleet,
    wanted: &Wanted,
    paging: &Paging,
    now: Instant,
) {
    if entries.is_empty() {
        html.ours("<p class=\"empty\">There are no targets. List them under <code>targets:</code> in the configuration.</p>");
        return;
    }
    if fleet.wanted.is_empty() {
        html.ours("<p class=\"empty\">No target is like that.</p>");
        return;
    }
    html.ours("<table class=\"cards\" role=\"table\"><caption class=\"unseen\">Targets, the failing ones first</caption>");
    html.ours("<thead role=\"rowgroup\"><tr role=\"row\">");
    for (name, class) in
        [("Target", ""), ("State", ""), ("Last collection", ""), ("Took", "number"), ("Series", "number")]
    {
        html.ours("<th role=\"columnheader\" scope=\"col\"")
            .attr("class", class)
            .ours(">")
            .ours(name)
            .ours("</th>");
    }
    html.ours("</tr></thead><tbody role=\"rowgroup\">\n");
    for &(state, index) in &fleet.wanted[paging.range()] {
        entries[index].read(|status| row(html, &entries[index], state, status, now));
    }
    html.ours("</tbody></table>");
    paging.write(html, &wanted.url(wanted.state));
}

fn row(html: &mut Html, entry: &Entry, is: TargetState, status: &TargetStatus, now: Instant) {
    html.ours("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\"><a").href(&target_url(entry)).ours(">");
    html.name(&entry.name).ours("</a>");
    if entry.host != entry.name {
        html.ours("<span class=\"sub\">").name(&entry.host).ours("</span>");
    }
    html.ours("</th><td role=\"cell\">");
    state(html, is);
    if let Some(since) = status.since {
        html.ours(" <span class=\"when\">for ").text(ago(now.duration_since(since))).ours("</span>");
    }
    if let Some(down) = status.trouble() {
        trouble(html, down);
    } else if is == TargetState::Partial {
        html.ours("<p class=\"step\">A module matches nothing on the target.</p>");
    }
    html.ours("</td><td role=\"cell\" class=\"near\" data-label=\"Last collection\">");
    match status.jobs.iter().filter_map(|job| job.ended).max() {
        Some(ended) => drop(html.text(ago(now.duration_since(ended))).ours(" ago")),
        None => drop(html.ours("<span class=\"when\">none yet</span>")),
    }
    html.ours("</td><td role=\"cell\" class=\"number\" data-label=\"Took\">");
    let durations = || status.jobs.iter().filter_map(|job| job.last_duration);
    if durations().next().is_some() {
        html.text(took(durations().sum::<Duration>()));
    } else {
        html.ours("–");
    }
    html.ours("</td><td role=\"cell\" class=\"number\" data-label=\"Series\">")
        .text(count(status.series() as u64));
    html.ours("</td></tr>\n");
}

fn last_changes(html: &mut Html, site: &Site, now: Instant) {
    let last = site.book.changes();
    if last.is_empty() {
        html.ours("<p class=\"empty\">Nothing failed since the start.</p>");
    } else {
        changes(html, last.iter().take(CHANGES_SHOWN).map(|change| &**change), now);
    }
}

/// What the process itself costs and does.
fn own_figures(html: &mut Html, site: &Site) {
    let usage = ProcessUsage::read();
    html.ours("<dl class=\"figures\">");
    let mut figure = |name: &'static str, text: String| {
        html.ours("<div><dt>").ours(name).ours("</dt><dd>").text(text).ours("</dd></div>");
    };
    #[expect(clippy::cast_precision_loss, reason = "it is shown with three digits")]
    if let Some(resident) = usage.resident_bytes {
        figure("Memory", bytes(resident as f64));
    }
    if let Some(seconds) = usage.cpu_seconds {
        figure("CPU time", took(Duration::from_secs_f64(seconds)));
    }
    figure("Scrapes", count(site.scrapes.of(ScrapeOutcome::Complete)));
    let refused = site.scrapes.of(ScrapeOutcome::Rejected) + site.scrapes.of(ScrapeOutcome::Aborted);
    figure("Scrapes refused or left", count(refused));
    for push in site.desk.pushes.get() {
        figure("Points pushed", format!("{} to {}", count(push.accepted()), push.name()));
    }
    html.ours("</dl>");
}
