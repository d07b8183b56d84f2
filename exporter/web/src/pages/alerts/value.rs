//! The value of an alert, what it is compared with, and its chart.

use std::time::{Duration, SystemTime};

use alerts::OpenAlert;
use plugin_abi::Comparison;
use series::model::{Kind, Shown, ShownUnit};

use super::chart;
use super::series::{Figures, Limit, Row};
use super::since;
use crate::page_state::POINTS_MAX;
use crate::pages::amount::{shown, span};
use crate::pages::html::Html;

/// What is shown of a value. Alerts have no unit but that which their source compares in.
#[derive(Debug, Default)]
pub(super) struct Compared {
    value: Option<f64>,
    limit: Option<Limit>,
    points: Vec<(Duration, f64)>,
    /// The age of the left edge of the chart.
    window: Duration,
}

impl Compared {
    /// As the series of an open alert tell it; before these were looked at, as its events did.
    pub(super) fn of_open(row: &Row<'_>, figures: Figures, of_events: Self) -> Self {
        let mut compared = Self::of_series(row, figures);
        let oldest = compared.points.first().map_or(Duration::ZERO, |(age, _)| *age);
        let mut points = of_events.points;
        points.retain(|(age, _)| *age > oldest && *age <= compared.window);
        points.append(&mut compared.points);
        Self { points, ..compared }
    }

    /// As series tell it.
    pub(super) fn of_series(row: &Row<'_>, figures: Figures) -> Self {
        let Figures { seen, limit, .. } = figures;
        let window = row.source.entry.interval * POINTS_MAX;
        Self { value: seen.shown.map(|shown| shown.value), limit, points: seen.points, window }
    }

    /// As the alert's events tell it.
    pub(super) fn of_events(open: &OpenAlert, now: SystemTime) -> Self {
        let value = open.evaluation.and_then(|compared| compared.value);
        let limit = open
            .evaluation
            .map(|compared| Limit { threshold: compared.threshold, side: Some(compared.comparison) });
        let points: Vec<_> = open.values.iter().map(|(at, value)| (since(now, *at), *value)).collect();
        let oldest = points.first().map_or(Duration::ZERO, |(age, _)| *age);
        Self { value, limit, points, window: oldest.max(WINDOW_MIN) }
    }

    /// Whether anything is known.
    pub(super) fn is_known(&self) -> bool {
        self.value.is_some() || self.limit.is_some()
    }

    pub(super) fn write(&self, html: &mut Html) {
        html.ours("<td role=\"cell\" data-label=\"Value\"><div class=\"compared\">");
        match self.value {
            Some(value) => html.ours("<strong>").text(number(value)).ours("</strong>"),
            None => html.ours("<span class=\"when\">no value</span>"),
        };
        if let Some(limit) = self.limit {
            html.ours(" <span class=\"when\">").text(words(limit)).ours("</span>");
            chart::against(html, &self.points, self.window, limit, &self.label(limit));
        }
        html.ours("</div></td>");
    }

    /// What the chart shows, in words.
    fn label(&self, limit: Limit) -> String {
        let values = || self.points.iter().map(|&(_, value)| value);
        let (lowest, highest) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let history = if lowest < highest {
            let oldest = self.points.first().map_or(self.window, |(age, _)| *age);
            format!(", between {} and {} in the last {}", number(lowest), number(highest), span(oldest))
        } else {
            String::new()
        };
        let now = self.value.map_or("no value now".to_owned(), |value| format!("now {}", number(value)));
        format!("{now}, {}{history}", words(limit))
    }
}

fn words(limit: Limit) -> String {
    let threshold = exact(limit.threshold);
    match limit.side {
        Some(Comparison::Above) => format!("fires above {threshold}"),
        Some(Comparison::Below) => format!("fires below {threshold}"),
        None => format!("threshold {threshold}"),
    }
}

/// The number as it is written, unless it is long.
fn exact(threshold: f64) -> String {
    let text = threshold.to_string();
    let is_short = threshold.fract() != 0.0 && text.len() <= EXACT_CHARS_MAX;
    if is_short { text.replace('-', "−") } else { number(threshold) }
}

/// The shortest time that a chart of events shows.
const WINDOW_MIN: Duration = Duration::from_secs(60);
/// As many as a column has room for.
const EXACT_CHARS_MAX: usize = 12;

fn number(value: f64) -> String {
    shown(Shown { value, unit: ShownUnit::None }, Kind::Gauge, "")
}
