//! The common parts of all pages of a target's values.

use super::catalogue::Counter;
use super::frame::{Frame, Section};
use super::html::{Html, Url};
use super::{Entry, target_url, values_url};
use crate::metrics::Site;

/// How often a page of values is refreshed: about twice per collection.
pub(super) fn refresh_s(entry: &Entry) -> Option<u64> {
    Some((entry.interval.as_secs() / 2).clamp(1, 15))
}

/// The frame of all pages of values.
pub(super) fn frame<'a>(site: &Site, entry: &Entry, title: &'a str) -> Frame<'a> {
    Frame {
        title,
        section: Section::Targets,
        root: "../../",
        refresh_s: refresh_s(entry),
        has_files: site.keeps_files(),
    }
}

/// The address of a counterset's page.
pub(super) fn set_url(entry: &Entry, set: &str) -> Url {
    values_url(entry).with("set", set)
}

/// The address of a counter's page.
pub(super) fn counter_url(entry: &Entry, counter: &Counter<'_>) -> Url {
    values_url(entry).with("counter", &counter.family().name)
}

/// Writes a search box; `hidden` are parameters that the search keeps.
pub(super) fn search(
    html: &mut Html,
    entry: &Entry,
    label: &'static str,
    text: &str,
    hidden: &[(&'static str, &str)],
) {
    html.ours("<form class=\"search\" role=\"search\" method=\"get\"").action(&values_url(entry)).ours(">");
    for (name, value) in hidden {
        html.ours("<input type=\"hidden\"").attr("name", name).attr("value", value).ours(">");
    }
    html.ours("<label for=\"q\">").ours(label).ours("</label>");
    html.ours("<input id=\"q\" name=\"q\" type=\"search\" autocomplete=\"off\"").attr("value", text);
    html.ours("><button type=\"submit\">Search</button></form>\n");
}

/// Writes that there are no values.
pub(super) fn nothing(html: &mut Html, entry: &Entry) {
    html.ours("<p class=\"empty\">There are no values: the target is down, it was not collected yet, or it does not have this counter. <a");
    html.href(&target_url(entry)).ours(">The target's page</a> shows the reason.</p>");
}
