//! What a source with a namespace of its own says of the things on a host, such as applications and their components:
//! a table for each kind of thing, with a row for each thing and a column for each of its figures.
//!
//! Texts of its info metrics stand in the rows of the things that have their labels.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use series::model::{DisplayRule, Kind, Point, Shown, ShownUnit};

use super::amount::{count, shown};
use super::catalogue::{Bases, Counter, Taken, instance, is_common};
use super::cells::Cell;
use super::html::Html;
use super::{Entry, counter_url, set_url};
use crate::metrics::Site;

/// Rows of a table; the page of the values has the others.
const ROWS_MAX: usize = 50;
/// Columns of a table. A kind of thing with fewer than two figures has none.
const COLUMNS_MAX: usize = 10;
/// The label of an info metric that names the thing.
const NAME: &str = "name";

/// Names and values of labels, without those that all series of a target have.
type Labels = Vec<(String, String)>;

/// Writes a table for each kind of thing.
pub(super) fn write(html: &mut Html, site: &Site, entry: &Entry, taken: &Taken) {
    let mut kinds: Vec<(&str, &str, Vec<Counter<'_>>)> = Vec::new();
    for counter in taken.counters().filter(is_figure) {
        let (space, object) = (counter.family().namespace.as_str(), counter.origin.object);
        match kinds.iter_mut().find(|kind| (kind.0, kind.1) == (space, object)) {
            Some(kind) => kind.2.push(counter),
            None => kinds.push((space, object, vec![counter])),
        }
    }
    for (index, (space, object, mut columns)) in kinds.into_iter().enumerate() {
        columns.truncate(COLUMNS_MAX);
        let grid = Grid::of(site, entry, &columns);
        if columns.len() > 1 && !grid.rows.is_empty() {
            let texts = Texts::of(entry, taken, space);
            grid.write(html, entry, index, object, &columns, &texts);
        }
    }
}

/// A family whose values are figures of a thing.
fn is_figure(counter: &Counter<'_>) -> bool {
    let family = counter.family();
    !family.namespace.is_empty() && family.kind != Kind::Info
}

/// The values of one kind of thing.
struct Grid {
    /// By labels: what the heading links to, and a value for each column that has one.
    rows: BTreeMap<Labels, Row>,
}

struct Row {
    instance: String,
    values: Vec<Option<String>>,
}

impl Grid {
    fn of(site: &Site, entry: &Entry, columns: &[Counter<'_>]) -> Self {
        let mut rows = BTreeMap::<Labels, Row>::new();
        for (column, counter) in columns.iter().enumerate() {
            let bases = Bases::of(counter);
            for point in counter.points() {
                let labels = own_labels(&point, entry);
                // A figure of the target as a whole is not one of a thing.
                if labels.is_empty() {
                    continue;
                }
                let row = rows.entry(labels).or_insert_with(|| Row {
                    instance: instance(&point, entry),
                    values: vec![None; columns.len()],
                });
                row.values[column] = value(site, entry, counter, point, &bases);
            }
        }
        Self { rows }
    }

    fn write(
        &self,
        html: &mut Html,
        entry: &Entry,
        index: usize,
        object: &str,
        columns: &[Counter<'_>],
        texts: &Texts,
    ) {
        let mut rows: Vec<_> = self.rows.iter().map(|(labels, row)| (texts.of_thing(labels), row)).collect();
        // Those with names come first.
        rows.sort_by_key(|(thing, _)| (thing.name.is_empty(), thing.name));
        html.ours("<section aria-labelledby=\"grid-").text(index).ours("\"><h2 id=\"grid-").text(index);
        html.ours("\">").name(object).ours(" <span class=\"of\">").text(count(rows.len() as u64));
        html.ours("</span></h2>\n<div class=\"wide\"><table class=\"cards values things\" role=\"table\">");
        html.ours("<caption class=\"unseen\">");
        html.name(object).ours(": figures of each</caption><thead role=\"rowgroup\"><tr role=\"row\">");
        html.ours("<th role=\"columnheader\" scope=\"col\">Name</th>");
        for counter in columns {
            html.ours("<th role=\"columnheader\" scope=\"col\" class=\"number\"><a");
            html.href(&counter_url(entry, counter)).ours(">").name(counter.origin.item).ours("</a></th>");
        }
        html.ours("</tr></thead><tbody role=\"rowgroup\">\n");
        for (thing, row) in rows.iter().take(ROWS_MAX) {
            html.ours("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\"><a");
            html.href(&set_url(entry, object).with("instance", &row.instance)).ours(">");
            thing.write(html, &row.instance);
            row.write(html, columns);
        }
        html.ours("</tbody></table></div>");
        if rows.len() > ROWS_MAX {
            html.ours("<p><a").href(&set_url(entry, object)).ours(">All ").text(count(rows.len() as u64));
            html.ours("</a></p>");
        }
        html.ours("</section>\n");
    }
}

impl Row {
    /// Writes the values, after the heading.
    fn write(&self, html: &mut Html, columns: &[Counter<'_>]) {
        for (counter, value) in columns.iter().zip(&self.values) {
            html.ours("<td role=\"cell\" class=\"number\"").attr("data-label", counter.origin.item);
            html.ours(">").text(value.as_deref().unwrap_or("–")).ours("</td>");
        }
        html.ours("</tr>\n");
    }
}

/// The shown value: of most figures the exported one, of others what it became since the collection before.
fn value(
    site: &Site,
    entry: &Entry,
    counter: &Counter<'_>,
    point: Point<'_>,
    bases: &Bases,
) -> Option<String> {
    let family = counter.family();
    let now = match counter.rule() {
        DisplayRule::Value => Some(Shown { value: point.value.as_f64(), unit: ShownUnit::Family }),
        _ => Cell::look(site, entry, *counter, point, bases.beside(&point)).seen.shown,
    };
    now.map(|now| shown(now, family.kind, &family.unit))
}

fn own_labels(point: &Point<'_>, entry: &Entry) -> Labels {
    let own = point.labels().filter(|(name, _)| !is_common(entry, name));
    own.map(|(name, value)| (name.to_owned(), value.into_owned())).collect()
}

/// The texts of the info metrics of a namespace, by the labels that identify what they are about.
struct Texts(Vec<HashMap<Labels, Labels>>);

impl Texts {
    fn of(entry: &Entry, taken: &Taken, space: &str) -> Self {
        let own = |counter: &Counter<'_>| counter.family().namespace == space;
        let is_key: BTreeSet<String> = taken
            .counters()
            .filter(|counter| own(counter) && is_figure(counter))
            .filter_map(|counter| counter.points().next().map(|point| own_labels(&point, entry)))
            .flatten()
            .map(|(name, _)| name)
            .collect();
        let infos = taken.counters().filter(|counter| own(counter) && !is_figure(counter));
        let by_key = |counter: Counter<'_>| {
            let split = |point: Point<'_>| -> (Labels, Labels) {
                own_labels(&point, entry).into_iter().partition(|(name, _)| is_key.contains(name))
            };
            counter.points().map(split).filter(|(key, _)| !key.is_empty()).collect()
        };
        Self(infos.map(by_key).collect())
    }

    /// What is known of a thing with these labels, and of that which it belongs to.
    fn of_thing(&self, labels: &Labels) -> Thing<'_> {
        let mut thing = Thing::default();
        for texts in &self.0 {
            let Some((key, _)) = texts.iter().next() else { continue };
            let is_of_key = |name: &String| key.iter().any(|(known, _)| known == name);
            let wanted: Labels = labels.iter().filter(|(name, _)| is_of_key(name)).cloned().collect();
            let is_own = wanted.len() == labels.len();
            for (name, text) in texts.get(&wanted).into_iter().flatten().filter(|(_, text)| !text.is_empty())
            {
                match (is_own, name.as_str()) {
                    (true, NAME) => thing.name = text,
                    (false, NAME) => thing.whole.push(text),
                    (true, name) => thing.others.push((name, text)),
                    (false, _) => {}
                }
            }
        }
        thing
    }
}

/// The texts about one thing.
#[derive(Default)]
struct Thing<'a> {
    name: &'a str,
    /// Names of what it belongs to.
    whole: Vec<&'a str>,
    others: Vec<(&'a str, &'a str)>,
}

impl Thing<'_> {
    /// Writes the heading of its row, after the beginning of a link.
    fn write(&self, html: &mut Html, instance: &str) {
        if self.name.is_empty() {
            html.name(instance).ours("</a>");
        } else {
            html.name(self.name).ours("</a>");
        }
        for whole in &self.whole {
            html.ours(" <span class=\"when\">of ").name(whole).ours("</span>");
        }
        if !self.name.is_empty() {
            html.ours("<span class=\"sub\">").name(instance).ours("</span>");
        }
        if !self.others.is_empty() {
            html.ours("<span class=\"sub\">");
            for (place, (name, text)) in self.others.iter().enumerate() {
                html.ours(if place > 0 { ", " } else { "" }).name(name).ours("=").name(text);
            }
            html.ours("</span>");
        }
        html.ours("</th>");
    }
}
