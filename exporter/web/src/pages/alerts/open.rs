//! The tables of open alerts, and of those that closed lately.

use std::sync::Arc;
use std::time::SystemTime;

use alerts::{Alert, OpenAlert};

use super::series::{Source, figures};
use super::value::Compared;
use super::{ago, cell, head, labels, since, target};
use crate::metrics::Site;
use crate::pages::amount::span;
use crate::pages::html::Html;

/// The label that has what people call an alert, where its plugin tells.
const NAME: &str = "alert";

/// What the values of these alerts are: as series of their modules say, else as their events do.
pub(super) fn compared(
    site: &Site,
    open: &[OpenAlert],
    sources: &[Source<'_>],
    now: SystemTime,
) -> Vec<Compared> {
    let alerts: Vec<(usize, &Alert)> = open.iter().map(|open| &*open.alert).enumerate().collect();
    let mut compared: Vec<Compared> = open.iter().map(|open| Compared::of_events(open, now)).collect();
    let (places, rows): (Vec<_>, Vec<_>) = sources.iter().flat_map(|source| source.find(&alerts)).unzip();
    for ((place, row), figures) in places.into_iter().zip(&rows).zip(figures(site, &rows)) {
        let of_events = std::mem::take(&mut compared[place]);
        compared[place] = Compared::of_open(row, figures, of_events);
    }
    compared
}

pub(super) fn table_of_open(
    html: &mut Html,
    rows: &[OpenAlert],
    compared: &[Compared],
    now: SystemTime,
    is_there: impl Fn(&str) -> bool,
) {
    let has_values = compared.iter().any(Compared::is_known);
    let columns = [
        ("Alert", ""),
        ("Target", ""),
        ("Value", ""),
        ("Open for", "near"),
        ("Last seen", "near"),
        ("Labels", ""),
    ];
    let shown = |(name, _): &(&str, &str)| has_values || *name != "Value";
    head(html, "Open alerts", columns.into_iter().filter(shown));
    for (OpenAlert { alert, last_seen, .. }, compared) in rows.iter().zip(compared) {
        html.ours("<tr role=\"row\">");
        what(html, alert);
        target(html, &alert.target, &alert.module, &is_there);
        if has_values {
            compared.write(html);
        }
        cell(html, "Open for", span(since(now, alert.starts_at)));
        cell(html, "Last seen", ago(now, *last_seen));
        labels_of(html, alert);
        html.ours("</tr>\n");
    }
    html.ours("</tbody></table>");
}

pub(super) fn table_of_closed(
    html: &mut Html,
    rows: &[Arc<Alert>],
    now: SystemTime,
    is_there: impl Fn(&str) -> bool,
) {
    let columns =
        [("Alert", ""), ("Target", ""), ("Closed", "near"), ("Was open for", "near"), ("Labels", "")];
    head(html, "Closed alerts", columns.into_iter());
    for alert in rows {
        let ends_at = alert.ends_at.unwrap_or(now);
        html.ours("<tr role=\"row\" class=\"ended\">");
        what(html, alert);
        target(html, &alert.target, &alert.module, &is_there);
        cell(html, "Closed", ago(now, ends_at));
        cell(html, "Was open for", span(since(ends_at, alert.starts_at)));
        labels_of(html, alert);
        html.ours("</tr>\n");
    }
    html.ours("</tbody></table>");
}

fn what(html: &mut Html, alert: &Alert) {
    let (class, sign) = match (alert.ends_at, alert.label("severity")) {
        (Some(_), _) => ("waiting", "✓"),
        (None, "critical") => ("down", "✕"),
        (None, _) => ("partial", "◐"),
    };
    let name = Some(alert.label(NAME)).filter(|name| !name.is_empty()).unwrap_or(&alert.id);
    html.ours("<th role=\"rowheader\" scope=\"row\"><strong>").name(name).ours("</strong> ");
    html.ours("<span class=\"state ").ours(class).ours("\"><span aria-hidden=\"true\">").ours(sign);
    html.ours("</span> ").ours(if alert.ends_at.is_some() { "closed" } else { "open" });
    html.ours("</span><span class=\"sub\">").prose(alert.annotation("summary")).ours("</span></th>");
}

/// The labels that are not in another column.
fn labels_of(html: &mut Html, alert: &Alert) {
    let elsewhere = ["alert", "module", "target", NAME];
    let pairs = alert.labels.iter().map(|(name, value)| (&**name, &**value));
    labels(html, pairs.filter(|(name, _)| !elsewhere.contains(name)));
}
