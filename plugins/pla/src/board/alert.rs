//! One alert, and what is known of it for each instance of its counter.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use counter_poll::paths::{Instance, PathMatch, Row, Rows};
use ms_pcq::wire::CounterRegInfo;
use pla_engine::{AlertState, Judge, Rule, Trigger};
use plugin_sdk::SeriesId;

use super::ByName;
use super::row::AlertRow;
use crate::counters::Found;
use crate::model::{Alert, SampleInterval, TaskCall};

/// What an alert is known by.
pub(crate) type Key = (Arc<str>, Arc<str>, Arc<str>);

/// An alert of a target.
#[derive(Debug)]
pub(crate) struct Watched {
    /// The name of its set.
    pub(crate) set: Arc<str>,
    /// Its name.
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
    first_judged: Option<Duration>,
    last_judged: Option<Duration>,
    /// How much later than its interval it was judged.
    pub(crate) lag: Duration,
    left_out: u64,
    /// Its series: threshold and lag.
    pub(crate) series: Option<[Option<SeriesId>; 2]>,
    /// What is shown of its instances.
    pub(crate) rows: HashMap<Arc<str>, AlertRow>,
}

/// A sample that fired.
#[derive(Debug)]
pub(crate) struct Fired {
    /// The place of the alert on the board.
    pub(crate) alert: usize,
    /// The instance; empty where there is only one.
    pub(crate) instance: String,
    /// The value.
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

impl Watched {
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
            first_judged: None,
            last_judged: None,
            lag: Duration::ZERO,
            left_out: 0,
            series: None,
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
        self.place = place;
        self
    }

    /// Whether it is judged. One that is not forgets what it knows.
    pub(super) fn set_running(&mut self, is_running: bool) {
        if self.is_running && !is_running {
            self.left_out = self.left_out();
            self.judge = Judge::new(self.rule().clone());
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

    /// What triggers.
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

    /// How many instances have room.
    pub(super) fn instances(&self) -> usize {
        self.judge.judgements().count()
    }

    /// Whether it is time for a sample. Collections do not begin to the millisecond, and one that is a little early is not
    /// left out.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        match (self.last_judged, self.interval) {
            _ if !self.is_running => false,
            (None, _) => true,
            (Some(_), SampleInterval::Once) => false,
            (Some(last), SampleInterval::Every(interval)) => {
                now.saturating_sub(last) >= interval.saturating_sub(interval / EARLY_PART)
            }
        }
    }

    pub(super) fn judge(
        &mut self,
        found: &Found,
        rows: &Rows<'_>,
        by_name: &mut ByName,
        now: Duration,
        room: &mut usize,
        fired: &mut impl FnMut(String, Trigger),
    ) {
        if let (Some(last), SampleInterval::Every(interval)) = (self.last_judged, self.interval) {
            self.lag = now.saturating_sub(last).saturating_sub(interval);
        }
        let first = *self.first_judged.get_or_insert(now);
        self.last_judged = Some(now);
        let place = match self.place {
            Place::Path(place) => found.matches.get(place).and_then(|matches| matches.first()),
            Place::OtherHost => None,
        };
        let Some(pick) = place.and_then(|place| found.plan.matches.get(*place)) else {
            return self.judge.without_counter(AlertState::Unresolved, now);
        };
        let counterset = &found.plan.countersets[pick.counterset];
        let Some(counter) = pick.counters.first().map(|counter| &counterset.counters[*counter]) else {
            return self.judge.without_counter(AlertState::Unresolved, now);
        };
        let (mut is_there, mut is_number) = (false, false);
        let all = rows.of(pick.counterset);
        let mut take = |row: &Row<'_>| {
            is_there = true;
            is_number |= self.sample(&counter.info, row, now, room, fired);
        };
        match pick.only_instance() {
            Some(name) => {
                by_name
                    .places(rows, pick.counterset, name)
                    .iter()
                    .map(|place| &all[*place])
                    .filter(|row| is_wanted(pick, row))
                    .for_each(&mut take);
            }
            None => all.iter().filter(|row| is_wanted(pick, row)).for_each(&mut take),
        }
        self.finish((is_there, is_number), first, now);
    }

    /// Takes the sample of an instance. Returns whether it is a number.
    fn sample(
        &mut self,
        info: &CounterRegInfo,
        row: &Row<'_>,
        now: Duration,
        room: &mut usize,
        fired: &mut impl FnMut(String, Trigger),
    ) -> bool {
        let Some(reading) = row.reading(info) else { return false };
        let shown = row.instance.as_ref().map(Instance::shown).unwrap_or_default();
        let is_known = self.judge.has_instance(&shown);
        let slot = if is_known || *room > 0 { self.judge.instance(&shown, now) } else { None };
        match slot {
            Some(slot) => {
                *room -= usize::from(!is_known);
                let trigger = self.judge.sample(slot, info.counter_type, &reading, now);
                if let Some(trigger) = trigger.filter(|_| self.task.is_some() || self.start_set.is_some()) {
                    fired(shown, trigger);
                }
            }
            None => self.left_out += 1,
        }
        true
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

    pub(super) fn miss(&mut self, now: Duration) {
        if self.interval != SampleInterval::Once {
            self.judge.finish(now);
        }
    }
}

fn is_wanted(pick: &PathMatch, row: &Row<'_>) -> bool {
    row.instance.as_ref().is_none_or(|instance| pick.wants(&instance.name, instance.index))
}

fn rule_of(alert: &Alert) -> Rule {
    let interval = match alert.interval {
        SampleInterval::Every(interval) => interval,
        SampleInterval::Once => Duration::MAX,
    };
    Rule { threshold: alert.threshold.clone(), interval, hold: alert.hold }
}

/// A sample may be early by this part of the interval.
const EARLY_PART: u32 = 10;
