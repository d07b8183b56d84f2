//! What all pages of a target's values have in common.

use super::catalogue::Counter;
use super::frame::{Frame, Section};
use super::html::{Html, Url};
use super::{Entry, target_url, values_url};

/// So often a page of values asks again: about twice as often as there are new ones.
pub(super) fn refresh_s(entry: &Entry) -> Option<u64> {
    Some((entry.interval.as_secs() / 2).clamp(1, 15))
}

/// The frame of all pages of the browser.
pub(super) fn frame<'a>(entry: &Entry, title: &'a str) -> Frame<'a> {
    Frame { title, section: Section::Targets, root: "../../", refresh_s: refresh_s(entry) }
}

/// The address of a counterset's page.
pub(super) fn set_url(entry: &Entry, set: &str) -> Url {
    values_url(entry).with("set", set)
}

/// The address of a counter's page.
pub(super) fn counter_url(entry: &Entry, counter: &Counter<'_>) -> Url {
    values_url(entry).with("counter", &counter.family().name)
}

/// A box to search in; `hidden` are parameters that stay.
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

/// What is said where there is nothing to show.
pub(super) fn nothing(html: &mut Html, entry: &Entry) {
    html.ours("<p class=\"empty\">There are no values: the target is down, nothing was collected yet, or it does not have this. <a");
    html.href(&target_url(entry)).ours(">Its page</a> says which.</p>");
}
