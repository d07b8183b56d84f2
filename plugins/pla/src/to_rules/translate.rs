//! Sets as rules.

use std::collections::HashMap;

use counter_poll::FamilyGroup;
use counter_types::{CounterPath, InstancePath};
use ms_pla::xml::{AlertDataCollector, Position};
use pla_engine::{Comparison, Threshold};

use super::expression::{Names, Window, cooked};
use super::host::{Counter, Counterset, Host};
use super::matchers::{Instances, Matcher};
use super::{Document, Group, Need, Remark, Rule, Translated, TranslatedSet};
use crate::model::SampleInterval;

/// What rules are made with.
pub(super) struct Setting<'a> {
    pub(super) host: &'a Host,
    pub(super) names: Names<'a>,
    /// How often Prometheus scrapes.
    pub(super) scrape_s: u64,
    /// A label of every rule.
    pub(super) severity: Option<String>,
    pub(super) matchers: Vec<Matcher>,
}

/// Translates all sets. Names of alerts and groups are unique among all of them.
pub(super) fn translate(documents: &[Document], setting: &Setting<'_>) -> Translated {
    let mut alerts = Unique::default();
    let mut groups = Unique::default();
    let mut translated = Translated::default();
    for document in documents {
        let mut work =
            Work { document, setting, alerts: &mut alerts, by_interval: Vec::new(), remarks: Vec::new() };
        work.note_set();
        for (collector, (position, places)) in document.set.alerts.iter().zip(&document.collectors) {
            work.add_collector(collector, *position, places);
        }
        let Work { by_interval, remarks, .. } = work;
        let has_several = by_interval.len() > 1;
        let named = by_interval.into_iter().map(|(interval_s, rules)| {
            let suffix = if has_several { format!(" ({interval_s}s)") } else { String::new() };
            Group { name: groups.name(&format!("{}{suffix}", document.name)), interval_s, rules }
        });
        translated.sets.push(TranslatedSet {
            name: document.name.clone(),
            file: document.file.clone(),
            groups: named.collect(),
            remarks,
        });
    }
    translated
}

/// Names that were given.
#[derive(Default)]
struct Unique(HashMap<String, usize>);

impl Unique {
    /// The name, with a number if it was given before.
    fn name(&mut self, name: &str) -> String {
        let mut number = self.0.get(name).copied().unwrap_or(0) + 1;
        let unique = loop {
            let candidate = if number == 1 { name.to_owned() } else { format!("{name} ({number})") };
            if number == 1 || !self.0.contains_key(&candidate) {
                break candidate;
            }
            number += 1;
        };
        self.0.insert(name.to_owned(), number);
        self.0.entry(unique.clone()).or_insert(1);
        unique
    }
}

/// A set that is being translated.
struct Work<'a> {
    document: &'a Document,
    setting: &'a Setting<'a>,
    alerts: &'a mut Unique,
    by_interval: Vec<(u64, Vec<Rule>)>,
    remarks: Vec<Remark>,
}

impl Work<'_> {
    fn note_set(&mut self) {
        let set = &self.document.set;
        let at = self.document.position;
        for error in set.unread() {
            self.note(error.position, format!("`{}` {}: it counts as missing", error.path, error.reason));
        }
        if set.are_schedules_enabled != Some(false) && !set.schedules.is_empty() {
            self.note(at, "its schedules are not kept: rules are evaluated all the time".to_owned());
        }
        if let Some(seconds) = set.duration_s.filter(|seconds| *seconds > 0) {
            self.note(
                at,
                format!("its Duration of {seconds} s is not kept: rules are evaluated all the time"),
            );
        }
        if let Some(task) = set.task.as_deref().filter(|task| !task.trim().is_empty()) {
            self.note(at, format!("the task `{task}`, which Windows starts at its end, is not started"));
        }
        let others = [
            (set.counters.len(), "performance counters"),
            (set.traces.len(), "traces"),
            (set.configurations.len(), "configuration"),
            (set.api_traces.len(), "API traces"),
        ];
        for (count, kind) in others.into_iter().filter(|(count, _)| *count > 0) {
            self.note(at, format!("data collectors of {kind} have no alerts, and no rules ({count})"));
        }
        if set.alerts.iter().all(|collector| collector.alerts.is_empty()) {
            self.note(at, "it has no alerts".to_owned());
        }
    }

    fn add_collector(&mut self, collector: &AlertDataCollector, at: Position, places: &[Position]) {
        let interval =
            collector.sample_interval_s.map_or(SampleInterval::DEFAULT, SampleInterval::of_seconds);
        let interval = match interval {
            SampleInterval::Every(interval) => Ok(interval.as_secs()),
            SampleInterval::Once => Err(
                "its SampleInterval of 0xFFFFFFFF means one sample and no more, and rules are evaluated again and again"
                    .to_owned(),
            ),
        };
        let interval = interval.and_then(|seconds| {
            let is_usable = seconds <= INTERVAL_MAX_S;
            let reason =
                || format!("its SampleInterval of {seconds} s is longer than Prometheus keeps its samples");
            is_usable.then_some(seconds).ok_or_else(reason)
        });
        if let Ok(seconds) = interval
            && seconds < self.setting.scrape_s
        {
            let scrape_s = self.setting.scrape_s;
            self.note(at, format!("it samples every {seconds} s, and Prometheus every {scrape_s} s"));
        }
        if let Some(task) = collector.task.as_deref().filter(|task| !task.trim().is_empty()) {
            self.note(
                at,
                format!("the task `{task}` is not started: Alertmanager can call a webhook instead"),
            );
        }
        if let Some(set) =
            collector.trigger_data_collector_set.as_deref().filter(|set| !set.trim().is_empty())
        {
            self.note(at, format!("the data collector set `{set}` is not started"));
        }
        let shown = &collector.alert_display_names;
        let has_shown = shown.len() == collector.alerts.len();
        for (index, text) in collector.alerts.iter().enumerate() {
            let place = places.get(index).copied().unwrap_or(at);
            let shown = shown.get(index).filter(|shown| has_shown && !shown.trim().is_empty());
            let made = interval.clone().and_then(|interval_s| {
                Ok((interval_s, self.rules(text, shown.map(String::as_str), interval_s, place)?))
            });
            match made {
                Ok((interval_s, rules)) => self.group(interval_s).extend(rules),
                Err(reason) => {
                    let text = format!("`{}`: {reason}", text.trim());
                    self.remark(place, true, text);
                }
            }
        }
    }

    /// The rules of a threshold: one for each counter that it means.
    fn rules(
        &mut self,
        text: &str,
        shown: Option<&str>,
        interval_s: u64,
        place: Position,
    ) -> Result<Vec<Rule>, String> {
        let threshold: Threshold =
            text.trim().parse().map_err(|error: pla_engine::ThresholdError| error.to_string())?;
        let found = self.setting.host.find(&threshold.path)?;
        let has_several = found.len() > 1;
        let window = Window::new(interval_s, self.setting.scrape_s);
        let mut rules = Vec::new();
        for (counterset, counter) in found {
            let path = CounterPath {
                counterset: counterset.name.clone(),
                counter: counter.name.clone(),
                ..threshold.path.clone()
            };
            match self.rule(&threshold, &path, counterset, counter, window) {
                Ok(rule) => {
                    let own = || format!("{path}{}{}", threshold.comparison.as_char(), threshold.limit);
                    let name = match shown {
                        Some(shown) if !has_several => shown.trim().to_owned(),
                        _ => own(),
                    };
                    rules.push(Rule { alert: self.alerts.name(&name), ..rule });
                }
                // Of several counters that a pattern means some may have no rule.
                Err(reason) if has_several => {
                    self.remark(
                        place,
                        true,
                        format!("`{}`, counter `{}`: {reason}", text.trim(), counter.name),
                    );
                }
                Err(reason) => return Err(reason),
            }
        }
        Ok(rules)
    }

    /// The rule of one counter, without its name.
    fn rule(
        &self,
        threshold: &Threshold,
        path: &CounterPath,
        counterset: &Counterset,
        counter: &Counter,
        window: Window,
    ) -> Result<Rule, String> {
        let instances = Instances::of(path.instance.as_ref(), counterset)?;
        let mut notes: Vec<String> = instances.note.map(str::to_owned).into_iter().collect();
        let mut matchers = instances.matchers;
        if let Some(machine) = &path.machine {
            matchers.push(Matcher::any_case(TARGET_LABEL, machine));
            notes.push(format!(
                "the target has to be called `{machine}` in the configuration of the exporter"
            ));
        }
        matchers.extend(self.setting.matchers.iter().cloned());
        let is_total = path.instance.as_ref().is_some_and(is_total);
        if is_total {
            notes.push(
                "totals such as `_Total` are left out by default: write `totals: keep` at the counterset"
                    .to_owned(),
            );
        }
        if instances.is_aggregate {
            notes.push(
                "sums of instances are not exported by default: write `aggregate: true` at the counterset"
                    .to_owned(),
            );
        }
        let group = if instances.is_aggregate { FamilyGroup::Aggregate } else { FamilyGroup::Instances };
        let value = cooked(counterset, counter, (&matchers, group), window, self.setting.names)?;
        for name in value.metrics.iter().filter(|name| !name.starts_with("perfmon")) {
            notes.push(format!(
                "`{name}` is not its native name: a profile may give it other labels and another unit"
            ));
        }
        let Threshold { comparison, limit, .. } = *threshold;
        let word = match comparison {
            Comparison::Above => "above",
            Comparison::Below => "below",
        };
        let varying: Vec<String> =
            instances.varying.iter().map(|label| format!("{{{{ $labels.{label} }}}}")).collect();
        let of = if varying.is_empty() { String::new() } else { format!(" for {}", varying.join(" ")) };
        let mut labels = vec![("set", template(&self.document.name))];
        labels.extend(self.setting.severity.iter().map(|severity| ("severity", template(severity))));
        Ok(Rule {
            alert: String::new(),
            needs: Need {
                counterset: counterset.name.clone(),
                totals: is_total,
                aggregate: instances.is_aggregate,
            },
            expr: format!("{} {} {limit}", value.text, comparison.as_char()),
            labels,
            summary: format!(
                "{{{{ $labels.{TARGET_LABEL} }}}}: {} is {{{{ $value }}}}{of}, {word} {limit}",
                template(&path.to_string())
            ),
            notes,
        })
    }

    fn group(&mut self, interval_s: u64) -> &mut Vec<Rule> {
        let known = self.by_interval.iter().position(|(known, _)| *known == interval_s);
        let index = known.unwrap_or_else(|| {
            self.by_interval.push((interval_s, Vec::new()));
            self.by_interval.len() - 1
        });
        &mut self.by_interval[index].1
    }

    fn note(&mut self, position: Position, text: String) {
        self.remark(position, false, text);
    }

    fn remark(&mut self, position: Position, is_left_out: bool, text: String) {
        self.remarks.push(Remark { file: self.document.file.clone(), position, is_left_out, text });
    }
}

/// Whether only totals are meant. Where all instances are, their parts are there.
fn is_total(instance: &InstancePath) -> bool {
    let name = instance.whole_name().to_ascii_lowercase();
    name.ends_with("_total")
}

/// A text in which Prometheus finds no template.
fn template(text: &str) -> String {
    text.replace("{{", "{{ \"{{\" }}")
}

/// The label that the exporter gives all series of a target.
const TARGET_LABEL: &str = "target";
/// Thirty days; the range of a rate is a multiple of it.
const INTERVAL_MAX_S: u64 = 30 * 24 * 3600;
