//! When the threshold of an alert triggers, by one sample after another.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use counter_types::{Cooked, CounterType, Reading, cook};

use crate::{AlertState, Judgement, Threshold};

/// Instances of one alert that are judged; what is above is not.
pub const INSTANCES_MAX: usize = 10_000;
/// A state without data holds for so many intervals, then there is none.
const INTERVALS_WITHOUT_DATA: u32 = 2;
/// An instance without data is forgotten after so many intervals.
const INTERVALS_UNTIL_FORGOTTEN: u32 = 240;

/// A threshold, and how it is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub threshold: Threshold,
    /// The time between two samples.
    pub interval: Duration,
    /// How long a value has to be across before it fires. Windows has none, so 0 by default.
    pub hold: Duration,
}

impl Rule {
    /// A threshold as Windows judges it: each sample across triggers.
    #[must_use]
    pub const fn new(threshold: Threshold, interval: Duration) -> Self {
        Self { threshold, interval, hold: Duration::ZERO }
    }
}

/// An instance of a [`Judge`], for as long as its generation is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(usize);

/// A sample that was across for long enough. The actions of the alert follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trigger {
    pub value: f64,
    /// Whether the sample before did not trigger.
    pub is_first: bool,
}

/// Judges an alert on the samples of one host, each instance by itself.
///
/// Values are cooked from two samples and unscaled, as PDH compares them. A value that there is not, and NaN, never trigger.
/// There is no hysteresis.
#[derive(Debug)]
pub struct Judge {
    rule: Rule,
    slots: HashMap<Arc<str>, Slot>,
    /// INVARIANT: has all of `slots`; those that were forgotten are empty, and reused.
    instances: Vec<Option<Instance>>,
    left_out: u64,
    generation: u64,
    /// Why there are no instances, and since when.
    without: Option<(AlertState, Duration)>,
}

#[derive(Debug)]
struct Instance {
    name: Arc<str>,
    /// Its number at the host, as soon as that is known.
    id: Option<Option<u32>>,
    older: Option<Reading>,
    judgement: Judgement,
    /// When a value was across first, of those that have been across since.
    across_since: Option<Duration>,
    /// When it was met, or had a value.
    last_value: Duration,
    /// When it was met, or sampled.
    last_sample: Duration,
}

impl Judge {
    /// Nothing was sampled yet.
    #[must_use]
    pub fn new(rule: Rule) -> Self {
        Self { rule, slots: HashMap::new(), instances: Vec::new(), left_out: 0, generation: 0, without: None }
    }

    #[must_use]
    pub const fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Takes another rule. What was sampled stays; the next sample is judged by the new rule.
    pub fn set_rule(&mut self, rule: Rule) {
        if rule.threshold != self.rule.threshold {
            self.instances.iter_mut().flatten().for_each(|instance| instance.across_since = None);
        }
        self.rule = rule;
    }

    /// The slot of an instance, for as long as [`generation`](Self::generation) is the same. It is new if the name is; the empty
    /// name is that of the only instance. None if there are [`INSTANCES_MAX`] others.
    pub fn instance(&mut self, name: &str, now: Duration) -> Option<Slot> {
        if let Some(slot) = self.slots.get(name) {
            return Some(*slot);
        }
        if self.slots.len() >= INSTANCES_MAX {
            self.left_out += 1;
            return None;
        }
        let name: Arc<str> = name.into();
        let instance = Some(Instance::new(Arc::clone(&name), now));
        let has_empty = self.slots.len() < self.instances.len();
        let empty = has_empty.then(|| self.instances.iter().position(Option::is_none)).flatten();
        let slot = match empty {
            Some(empty) => {
                self.instances[empty] = instance;
                Slot(empty)
            }
            None => {
                self.instances.push(instance);
                Slot(self.instances.len() - 1)
            }
        };
        self.slots.insert(name, slot);
        Some(slot)
    }

    /// The number by which the host tells the instance of this slot from others of its name. With another number than before it is
    /// another instance: no value is made of samples of both, and none of the time that the other one was across counts.
    pub fn identify(&mut self, slot: Slot, id: Option<u32>) {
        let Some(instance) = self.instances.get_mut(slot.0).and_then(Option::as_mut) else { return };
        if instance.id.replace(id).is_some_and(|before| before != id) {
            (instance.older, instance.across_since) = (None, None);
        }
    }

    /// Another number than before if an instance was forgotten, so that its slot may be that of another one.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// How many instances have a slot.
    #[must_use]
    pub fn instances(&self) -> usize {
        self.slots.len()
    }

    /// Whether an instance has a slot.
    #[must_use]
    pub fn has_instance(&self, name: &str) -> bool {
        self.slots.contains_key(name)
    }

    /// Judges a sample of an instance. Returns what triggers.
    pub fn sample(
        &mut self,
        slot: Slot,
        counter_type: CounterType,
        reading: &Reading,
        now: Duration,
    ) -> Option<Trigger> {
        self.without = None;
        let instance = self.instances.get_mut(slot.0)?.as_mut()?;
        let cooked = cook(counter_type, instance.older.as_ref(), reading);
        instance.older = Some(*reading);
        instance.last_sample = now;
        match cooked {
            Cooked::Value(value) => instance.judge(&self.rule, value, now),
            Cooked::NoValue => {
                instance.enter(AlertState::Unsupported, now);
                None
            }
            Cooked::NeedsTwo | Cooked::Restarted | Cooked::Undefined => {
                instance.miss(&self.rule, now);
                None
            }
        }
    }

    /// Ends a round of samples: what was not sampled for two intervals has no data, and is forgotten after many.
    pub fn finish(&mut self, now: Duration) {
        let forgotten_after = self.rule.interval.saturating_mul(INTERVALS_UNTIL_FORGOTTEN);
        for place in &mut self.instances {
            let Some(instance) = place else { continue };
            instance.miss(&self.rule, now);
            if now.saturating_sub(instance.last_sample) >= forgotten_after
                && let Some(gone) = place.take()
            {
                self.slots.remove(&gone.name);
                self.generation += 1;
            }
        }
    }

    /// The host has no such counter, [`AlertState::Unresolved`], or its values are no numbers,
    /// [`AlertState::Unsupported`]: no instance can be judged.
    pub fn without_counter(&mut self, reason: AlertState, now: Duration) {
        if self.without.is_none_or(|(before, _)| before != reason) {
            self.without = Some((reason, now));
        }
        self.finish(now);
    }

    /// What is known of an instance.
    #[must_use]
    pub fn state(&self, slot: Slot) -> Judgement {
        let instance = self.instances.get(slot.0).and_then(Option::as_ref);
        instance.map_or(Judgement::NONE, |instance| instance.judgement)
    }

    /// All instances by name. If there is none, the empty name is the alert's as a whole.
    pub fn judgements(&self) -> impl Iterator<Item = (&str, Judgement)> {
        let whole = self.slots.is_empty().then(|| {
            let (state, since) = self.without.unwrap_or((AlertState::Waiting, Duration::ZERO));
            ("", Judgement { state, since, ..Judgement::NONE })
        });
        let instances = self.instances.iter().flatten();
        whole.into_iter().chain(instances.map(|instance| (&*instance.name, instance.judgement)))
    }

    /// How often an instance found no room.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }
}

impl Instance {
    fn new(name: Arc<str>, now: Duration) -> Self {
        let judgement = Judgement { since: now, ..Judgement::NONE };
        Self { name, id: None, older: None, judgement, across_since: None, last_value: now, last_sample: now }
    }

    fn judge(&mut self, rule: &Rule, value: f64, now: Duration) -> Option<Trigger> {
        self.last_value = now;
        self.judgement.value = Some(value);
        if !rule.threshold.comparison.is_across(value, rule.threshold.limit) {
            self.across_since = None;
            self.enter(AlertState::Ok, now);
            return None;
        }
        let since = *self.across_since.get_or_insert(now);
        if now.saturating_sub(since) < rule.hold {
            self.enter(AlertState::Pending, now);
            return None;
        }
        self.judgement.triggered += 1;
        Some(Trigger { value, is_first: self.enter(AlertState::Firing, now) })
    }

    /// There is no value. What was known holds for a while.
    fn miss(&mut self, rule: &Rule, now: Duration) {
        let had_value = !matches!(self.judgement.state, AlertState::Waiting | AlertState::Unsupported);
        let missing = now.saturating_sub(self.last_value);
        if had_value && missing >= rule.interval.saturating_mul(INTERVALS_WITHOUT_DATA) {
            self.across_since = None;
            self.enter(AlertState::NoData, now);
        }
    }

    /// Returns whether this is another state than before.
    fn enter(&mut self, state: AlertState, now: Duration) -> bool {
        let is_new = self.judgement.state != state;
        if is_new {
            self.judgement.state = state;
            self.judgement.since = now;
        }
        is_new
    }
}

impl Judgement {
    const NONE: Self = Self { state: AlertState::Waiting, since: Duration::ZERO, value: None, triggered: 0 };
}
