//! `/`: the fleet.

use std::time::{Duration, Instant};

use config::target_files::FileState;
use http_server::Caller;
use hyper::Response;
use plugin_abi::Stage;
use support::telemetry::ProcessUsage;
use targets::{Down, JobStatus, TargetHealth, TargetStatus};

use super::amount::{bytes, count, span, took};
use super::frame::{Frame, Section};
use super::html::{Html, Url};
use super::troubles::{NAMES_SHOWN, changes, failure, reason, state, step, trouble};
use super::wanted::{Cause, Wanted};
use super::{Entry, Paging, Query, hidden_from, respond, sign, target_url, title};
use crate::ScrapeOutcome;
use crate::body::Answer;
use crate::metrics::Site;

/// Targets on one page.
const ROWS_MAX: usize = 50;
/// Changes of state on the page.
const CHANGES_SHOWN: usize = 12;

pub(super) fn page(site: &Site, query: &Query<'_>, caller: &Caller) -> Response<Answer> {
    let (entries, wanted, now) = (site.target_registry.targets(), Wanted::of(query), Instant::now());
    let fleet = Fleet::look(&entries, &wanted);
    let paging = Paging::new(query.page(), fleet.wanted.len(), ROWS_MAX);
    let rate = site.page_state.pulse.look(now, fleet.collections);
    let frame = Frame {
        title: "Targets",
        section: Section::Targets,
        root: "",
        refresh_s: Some(5),
        has_files: site.keeps_files(),
    };
    respond(frame.write(|html| {
        html.hide(hidden_from(caller, site));
        html.ours("<h1>Targets</h1>\n<div id=\"live-summary\" data-live>");
        summary(html, &fleet, &wanted, rate);
        refused(html, &site.target_registry.files());
        fleet.groups.write(html, &entries, &wanted);
        html.ours("</div>\n");
        search(html, &wanted);
        html.ours("<div id=\"live-targets\" data-live>");
        targets(html, &entries, &fleet, &wanted, &paging, now);
        html.ours("</div>\n<section aria-labelledby=\"changes\"><h2 id=\"changes\">Recent changes</h2>");
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

/// The number of targets in each state, as links to those targets.
fn summary(html: &mut Html, fleet: &Fleet, wanted: &Wanted, rate: Option<f64>) {
    html.ours("<ul class=\"tiles\">");
    let all: usize = fleet.counts.iter().sum();
    let mut tile = |which: Option<TargetHealth>, count_of: usize| {
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
    for state in TargetHealth::ALL {
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

/// Writes that targets of files are refused, with a link to the reasons.
fn refused(html: &mut Html, files: &[FileState]) {
    let targets: usize = files.iter().map(|file| file.refused).sum();
    let broken = files.iter().filter(|file| !file.is_good).count();
    if targets + broken == 0 {
        return;
    }
    html.ours("<p class=\"trouble\">Target files: ").text(count(broken as u64)).ours(" cannot be read, ");
    html.text(count(targets as u64)).ours(" targets are refused: <a").href(&Url::of("config"));
    html.ours(">show the reasons</a></p>");
}

fn search(html: &mut Html, wanted: &Wanted) {
    html.ours("<form class=\"search\" role=\"search\" method=\"get\"").action(&Url::of("")).ours(">");
    html.ours("<label for=\"q\">Search targets</label><input id=\"q\" name=\"q\" type=\"search\" autocomplete=\"off\"");
    html.attr("value", &wanted.text).ours(" placeholder=\"name, host, label or reason\">");
    html.ours("<label for=\"state\">State</label><select id=\"state\" name=\"state\"><option value=\"\">any</option>");
    for state in TargetHealth::ALL {
        html.ours("<option").attr("value", state.as_str());
        if wanted.state == Some(state) {
            html.ours(" selected");
        }
        html.ours(">").ours(state.as_str()).ours("</option>");
    }
    html.ours("</select>");
    if let Some(Cause { stage, reason }) = &wanted.cause {
        html.ours("<input type=\"hidden\" name=\"stage\"").attr("value", stage);
        html.ours("><input type=\"hidden\" name=\"reason\"").attr("value", reason).ours(">");
    }
    html.ours("<button type=\"submit\">Show</button>");
    if let Some(Cause { stage, reason }) = &wanted.cause {
        html.ours("<span class=\"when\">only <code>").text(reason).ours("</code> at <code>");
        html.text(stage).ours("</code></span>");
    }
    if !wanted.is_all() {
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
        html.ours("<p class=\"empty\">No target matches.</p>");
        return;
    }
    let shown = &fleet.wanted[paging.range()];
    let has_problems =
        shown.iter().any(|&(_, index)| entries[index].read(|status| problem(status).is_some()));
    html.ours("<table class=\"cards targets\" role=\"table\"><caption class=\"unseen\">Targets, the failing ones first</caption>");
    html.ours("<thead role=\"rowgroup\"><tr role=\"row\">");
    for (name, class) in [
        ("Target", ""),
        ("State", "near"),
        ("Problem", ""),
        ("Last collection", "near"),
        ("Took", "number"),
        ("Series", "number"),
    ] {
        if has_problems || name != "Problem" {
            html.ours("<th role=\"columnheader\" scope=\"col\"").attr("class", class);
            html.ours(">").ours(name).ours("</th>");
        }
    }
    html.ours("</tr></thead><tbody role=\"rowgroup\">\n");
    for &(state, index) in shown {
        let row = Row { entry: &entries[index], state, has_problems, now };
        entries[index].read(|status| row.write(html, status, &fleet.groups));
    }
    html.ours("</tbody></table>");
    paging.write(html, &wanted.url(wanted.state));
}

/// What is wrong with a target.
enum Problem<'a> {
    Failure(&'a Down),
    MatchesNothing,
}

fn problem(status: &TargetStatus) -> Option<Problem<'_>> {
    let matches_nothing = || status.health() == TargetHealth::Partial;
    status.trouble().map(Problem::Failure).or_else(|| matches_nothing().then_some(Problem::MatchesNothing))
}

/// One target of the table.
struct Row<'a> {
    entry: &'a Entry,
    state: TargetHealth,
    /// Whether the table has a column for problems.
    has_problems: bool,
    now: Instant,
}

impl Row<'_> {
    fn write(&self, html: &mut Html, status: &TargetStatus, groups: &Groups) {
        let Self { entry, now, .. } = self;
        html.ours("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\"><div class=\"names\"><a");
        html.href(&target_url(entry)).ours(">").name(&entry.name).ours("</a>");
        if entry.host != entry.name {
            html.ours("<span class=\"sub\">").name(&entry.host).ours("</span>");
        }
        html.ours("</div></th><td role=\"cell\" class=\"near\">");
        state(html, self.state);
        if let Some(since) = status.since {
            html.ours(" <span class=\"sub\">for ").text(span(now.duration_since(since))).ours("</span>");
        }
        html.ours("</td>");
        if self.has_problems {
            self.write_problem(html, status, groups);
        }
        html.ours("<td role=\"cell\" class=\"near\" data-label=\"Last collection\">");
        match status.jobs.iter().filter_map(|job| job.ended).max() {
            Some(ended) => drop(html.text(span(now.duration_since(ended))).ours(" ago")),
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

    fn write_problem(&self, html: &mut Html, status: &TargetStatus, groups: &Groups) {
        let problem = problem(status);
        html.ours("<td role=\"cell\" class=\"problem").ours(if problem.is_none() {
            " none\">"
        } else {
            "\">"
        });
        match problem {
            // The next step is shown once, above the table.
            Some(Problem::Failure(down)) if groups.has(self.state, down) => failure(html, down),
            Some(Problem::Failure(down)) => trouble(html, down),
            Some(Problem::MatchesNothing) => {
                html.ours("<p class=\"step\">A module matches nothing on the target.</p>");
            }
            None => {}
        }
        html.ours("</td>");
    }
}

fn last_changes(html: &mut Html, site: &Site, now: Instant) {
    let last = site.target_registry.changes();
    if last.is_empty() {
        html.ours("<p class=\"empty\">No failures since the start.</p>");
    } else {
        changes(html, last.iter().map(|change| &**change), CHANGES_SHOWN, now);
    }
}

/// The process' own resource usage and activity.
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
    figure("Scrapes refused or aborted", count(refused));
    for push in site.page_state.pushes.get() {
        figure("Points pushed", format!("{} to {}", count(push.accepted()), push.name()));
    }
    html.ours("</dl>");
}

/// The counts of the whole fleet, and the targets that a reader asked for.
pub(super) struct Fleet {
    /// Targets by state, in the order of [`TargetHealth::ALL`].
    pub(super) counts: [usize; TargetHealth::ALL.len()],
    pub(super) series: usize,
    pub(super) collections: u64,
    /// Indexes of the requested targets: the failing ones first, then in the order of the configuration.
    pub(super) wanted: Vec<(TargetHealth, usize)>,
    /// The failures of these targets, grouped.
    pub(super) groups: Groups,
}

impl Fleet {
    pub(super) fn look(entries: &[Entry], wanted: &Wanted) -> Self {
        let mut fleet = Self {
            counts: [0; TargetHealth::ALL.len()],
            series: 0,
            collections: 0,
            wanted: Vec::new(),
            groups: Groups::default(),
        };
        let needle = wanted.text.to_lowercase();
        for (index, entry) in entries.iter().enumerate() {
            entry.read(|status| {
                let state = status.health();
                fleet.counts[state as usize] += 1;
                fleet.series += status.series();
                fleet.collections += status.jobs.iter().map(JobStatus::collections).sum::<u64>();
                let is_wanted = wanted.state.is_none_or(|wanted| wanted == state);
                if is_wanted && wanted.has_cause(status) && wanted.has_text(&needle, entry, status) {
                    fleet.wanted.push((state, index));
                    if let Some(down) = status.trouble() {
                        fleet.groups.enter(state, down, index);
                    }
                }
            });
        }
        fleet.wanted.sort_unstable();
        fleet
    }

    pub(super) fn count(&self, state: TargetHealth) -> usize {
        self.counts[state as usize]
    }
}

// Failures that many targets have in common.

/// From this number on, targets that fail for the same reason are shown as one group.
const TARGETS_MIN: usize = 3;

/// Targets that are down or partial for the same reason.
pub(super) struct Group {
    /// The failure of the first target.
    down: Down,
    state: TargetHealth,
    targets: usize,
    /// Indexes of the first targets.
    first: Vec<usize>,
}

/// Failures by state, stage and reason.
#[derive(Default)]
pub(super) struct Groups(Vec<Group>);

impl Groups {
    /// Adds a failing target.
    pub(super) fn enter(&mut self, state: TargetHealth, down: &Down, index: usize) {
        let is_like = |group: &Group| group.state == state && is_same(&group.down, down.stage, &down.reason);
        let place = self.0.iter().position(is_like).unwrap_or_else(|| {
            self.0.push(Group { down: down.clone(), state, targets: 0, first: Vec::new() });
            self.0.len() - 1
        });
        let group = &mut self.0[place];
        group.targets += 1;
        if group.first.len() < NAMES_SHOWN {
            group.first.push(index);
        }
    }

    /// Whether a group shows the next step for this failure, so that the row can omit it.
    pub(super) fn has(&self, state: TargetHealth, down: &Down) -> bool {
        self.shown().any(|group| group.state == state && is_same(&group.down, down.stage, &down.reason))
    }

    fn shown(&self) -> impl Iterator<Item = &Group> {
        self.0.iter().filter(|group| group.targets >= TARGETS_MIN)
    }

    /// The groups, the largest first.
    pub(super) fn write(&self, html: &mut Html, entries: &[Entry], wanted: &Wanted) {
        let mut shown: Vec<&Group> = self.shown().collect();
        if shown.is_empty() {
            return;
        }
        shown.sort_by_key(|group| std::cmp::Reverse(group.targets));
        html.ours("<ul class=\"groups\" aria-label=\"Failures of several targets\">");
        for group in shown {
            html.ours("<li class=\"notice\"><p><strong>").text(count(group.targets as u64));
            html.ours(" targets ").ours(group.state.as_str()).ours("</strong>: ");
            reason(html, &group.down);
            html.ours("</p>");
            step(html, &group.down);
            html.ours("<p class=\"step\">");
            for (place, &index) in group.first.iter().enumerate() {
                html.ours(if place > 0 { ", <a" } else { "<a" }).href(&target_url(&entries[index]));
                html.ours(">").name(&entries[index].name).ours("</a>");
            }
            let more = group.targets - group.first.len();
            if more > 0 {
                html.ours(" and ").text(count(more as u64)).ours(" more");
            }
            if wanted.cause.is_none() {
                html.ours(" · <a").href(&wanted.url_of(group.state, &group.down)).ours(">Show these ");
                html.text(count(group.targets as u64)).ours(" targets</a>");
            }
            html.ours("</p></li>\n");
        }
        html.ours("</ul>");
    }
}

fn is_same(down: &Down, stage: Stage, reason: &str) -> bool {
    down.stage == stage && down.reason == reason
}
