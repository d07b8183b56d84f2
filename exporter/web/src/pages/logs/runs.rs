//! The table of runs with their files, the newest first.

use std::time::{Duration, SystemTime};

use safe_text::text_of;

use super::Wanted;
use crate::files::is_page;
use crate::pages::Paging;
use crate::pages::amount::{bytes, count, moment, span};
use crate::pages::head;
use crate::pages::html::{Html, Url};
use crate::pages::wanted::contains;
use targets::storage::{Run, RunFile};

/// Runs of one page.
const RUNS_SHOWN: usize = 50;
/// Files of a run that are shown among other runs.
const FILES_SHOWN: usize = 20;
/// Files of the one run that is shown.
const FILES_OF_RUN_SHOWN: usize = 200;

/// What readers may do with files.
#[derive(Clone, Copy)]
pub(super) struct Rights<'a> {
    pub(super) downloads: bool,
    /// Whether a target of this name is configured.
    pub(super) is_target: &'a dyn Fn(&str) -> bool,
}

/// The address of one run.
pub(super) fn key_of(run: &Run) -> String {
    format!("{}/{}/{}", run.target, run.set, run.folder)
}

/// Whether the name of target, set, run or a file has the text, which is given in lower case.
pub(super) fn has_text(run: &Run, needle: &str) -> bool {
    let has = |name: &str| contains(&text_of(name), needle) || contains(name, needle);
    needle.is_empty()
        || has(&run.target)
        || has(&run.set)
        || has(&run.folder)
        || run.files.iter().any(|file| file.path.iter().any(|name| contains(name, needle)))
}

/// Writes all that are wanted.
pub(super) fn table(html: &mut Html, runs: &[&Run], wanted: &Wanted, rights: Rights<'_>, now: SystemTime) {
    let paging = Paging::new(wanted.page, runs.len(), RUNS_SHOWN);
    let columns = [("Run", ""), ("Changed", "near"), ("Size", "near"), ("Files", "")];
    head(html, "Runs, the newest first", columns.into_iter());
    for run in &runs[paging.range()] {
        html.ours("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\"><a");
        html.href(&Url::of("logs").with("run", key_of(run))).ours("><strong>");
        title(html, run);
        html.ours("</strong></a><span class=\"sub\">");
        if !run.set.is_empty() {
            html.name(text_of(&run.set)).ours(" · ");
        }
        target(html, run, rights);
        html.ours("</span></th>");
        changed(html, run.modified, now);
        html.ours("<td role=\"cell\" class=\"near\" data-label=\"Size\">")
            .text(bytes(run.bytes as f64))
            .ours("</td>");
        html.ours("<td role=\"cell\" class=\"kept\" data-label=\"Files\"><div>");
        files_of(html, run, rights);
        html.ours("</div></td></tr>\n");
    }
    html.ours("</tbody></table>");
    paging.write(html, &wanted.url());
}

/// Writes one run with all of its files.
pub(super) fn one(html: &mut Html, run: &Run, wanted: &Wanted, rights: Rights<'_>, now: SystemTime) {
    html.ours("<dl class=\"figures\"><div><dt>Target</dt><dd>");
    target(html, run, rights);
    html.ours("</dd></div>");
    if !run.set.is_empty() {
        html.ours("<div><dt>Set</dt><dd>").name(text_of(&run.set)).ours("</dd></div>");
    }
    html.ours("<div><dt>Size</dt><dd>")
        .text(bytes(run.bytes as f64))
        .ours("</dd></div><div><dt>Files</dt><dd>");
    html.text(count(run.files.len() as u64)).ours("</dd></div></dl>");
    if run.files.is_empty() {
        html.ours("<p class=\"empty\">The run has no files yet.</p>");
        return;
    }
    let paging = Paging::new(wanted.page, run.files.len(), FILES_OF_RUN_SHOWN);
    head(html, "Files of the run", [("File", ""), ("Changed", "near"), ("Size", "near")].into_iter());
    for file in &run.files[paging.range()] {
        html.ours("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\">");
        link(html, run, file, rights);
        html.ours("</th>");
        changed(html, file.modified, now);
        html.ours("<td role=\"cell\" class=\"near\" data-label=\"Size\">")
            .text(bytes(file.bytes as f64))
            .ours("</td></tr>\n");
    }
    html.ours("</tbody></table>");
    paging.write(html, &wanted.url());
}

/// The name of a run.
pub(super) fn title(html: &mut Html, run: &Run) {
    if run.set.is_empty() {
        html.ours("Files of the target");
    } else if run.folder.is_empty() {
        html.ours("Files of the set");
    } else {
        html.name(text_of(&run.folder));
    }
}

fn target(html: &mut Html, run: &Run, rights: Rights<'_>) {
    let name = text_of(&run.target);
    if (rights.is_target)(&name) {
        html.ours("<a").href(&Url::of("targets").step(&name)).ours(">").name(&name).ours("</a>");
    } else {
        html.name(&name).ours(" (no target now)");
    }
}

fn changed(html: &mut Html, modified: Option<SystemTime>, now: SystemTime) {
    html.ours("<td role=\"cell\" class=\"near\" data-label=\"Changed\"><div>");
    let since_1970 = modified.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    match (modified, since_1970) {
        (Some(at), Some(since_1970)) => {
            html.text(moment(since_1970.as_secs_f64())).ours("<span class=\"sub\">");
            html.text(ago(now, at)).ours("</span>");
        }
        _ => drop(html.ours("–")),
    }
    html.ours("</div></td>");
}

fn ago(now: SystemTime, then: SystemTime) -> String {
    // Clocks may go back.
    let since = now.duration_since(then).unwrap_or_default();
    if since < Duration::from_secs(1) { "now".to_owned() } else { format!("{} ago", span(since)) }
}

/// The files of one of many runs: reports at once, others after their number.
fn files_of(html: &mut Html, run: &Run, rights: Rights<'_>) {
    let is_report = |file: &&RunFile| file.path.last().is_some_and(|name| is_page(name));
    for file in run.files.iter().filter(is_report).take(FILES_SHOWN) {
        html.ours("<p>");
        link(html, run, file, rights);
        html.ours("</p>");
    }
    let others: Vec<&RunFile> = run.files.iter().filter(|file| !is_report(file)).collect();
    if others.is_empty() {
        if run.files.is_empty() {
            html.ours("<span class=\"when\">none yet</span>");
        }
        return;
    }
    html.ours("<details><summary>").text(count(others.len() as u64));
    html.ours(if others.len() == 1 { " file" } else { " files" }).ours("</summary><ul class=\"files\">");
    for file in others.iter().take(FILES_SHOWN) {
        html.ours("<li>");
        link(html, run, file, rights);
        html.ours(" <span class=\"when\">").text(bytes(file.bytes as f64)).ours("</span></li>");
    }
    if others.len() > FILES_SHOWN {
        html.ours("<li><a")
            .href(&Url::of("logs").with("run", key_of(run)))
            .ours(">All files of the run</a></li>");
    }
    html.ours("</ul></details>");
}

/// The name of a file, which leads to it if readers may have it.
fn link(html: &mut Html, run: &Run, file: &RunFile, rights: Rights<'_>) {
    let name = file.path.join("/");
    if !rights.downloads {
        html.name(name);
        return;
    }
    let above = [&run.target, &run.set, &run.folder].into_iter().filter(|name| !name.is_empty());
    let url = above.chain(&file.path).fold(Url::of("logs").step("files"), |url, name| url.step(name));
    html.ours("<a").href(&url);
    if file.path.last().is_some_and(|name| is_page(name)) {
        html.ours(">Open ").name(name).ours("</a>");
    } else {
        html.ours(" download>").name(name).ours("</a>");
    }
}
