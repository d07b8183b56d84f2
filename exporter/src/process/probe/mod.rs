//! Answers `/probe`.
//!
//! A configured target is answered from what its schedule knows. Any other question (another host, other modules,
//! another identity) makes a [`KeptTarget`], which is kept for some minutes so that its connection serves the next
//! probe too. Whatever the number of those who ask, one collection for each of them runs at a time, and all get what
//! it brings.

mod counts;
mod destination;
mod kept_target;
mod observer;
mod permits;
mod probe_targets;
mod report;
mod view;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use config::{Config, Target};
use http_server::PeerKey;
use otlp::push::EventRouter;
use parking_lot::Mutex;
use plugin_abi::{GeneralReason, Stage};
use plugin_host::Host;
use series::pipeline::Catalog;
use targets::{Costs, TargetState};
use tokio::runtime::Handle;
use tokio::time::Instant;
use tracing::debug;
use web::{Discovered, ProbeAnswer, ProbeRefused, ProbeRequest, Probed, Prober};

pub(super) use self::counts::METRICS;

use self::counts::{ProbeCounts, ProbeOutcome};
use self::kept_target::KeptTarget;
use self::permits::{Permits, Reachability};
use self::probe_targets::{Asked, Configured, Key, Other, ProbeTargets};
use self::view::{Views, answer_of};
use super::Lookups;
use super::plugins::Libraries;

/// How long the deadline of a collection is before that of the answer, so that a failure is reported with its
/// stage.
const ANSWER_SLACK: Duration = Duration::from_millis(150);
/// Kept targets are looked through so often at most.
const SWEEP_MIN: Duration = Duration::from_secs(1);
/// `Retry-After` of refused requests.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// What collections for probes need.
pub(super) struct Dependencies {
    pub(super) host: Host,
    pub(super) catalog: Arc<Catalog>,
    pub(super) costs: Arc<Costs>,
    /// Collectors that want to know at once.
    pub(super) event_router: Arc<EventRouter>,
    pub(super) lookups: Lookups,
    pub(super) runtime: Handle,
}

/// What all flights share.
struct Shared {
    dependencies: Dependencies,
    hosts: Hosts,
    counts: ProbeCounts,
}

/// The targets of probes.
pub(super) struct Probes {
    shared: Arc<Shared>,
    state: Mutex<State>,
}

struct State {
    known: Arc<ProbeTargets>,
    kept: HashMap<Key, Arc<KeptTarget>>,
    permits: Permits,
}

impl Probes {
    /// No target is known yet. Begins to look after those that are kept; to be called on a run time.
    pub(super) fn start(config: &Arc<Config>, dependencies: Dependencies) -> Arc<Self> {
        let permits = Permits::new(config.probe.max_concurrent);
        let known = Arc::new(ProbeTargets::nothing(Arc::clone(config)));
        let state = Mutex::new(State { known, kept: HashMap::new(), permits });
        let shared = Shared { dependencies, hosts: Hosts::default(), counts: ProbeCounts::default() };
        let probes = Arc::new(Self { shared: Arc::new(shared), state });
        probes.shared.dependencies.runtime.spawn(sweep(Arc::downgrade(&probes)));
        probes
    }

    /// These are the configured targets from now on. What was made by another configuration is let go of.
    pub(super) fn know(
        &self,
        config: &Arc<Config>,
        libraries: &Libraries,
        targets: Vec<(Target, Arc<TargetState>)>,
    ) {
        let configured =
            targets.into_iter().map(|(target, entry)| Configured { target, entry, views: Views::default() });
        let known = Arc::new(ProbeTargets::new(Arc::clone(config), libraries.clone(), configured.collect()));
        let mut state = self.state.lock();
        let before = std::mem::replace(&mut state.known, known);
        if before.config.probe.max_concurrent != config.probe.max_concurrent {
            state.permits = Permits::new(config.probe.max_concurrent);
        }
        if !Arc::ptr_eq(&before.config, config) {
            let gone = std::mem::take(&mut state.kept);
            drop(state);
            // Outside of the lock: instances end here, unless a collection still runs.
            drop(gone);
        }
    }

    /// What became of probes.
    pub(super) fn counts(&self) -> &ProbeCounts {
        &self.shared.counts
    }

    async fn answer(&self, request: ProbeRequest, peer: PeerKey) -> ProbeAnswer {
        let known = Arc::clone(&self.state.lock().known);
        let settings = &known.config.probe;
        if !settings.enabled {
            let message = "probes are switched off by `probe: {enabled: false}`".to_owned();
            return Err(ProbeRefused::Forbidden(message));
        }
        if !known.is_complete {
            let message = "the targets are not known yet".to_owned();
            return Err(ProbeRefused::Busy { message, retry_after: RETRY_AFTER });
        }
        let answer_by = Instant::now() + time_for(request.timeout, settings);
        match known.asked(&request)? {
            Asked::Configured { configured: Configured { target, entry, views }, modules } => {
                // The first collection may still be in progress.
                let _ = tokio::time::timeout_at(answer_by, entry.ended(&modules)).await;
                let mut probed = answer_of(entry, &modules);
                views.leave_out(&mut probed, target, &modules, request.labels);
                if request.debug {
                    let report = report::of(
                        &known.config,
                        target,
                        entry,
                        &modules,
                        &probed,
                        None,
                        request.shows_identity,
                    );
                    probed.report = Some(report);
                }
                Ok(probed)
            }
            Asked::Other(other) => self.ask(&known, *other, (&request, peer), answer_by).await,
        }
    }

    async fn ask(
        &self,
        known: &Arc<ProbeTargets>,
        other: Other,
        (request, peer): (&ProbeRequest, PeerKey),
        answer_by: Instant,
    ) -> ProbeAnswer {
        let (kept, permits) = self.kept(known, other)?;
        loop {
            let flight = match kept.current(request.debug) {
                Some(flight) => flight,
                None => {
                    let reachability = kept.reachability();
                    let now = Instant::now();
                    // What is left has to be enough for a collection.
                    let by = now + answer_by.saturating_duration_since(now) / 2;
                    let Some(permit) = permits.acquire(reachability, peer, by).await else {
                        let limit = known.config.probe.max_concurrent;
                        return Err(ProbeRefused::Busy {
                            message: busy(reachability, limit),
                            retry_after: RETRY_AFTER,
                        });
                    };
                    kept.flight(&self.shared, permit, request.debug, answer_by - ANSWER_SLACK)
                }
            };
            let ended = flight.ended(answer_by).await;
            if let Some(Err(refused)) = ended {
                return Err(refused);
            }
            let is_shortened = ended.is_some() && flight.deadline + ANSWER_SLACK < answer_by;
            if is_shortened && flight.was_late() && Instant::now() + ANSWER_SLACK < answer_by {
                // The first requester had less time than this one.
                continue;
            }
            if ended.is_some() && request.debug && !flight.tells_all {
                continue;
            }
            let mut probed = match ended {
                Some(_) => answer_of(&kept.entry, &kept.all_modules()),
                None => late(),
            };
            if !request.labels {
                kept.views.leave_out(&mut probed, &kept.target, &kept.all_modules(), false);
            }
            if request.debug {
                let (entry, modules) = (&kept.entry, kept.all_modules());
                let lines = Some(kept.lines());
                let report = report::of(
                    &known.config,
                    &kept.target,
                    entry,
                    &modules,
                    &probed,
                    lines,
                    request.shows_identity,
                );
                probed.report = Some(report);
            }
            return Ok(probed);
        }
    }

    /// The target that is kept for this question, or a new one.
    fn kept(
        &self,
        known: &Arc<ProbeTargets>,
        other: Other,
    ) -> Result<(Arc<KeptTarget>, Permits), ProbeRefused> {
        let mut state = self.state.lock();
        let permits = state.permits.clone();
        if let Some(kept) = state.kept.get(&other.key) {
            kept.touch();
            return Ok((Arc::clone(kept), permits));
        }
        let limit = known.config.probe.max_targets as usize;
        let evicted = if state.kept.len() >= limit { state.oldest_idle() } else { None };
        if state.kept.len() >= limit && evicted.is_none() {
            return Err(ProbeRefused::Busy {
                message: format!("{limit} targets are being probed, which is `probe.max_targets`"),
                retry_after: RETRY_AFTER,
            });
        }
        let evicted = evicted.and_then(|oldest| state.kept.remove(&oldest));
        let Other { key, target, is_configured } = other;
        let kept = Arc::new(KeptTarget::new(known, target, is_configured, &self.shared.dependencies));
        // What another configuration made meanwhile serves this question, and no other.
        if Arc::ptr_eq(&state.known.config, &known.config) {
            state.kept.insert(key, Arc::clone(&kept));
        }
        self.shared.counts.set_kept(state.kept.len());
        drop(state);
        drop(evicted);
        Ok((kept, permits))
    }

    /// Drops targets without requests for a while; returns the time until the next check.
    fn sweep(&self) -> Duration {
        let mut state = self.state.lock();
        let idle = state.known.config.probe.idle;
        let now = Instant::now();
        let gone: Vec<Arc<KeptTarget>> = state
            .kept
            .extract_if(|_, kept| kept.idle_for(now).is_some_and(|since| since >= idle))
            .map(|(_, kept)| kept)
            .collect();
        self.shared.counts.set_kept(state.kept.len());
        drop(state);
        if !gone.is_empty() {
            debug!(targets = gone.len(), "Probed targets released");
        }
        (idle / 4).max(SWEEP_MIN)
    }
}

impl State {
    fn oldest_idle(&self) -> Option<Key> {
        let now = Instant::now();
        let idle = self.kept.iter().filter_map(|(key, kept)| Some((kept.idle_for(now)?, key)));
        idle.max_by_key(|(since, _)| *since).map(|(_, key)| key.clone())
    }
}

impl Prober for Probes {
    fn probe(
        &self,
        request: ProbeRequest,
        peer: PeerKey,
    ) -> Pin<Box<dyn Future<Output = ProbeAnswer> + Send + '_>> {
        Box::pin(async move {
            let answer = self.answer(request, peer).await;
            self.shared.counts.count(match &answer {
                Ok(probed) if probed.is_up() => ProbeOutcome::Success,
                Ok(_) => ProbeOutcome::Failure,
                Err(ProbeRefused::Bad(_) | ProbeRefused::Forbidden(_)) => ProbeOutcome::Refused,
                Err(ProbeRefused::Busy { .. }) => ProbeOutcome::Busy,
            });
            answer
        })
    }

    fn targets(&self) -> Option<Discovered> {
        let known = Arc::clone(&self.state.lock().known);
        known.is_complete.then(|| Discovered {
            targets: known.targets.iter().map(|known| known.target.clone()).collect(),
            external: known.config.web.external_url.clone(),
        })
    }
}

async fn sweep(probes: Weak<Probes>) {
    loop {
        let Some(pause) = probes.upgrade().map(|probes| probes.sweep()) else { return };
        tokio::time::sleep(pause).await;
    }
}

/// A little less than the requester's timeout, up to the configured limit.
fn time_for(timeout: Option<Duration>, settings: &config::Probe) -> Duration {
    let Some(timeout) = timeout else { return settings.deadline };
    let wanted = timeout.saturating_sub(settings.timeout_offset).max(timeout / 2);
    wanted.min(settings.deadline)
}

/// Why there is no permit.
fn busy(reachability: Reachability, limit: u32) -> String {
    let of_whom = match reachability {
        Reachability::Reachable => "",
        Reachability::Unknown => {
            "; half of them are for hosts that were not probed yet, and half of these for one client"
        }
        Reachability::Unreachable => {
            "; a quarter of them is for hosts that did not answer the last time, and half of these for one client"
        }
    };
    format!("too many probes are running: `probe.max_concurrent` is {limit}{of_whom}")
}

/// The answer for a target whose collection is not finished in time.
fn late() -> Probed {
    Probed {
        failures: vec![(Stage::Plugin.to_string(), GeneralReason::Timeout.as_str().to_owned())],
        ..Probed::default()
    }
}

/// Serialises probes of one host, for any modules and identities.
#[derive(Default)]
struct Hosts(Mutex<HashMap<String, Weak<Turn>>>);

/// Held during a probe of the host.
type Turn = tokio::sync::Mutex<()>;

/// Unused turns are removed when there is this number of them.
const CLEAR_AT: usize = 4096;

impl Hosts {
    fn turn(&self, host: &str) -> Arc<Turn> {
        let mut hosts = self.0.lock();
        if let Some(turn) = hosts.get(host).and_then(Weak::upgrade) {
            return turn;
        }
        if hosts.len() >= CLEAR_AT {
            hosts.retain(|_, turn| turn.strong_count() > 0);
        }
        let turn = Arc::default();
        hosts.insert(host.to_owned(), Arc::downgrade(&turn));
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_comes_before_prometheus_gives_up() {
        let settings = config::Probe::default();
        let time =
            |timeout_ms: Option<u64>| time_for(timeout_ms.map(Duration::from_millis), &settings).as_millis();
        assert_eq!(time(None), 10_000);
        assert_eq!(time(Some(5_000)), 4_500);
        assert_eq!(time(Some(60_000)), 10_000);
        assert_eq!(time(Some(600)), 300, "an offset never takes more than half");
    }
}
