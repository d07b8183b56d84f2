//! One value of a series: the value in the form for people, its chart, and the exported value.

use std::time::{Duration, Instant};

use series::model::{DisplayRule, Kind, Point, Shown, ShownUnit, Value, needs_earlier};
use targets::TargetState;

use super::amount::{exported, is_moment, moment, shown, span};
use super::catalogue::Counter;
use super::chart::{self, Scale};
use super::html::Html;
use crate::metrics::Site;
use crate::page_state::{POINTS_MAX, Seen, unit_of};

/// One series in a table.
pub(super) struct Cell<'a> {
    pub(super) counter: Counter<'a>,
    pub(super) point: Point<'a>,
    pub(super) seen: Seen,
}

impl<'a> Cell<'a> {
    /// The series as it is now. The page state keeps its values from now on.
    pub(super) fn look(
        site: &Site,
        entry: &TargetState,
        counter: Counter<'a>,
        point: Point<'a>,
        base: Option<Value>,
    ) -> Self {
        let is_text = counter.family().kind == Kind::Info;
        let look = || site.page_state.watched.see(&entry.name, &counter.collected(point, base));
        Self { counter, point, seen: if is_text { Seen::default() } else { look() } }
    }

    pub(super) fn write(&self, html: &mut Html) {
        let family = self.counter.family();
        html.ours("<td role=\"cell\" class=\"number\" data-label=\"Now\"><div>");
        match self.seen.shown {
            _ if family.kind == Kind::Info => drop(html.ours("<span class=\"when\">text</span>")),
            Some(now) => {
                html.ours("<strong>").text(shown(now, family.kind, &family.unit)).ours("</strong>");
                if self.counter.rule() == DisplayRule::Elapsed {
                    let begun = self.point.value.as_f64();
                    html.ours("<span class=\"sub\">since ").text(moment(begun)).ours("</span>");
                }
            }
            None => drop(html.ours("<span class=\"when\">").ours(self.why_nothing()).ours("</span>")),
        }
        html.ours("</div></td><td role=\"cell\" class=\"history\" data-label=\"History\">");
        if is_drawn(self) {
            self.chart(html);
        }
        html.ours("</td><td role=\"cell\" class=\"number raw\" data-label=\"Exported\">");
        html.text(exported(self.point.value));
        if self.point.histogram.is_some() {
            html.ours(" observations");
        }
        html.ours("</td>");
    }

    /// Why no value is shown. A note above the table explains that a second collection is needed.
    fn why_nothing(&self) -> &'static str {
        match self.counter.rule() {
            _ if self.seen.needs_second => "–",
            _ if self.point.histogram.is_some() => "no activity",
            DisplayRule::PercentOfBase => "no activity",
            rule if needs_earlier(rule) => "restarted",
            _ => "not a number",
        }
    }

    fn chart(&self, html: &mut Html) {
        let family = self.counter.family();
        let unit = unit_of(self.counter.rule());
        let whole = match unit {
            ShownUnit::Percent => Some(100.0),
            ShownUnit::Family if family.unit == "ratio" => Some(1.0),
            _ => None,
        };
        let scale = Scale { window: self.counter.moment().window(), whole };
        chart::line(html, &self.seen.points, scale, |value| {
            shown(Shown { value, unit }, family.kind, &family.unit)
        });
    }
}

/// Whether the values are drawn as a line: not texts, not points in time, and not the time since one.
fn is_drawn(cell: &Cell<'_>) -> bool {
    let family = cell.counter.family();
    let is_moment = family.unit == "seconds" && is_moment(cell.point.value.as_f64());
    match cell.counter.rule() {
        DisplayRule::Elapsed => false,
        DisplayRule::Value => family.kind != Kind::Info && !is_moment,
        _ => family.kind != Kind::Info,
    }
}

/// The headings of the columns.
pub(super) fn headings(html: &mut Html, entry: &TargetState) {
    html.ours("<th role=\"columnheader\" scope=\"col\" class=\"number\">Now</th>");
    html.ours("<th role=\"columnheader\" scope=\"col\">Last ").text(span(entry.interval * POINTS_MAX));
    html.ours("</th><th role=\"columnheader\" scope=\"col\" class=\"number\">Exported value</th>");
}

/// Writes a note if values that are computed from two collections are not available yet.
pub(super) fn note<'a>(html: &mut Html, mut cells: impl Iterator<Item = &'a Cell<'a>>, now: Instant) {
    let Some(waiting) = cells.find(|cell| cell.seen.needs_second) else { return };
    let moment = waiting.counter.moment();
    let left = (moment.collected + moment.interval).saturating_duration_since(now);
    html.ours(
        "<p class=\"note\">Rates and shares are computed from two collections and need a second collection: ",
    );
    if left.is_zero() {
        html.ours("it is due now.</p>");
    } else {
        html.ours("next in ").text(span(left + Duration::from_millis(999))).ours(".</p>");
    }
}
