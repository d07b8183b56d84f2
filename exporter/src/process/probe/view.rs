use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use config::Target;
use parking_lot::Mutex;
use plugin_abi::{GeneralReason, Stage};
use series::model::{Layout, Snapshot};
use series::pipeline::Store;

use targets::{Down, JobStatus, TargetHealth, TargetState, TargetStatus};
use web::Probed;

/// So often what was read is compared with what is known by then.
const LOOKS_MAX: usize = 3;

/// What is known of these modules of a target now: their series, and the account of the collections that these are
/// from.
pub(super) fn answer_of(entry: &TargetState, modules: &[usize]) -> Probed {
    let mut status = entry.status();
    let mut snapshots = read(entry, modules);
    for _ in 1..LOOKS_MAX {
        let now = entry.status();
        let is_same = modules.iter().all(|&module| status.jobs[module].ended == now.jobs[module].ended);
        if is_same {
            break;
        }
        status = now;
        snapshots = read(entry, modules);
    }
    let jobs: Vec<&JobStatus> = modules.iter().map(|&module| &status.jobs[module]).collect();
    Probed {
        snapshots,
        state: Some(TargetHealth::of_modules(jobs.iter().map(|job| match job.health() {
            // The requester has waited for it without a result.
            TargetHealth::Waiting => TargetHealth::Down,
            state => state,
        }))),
        stages: stages(&jobs),
        failures: failures(&jobs),
        duration: jobs.iter().filter_map(|job| job.last_duration).sum(),
        age: age(&status, modules),
        report: None,
    }
}

fn read(entry: &TargetState, modules: &[usize]) -> Vec<Arc<Snapshot>> {
    let stores: Vec<&Arc<Store>> = entry.stores().collect();
    modules.iter().filter_map(|&module| stores.get(module)).map(|store| store.snapshot()).collect()
}

fn stages(jobs: &[&JobStatus]) -> Vec<(String, Duration)> {
    let all = Stage::ALL.iter().enumerate();
    all.map(|(index, stage)| {
        (stage.to_string(), jobs.iter().map(|job| job.last_stages[index].duration).sum())
    })
    .collect()
}

fn failures(jobs: &[&JobStatus]) -> Vec<(String, String)> {
    let of_down = |down: &Down| (down.stage.to_string(), down.reason.clone());
    let mut failures: Vec<(String, String)> = Vec::new();
    for job in jobs {
        let failure = match job.down.as_ref().or(job.partial.as_ref()) {
            Some(down) => of_down(down),
            None if job.has_ended() => continue,
            None => (Stage::Plugin.to_string(), GeneralReason::Timeout.as_str().to_owned()),
        };
        if !failures.contains(&failure) {
            failures.push(failure);
        }
    }
    failures
}

fn age(status: &TargetStatus, modules: &[usize]) -> Duration {
    let now = Instant::now();
    let ages = modules.iter().filter_map(|&module| status.jobs[module].ended);
    ages.map(|ended| now.saturating_duration_since(ended)).max().unwrap_or_default()
}

/// A target's layouts for probes: rebuilt when series come or go, not for each probe.
#[derive(Default)]
pub(super) struct Views(Mutex<HashMap<Place, View>>);

/// What it was made of, and what came of it.
type View = (Weak<Layout>, Arc<Layout>);

/// A module, and whether the configuration's labels are there.
type Place = (usize, bool);

impl Views {
    /// Removes the label `target`, which Prometheus adds, and those of the configuration unless they are requested.
    pub(super) fn leave_out(&self, probed: &mut Probed, target: &Target, modules: &[usize], labels: bool) {
        let mut left_out = vec![("target", target.name.as_str())];
        if !labels {
            left_out.extend(target.labels.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        }
        let mut views = self.0.lock();
        for (snapshot, &module) in probed.snapshots.iter_mut().zip(modules) {
            let made_of = snapshot.layout();
            let known = views.get(&(module, labels));
            // An address is not given to another layout for as long as somebody points at it.
            let known = known.filter(|(of, _)| std::ptr::eq(of.as_ptr(), Arc::as_ptr(made_of)));
            let layout = match known {
                Some((_, layout)) => Arc::clone(layout),
                None => {
                    let layout = Arc::new(made_of.without(&left_out));
                    let made = (Arc::downgrade(made_of), Arc::clone(&layout));
                    views.insert((module, labels), made);
                    layout
                }
            };
            *snapshot = Arc::new(snapshot.laid_out(layout));
        }
    }
}
