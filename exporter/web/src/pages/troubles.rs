//! Failures and next steps.

use std::time::Instant;

use super::amount::{count, span};
use super::html::{Html, Url};
use super::sign;
use targets::{Change, Down, TargetHealth, Turn};

/// Maximum names that are shown of targets with the same change or failure.
pub(super) const NAMES_SHOWN: usize = 5;

/// A target's state: sign, word, and a class for the style. The colour adds no information.
pub(super) fn state(html: &mut Html, state: TargetHealth) {
    html.ours("<span class=\"state ")
        .ours(state.as_str())
        .ours("\"><span aria-hidden=\"true\">")
        .ours(sign(state));
    html.ours("</span> ").ours(state.as_str()).ours("</span>");
}

/// Stage, reason, details and the next step.
pub(super) fn trouble(html: &mut Html, down: &Down) {
    failure(html, down);
    step(html, down);
}

/// Stage, reason and details.
pub(super) fn failure(html: &mut Html, down: &Down) {
    html.ours("<p class=\"trouble\">");
    reason(html, down);
    let detail = down.detail();
    if !detail.is_empty() {
        html.ours(": ").detail(detail);
    }
    html.ours("</p>");
}

pub(super) fn reason(html: &mut Html, down: &Down) {
    html.ours("<code>")
        .text(&down.reason)
        .ours("</code> at <code>")
        .text(down.stage.as_str())
        .ours("</code>");
}

pub(super) fn step(html: &mut Html, down: &Down) {
    if !down.next_step.is_empty() {
        html.ours("<p class=\"step\"><span class=\"label\">What to do:</span> ").prose(&down.next_step);
        html.ours(" More: <code>perfmon-exporter explain ").text(&down.reason).ours("</code></p>");
    }
}

/// Consecutive changes of state that are alike, of one or more targets.
struct Run<'a> {
    change: &'a Change,
    targets: Vec<&'a str>,
}

impl<'a> Run<'a> {
    /// Whether `next` is the same change, of another target.
    fn takes(&self, next: &Change) -> bool {
        let is_like = match (&self.change.turn, &next.turn) {
            (Turn::Down(one), Turn::Down(other)) | (Turn::Partial(Some(one)), Turn::Partial(Some(other))) => {
                (one.stage, &one.reason) == (other.stage, &other.reason)
            }
            (one, other) => one == other,
        };
        is_like && !self.targets.contains(&next.target.as_str())
    }
}

/// Writes the last changes of state, newest first. Consecutive equal changes of several targets are one entry.
pub(super) fn changes<'a>(
    html: &mut Html,
    changes: impl Iterator<Item = &'a Change>,
    shown_max: usize,
    now: Instant,
) {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for change in changes {
        let is_last = runs.len() == shown_max;
        match runs.last_mut() {
            Some(run) if run.takes(change) => run.targets.push(&change.target),
            _ if is_last => break,
            _ => runs.push(Run { change, targets: vec![&change.target] }),
        }
    }
    html.ours("<ol class=\"changes\">");
    for run in &runs {
        write_run(html, run, now);
    }
    html.ours("</ol>");
}

fn write_run(html: &mut Html, run: &Run<'_>, now: Instant) {
    let (became, down) = match &run.change.turn {
        Turn::Down(down) => (TargetHealth::Down, Some(down)),
        Turn::Partial(down) => (TargetHealth::Partial, down.as_ref()),
        Turn::Up => (TargetHealth::Up, None),
    };
    html.ours("<li><p class=\"what\">");
    state(html, became);
    for (place, target) in run.targets.iter().take(NAMES_SHOWN).enumerate() {
        html.ours(if place > 0 { ", <a" } else { " <a" }).href(&Url::of("targets").step(target));
        html.ours(">").name(target).ours("</a>");
    }
    if run.targets.len() > NAMES_SHOWN {
        html.ours(" and ").text(count((run.targets.len() - NAMES_SHOWN) as u64)).ours(" more");
    }
    html.ours(" <span class=\"when\">").text(span(now.duration_since(run.change.at))).ours(" ago</span></p>");
    match down {
        Some(down) if run.targets.len() == 1 => trouble(html, down),
        Some(down) => {
            html.ours("<p class=\"trouble\">");
            reason(html, down);
            html.ours("</p>");
            step(html, down);
        }
        None if became == TargetHealth::Partial => {
            html.ours("<p class=\"step\">A module matches nothing on the target.</p>");
        }
        None => drop(html.ours("<p class=\"step\">Collections are complete again.</p>")),
    }
    html.ours("</li>");
}
