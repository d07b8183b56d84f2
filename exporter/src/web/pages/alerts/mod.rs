//! `/alerts`: which alerts of targets are open, which closed lately, and what receivers know of them. `?page=` turns.

mod receivers;

use std::time::{Duration, SystemTime};

use alerts::{Alert, OpenAlert};
use hyper::Response;

use super::amount::{count, span};
use super::frame::{Frame, Section};
use super::html::{Html, Query, Url};
use super::{Paging, respond};
use crate::web::body::Answer;
use crate::web::site::Site;

/// Alerts are not in a hurry.
const REFRESH_S: u64 = 10;
const ROWS_MAX: usize = 50;
/// Closed alerts that are shown.
const CLOSED_SHOWN: usize = 20;

pub(super) fn page(site: &Site, query: &Query<'_>) -> Response<Answer> {
    let now = SystemTime::now();
    let state = &site.page_state;
    let (mut open, closed, receivers) = (state.alerts.open(), state.alerts.recent(), state.receivers.get());
    open.sort_by_key(|open| std::cmp::Reverse(open.alert.starts_at));
    let targets = site.target_registry.targets();
    let is_there = |name: &str| targets.iter().any(|target| target.name == name);
    let frame = Frame { title: "Alerts", section: Section::Alerts, root: "", refresh_s: Some(REFRESH_S) };
    respond(frame.write(|html| {
        html.ours("<h1>Alerts</h1>\n<div id=\"live-summary\" data-live>");
        summary(html, site, open.len());
        html.ours("</div>\n<div id=\"live-alerts\" data-live>");
        section(html, "Open", open.len(), |html| {
            let paging = Paging::new(query.page(), open.len(), ROWS_MAX);
            match open.get(paging.range()).filter(|rows| !rows.is_empty()) {
                Some(rows) => table_of_open(html, rows, now, is_there),
                None => drop(html.ours("<p class=\"empty\">No alert is open.</p>")),
            }
            paging.write(html, &Url::of("alerts"));
        });
        section(html, "Receivers", receivers.len(), |html| receivers::table(html, &receivers, now));
        if !closed.is_empty() {
            section(html, "Closed lately", closed.len(), |html| {
                let rows = closed.get(..CLOSED_SHOWN.min(closed.len())).unwrap_or_default();
                table_of_closed(html, rows, now, is_there);
            });
        }
        html.ours("</div>");
    }))
}

fn summary(html: &mut Html, site: &Site, open: usize) {
    let state = &site.page_state;
    let (class, sign) = if open > 0 { ("partial", "◐") } else { ("up", "✓") };
    html.ours("<ul class=\"tiles\">");
    tile(html, class, sign, open as u64, "Open");
    let receivers = state.receivers.get();
    let failing = receivers.iter().filter(|receiver| receiver.last().is_up() == Some(false)).count();
    let (class, sign) = if failing > 0 { ("down", "✕") } else { ("plain", "") };
    tile(html, class, sign, failing as u64, "Receivers failing");
    let waiting = receivers.iter().map(|receiver| receiver.waiting()).sum();
    tile(html, "plain", "", waiting, "To be sent");
    html.ours("</ul>");
    let over_limit = state.alerts.over_limit();
    if over_limit > 0 {
        html.ours("<p class=\"notice\">").text(count(over_limit));
        html.ours(" events would have opened an alert, but too many were open. Raise <code>alerts.max_alerts</code>.</p>");
    }
}

fn tile(html: &mut Html, class: &'static str, sign: &'static str, figure: u64, label: &'static str) {
    html.ours("<li class=\"tile ").ours(class).ours("\"><span class=\"figure\">");
    if !sign.is_empty() {
        html.ours("<span class=\"sign\" aria-hidden=\"true\">").ours(sign).ours("</span>");
    }
    html.text(count(figure)).ours("</span> <span class=\"label\">").ours(label).ours("</span></li>");
}

fn section(html: &mut Html, title: &'static str, rows: usize, write: impl FnOnce(&mut Html)) {
    html.ours("<section").attr("aria-label", title).ours("><h2>").ours(title);
    if rows > 0 {
        html.ours(" <span class=\"of\">").text(count(rows as u64)).ours("</span>");
    }
    html.ours("</h2>");
    write(html);
    html.ours("</section>\n");
}

fn table_of_open(html: &mut Html, rows: &[OpenAlert], now: SystemTime, is_there: impl Fn(&str) -> bool) {
    head(
        html,
        "Open alerts",
        &[("Alert", ""), ("Target", ""), ("Open for", "near"), ("Last seen", "near"), ("Labels", "")],
    );
    for OpenAlert { alert, last_seen, .. } in rows {
        html.ours("<tr role=\"row\">");
        what(html, alert);
        target(html, alert, &is_there);
        cell(html, "Open for", span(since(now, alert.starts_at)));
        cell(html, "Last seen", ago(now, *last_seen));
        labels(html, alert);
        html.ours("</tr>\n");
    }
    html.ours("</tbody></table>");
}

fn table_of_closed(
    html: &mut Html,
    rows: &[std::sync::Arc<Alert>],
    now: SystemTime,
    is_there: impl Fn(&str) -> bool,
) {
    head(
        html,
        "Closed alerts",
        &[("Alert", ""), ("Target", ""), ("Closed", "near"), ("Was open for", "near"), ("Labels", "")],
    );
    for alert in rows {
        let ends_at = alert.ends_at.unwrap_or(now);
        html.ours("<tr role=\"row\" class=\"ended\">");
        what(html, alert);
        target(html, alert, &is_there);
        cell(html, "Closed", ago(now, ends_at));
        cell(html, "Was open for", span(since(ends_at, alert.starts_at)));
        labels(html, alert);
        html.ours("</tr>\n");
    }
    html.ours("</tbody></table>");
}

/// Begins a table whose rows become cards on a phone.
fn head(html: &mut Html, caption: &'static str, columns: &[(&'static str, &'static str)]) {
    html.ours("<table class=\"cards state-rows\" role=\"table\"><caption class=\"unseen\">").ours(caption);
    html.ours("</caption><thead role=\"rowgroup\"><tr role=\"row\">");
    for (name, class) in columns {
        html.ours("<th role=\"columnheader\" scope=\"col\"").attr("class", class).ours(">").ours(name);
        html.ours("</th>");
    }
    html.ours("</tr></thead><tbody role=\"rowgroup\">\n");
}

/// What is wrong.
fn what(html: &mut Html, alert: &Alert) {
    let (class, sign) = match (alert.ends_at, alert.label("severity")) {
        (Some(_), _) => ("waiting", "✓"),
        (None, "critical") => ("down", "✕"),
        (None, _) => ("partial", "◐"),
    };
    html.ours("<th role=\"rowheader\" scope=\"row\"><strong>").name(&alert.id).ours("</strong> ");
    html.ours("<span class=\"state ").ours(class).ours("\"><span aria-hidden=\"true\">").ours(sign);
    html.ours("</span> ").ours(if alert.ends_at.is_some() { "closed" } else { "open" });
    html.ours("</span><span class=\"sub\">").name(alert.annotation("summary")).ours("</span></th>");
}

fn target(html: &mut Html, alert: &Alert, is_there: impl Fn(&str) -> bool) {
    html.ours("<td role=\"cell\" data-label=\"Target\"><div>");
    if is_there(&alert.target) {
        html.ours("<a")
            .href(&Url::of("targets").step(&alert.target))
            .ours(">")
            .name(&alert.target)
            .ours("</a>");
    } else {
        html.name(&alert.target);
    }
    html.ours("<span class=\"sub\">").name(&alert.module).ours("</span></div></td>");
}

/// The labels that are not in another column.
fn labels(html: &mut Html, alert: &Alert) {
    html.ours("<td role=\"cell\" data-label=\"Labels\"><ul class=\"labels\">");
    let elsewhere = ["alert", "module", "target"];
    for (name, value) in alert.labels.iter().filter(|(name, _)| !elsewhere.contains(&name.as_str())) {
        html.ours("<li>").name(name).ours("=").name(value).ours("</li>");
    }
    html.ours("</ul></td>");
}

fn cell(html: &mut Html, name: &'static str, text: String) {
    html.ours("<td role=\"cell\" class=\"near\"").attr("data-label", name).ours(">").text(text).ours("</td>");
}

fn ago(now: SystemTime, then: SystemTime) -> String {
    format!("{} ago", span(since(now, then)))
}

/// Clocks may go back.
fn since(now: SystemTime, then: SystemTime) -> Duration {
    now.duration_since(then).unwrap_or_default()
}
