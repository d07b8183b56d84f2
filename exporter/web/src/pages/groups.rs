//! Failures that many targets have in common.

use plugin_abi::Stage;

use super::Entry;
use super::amount::count;
use super::html::Html;
use super::target_url;
use super::troubles::{NAMES_SHOWN, reason, step};
use super::wanted::Wanted;
use targets::{Down, TargetHealth};

/// From this number on, targets that fail for the same reason are shown as one group.
const TARGETS_MIN: usize = 3;

/// Targets that are down or partial for the same reason.
pub(super) struct Group {
    /// The failure of the first target.
    down: Down,
    state: TargetHealth,
    targets: usize,
    /// Indexes of the first targets.
    first: Vec<usize>,
}

/// Failures by state, stage and reason.
#[derive(Default)]
pub(super) struct Groups(Vec<Group>);

impl Groups {
    /// Adds a failing target.
    pub(super) fn enter(&mut self, state: TargetHealth, down: &Down, index: usize) {
        let is_like = |group: &Group| group.state == state && is_same(&group.down, down.stage, &down.reason);
        let place = self.0.iter().position(is_like).unwrap_or_else(|| {
            self.0.push(Group { down: down.clone(), state, targets: 0, first: Vec::new() });
            self.0.len() - 1
        });
        let group = &mut self.0[place];
        group.targets += 1;
        if group.first.len() < NAMES_SHOWN {
            group.first.push(index);
        }
    }

    /// Whether a group shows the next step for this failure, so that the row can omit it.
    pub(super) fn has(&self, state: TargetHealth, down: &Down) -> bool {
        self.shown().any(|group| group.state == state && is_same(&group.down, down.stage, &down.reason))
    }

    fn shown(&self) -> impl Iterator<Item = &Group> {
        self.0.iter().filter(|group| group.targets >= TARGETS_MIN)
    }

    /// The groups, the largest first.
    pub(super) fn write(&self, html: &mut Html, entries: &[Entry], wanted: &Wanted) {
        let mut shown: Vec<&Group> = self.shown().collect();
        if shown.is_empty() {
            return;
        }
        shown.sort_by_key(|group| std::cmp::Reverse(group.targets));
        html.ours("<ul class=\"groups\" aria-label=\"Failures of several targets\">");
        for group in shown {
            html.ours("<li class=\"notice\"><p><strong>").text(count(group.targets as u64));
            html.ours(" targets ").ours(group.state.as_str()).ours("</strong>: ");
            reason(html, &group.down);
            html.ours("</p>");
            step(html, &group.down);
            html.ours("<p class=\"step\">");
            for (place, &index) in group.first.iter().enumerate() {
                html.ours(if place > 0 { ", <a" } else { "<a" }).href(&target_url(&entries[index]));
                html.ours(">").name(&entries[index].name).ours("</a>");
            }
            let more = group.targets - group.first.len();
            if more > 0 {
                html.ours(" and ").text(count(more as u64)).ours(" more");
            }
            if wanted.cause.is_none() {
                html.ours(" · <a").href(&wanted.url_of(group.state, &group.down)).ours(">Show these ");
                html.text(count(group.targets as u64)).ours(" targets</a>");
            }
            html.ours("</p></li>\n");
        }
        html.ours("</ul>");
    }
}

fn is_same(down: &Down, stage: Stage, reason: &str) -> bool {
    down.stage == stage && down.reason == reason
}
