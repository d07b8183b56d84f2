//! The status pages: HTML written by this module. There is no build step, and every page works without its script.
//!
//! * `/` — the targets, failing ones first, with what to do about them. `?q=` searches, `?state=` filters, `?page=`
//!   turns.
//! * `/targets/NAME` — one target: stages and their times, failures, what was left out, what sources say of its
//!   applications and such, series by counterset.
//! * `/targets/NAME/values` — its countersets, counters and current values, each with a small chart.
//! * `/alerts` — open alerts, all that are watched, those that closed lately, and the receivers. `?q=` searches,
//!   `?state=` filters, `?page=` and `?watched=` turn.
//! * `/logs` — where files of targets are kept: what logs, and the runs with their files. `?q=` searches, `?page=` turns,
//!   `?run=` shows one run.
//! * `/plugins` — what is loaded.
//! * `/rpc-state` — calls in flight, connections and threads, of this process and others; one cell in full below it.
//! * `/config` — the configuration in use without its secrets.
//!
//! One file a page. [`html::Html`] escapes foreign text, so that it cannot become markup; [`html::Url`] encodes it,
//! so that it cannot change a link. All links are relative, so the pages work below any path. [`POLICY`] forbids
//! browsers everything else. The rows of a page are limited, with links to further pages, so its size does not grow
//! with the fleet.

mod alerts;
mod amount;
mod assets;
mod catalogue;
mod cells;
mod chart;
mod config;
mod counters;
mod frame;
mod grid;
mod html;
mod instances;
mod logs;
mod overview;
mod plugins;
mod rpc_state;
mod target;
mod troubles;
mod values;
mod wanted;

use std::sync::Arc;

use ::config::PasswordFiles;
use http_server::{Caller, typed};
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY};
use hyper::{Request, Response, StatusCode};
use targets::{TargetHealth, TargetState};

use self::assets::Asset;
use self::catalogue::Counter;
use self::frame::{Frame, Section};
use self::html::{Html, Query, Url, decode};
use super::body::Answer;
use super::metrics::Site;
use crate::pages::amount::count;

/// A status page, or an asset of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    Overview,
    Target,
    Values,
    Plugins,
    Alerts,
    Logs,
    RpcState,
    RpcCell,
    Config,
    Asset(Asset),
}

impl Page {
    pub(super) fn is_asset(self) -> bool {
        matches!(self, Self::Asset(_))
    }

    pub(super) fn of(path: &str) -> Option<Self> {
        match path {
            "/" => Some(Self::Overview),
            "/plugins" => Some(Self::Plugins),
            "/alerts" => Some(Self::Alerts),
            "/logs" => Some(Self::Logs),
            "/rpc-state" => Some(Self::RpcState),
            "/rpc-state/cell" => Some(Self::RpcCell),
            "/config" => Some(Self::Config),
            _ => {
                let Some(target) = path.strip_prefix("/targets/") else {
                    return Asset::of(path).map(Self::Asset);
                };
                match target.split_once('/') {
                    None if !target.is_empty() => Some(Self::Target),
                    Some((name, "values")) if !name.is_empty() => Some(Self::Values),
                    _ => None,
                }
            }
        }
    }
}

/// Answers with a page.
pub(super) async fn answer<B>(
    site: &Site,
    page: Page,
    request: &Request<B>,
    caller: &Caller,
) -> Response<Answer> {
    let query = Query::of(request.uri());
    match page {
        Page::Overview => overview::page(site, &query, caller),
        Page::Target | Page::Values => {
            let name = target_name(request.uri().path());
            let entries = site.target_registry.targets();
            match (entries.iter().find(|entry| entry.name == name), page) {
                (None, _) => no_target(site, page, &name),
                (Some(entry), Page::Values) => values::page(site, entry, &query),
                (Some(entry), _) => target::page(site, entry, caller).await,
            }
        }
        Page::Plugins => plugins::page(site),
        Page::Alerts => alerts::page(site, &query),
        Page::Logs => logs::page(site, &query).await,
        Page::RpcState => rpc_state::page(site, &query).await,
        Page::RpcCell => rpc_state::cell_page(site, &query).await,
        Page::Config => config::page(site, &query, caller),
        Page::Asset(asset) => asset.answer(request),
    }
}

/// The paths that are hidden from the caller.
fn hidden_from(caller: &Caller, site: &Site) -> PasswordFiles {
    if caller.is_authenticated { PasswordFiles::default() } else { site.target_registry.password_files() }
}

/// The name in `/targets/NAME` and below.
fn target_name(path: &str) -> String {
    let rest = path.strip_prefix("/targets/").unwrap_or_default();
    decode(rest.split('/').next().unwrap_or_default())
}

/// A target's own page.
fn target_url(entry: &TargetState) -> Url {
    Url::of("targets").step(&entry.name)
}

/// The browser of a target's values.
fn values_url(entry: &TargetState) -> Url {
    target_url(entry).step("values")
}

fn no_target(site: &Site, page: Page, name: &str) -> Response<Answer> {
    let root = if page == Page::Values { "../../" } else { "../" };
    let frame = Frame {
        title: "No such target",
        section: Section::Targets,
        root,
        refresh_s: None,
        has_files: site.keeps_files(),
    };
    let html = frame.write(|html| {
        html.ours("<h1>No such target</h1><p>There is no target ").name(name);
        html.ours(". It may have been removed from the configuration or from its target file.</p><p><a")
            .href(&Url::of(""));
        html.ours(">All targets</a></p>");
    });
    let mut response = respond(html);
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn respond(html: Html) -> Response<Answer> {
    let mut response = typed("text/html; charset=utf-8", html.finish());
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// What a browser may do with a page: load our style, script and icon, fetch pages from us, and submit a search to
/// us.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Rows of a page, and the links to the others.
struct Paging {
    /// The parameter that has the page's number, and what the links are called.
    parameter: (&'static str, &'static str),
    page: usize,
    pages: usize,
    rows: usize,
    rows_max: usize,
}

impl Paging {
    /// Page `page` of `rows`, `rows_max` on each; the last page if `page` is beyond it.
    fn new(page: usize, rows: usize, rows_max: usize) -> Self {
        let pages = rows.div_ceil(rows_max).max(1);
        Self { parameter: ("page", "More rows"), page: page.min(pages), pages, rows, rows_max }
    }

    /// The same for a second table, whose number of the page has a parameter of its own.
    fn of_parameter(self, name: &'static str, label: &'static str) -> Self {
        Self { parameter: (name, label), ..self }
    }

    fn range(&self) -> std::ops::Range<usize> {
        let begin = (self.page - 1) * self.rows_max;
        begin..(begin + self.rows_max).min(self.rows)
    }

    /// Writes links to other pages, if there are any. `url` is this page without its number.
    fn write(&self, html: &mut Html, url: &Url) {
        if self.pages < 2 {
            return;
        }
        let range = self.range();
        let (parameter, label) = self.parameter;
        html.ours("<nav class=\"paging\"").attr("aria-label", label).ours("><span>");
        html.text(range.start + 1).ours("–");
        html.text(range.end).ours(" of ").text(amount::count(self.rows as u64)).ours("</span>");
        let mut link = |page: usize, is_there: bool, text: &'static str| {
            if is_there {
                html.ours("<a").href(&url.clone().with(parameter, page)).ours(">").ours(text).ours("</a>");
            }
        };
        link(1, self.page > 2, "First");
        link(self.page - 1, self.page > 1, "Previous");
        link(self.page + 1, self.page < self.pages, "Next");
        html.ours("</nav>");
    }
}

/// A target's state as the registry has it.
type Entry = Arc<TargetState>;

/// A sign that is shown before the state's name. Each state has another shape.
const fn sign(state: TargetHealth) -> &'static str {
    match state {
        TargetHealth::Down => "✕",
        TargetHealth::Partial => "◐",
        TargetHealth::Waiting => "○",
        TargetHealth::Up => "✓",
    }
}

/// The title of a state's count.
const fn title(state: TargetHealth) -> &'static str {
    match state {
        TargetHealth::Down => "Down",
        TargetHealth::Partial => "Partial",
        TargetHealth::Waiting => "Waiting",
        TargetHealth::Up => "Up",
    }
}

/// A figure with its name. `class` is that of a state, or `plain`.
fn tile(html: &mut Html, class: &'static str, sign: &'static str, figure: &str, label: &'static str) {
    html.ours("<li class=\"tile ").ours(class).ours("\"><span class=\"figure\">");
    if !sign.is_empty() {
        html.ours("<span class=\"sign\" aria-hidden=\"true\">").ours(sign).ours("</span>");
    }
    html.text(figure).ours("</span> <span class=\"label\">").ours(label).ours("</span></li>");
}

/// A part of a page with its heading, and how many rows it has.
fn section(html: &mut Html, title: &'static str, rows: usize, write: impl FnOnce(&mut Html)) {
    html.ours("<section").attr("aria-label", title).ours("><h2>").ours(title);
    if rows > 0 {
        html.ours(" <span class=\"of\">").text(count(rows as u64)).ours("</span>");
    }
    html.ours("</h2>");
    write(html);
    html.ours("</section>\n");
}

/// Begins a table whose rows become cards on a phone. Of each column the name and the class.
fn head(html: &mut Html, caption: &'static str, columns: impl Iterator<Item = (&'static str, &'static str)>) {
    html.ours("<table class=\"cards state-rows\" role=\"table\"><caption class=\"unseen\">").ours(caption);
    html.ours("</caption><thead role=\"rowgroup\"><tr role=\"row\">");
    for (name, class) in columns {
        html.ours("<th role=\"columnheader\" scope=\"col\"").attr("class", class).ours(">").ours(name);
        html.ours("</th>");
    }
    html.ours("</tr></thead><tbody role=\"rowgroup\">\n");
}

/// A short text in such a table.
fn cell(html: &mut Html, name: &'static str, text: impl std::fmt::Display) {
    html.ours("<td role=\"cell\" class=\"near\"").attr("data-label", name).ours(">").text(text).ours("</td>");
}

// An error as a page, for browsers.

/// The pages that an error page links to.
const ERROR_LINKS: [(&str, &str); 9] = [
    ("", "Targets"),
    ("plugins", "Plugins"),
    ("alerts", "Alerts of targets, and their receivers"),
    (LOGS, "Counter logs of targets"),
    ("rpc-state", "RPC calls in flight"),
    ("config", "Configuration"),
    ("metrics", "Metrics of all targets"),
    ("sd", "Targets for Prometheus"),
    ("-/ready", "Whether the exporter is ready"),
];

/// The page of files, where some are kept.
const LOGS: &str = "logs";

/// The path to the root from the deepest path for which links are correct.
const UP: &str = "../../../../../../../../../../../../../../../../../../../../../../../../";

/// A page that says `text` about the request for `path`.
pub(super) fn error_page(status: StatusCode, path: &str, text: &str, has_files: bool) -> Response<Answer> {
    let depth = path.matches('/').count().saturating_sub(1);
    let root = UP.get(..3 * depth).unwrap_or(UP);
    let title = status.canonical_reason().unwrap_or("Error");
    let frame = Frame { title, section: Section::None, root, refresh_s: None, has_files };
    let mut response = respond(frame.write(|html| {
        html.ours("<h1>")
            .text(title)
            .ours("</h1><p>For <code>")
            .name(path)
            .ours("</code>: ")
            .text(text.trim());
        html.ours(".</p><h2>Available pages</h2><ul>");
        for (path, name) in ERROR_LINKS.into_iter().filter(|(path, _)| has_files || *path != LOGS) {
            html.ours("<li><a").href(&Url::of(path)).ours(">").ours(name).ours("</a></li>");
        }
        html.ours("</ul>");
    }));
    *response.status_mut() = status;
    response
}

// The common parts of all pages of a target's values.

/// How often a page of values is refreshed: about twice per collection.
fn refresh_s(entry: &Entry) -> Option<u64> {
    Some((entry.interval.as_secs() / 2).clamp(1, 15))
}

/// The frame of all pages of values.
fn frame<'a>(site: &Site, entry: &Entry, title: &'a str) -> Frame<'a> {
    Frame {
        title,
        section: Section::Targets,
        root: "../../",
        refresh_s: refresh_s(entry),
        has_files: site.keeps_files(),
    }
}

/// The address of a counterset's page.
fn set_url(entry: &Entry, set: &str) -> Url {
    values_url(entry).with("set", set)
}

/// The address of a counter's page.
fn counter_url(entry: &Entry, counter: &Counter<'_>) -> Url {
    values_url(entry).with("counter", &counter.family().name)
}

/// Writes a search box; `hidden` are parameters that the search keeps.
fn search(html: &mut Html, entry: &Entry, label: &'static str, text: &str, hidden: &[(&'static str, &str)]) {
    html.ours("<form class=\"search\" role=\"search\" method=\"get\"").action(&values_url(entry)).ours(">");
    for (name, value) in hidden {
        html.ours("<input type=\"hidden\"").attr("name", name).attr("value", value).ours(">");
    }
    html.ours("<label for=\"q\">").ours(label).ours("</label>");
    html.ours("<input id=\"q\" name=\"q\" type=\"search\" autocomplete=\"off\"").attr("value", text);
    html.ours("><button type=\"submit\">Search</button></form>\n");
}

/// Writes that there are no values.
fn nothing(html: &mut Html, entry: &Entry) {
    html.ours("<p class=\"empty\">There are no values: the target is down, it was not collected yet, or it does not have this counter. <a");
    html.href(&target_url(entry)).ours(">The target's page</a> shows the reason.</p>");
}

#[cfg(test)]
mod tests;
