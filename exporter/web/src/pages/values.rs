//! `/targets/NAME/values`: the current values of a target.
//!
//! Without parameters it lists countersets; `?q=` searches counters; `?set=` shows the counters of one counterset for
//! one `instance=`; `?counter=` shows all instances of one counter.

use std::collections::BTreeMap;

use hyper::Response;
use series::model::DisplayRule;

use super::amount::count;
use super::catalogue::{Counter, Taken};
use super::frame::crumbs;
use super::html::{Html, Url};
use super::{
    Entry, Paging, Query, counter_url, counters, frame, instances, nothing, respond, search, set_url,
    target_url, values_url,
};
use crate::body::Answer;
use crate::metrics::Site;
use crate::pages::wanted::contains;

/// Maximum countersets, or found counters, on one page.
const ROWS_MAX: usize = 100;
/// Maximum found countersets that are listed above the counters.
const SETS_FOUND_MAX: usize = 10;

pub(super) fn page(site: &Site, entry: &Entry, query: &Query<'_>) -> Response<Answer> {
    page_of(site, entry, &Taken::from(entry), query)
}

/// The page of these values.
pub(super) fn page_of(site: &Site, entry: &Entry, taken: &Taken, query: &Query<'_>) -> Response<Answer> {
    let (set, counter) = (query.get("set"), query.get("counter"));
    if !counter.is_empty() {
        instances::page(site, entry, taken, &counter, query)
    } else if !set.is_empty() {
        counters::page(site, entry, taken, &set, query)
    } else {
        countersets(site, entry, taken, query)
    }
}

fn countersets(site: &Site, entry: &Entry, taken: &Taken, query: &Query<'_>) -> Response<Answer> {
    let text = query.get("q");
    let title = format!("Values of {}", entry.name);
    respond(frame(site, entry, &title).write(|html| {
        crumbs(html, &[("Targets", Url::of("")), (&entry.name, target_url(entry))]);
        html.ours("<h1>Values of ").name(&entry.name).ours("</h1>\n");
        search(html, entry, "Search counters", &text, &[]);
        html.ours("<div id=\"live-values\" data-live>");
        if taken.counters().next().is_none() {
            nothing(html, entry);
        } else if text.trim().is_empty() {
            list_of_sets(html, entry, taken, query.page());
        } else {
            found(html, entry, taken, text.trim(), query.page());
        }
        html.ours("</div>");
    }))
}

fn list_of_sets(html: &mut Html, entry: &Entry, taken: &Taken, page: usize) {
    let sets = sets(taken);
    let paging = Paging::new(page, sets.len(), ROWS_MAX);
    table_of_sets(html, entry, sets.iter().skip(paging.range().start).take(ROWS_MAX));
    paging.write(html, &values_url(entry));
}

pub(super) type Sets<'a> = BTreeMap<&'a str, Size>;

/// The size of a counterset.
#[derive(Default)]
pub(super) struct Size {
    counters: usize,
    series: usize,
}

pub(super) fn sets(taken: &Taken) -> Sets<'_> {
    let mut sets = Sets::new();
    for counter in taken.with_bases() {
        let size = sets.entry(counter.origin.object).or_default();
        size.counters += usize::from(counter.rule() != DisplayRule::Base);
        size.series += counter.series * counter.family().samples();
    }
    sets
}

pub(super) fn table_of_sets<'a>(
    html: &mut Html,
    entry: &Entry,
    sets: impl Iterator<Item = (&'a &'a str, &'a Size)>,
) {
    html.ours("<table class=\"cards\" role=\"table\"><caption class=\"unseen\">Countersets</caption>");
    html.ours(
        "<thead role=\"rowgroup\"><tr role=\"row\"><th role=\"columnheader\" scope=\"col\">Counterset</th>",
    );
    html.ours("<th role=\"columnheader\" scope=\"col\" class=\"number\">Counters</th>");
    html.ours("<th role=\"columnheader\" scope=\"col\" class=\"number\">Series</th></tr></thead>");
    html.ours("<tbody role=\"rowgroup\">\n");
    for (set, size) in sets {
        html.ours("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\"><a")
            .href(&set_url(entry, set))
            .ours(">");
        html.name(set).ours("</a></th><td role=\"cell\" class=\"number\" data-label=\"Counters\">");
        html.text(count(size.counters as u64));
        html.ours("</td><td role=\"cell\" class=\"number\" data-label=\"Series\">")
            .text(count(size.series as u64));
        html.ours("</td></tr>\n");
    }
    html.ours("</tbody></table>");
}

/// Writes the counters whose name, counterset or metric contains the text.
fn found(html: &mut Html, entry: &Entry, taken: &Taken, text: &str, page: usize) {
    let search = Search::of(text);
    let is_wanted = |counter: &Counter<'_>| {
        search.finds(&[counter.origin.item, counter.origin.object, &counter.family().name])
    };
    let all: Vec<Counter<'_>> = taken.counters().filter(is_wanted).collect();
    if all.is_empty() {
        html.ours("<p class=\"empty\">No name of a counter, counterset or metric contains ")
            .name(text)
            .ours(". <a")
            .href(&values_url(entry));
        html.ours(">All countersets</a></p>");
        return;
    }
    let mut sets = sets(taken);
    sets.retain(|set, _| search.finds(&[set]));
    if !sets.is_empty() {
        table_of_sets(html, entry, sets.iter().take(SETS_FOUND_MAX));
    }
    html.ours("<h2>Counters</h2>");
    let paging = Paging::new(page, all.len(), ROWS_MAX);
    html.ours("<ul class=\"found\">");
    for counter in &all[paging.range()] {
        html.ours("<li><a").href(&counter_url(entry, counter)).ours(">").name(counter.origin.item);
        html.ours("</a> <span class=\"sub\">in <a").href(&set_url(entry, counter.origin.object)).ours(">");
        html.name(counter.origin.object)
            .ours("</a>, ")
            .text(count(counter.series as u64))
            .ours(" series, <code>");
        html.text(counter.family().sample_name()).ours("</code></span></li>\n");
    }
    html.ours("</ul>");
    paging.write(html, &values_url(entry).with("q", text));
}

/// Words that people search for, and the words that names of counters contain instead.
const SYNONYMS: &[(&str, &str)] = &[
    ("cpu", "processor"),
    ("core", "processor"),
    ("ram", "memory"),
    ("nic", "network"),
    ("net", "network"),
    ("ethernet", "network"),
    ("lan", "network"),
    ("hdd", "disk"),
    ("ssd", "disk"),
    ("drive", "disk"),
    ("storage", "disk"),
];

/// A search: every word, or its synonym, must be found.
pub(super) struct Search(Vec<[String; 2]>);

impl Search {
    pub(super) fn of(text: &str) -> Self {
        let words = text.split_whitespace().map(str::to_lowercase);
        Self(words.map(|word| [synonym(&word).to_owned(), word]).collect())
    }

    /// Whether every word or its synonym is in one of these texts.
    pub(super) fn finds(&self, texts: &[&str]) -> bool {
        let is_there = |word: &String| texts.iter().any(|text| contains(text, word));
        self.0.iter().all(|either| either.iter().any(is_there))
    }
}

fn synonym(word: &str) -> &str {
    SYNONYMS.iter().find(|(own, _)| *own == word).map_or(word, |(_, synonym)| synonym)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_synonyms() {
        let finds = |text: &str, names: &[&str]| Search::of(text).finds(names);
        assert!(finds("cpu", &["Processor Information", "% Idle Time"]));
        assert!(finds("CPU idle", &["Processor Information", "% Idle Time"]));
        assert!(!finds("cpu user", &["Processor Information", "% Idle Time"]));
        assert!(finds("ram", &["Memory", "Available MBytes"]));
        assert!(finds("nic", &["Network Interface", "Bytes Total/sec"]));
        assert!(finds("ssd", &["PhysicalDisk", "Avg. Disk sec/Read"]));
        // The word itself is found, too.
        assert!(finds("cpu", &["Hyper-V Hypervisor", "vCPU waits"]));
        assert!(!finds("cpu", &["Process V2", "Handle Count"]));
    }
}
