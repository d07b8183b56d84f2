//! What a collection in flight waits for: the calls of this process to the host of the target.

use std::time::{Duration, Instant};

use rpc_cells::view::{CallFilter, ClientCallRow, client_calls};
use rpc_cells::{Name, ProcessIdentity};
use targets::{TargetState, TargetStatus};

use super::no_state;
use super::view::{Aged, aged};
use super::words::{call_name, cell_url, endpoint_of, wait};
use crate::metrics::Site;
use crate::page_state::NoState;
use crate::pages::amount::{count, setting, took};
use crate::pages::html::{Html, Url};
use crate::rpc_state::State;

/// Calls that are shown.
const CALLS_SHOWN: usize = 10;

/// What the collections of a target wait for.
pub(in crate::pages) struct Waiting {
    /// The modules that are collected, since when, and until when at the latest.
    running: Vec<(String, Duration, Duration)>,
    calls: Result<Vec<Aged<ClientCallRow>>, NoState>,
    /// Whether calls of hosts are kept.
    has_client_calls: bool,
    /// Whether a call to another host would look the same.
    others: Others,
}

/// What else may have made the calls: cells keep only the front of a host's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    /// Nothing that is configured.
    None,
    /// Another target on the same host.
    OfSameHost,
    /// A host whose name begins alike.
    OfLikeName,
}

impl Waiting {
    /// Nothing if no collection is in flight.
    pub(in crate::pages) async fn look(
        site: &Site,
        entry: &TargetState,
        status: &TargetStatus,
        now: Instant,
    ) -> Option<Self> {
        let jobs = entry.modules.iter().zip(&status.jobs);
        let running: Vec<_> = jobs
            .filter_map(|(module, job)| {
                let since = now.saturating_duration_since(job.running_since?);
                Some((module.clone(), since, job.deadline))
            })
            .collect();
        if running.is_empty() {
            return None;
        }
        let state = &site.page_state.rpc_state;
        let host = front(&entry.host);
        let calls = state.look(move |state| calls_to(state, host)).await;
        let targets = site.target_registry.targets();
        let others = targets.iter().filter(|other| other.name != entry.name);
        let others = others_like(&entry.host, others.map(|other| other.host.as_str()));
        Some(Self { running, calls, has_client_calls: state.has_client_calls(), others })
    }

    pub(in crate::pages) fn write(&self, html: &mut Html, entry: &TargetState) {
        html.ours("<section class=\"waiting-for\" aria-labelledby=\"waits\"><h2 id=\"waits\">");
        html.ours("What the collection waits for</h2><p>");
        for (place, (module, since, deadline)) in self.running.iter().enumerate() {
            html.ours(if place > 0 { "; module " } else { "Module " }).name(module).ours(" for <strong>");
            html.text(took(*since)).ours("</strong> of at most ").text(setting(*deadline));
        }
        html.ours("</p>");
        match &self.calls {
            Ok(calls) if !calls.is_empty() => self.write_calls(html, calls, &entry.host),
            Ok(_) if self.has_client_calls => {
                html.ours("<p class=\"empty\">No RPC call to ").name(&entry.host);
                html.ours(" is in flight: the collection finds the host, connects or logs on, or has its answer.</p>");
            }
            Ok(_) => {
                html.ours("<p class=\"empty\">Calls to hosts are not kept. To see them here, set ");
                html.ours("<code>rpc_state.level: full</code>, and start the exporter again.</p>");
            }
            Err(why) => no_state(html, why),
        }
        html.ours("</section>");
    }

    fn write_calls(&self, html: &mut Html, calls: &[Aged<ClientCallRow>], host: &str) {
        html.ours("<ul class=\"counted\">");
        for call in calls.iter().take(CALLS_SHOWN) {
            let row = &call.row;
            html.ours("<li>");
            wait(html, call);
            html.ours(" ");
            call_name(html, &row.names, row.interface_start, row.opnum);
            html.ours(" at ");
            endpoint_of(html, row);
            html.ours("<span class=\"sub\">of ").name(&row.found.owner).ours(", call ").text(row.call_id);
            html.ours(", <a").href(&cell_url(&row.found, row.found.cell)).ours(">cell ");
            html.text(row.found.cell).ours("</a></span></li>");
        }
        html.ours("</ul>");
        let more = calls.len().saturating_sub(CALLS_SHOWN);
        if more > 0 {
            html.ours("<p>and ").text(count(more as u64)).ours(" more: <a").href(&Url::of("rpc-state"));
            html.ours(">RPC state</a></p>");
        }
        match self.others {
            Others::None => {}
            Others::OfSameHost => {
                html.ours("<p class=\"note\">Another target is on the same host: calls may be of its collection.</p>");
            }
            Others::OfLikeName => {
                html.ours("<p class=\"note\">Calls are known by the name ").name(front(host).as_str());
                html.ours(
                    ", which is what fits of longer ones: they go to this host, or to another host whose ",
                );
                html.ours("name begins alike.</p>");
            }
        }
    }
}

/// The bytes of a host's name that a call's target keeps.
const FRONT_BYTES: usize = 24;

fn front(host: &str) -> Name<FRONT_BYTES> {
    Name::new(host)
}

/// The calls of this process to the host, the oldest first.
fn calls_to(state: &State, host: Name<FRONT_BYTES>) -> Vec<Aged<ClientCallRow>> {
    // Another process with the same process id has ended.
    let Ok(own) = ProcessIdentity::current() else { return Vec::new() };
    let mut calls = client_calls(&state.snapshots, &CallFilter::default()).rows;
    calls.retain(|call| {
        state.snapshots[call.found.file].header.process == own
            && call.server.eq_ignore_ascii_case(host.as_str())
    });
    aged(state, calls, |call| (&call.found, call.last_update_ms))
}

fn others_like<'a>(host: &str, others: impl Iterator<Item = &'a str>) -> Others {
    let is_cut = host.len() > front(host).as_str().len();
    let is_like = |other: &str| front(other).as_str().eq_ignore_ascii_case(front(host).as_str());
    let mut others = others.filter(|other| is_like(other)).map(|other| other.eq_ignore_ascii_case(host));
    // What was cut off may be that of a host that is no target, such as one that is probed.
    match (is_cut, others.next()) {
        (true, _) | (_, Some(false)) => Others::OfLikeName,
        (false, Some(true)) if others.any(|is_same| !is_same) => Others::OfLikeName,
        (false, Some(true)) => Others::OfSameHost,
        (false, None) => Others::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "a-very-long-host-name-one.example";
    const LIKE: &str = "a-very-long-host-name-onetwo.example";

    #[test]
    fn calls_of_other_targets_are_told_from_those_of_this_one_as_far_as_names_do() {
        let check = |host: &str, others: &[&str], expected| {
            assert_eq!(others_like(host, others.iter().copied()), expected, "{host} {others:?}");
        };
        check("web1", &[], Others::None);
        check("web1", &["web2", "web11"], Others::None);
        check("web1", &["web2", "WEB1"], Others::OfSameHost);
        check(LONG, &[], Others::OfLikeName);
        check(&LONG[..24], &[], Others::None);
        check(LONG, &[LIKE], Others::OfLikeName);
        // A name that is all there is no front of another one.
        check(&LONG[..24], &[LIKE], Others::None);
        check(&LONG[..24], &[&LONG[..24], LIKE], Others::OfSameHost);
    }
}
