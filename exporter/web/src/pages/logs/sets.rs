//! The table of sets that log.

use std::time::{Duration, SystemTime};

use super::series::{SETS_MAX, Set};
use crate::pages::amount::{bytes, count, moment, number, span};
use crate::pages::html::{Html, Url};
use crate::pages::{cell, head, section};

/// Writes the table, or what to do to have one.
pub(super) fn table(html: &mut Html, sets: &[Set], now: SystemTime) {
    section(html, "Sets", sets.len(), |html| {
        if sets.is_empty() {
            html.ours("<p class=\"empty\">No set logs counters. Add <code>counters</code> to a set of a module with the plugin ");
            html.ours("<code>pla</code>, and the module to targets.</p>");
            return;
        }
        let columns = [
            ("Set", ""),
            ("Status", "near"),
            ("Serial", "near"),
            ("Next start", ""),
            ("Records", "near"),
            ("Written", "near"),
            ("Waiting", "near"),
            ("Gaps", "near"),
            ("Failures", "near"),
        ];
        head(html, "Sets that log counters", columns.into_iter());
        sets.iter().take(SETS_MAX).for_each(|set| write(html, set, now));
        html.ours("</tbody></table>");
        if let Some(more @ 1..) = sets.len().checked_sub(SETS_MAX) {
            html.ours("<p class=\"note\">").text(count(more as u64)).ours(" more sets are not shown.</p>");
        }
    });
}

fn write(html: &mut Html, set: &Set, now: SystemTime) {
    html.ours("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\"><strong>").name(&set.name);
    html.ours("</strong><span class=\"sub\"><a").href(&Url::of("targets").step(&set.target)).ours(">");
    html.name(&set.target).ours("</a> · ").name(&set.module).ours("</span></th>");
    html.ours("<td role=\"cell\" class=\"near\" data-label=\"Status\"><div>");
    if set.is_failing {
        status(html, "failing");
        html.ours("<span class=\"sub\">records are not written: the log of the exporter says why</span>");
    } else {
        status(html, &set.status);
    }
    html.ours("</div></td>");
    cell(html, "Serial", figure(set.serial_number));
    html.ours("<td role=\"cell\" data-label=\"Next start\"><div>");
    match set.next_start {
        Some(at) => {
            html.text(moment(at));
            if let Some(left) = left(at, now) {
                html.ours("<span class=\"sub\">in ").text(span(left)).ours("</span>");
            }
        }
        None => drop(html.ours("–")),
    }
    html.ours("</div></td>");
    cell(html, "Records", figure(set.records));
    cell(html, "Written", set.bytes.map_or("–".to_owned(), bytes));
    cell(html, "Waiting", figure(set.waiting));
    cell(html, "Gaps", figure(set.gaps));
    cell(html, "Failures", figure(set.failures));
    html.ours("</tr>\n");
}

fn status(html: &mut Html, status: &str) {
    let (class, sign) = match status {
        "running" => ("up", "✓"),
        "" => {
            html.ours("–");
            return;
        }
        "failed" | "failing" => ("down", "✕"),
        _ => ("waiting", "○"),
    };
    html.ours("<span class=\"state ").ours(class).ours("\"><span aria-hidden=\"true\">").ours(sign);
    html.ours("</span> ").text(status.replace('_', " ")).ours("</span>");
}

fn figure(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), number)
}

fn left(at: f64, now: SystemTime) -> Option<Duration> {
    let at = SystemTime::UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(at).ok()?)?;
    at.duration_since(now).ok()
}
