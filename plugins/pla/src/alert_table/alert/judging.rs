//! Judges the samples of an alert.

use std::time::Duration;

use counter_poll::Pace;
use counter_poll::paths::{CountersetFrame, Frame, Instance};
use pla_engine::{AlertState, Trigger};

use super::super::ByName;
use super::{Place, WatchedAlert};
use crate::counters::{Found, Pick};
use crate::model::SampleInterval;

impl WatchedAlert {
    /// Judges the samples of `frame`, with `room` for so many more instances. Calls `fired` for those that trigger, if that has
    /// consequences.
    pub(in crate::alert_table) async fn judge(
        &mut self,
        (found, frame): (&Found, &Frame),
        by_name: &mut ByName,
        now: Duration,
        room: &mut usize,
        fired: &mut impl FnMut(String, Trigger),
        pace: &mut Pace,
    ) {
        let Some(pick) = self.pick(found) else {
            let state = match self.place {
                Place::Path(path) => found.state_without(path),
                Place::OtherHost => AlertState::Unresolved,
            };
            self.begin_sample(now);
            return self.judge.without_counter(state, now);
        };
        let Some(frame) = frame.of(pick.path.counterset) else {
            let first = self.begin_sample(now);
            return self.finish((false, false), first, now);
        };
        if !self.bound.holds(frame, &self.judge) {
            self.bind(&pick, frame, by_name, now, room, pace).await;
        }
        // They have room, and so are not many.
        pace.step(1 + self.bound.samples.len()).await;
        // What follows is not cut off: before this, it is still due.
        let first = self.begin_sample(now);
        let acts = self.task.is_some() || self.start_set.is_some();
        let Self { bound, judge, .. } = self;
        let mut is_number = bound.leaves_out_some;
        for (place, slot) in &bound.samples {
            let reading = bound.columns.as_ref().and_then(|columns| frame.reading(*place, columns));
            let Some(reading) = reading else { continue };
            is_number = true;
            let trigger = judge.sample(*slot, pick.info.counter_type, &reading, now);
            if let Some(trigger) = trigger.filter(|_| acts) {
                fired(shown(frame, *place), trigger);
            }
        }
        let is_there = bound.is_there;
        self.finish((is_there, is_number), first, now);
    }

    /// Returns when its first sample was.
    fn begin_sample(&mut self, now: Duration) -> Duration {
        if let (Some(last), SampleInterval::Every(interval)) = (self.last_judged, self.interval) {
            self.lag = now.saturating_sub(last).saturating_sub(interval);
        }
        self.last_judged = Some(now);
        *self.first_judged.get_or_insert(now)
    }

    /// Finds where its values are.
    async fn bind(
        &mut self,
        pick: &Pick<'_>,
        frame: &CountersetFrame,
        by_name: &mut ByName,
        now: Duration,
        room: &mut usize,
        pace: &mut Pace,
    ) {
        let columns = frame.columns(pick.info);
        let versions = (frame.version(), self.judge.generation());
        self.bound.begin(columns);
        let all = frame.instances();
        let wants = |instance: &Option<Instance>| pick.path.wants(instance.as_ref());
        match pick.path.only_instance() {
            Some(name) => {
                for place in by_name.places(pick.path.counterset, frame, name, pace).await {
                    pace.step(1).await;
                    if wants(&all[*place]) {
                        self.bind_instance(*place, frame, now, room);
                    }
                }
            }
            None => {
                for (place, instance) in all.iter().enumerate() {
                    pace.step(1).await;
                    if wants(instance) {
                        self.bind_instance(place, frame, now, room);
                    }
                }
            }
        }
        self.bound.end(versions);
    }

    fn bind_instance(&mut self, place: usize, frame: &CountersetFrame, now: Duration, room: &mut usize) {
        let Self { bound, judge, .. } = self;
        bound.is_there = true;
        let Some(columns) = bound.columns else { return };
        if frame.reading(place, &columns).is_none() {
            bound.lacks_some = true;
            return;
        }
        let shown = shown(frame, place);
        let is_known = judge.has_instance(&shown);
        let slot = if is_known || *room > 0 { judge.instance(&shown, now) } else { None };
        match slot {
            Some(slot) => {
                judge.identify(slot, instance_at(frame, place).and_then(|instance| instance.id));
                *room = room.saturating_sub(usize::from(!is_known));
                bound.samples.push((place, slot));
            }
            None => {
                self.left_out += 1;
                (bound.lacks_some, bound.leaves_out_some) = (true, true);
            }
        }
    }

    /// It is due, and the host did not send its values.
    pub(in crate::alert_table) fn lack_values(&mut self, now: Duration) {
        let first = *self.first_judged.get_or_insert(now);
        self.finish((false, false), first, now);
    }

    fn finish(&mut self, (is_there, is_number): (bool, bool), first: Duration, now: Duration) {
        let is_without_data = now.saturating_sub(first) >= self.rule().interval.saturating_mul(2);
        match (is_there, is_number) {
            (true, false) => self.judge.without_counter(AlertState::Unsupported, now),
            // An instance that never was there is not waited for for ever.
            (false, _) if is_without_data => self.judge.without_counter(AlertState::NoData, now),
            _ => self.judge.finish(now),
        }
    }

    pub(in crate::alert_table) fn miss(&mut self, now: Duration) {
        if self.interval != SampleInterval::Once {
            self.judge.finish(now);
        }
    }
}

/// The name of the instance at this place; empty where there is only one.
fn shown(frame: &CountersetFrame, place: usize) -> String {
    instance_at(frame, place).map(Instance::shown).unwrap_or_default()
}

fn instance_at(frame: &CountersetFrame, place: usize) -> Option<&Instance> {
    frame.instances().get(place).and_then(Option::as_ref)
}
