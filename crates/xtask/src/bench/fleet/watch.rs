//! Looks at the exporter a little more than once an interval, so that it sees every collection's duration once.

use std::time::{Duration, Instant};

use super::super::{Usage, machine_cpu_s};
use super::world::{Kind, World};
use super::{Fleet, Page, TargetFigures};
use crate::process::Running;
use crate::{Result, http};

/// What a run brought.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// From the exporter's start until every host that can be was up.
    pub(super) all_up_s: f64,
    /// Processor time of the exporter until then.
    pub(super) all_up_cpu_s: f64,
    /// How long it was measured after that.
    pub(super) window_s: f64,
    /// Of healthy hosts, in order.
    pub(super) durations_s: Vec<f64>,
    /// Collections of healthy hosts whose durations were not seen, since the next one came before the page was read.
    pub(super) unseen: f64,
    pub(super) collections: f64,
    /// Collections of healthy hosts that should have been and were not.
    pub(super) missed: f64,
    /// Collections of healthy hosts that failed, in part or wholly.
    pub(super) not_full: f64,
    /// Of a healthy host.
    pub(super) series: f64,
    /// Per collection of a healthy host.
    pub(super) calls: f64,
    pub(super) received_bytes: f64,
    pub(super) sent_bytes: f64,
    /// Processor time within the window, memory at its end.
    pub(super) exporter: Usage,
    pub(super) simulators: Usage,
    /// Processor time within the window: of this program, and of everything else on the machine.
    pub(super) looks_cpu_s: f64,
    pub(super) others_cpu_s: f64,
    pub(super) points: Vec<Point>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Point {
    /// Since the exporter's start.
    pub(super) at_s: f64,
    /// Of the collections of healthy hosts since the last look; no number where there was none.
    pub(super) p50_s: f64,
    pub(super) p99_s: f64,
    pub(super) resident_bytes: f64,
    pub(super) up: f64,
}

/// Watches a world until it is warm and then for as long as is wanted.
pub(super) fn watch(world: &mut World<'_>, fleet: Fleet) -> Result<Measured> {
    let mut watcher = Watcher { world, last: Page::default(), measured: Measured::default() };
    watcher.until_warm()?;
    watcher.measure(fleet)?;
    Ok(watcher.measured)
}

/// The value below which that part of the `sorted` ones is; no number where there is none.
pub(super) fn quantile(sorted: &[f64], part: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let place = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

struct Watcher<'w, 'a> {
    world: &'w mut World<'a>,
    last: Page,
    measured: Measured,
}

impl Watcher<'_, '_> {
    /// Until every host is up but those that never will, and has been asked twice: the second collection is the
    /// first that costs one call.
    fn until_warm(&mut self) -> Result<()> {
        let deadline = self.world.begun + WARM_MAX;
        loop {
            std::thread::sleep(WARM_STEP);
            self.look()?;
            let kinds = self.world.kinds.iter();
            let reachable = kinds.zip(&self.last.targets).filter(|(kind, _)| **kind != Kind::Dark);
            let reachable: Vec<&TargetFigures> = reachable.map(|(_, target)| target).collect();
            let up = reachable.iter().filter(|target| target.is_up).count();
            if self.measured.all_up_s == 0.0 && up == reachable.len() {
                self.measured.all_up_s = self.world.begun.elapsed().as_secs_f64();
                self.measured.all_up_cpu_s = Usage::of(self.world.exporter.id())?.cpu_s;
            }
            if self.measured.all_up_s > 0.0 && reachable.iter().all(|target| target.collections >= 2.0) {
                return Ok(());
            }
            if Instant::now() > deadline {
                let problem = format!("{up} of {} hosts are up after {WARM_MAX:?}", reachable.len());
                return Err(self.world.exporter.complaint(&problem));
            }
        }
    }

    fn measure(&mut self, fleet: Fleet) -> Result<()> {
        let before = self.usages()?;
        let begun = Instant::now();
        let first = self.last.clone();
        let mut durations = Vec::new();
        let step = Duration::from_secs_f64(f64::from(fleet.interval_s) * LOOK_STEP);
        let mut next = begun;
        while begun.elapsed() < Duration::from_secs(fleet.seconds.into()) {
            next += step;
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
            durations.extend(self.look()?);
        }
        let window_s = begun.elapsed().as_secs_f64();
        let now = self.usages()?;
        durations.sort_by(f64::total_cmp);
        let healthy = self.compare(&first, window_s / f64::from(fleet.interval_s));
        #[expect(clippy::cast_precision_loss)]
        let seen = durations.len() as f64;
        let measured = &mut self.measured;
        measured.window_s = window_s;
        measured.unseen = healthy - seen;
        measured.durations_s = durations;
        measured.exporter = now.exporter.since(before.exporter);
        measured.simulators = now.simulators.since(before.simulators);
        measured.looks_cpu_s = now.own.since(before.own).cpu_s;
        let known = [measured.exporter.cpu_s, measured.simulators.cpu_s, measured.looks_cpu_s];
        measured.others_cpu_s = now.machine_cpu_s - before.machine_cpu_s - known.iter().sum::<f64>();
        Ok(())
    }

    /// What the healthy hosts' counters say of the window, over which `intervals` went by. Answers their
    /// collections.
    fn compare(&mut self, first: &Page, intervals: f64) -> f64 {
        let mut sum = TargetFigures::default();
        let (mut healthy, mut too_few, mut collections) = (0.0, 0.0, 0.0);
        for ((kind, now), before) in self.kinds().zip(&self.last.targets).zip(&first.targets) {
            let made = now.collections - before.collections;
            collections += made;
            if kind != Kind::Healthy {
                continue;
            }
            healthy += 1.0;
            sum.series += now.series;
            sum.collections += made;
            sum.not_full += now.not_full - before.not_full;
            sum.calls += now.calls - before.calls;
            sum.received_bytes += now.received_bytes - before.received_bytes;
            sum.sent_bytes += now.sent_bytes - before.sent_bytes;
            // One collection may have ended just before the window, and another one will just after it.
            too_few += (intervals.floor() - 1.0 - made).max(0.0);
        }
        let measured = &mut self.measured;
        measured.collections = collections;
        measured.missed = too_few.max(self.last.skipped - first.skipped);
        measured.not_full = sum.not_full;
        measured.series = sum.series / healthy;
        measured.calls = sum.calls / sum.collections;
        measured.received_bytes = sum.received_bytes / sum.collections;
        measured.sent_bytes = sum.sent_bytes / sum.collections;
        sum.collections
    }

    /// One look: the durations of the healthy hosts' collections that ended since the last one.
    fn look(&mut self) -> Result<Vec<f64>> {
        let answer = http::get(self.world.address, "/metrics", "text/plain")?;
        let page = Page::read(&answer.body, &self.world.places);
        let before = self.last.targets.iter().map(|target| target.collections).chain(std::iter::repeat(0.0));
        let ended = self
            .kinds()
            .zip(&page.targets)
            .zip(before)
            .filter(|((kind, target), before)| *kind == Kind::Healthy && target.collections > *before);
        let mut durations: Vec<f64> = ended.map(|((_, target), _)| target.seconds).collect();
        durations.sort_by(f64::total_cmp);
        #[expect(clippy::cast_precision_loss)]
        let up = page.targets.iter().filter(|target| target.is_up).count() as f64;
        self.measured.points.push(Point {
            at_s: self.world.begun.elapsed().as_secs_f64(),
            p50_s: quantile(&durations, 0.5),
            p99_s: quantile(&durations, 0.99),
            resident_bytes: Usage::of(self.world.exporter.id())?.resident_bytes,
            up,
        });
        self.last = page;
        Ok(durations)
    }

    fn kinds(&self) -> impl Iterator<Item = Kind> {
        self.world.kinds.iter().copied()
    }

    fn usages(&self) -> Result<Usages> {
        let simulators: Vec<u32> = self.world.simulators.iter().map(Running::id).collect();
        Ok(Usages {
            exporter: Usage::of(self.world.exporter.id())?,
            simulators: Usage::of_all(&simulators)?,
            own: Usage::of(std::process::id())?,
            machine_cpu_s: machine_cpu_s()?,
        })
    }
}

struct Usages {
    exporter: Usage,
    simulators: Usage,
    own: Usage,
    machine_cpu_s: f64,
}

/// So much of an interval is between two looks: no collection ends unseen behind another one, and those that a look
/// disturbs are few.
const LOOK_STEP: f64 = 0.9;
const WARM_STEP: Duration = Duration::from_secs(1);
const WARM_MAX: Duration = Duration::from_secs(900);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!((quantile(&hundred, 0.5), quantile(&hundred, 0.99)), (50.0, 99.0));
        assert_eq!((quantile(&[7.0], 0.99), quantile(&[7.0], 0.0)), (7.0, 7.0));
        assert!(quantile(&[], 0.5).is_nan());
    }
}
