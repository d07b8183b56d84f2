//! One alert, and what is known of it for each instance of its counter.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use counter_poll::Pace;
use counter_poll::paths::{Columns, CountersetFrame, Frame, Instance};
use pla_engine::{AlertState, Comparison, Judge, Rule, Slot, Trigger};
use plugin_sdk::SeriesId;

use super::{AlertRow, ByName};
use crate::counters::{Found, Kinds, Pick};
use crate::model::{Alert, SampleInterval, TaskCall};

/// What an alert is known by.
pub(crate) type Key = (Arc<str>, Arc<str>, Arc<str>);

/// An alert of a target.
#[derive(Debug)]
pub(crate) struct WatchedAlert {
    /// The name of its set.
    pub(crate) set: Arc<str>,
    pub(crate) name: Arc<str>,
    /// The path of its counter, as it is written.
    pub(crate) counter: Arc<str>,
    place: Place,
    interval: SampleInterval,
    /// Whether there are events.
    pub(crate) logs_events: bool,
    /// The task that is started when it begins to fire.
    pub(crate) task: Option<TaskCall>,
    /// The set that each sample across the threshold starts.
    pub(crate) start_set: Option<String>,
    /// Whether its set is judged.
    is_running: bool,
    judge: Judge,
    bound: Bound,
    first_judged: Option<Duration>,
    last_judged: Option<Duration>,
    /// How much later than its interval it was judged.
    pub(crate) lag: Duration,
    left_out: u64,
    /// The operator that the series of its threshold has as a label.
    shown_operator: Comparison,
    /// Its series: threshold and lag. `None` where there is none yet, and no id where the exporter dropped it.
    pub(crate) series: [Option<Option<SeriesId>>; OF_ALERTS],
    /// What is shown of its instances.
    pub(crate) rows: HashMap<Arc<str>, AlertRow>,
}

/// A sample that fired.
#[derive(Debug)]
pub(crate) struct Fired {
    /// The place of the alert in the table.
    pub(crate) alert: usize,
    /// The instance; empty where there is only one.
    pub(crate) instance: String,
    pub(crate) value: f64,
    /// Whether the sample before did not.
    pub(crate) is_first: bool,
}

/// Where the values of an alert come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The path with this place among those that are asked for.
    Path(usize),
    /// Another host: it is judged where that is a target.
    OtherHost,
}

impl Fired {
    pub(super) fn new(alert: usize, instance: String, trigger: Trigger) -> Self {
        let Trigger { value, is_first } = trigger;
        Self { alert, instance, value, is_first }
    }
}

impl WatchedAlert {
    pub(crate) fn new(set: &str, alert: &Alert, place: Place) -> Self {
        Self {
            set: set.into(),
            name: alert.name.as_str().into(),
            counter: alert.threshold.path.to_string().into(),
            place,
            interval: alert.interval,
            logs_events: alert.logs_events,
            task: alert.task.clone(),
            start_set: alert.start_set.clone(),
            is_running: true,
            judge: Judge::new(rule_of(alert)),
            bound: Bound::default(),
            first_judged: None,
            last_judged: None,
            lag: Duration::ZERO,
            left_out: 0,
            shown_operator: alert.threshold.comparison,
            series: [None; OF_ALERTS],
            rows: HashMap::new(),
        }
    }

    /// The same alert with other settings.
    pub(super) fn with(mut self, alert: &Alert, place: Place) -> Self {
        self.judge.set_rule(rule_of(alert));
        if self.interval != alert.interval {
            self.interval = alert.interval;
            (self.last_judged, self.lag) = (None, Duration::ZERO);
        }
        self.logs_events = alert.logs_events;
        self.task.clone_from(&alert.task);
        self.start_set.clone_from(&alert.start_set);
        (self.place, self.bound) = (place, Bound::default());
        self
    }

    /// Whether it is judged. One that is not forgets what it knows.
    pub(super) fn set_running(&mut self, is_running: bool) {
        if self.is_running && !is_running {
            self.left_out = self.left_out();
            (self.judge, self.bound) = (Judge::new(self.rule().clone()), Bound::default());
            (self.first_judged, self.last_judged, self.lag) = (None, None, Duration::ZERO);
        }
        self.is_running = is_running;
    }

    pub(super) fn key(&self) -> Key {
        (Arc::clone(&self.set), Arc::clone(&self.name), Arc::clone(&self.counter))
    }

    /// Where its values come from.
    pub(crate) const fn place(&self) -> Place {
        self.place
    }

    /// The number that its values are compared with.
    pub(crate) const fn limit(&self) -> f64 {
        self.rule().threshold.limit
    }

    /// The operator that the series of its threshold has as a label.
    pub(crate) const fn shown_operator(&self) -> char {
        self.shown_operator.as_char()
    }

    /// The series of a threshold whose operator changed.
    pub(crate) fn take_outdated_threshold(&mut self) -> Option<SeriesId> {
        let operator = self.rule().threshold.comparison;
        if self.shown_operator == operator {
            return None;
        }
        self.shown_operator = operator;
        self.series[THRESHOLD].take().flatten()
    }

    pub(crate) const fn rule(&self) -> &Rule {
        self.judge.rule()
    }

    /// Brings what is shown in step with what is known; `round` is the number of this collection. Returns the instances that
    /// are not known any more.
    pub(crate) fn refresh(&mut self, round: u64, unix_s: f64) -> Vec<(Arc<str>, AlertRow)> {
        let Self { judge, rows, .. } = self;
        for (name, judgement) in judge.judgements() {
            match rows.get_mut(name) {
                Some(row) => row.update(judgement, round, unix_s),
                None => {
                    rows.insert(name.into(), AlertRow::new(judgement, round, unix_s));
                }
            }
        }
        rows.extract_if(|_, row| row.round != round).collect()
    }

    /// Instances that found no room so far.
    pub(crate) const fn left_out(&self) -> u64 {
        self.left_out + self.judge.left_out()
    }

    /// Whether an instance with a number finds no room.
    pub(super) const fn leaves_out_instances(&self) -> bool {
        self.bound.leaves_out_some
    }

    /// How many of its samples triggered.
    pub(crate) fn triggered(&self) -> u64 {
        self.judge.judgements().map(|(_, judgement)| judgement.triggered).sum()
    }

    /// How many instances have room.
    pub(super) fn instances(&self) -> usize {
        self.judge.instances().max(1)
    }

    /// Whether it is time for a sample.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        self.is_running && self.interval.is_due(self.last_judged, now)
    }

    /// Which reply has its values; none if there is no such counter.
    pub(super) fn needs(&self, found: &Found) -> Kinds {
        self.pick(found).map_or(Kinds::default(), |pick| pick.needs())
    }

    fn pick<'f>(&self, found: &'f Found) -> Option<Pick<'f>> {
        match self.place {
            Place::Path(place) => found.pick(place),
            Place::OtherHost => None,
        }
    }
}

fn rule_of(alert: &Alert) -> Rule {
    let interval = alert.interval.period().unwrap_or(Duration::MAX);
    Rule { threshold: alert.threshold.clone(), interval, hold: alert.hold }
}

/// The series of one alert: threshold, lag.
pub(crate) const OF_ALERTS: usize = 2;
const THRESHOLD: usize = 0;

/// Where the values of an alert are in the replies, found once for all replies with the same instances.
#[derive(Debug, Default)]
pub(super) struct Bound {
    /// Of the counterset, and of the judge.
    versions: Option<(u64, u64)>,
    /// Whether an instance found no room or had no number, so that it is looked for again.
    pub(super) lacks_some: bool,
    /// Whether an instance with a number found no room.
    pub(super) leaves_out_some: bool,
    /// Whether the host has an instance that is meant.
    pub(super) is_there: bool,
    pub(super) columns: Option<Columns>,
    /// The places of the instances in the replies, with what is known of them.
    pub(super) samples: Vec<(usize, Slot)>,
}

impl Bound {
    /// Whether it is still right.
    pub(super) fn holds(&self, frame: &CountersetFrame, judge: &Judge) -> bool {
        !self.lacks_some && self.versions == Some((frame.version(), judge.generation()))
    }

    /// Begins again. It is not right before it [ends](Self::end): a collection may be cut off meanwhile.
    pub(super) fn begin(&mut self, columns: Option<Columns>) {
        self.samples.clear();
        (self.lacks_some, self.leaves_out_some, self.is_there) = (false, false, false);
        (self.versions, self.columns) = (None, columns);
    }

    /// All places were found for these versions of the counterset and of the judge.
    pub(super) const fn end(&mut self, versions: (u64, u64)) {
        self.versions = Some(versions);
    }
}

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
