//! `/targets/NAME`: one target.

use std::time::{Duration, Instant};

use http_server::Caller;
use hyper::Response;
use plugin_abi::{GeneralReason, Stage};
use series::model::Family;
use targets::{JobStatus, StageCost, TargetStatus};

use super::amount::{bytes, count, setting, span, took};
use super::catalogue::Taken;
use super::frame::{Frame, Section, crumbs};
use super::html::{Html, Url};
use super::rpc_state::Waiting;
use super::troubles::{changes, state, trouble};
use super::values::{sets, table_of_sets};
use super::{Entry, chart, grid, hidden_from, respond, values_url};
use crate::body::Answer;
use crate::metrics::Site;

/// Countersets on the page; the page of values lists all.
const SETS_MAX: usize = 50;
/// Changes of state on the page.
const CHANGES_SHOWN: usize = 10;

pub(super) async fn page(site: &Site, entry: &Entry, caller: &Caller) -> Response<Answer> {
    let (status, now) = (entry.status(), Instant::now());
    let waiting = Waiting::look(site, entry, &status, now).await;
    let refresh_s = Some((entry.interval.as_secs() / 2).clamp(2, 15));
    let frame = Frame {
        title: &entry.name,
        section: Section::Targets,
        root: "../",
        refresh_s,
        has_files: site.keeps_files(),
    };
    respond(frame.write(|html| {
        html.hide(hidden_from(caller, site));
        crumbs(html, &[("Targets", Url::of(""))]);
        html.ours("<h1>").name(&entry.name).ours("</h1>\n<div id=\"live-state\" data-live>");
        standing(html, entry, &status, now);
        if let Some(waiting) = &waiting {
            waiting.write(html, entry);
        }
        html.ours("</div>\n<p class=\"actions\"><a class=\"button\"").href(&values_url(entry));
        html.ours(">Show values</a></p>\n");
        facts(html, entry);
        let taken = Taken::from(entry);
        html.ours("<div id=\"live-modules\" data-live>");
        clock(html, &taken);
        for (index, (name, job)) in entry.modules.iter().zip(&status.jobs).enumerate() {
            module(html, entry, index, name, job, now);
        }
        html.ours("</div>\n<div id=\"live-grids\" data-live>");
        grid::write(html, site, entry, &taken);
        html.ours("</div>\n<section aria-labelledby=\"sets\"><h2 id=\"sets\">Series</h2>");
        html.ours("<div id=\"live-sets\" data-live>");
        series(html, entry, &taken);
        html.ours("</div></section>\n");
        let all = site.target_registry.changes();
        let mut own = all.iter().filter(|change| change.target == entry.name).peekable();
        if own.peek().is_some() {
            html.ours("<section aria-labelledby=\"changes\"><h2 id=\"changes\">Recent changes</h2>");
            changes(html, own.map(|change| &**change), CHANGES_SHOWN, now);
            html.ours("</section>");
        }
    }))
}

/// Writes the target's state, and what to do about failures.
fn standing(html: &mut Html, entry: &Entry, status: &TargetStatus, now: Instant) {
    html.ours("<p class=\"standing\">");
    state(html, status.health());
    if let Some(since) = status.since {
        html.ours(" <span>for ").text(span(now.duration_since(since))).ours("</span>");
    }
    html.ours(" <span>· ").text(count(status.series() as u64)).ours(" series</span>");
    let running = status.jobs.iter().filter_map(|job| job.running_since).min();
    if let Some(since) = running {
        html.ours(" <span>· collecting for ").text(took(now.duration_since(since))).ours("</span>");
    }
    html.ours("</p>");
    let all = entry.modules.iter().zip(&status.jobs);
    let troubles: Vec<_> =
        all.filter_map(|(module, job)| Some((module, job.down.as_ref().or(job.partial.as_ref())?))).collect();
    for (module, down) in &troubles {
        html.ours("<div class=\"notice\">");
        if entry.modules.len() > 1 {
            html.ours("<p class=\"label\">Module ").name(module).ours("</p>");
        }
        trouble(html, down);
        html.ours("</div>");
    }
}

/// Writes the target's configuration and its operating system.
fn facts(html: &mut Html, entry: &Entry) {
    html.ours("<dl class=\"figures\">");
    let mut fact = |name: &str, text: &str| {
        html.ours("<div><dt>").text(name).ours("</dt><dd>").name(text).ours("</dd></div>");
    };
    fact("Host", &entry.host);
    if let Some(port) = entry.port {
        fact("Port", &port.to_string());
    }
    let system = entry.operating_system();
    if !system.version.is_empty() {
        fact(&titled(&system.name), &system.version);
    }
    fact("Interval", &setting(entry.interval));
    fact("Deadline", &setting(entry.deadline));
    fact("Identity", entry.identity.as_deref().unwrap_or("none"));
    fact("Transport", &entry.transport);
    fact("Series limit", &count(u64::from(entry.max_series)));
    html.ours("</dl>");
    if !entry.labels.is_empty() {
        html.ours("<ul class=\"labels\" aria-label=\"Labels\">");
        for (name, value) in &entry.labels {
            html.ours("<li><code>").name(name).ours("=").name(value).ours("</code></li>");
        }
        html.ours("</ul>\n");
    }
}

/// Says that the host's clock is wrong, where a module of the target knows it: times of what happens there are, too.
fn clock(html: &mut Html, taken: &Taken) {
    let is_skew = |family: &Family| {
        (&*family.namespace, &*family.counterset, &*family.counter) == ("host", "Clock", "Skew")
    };
    let skew_s = taken.counters_of(is_skew).next().and_then(|counter| counter.points().next());
    let skew_s = skew_s.map_or(0.0, |point| point.value.as_f64());
    let Ok(off) = Duration::try_from_secs_f64(skew_s.abs()) else { return };
    if off < CLOCK_OFF_MIN {
        return;
    }
    let side = if skew_s < 0.0 { "behind" } else { "ahead of" };
    html.ours("<p class=\"notice\">The host's clock is ").text(span(off)).ours(" ").ours(side);
    html.ours(" that of this machine, and so are the times of what happens there. Check its time source: ");
    html.ours("<code>w32tm /query /status</code>.</p>\n");
}

/// Below it nothing is said: the next synchronisation mends it.
const CLOCK_OFF_MIN: Duration = Duration::from_secs(60);

/// The title of an operating system: `Windows` for `windows`.
fn titled(system: &str) -> String {
    let mut chars = system.chars();
    chars.next().map_or("System".to_owned(), |first| first.to_uppercase().chain(chars).collect())
}

fn module(html: &mut Html, entry: &Entry, index: usize, name: &str, job: &JobStatus, now: Instant) {
    html.ours("<section aria-labelledby=\"module-").text(index).ours("\"><h2 id=\"module-").text(index);
    html.ours("\">Module ").name(name).ours("</h2><dl class=\"figures\">");
    let mut figure = |name: &'static str, text: String| {
        html.ours("<div><dt>").ours(name).ours("</dt><dd>").text(text).ours("</dd></div>");
    };
    figure(
        "Last collection",
        job.ended.map_or("none yet".to_owned(), |ended| format!("{} ago", span(now.duration_since(ended)))),
    );
    figure("Took", job.last_duration.map_or("–".to_owned(), took));
    figure("Series", count(job.series as u64));
    figure("Complete collections", count(job.full));
    figure("Partial", count(job.part));
    figure("Failed", count(job.failed));
    html.ours("</dl>");
    if job.matches_nothing {
        html.ours(
            "<p class=\"notice\">It matches nothing on the target: compare its names and patterns with what the target offers. ",
        );
        html.ours("The commands that list it are among those of its <a")
            .href(&Url::of("plugins"))
            .ours(">plugin</a>.</p>");
    }
    stages(html, job);
    failures(html, job);
    left_out(html, entry, index);
    html.ours("</section>\n");
}

/// Writes how long each stage of the last collection took.
fn stages(html: &mut Html, job: &JobStatus) {
    let whole: Duration = job.last_stages.iter().map(|cost| cost.duration).sum();
    let whole = whole.max(job.last_duration.unwrap_or_default()).as_secs_f64();
    let is_used = |cost: &StageCost| *cost != StageCost::default();
    if !job.total_stages.iter().any(is_used) || whole <= 0.0 {
        return;
    }
    html.ours(
        "<table class=\"cards stages\" role=\"table\"><caption>Stages of the last collection</caption>",
    );
    html.ours("<thead role=\"rowgroup\"><tr role=\"row\"><th role=\"columnheader\" scope=\"col\">Stage</th>");
    html.ours("<th role=\"columnheader\" scope=\"col\"><span class=\"unseen\">Share</span></th>");
    for name in ["Took", "Calls", "Received", "Sent", "Total time"] {
        html.ours("<th role=\"columnheader\" scope=\"col\" class=\"number\">").ours(name).ours("</th>");
    }
    html.ours("</tr></thead><tbody role=\"rowgroup\">\n");
    let mut begin = 0.0;
    for ((stage, last), total) in Stage::ALL.iter().zip(&job.last_stages).zip(&job.total_stages) {
        if !is_used(total) {
            continue;
        }
        let share = last.duration.as_secs_f64() / whole;
        html.ours("<tr role=\"row\"").ours(if is_used(last) { "" } else { " class=\"idle\"" });
        html.ours("><th role=\"rowheader\" scope=\"row\"><code>").text(stage.as_str());
        html.ours("</code></th><td role=\"cell\" class=\"share\">");
        if is_used(last) {
            chart::bar(html, begin, share);
        }
        html.ours("</td>");
        let skipped = || "–".to_owned();
        let of_last = |text: String| if is_used(last) { text } else { skipped() };
        #[expect(clippy::cast_precision_loss, reason = "it is shown with three digits")]
        let (received, sent) = (bytes(last.bytes_in as f64), bytes(last.bytes_out as f64));
        let cells = [
            ("Took", of_last(took(last.duration))),
            ("Calls", of_last(count(last.calls))),
            ("Received", of_last(received)),
            ("Sent", of_last(sent)),
            ("Total time", took(total.duration)),
        ];
        for (name, text) in cells {
            html.ours("<td role=\"cell\" class=\"number\"")
                .attr("data-label", name)
                .ours(">")
                .text(text)
                .ours("</td>");
        }
        html.ours("</tr>\n");
        begin += share;
    }
    html.ours("</tbody></table>");
}

/// Writes the failures since the start, by reason.
fn failures(html: &mut Html, job: &JobStatus) {
    if job.failures.is_empty() {
        return;
    }
    html.ours("<h3>Failures since the start</h3><ul class=\"counted\">");
    for ((stage, reason), times) in &job.failures {
        html.ours("<li><strong>").text(count(*times)).ours(" ×</strong> <code>").text(reason);
        html.ours("</code> at <code>").text(stage.as_str()).ours("</code>");
        let last = [&job.down, &job.partial].into_iter().flatten().find(|down| down.reason == *reason);
        let general = || GeneralReason::ALL.iter().find(|general| general.as_str() == reason);
        let step =
            last.map(|down| down.next_step.as_str()).or_else(|| general().map(|general| general.next_step()));
        if let Some(step) = step.filter(|step| !step.is_empty()) {
            html.ours("<span class=\"sub\">").prose(step).ours("</span>");
        }
        html.ours("</li>");
    }
    html.ours("</ul>");
}

/// Writes what the plugin sent and the exporter dropped, by reason.
fn left_out(html: &mut Html, entry: &Entry, module: usize) {
    let Some(store) = entry.store(module) else { return };
    let mut refusals = store.refusals().iter().peekable();
    if refusals.peek().is_none() {
        return;
    }
    html.ours("<h3>Left out since the start</h3><ul class=\"counted\">");
    for (refusal, times) in refusals {
        html.ours("<li><strong>").text(count(times)).ours(" ×</strong> <code>").text(refusal.as_str());
        html.ours("</code><span class=\"sub\">").prose(refusal.sentence()).ours(" ");
        html.prose(refusal.next_step()).ours("</span></li>");
    }
    html.ours("</ul>");
}

fn series(html: &mut Html, entry: &Entry, taken: &Taken) {
    let sets = sets(taken);
    if sets.is_empty() {
        html.ours("<p class=\"empty\">No series now.</p>");
        return;
    }
    table_of_sets(html, entry, sets.iter().take(SETS_MAX));
    if sets.len() > SETS_MAX {
        html.ours("<p><a")
            .href(&values_url(entry))
            .ours(">All ")
            .text(sets.len())
            .ours(" countersets</a></p>");
    }
}
