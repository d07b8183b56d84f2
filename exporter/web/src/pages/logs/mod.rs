//! `/logs`: the sets that log counters of targets, and the runs and files that are kept of them. `?q=` searches the runs,
//! `?page=` turns, `?run=` shows one of them.

mod runs;
mod series;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hyper::{Response, StatusCode};
use targets::storage::{FILES_MAX, FOLDERS_MAX, Run, Tree};

use self::runs::{Rights, has_text, key_of};
use self::series::{SETS_MAX, Set, sets};
use super::amount::{bytes, count, moment, number, span};
use super::frame::{Frame, Section, crumbs};
use super::html::{Html, Query, Url};
use super::{cell, head, respond, section, tile};
use crate::body::Answer;
use crate::metrics::Site;
use crate::page_state::NoFiles;

const REFRESH_S: u64 = 10;

/// What a reader asked to see.
struct Wanted {
    text: String,
    run: String,
    page: usize,
}

impl Wanted {
    fn url(&self) -> Url {
        Url::of("logs").with("q", &self.text).with("run", &self.run)
    }
}

pub(super) async fn page(site: &Site, query: &Query<'_>) -> Response<Answer> {
    let wanted = Wanted { text: query.get("q").trim().to_owned(), run: query.get("run"), page: query.page() };
    let found = site.page_state.files.look().await;
    let targets = site.target_registry.targets();
    let downloads = site.page_state.files.kept().is_some_and(|kept| kept.downloads);
    let is_target = |name: &str| targets.iter().any(|target| target.name == name);
    let rights = Rights { downloads, is_target: &is_target };
    let now = SystemTime::now();
    if !wanted.run.is_empty() {
        return one_run(site, &found, &wanted, rights, now);
    }
    let sets = sets(&targets);
    let frame = Frame {
        title: "Counter logs",
        section: Section::Logs,
        root: "",
        refresh_s: Some(REFRESH_S),
        has_files: site.keeps_files(),
    };
    respond(frame.write(|html| {
        html.ours("<h1>Counter logs</h1>\n<div id=\"live-sets\" data-live>");
        if !sets.is_empty() || found.is_ok() {
            summary(html, &sets, found.as_deref().ok());
        }
        sets_table(html, &sets, now);
        html.ours("</div>\n");
        match &found {
            Ok(tree) => all_runs(html, tree, &wanted, rights, now),
            Err(why) => no_files(html, why),
        }
    }))
}

fn summary(html: &mut Html, sets: &[Set], tree: Option<&Tree>) {
    let sum = |figure: fn(&Set) -> Option<f64>| sets.iter().filter_map(figure).sum::<f64>();
    let figure = |value: f64| super::amount::number(value);
    html.ours("<ul class=\"tiles\">");
    let failing = sets.iter().filter(|set| set.is_failing).count();
    if failing > 0 {
        tile(html, "down", "✕", &count(failing as u64), "Sets failing");
    }
    let running = sets.iter().filter(|set| set.status == "running" && !set.is_failing).count();
    let (class, sign) = if running > 0 { ("up", "✓") } else { ("plain", "") };
    tile(html, class, sign, &count(running as u64), "Sets running");
    let failures = sum(|set| set.failures);
    // What failed is tried again; a gap stays.
    let (class, sign) = if failures > 0.0 { ("partial", "◐") } else { ("plain", "") };
    tile(html, class, sign, &figure(failures), "Failures");
    let gaps = sum(|set| set.gaps);
    let (class, sign) = if gaps > 0.0 { ("down", "✕") } else { ("plain", "") };
    tile(html, class, sign, &figure(gaps), "Gaps");
    tile(html, "plain", "", &figure(sum(|set| set.waiting)), "Records waiting");
    if let Some(tree) = tree {
        tile(html, "plain", "", &count(tree.files as u64), "Files");
        tile(html, "plain", "", &bytes(tree.bytes as f64), "On disk");
    }
    html.ours("</ul>");
}

fn all_runs(html: &mut Html, tree: &Tree, wanted: &Wanted, rights: Rights<'_>, now: SystemTime) {
    section(html, "Runs", tree.runs.len(), |html| {
        notes(html, tree, rights);
        if tree.runs.is_empty() {
            html.ours("<p class=\"empty\">There are no files yet. They come when a set has started; the table above says when ");
            html.ours("that is.</p>");
            return;
        }
        search(html, wanted);
        let needle = wanted.text.to_lowercase();
        let runs: Vec<&Run> = tree.runs.iter().filter(|run| has_text(run, &needle)).collect();
        if runs.is_empty() {
            html.ours("<p class=\"empty\">No run matches.</p>");
        } else {
            runs::table(html, &runs, wanted, rights, now);
        }
    });
}

fn notes(html: &mut Html, tree: &Tree, rights: Rights<'_>) {
    if !rights.downloads && tree.files > 0 {
        html.ours("<p class=\"note\">Files are listed only. With <code>storage: {downloads: true}</code> in the configuration ");
        html.ours("readers of this page may also have them.</p>");
    }
    if tree.is_cut {
        html.ours("<p class=\"notice\">There is more than this page reads: at most ")
            .text(count(FOLDERS_MAX as u64));
        html.ours(" directories and ").text(count(FILES_MAX as u64));
        html.ours(
            " files, not too deep. Let the sets remove old runs, by their limits or with folder actions.</p>",
        );
    }
    if tree.unreadable > 0 {
        html.ours("<p class=\"notice\">").text(count(tree.unreadable as u64));
        html.ours(" directories cannot be read by the exporter. Check their owner and mode.</p>");
    }
}

fn search(html: &mut Html, wanted: &Wanted) {
    html.ours("<form class=\"search\" role=\"search\" method=\"get\"").action(&Url::of("logs"));
    html.ours("><label for=\"q\">Search runs</label><input id=\"q\" name=\"q\" type=\"search\" autocomplete=\"off\"");
    html.attr("value", &wanted.text).ours(" placeholder=\"target, set, run or file\">");
    html.ours("<button type=\"submit\">Show</button>");
    if !wanted.text.is_empty() {
        html.ours("<a").href(&Url::of("logs")).ours(">Show all</a>");
    }
    html.ours("</form>\n");
}

/// Why there are no files, and what to do.
fn no_files(html: &mut Html, why: &NoFiles) {
    section(html, "Runs", 0, |html| match why {
        NoFiles::NotKept => {
            html.ours("<p class=\"empty\">No files are kept. Set <code>storage: {directory: /var/lib/perfmon-exporter/files}</code> ");
            html.ours("in the configuration, so that sets can log counters to files.</p>");
        }
        NoFiles::Unreadable(error) => {
            html.ours("<p class=\"notice\">The directory for files cannot be read: ").name(error);
            html.ours(". Check that <code>storage.directory</code> is there, and that the exporter may read it.</p>");
        }
        NoFiles::TooLong => {
            html.ours("<p class=\"notice\">The directory for files did not answer in time. The disk or the network file system ");
            html.ours("may hang; reload the page to try again.</p>");
        }
    });
}

fn one_run(
    site: &Site,
    found: &Result<Arc<Tree>, NoFiles>,
    wanted: &Wanted,
    rights: Rights<'_>,
    now: SystemTime,
) -> Response<Answer> {
    let run = found.as_ref().ok().and_then(|tree| tree.runs.iter().find(|run| key_of(run) == wanted.run));
    let is_there = run.is_some();
    let frame = Frame {
        title: "Run of a set",
        section: Section::Logs,
        root: "",
        refresh_s: None,
        has_files: site.keeps_files(),
    };
    let html = frame.write(|html| {
        crumbs(html, &[("Counter logs", Url::of("logs"))]);
        match (run, found) {
            (Some(run), Ok(tree)) => {
                html.ours("<h1>");
                runs::title(html, run);
                html.ours("</h1>");
                notes(html, tree, rights);
                runs::one(html, run, wanted, rights, now);
            }
            (_, Err(why)) => {
                html.ours("<h1>Run of a set</h1>");
                no_files(html, why);
            }
            (None, Ok(_)) => {
                html.ours("<h1>No such run</h1><p class=\"empty\">It may have been removed since the page was shown.</p>");
            }
        }
    });
    let mut response = respond(html);
    if !is_there {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response
}

/// Writes the table, or what to do to have one.
fn sets_table(html: &mut Html, sets: &[Set], now: SystemTime) {
    section(html, "Sets", sets.len(), |html| {
        if sets.is_empty() {
            html.ours("<p class=\"empty\">No set logs counters. Add <code>counters</code> to a set of a module with the plugin ");
            html.ours("<code>pla</code>, and the module to targets.</p>");
            return;
        }
        let columns = [
            ("Set", ""),
            ("Status", "near"),
            ("Serial", "near"),
            ("Next start", ""),
            ("Records", "near"),
            ("Written", "near"),
            ("Waiting", "near"),
            ("Gaps", "near"),
            ("Failures", "near"),
        ];
        head(html, "Sets that log counters", columns.into_iter());
        sets.iter().take(SETS_MAX).for_each(|set| set_row(html, set, now));
        html.ours("</tbody></table>");
        if let Some(more @ 1..) = sets.len().checked_sub(SETS_MAX) {
            html.ours("<p class=\"note\">").text(count(more as u64)).ours(" more sets are not shown.</p>");
        }
    });
}

fn set_row(html: &mut Html, set: &Set, now: SystemTime) {
    html.ours("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\"><strong>").name(&set.name);
    html.ours("</strong><span class=\"sub\"><a").href(&Url::of("targets").step(&set.target)).ours(">");
    html.name(&set.target).ours("</a> · ").name(&set.module).ours("</span></th>");
    html.ours("<td role=\"cell\" class=\"near\" data-label=\"Status\"><div>");
    if set.is_failing {
        set_status(html, "failing");
        html.ours("<span class=\"sub\">records are not written: the log of the exporter says why</span>");
    } else {
        set_status(html, &set.status);
    }
    html.ours("</div></td>");
    cell(html, "Serial", figure(set.serial_number));
    html.ours("<td role=\"cell\" data-label=\"Next start\"><div>");
    match set.next_start {
        Some(at) => {
            html.text(moment(at));
            if let Some(left) = time_left(at, now) {
                html.ours("<span class=\"sub\">in ").text(span(left)).ours("</span>");
            }
        }
        None => drop(html.ours("–")),
    }
    html.ours("</div></td>");
    cell(html, "Records", figure(set.records));
    cell(html, "Written", set.bytes.map_or("–".to_owned(), bytes));
    cell(html, "Waiting", figure(set.waiting));
    cell(html, "Gaps", figure(set.gaps));
    cell(html, "Failures", figure(set.failures));
    html.ours("</tr>\n");
}

fn set_status(html: &mut Html, status: &str) {
    let (class, sign) = match status {
        "running" => ("up", "✓"),
        "" => {
            html.ours("–");
            return;
        }
        "failed" | "failing" => ("down", "✕"),
        _ => ("waiting", "○"),
    };
    html.ours("<span class=\"state ").ours(class).ours("\"><span aria-hidden=\"true\">").ours(sign);
    html.ours("</span> ").text(status.replace('_', " ")).ours("</span>");
}

fn figure(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), number)
}

fn time_left(at: f64, now: SystemTime) -> Option<Duration> {
    let at = SystemTime::UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(at).ok()?)?;
    at.duration_since(now).ok()
}
