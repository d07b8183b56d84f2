//! What went wrong, and what to do about it.

use std::time::Instant;

use super::amount::ago;
use super::fleet::sign;
use super::html::{Html, Url};
use crate::telemetry::{Change, Down, TargetState, Turn};

/// A target's state: sign, word, and a class for the style. Colour says nothing that these do not.
pub(super) fn state(html: &mut Html, state: TargetState) {
    html.ours("<span class=\"state ")
        .ours(state.as_str())
        .ours("\"><span aria-hidden=\"true\">")
        .ours(sign(state));
    html.ours("</span> ").ours(state.as_str()).ours("</span>");
}

/// Stage, reason, details and the next step.
pub(super) fn trouble(html: &mut Html, down: &Down) {
    html.ours("<p class=\"trouble\"><code>")
        .text(&down.reason)
        .ours("</code> at <code>")
        .text(down.stage.word());
    html.ours("</code>");
    let detail = down.detail();
    if !detail.is_empty() {
        html.ours(": ").name(detail);
    }
    html.ours("</p>");
    if !down.next_step.is_empty() {
        html.ours("<p class=\"step\"><span class=\"label\">What to do:</span> ")
            .name(&down.next_step)
            .ours("</p>");
    }
}

/// The last changes of state, the newest first.
pub(super) fn changes<'a>(html: &mut Html, changes: impl Iterator<Item = &'a Change>, now: Instant) {
    html.ours("<ol class=\"changes\">");
    for change in changes {
        let (became, down) = match &change.turn {
            Turn::Down(down) => (TargetState::Down, Some(down)),
            Turn::Partial(down) => (TargetState::Partial, down.as_ref()),
            Turn::Up => (TargetState::Up, None),
        };
        html.ours("<li><p class=\"what\">");
        state(html, became);
        html.ours(" <a").href(&Url::of("targets").step(&change.target)).ours(">").name(&change.target);
        html.ours("</a> <span class=\"when\">")
            .text(ago(now.duration_since(change.at)))
            .ours(" ago</span></p>");
        match down {
            Some(down) => trouble(html, down),
            None if became == TargetState::Partial => drop(html.ours("<p>a module matches nothing</p>")),
            None => drop(html.ours("<p>everything is there again</p>")),
        }
        html.ours("</li>");
    }
    html.ours("</ol>");
}
