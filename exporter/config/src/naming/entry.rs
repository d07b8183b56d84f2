//! `objects:` of a profile file: the metrics that the families of a counterset become.

use std::sync::Arc;

use series::model::{Factor, Kind, OtlpAttribute, OtlpNames};
use series::pipeline::{Entry, LabelMap, MappedMetric};

use super::labels::Labels;
use super::style::{self, Style};
use crate::item::Item;
use crate::node::{Position, Value};
use crate::section::Section;

/// What a narrower place inherits.
#[derive(Clone, Debug, Default)]
pub(super) struct Outer {
    pub(super) style: Style,
    /// Empty for performance counters.
    pub(super) namespace: String,
    /// Which instances have series.
    pub(super) instances: LabelMap,
    pub(super) labels: Labels,
    pub(super) multiply: Option<Factor>,
}

/// An entry and where it is.
type Placed = (Entry, (Position, String));

/// Reads one of `objects:`.
pub(super) fn object(item: &Item<'_>, outer: &Outer, bug_compatible: bool, out: &mut Vec<Placed>) {
    let Some(mut section) = item.section(&[]) else { return };
    let objects = section.require("object", "name the counterset").map(|item| match item.node.value {
        Value::List(_) => item.texts(),
        _ => item.text().map(str::to_owned).into_iter().collect(),
    });
    let namespace = section.text("namespace").unwrap_or_default();
    let outer = Outer { namespace, ..inherited(&mut section, outer) };
    let metrics = section.require("metrics", "list what its counters become");
    section.finish();
    let objects = objects.unwrap_or_default();
    for object in objects.iter().filter(|object| object.matches('*').count() > 1) {
        item.key("object")
            .problem(format!("`{object}` has more than one `*`"), Some("one can be used".to_owned()));
    }
    for item in metrics.map(|item| item.list()).unwrap_or_default() {
        metric(&item, &objects, &outer, bug_compatible, out);
    }
}

/// What a place says for itself and for those in it.
fn inherited(section: &mut Section<'_>, outer: &Outer) -> Outer {
    let mut instances = outer.instances.clone();
    if let Some(item) = section.get("drop_instances") {
        instances = pattern(&item, &instances, LabelMap::drop_instances);
    }
    if let Some(item) = section.get("keep_instances") {
        instances = pattern(&item, &instances, LabelMap::keep_instances);
    }
    Outer {
        style: outer.style,
        namespace: outer.namespace.clone(),
        instances,
        labels: outer.labels.with(section.get("labels"), outer.style),
        multiply: factor(section).or(outer.multiply),
    }
}

/// The instances with one more expression.
pub(super) fn pattern(
    item: &Item<'_>,
    instances: &LabelMap,
    with: impl Fn(LabelMap, &str) -> Result<LabelMap, String>,
) -> LabelMap {
    let made = item.text().map(|text| (text, with(instances.clone(), text)));
    match made {
        Some((_, Ok(made))) => return made,
        Some((text, Err(problem))) => {
            item.problem(format!("`{text}` is not a valid regular expression: {problem}"), None);
        }
        None => {}
    }
    instances.clone()
}

fn metric(item: &Item<'_>, objects: &[String], outer: &Outer, bug_compatible: bool, out: &mut Vec<Placed>) {
    let Some(mut section) = item.section(&[]) else { return };
    let name = section.require("name", "write the name of the metric").and_then(|item| item.text());
    let kinds = [("counter", Type::COUNTER), ("gauge", Type::GAUGE), ("info", Type::INFO)];
    let kinds = kinds.into_iter().chain([("unknown", Type::UNKNOWN), ("updowncounter", Type::UP_DOWN)]);
    let kinds: Vec<_> =
        kinds.filter(|(_, kind)| !kind.is_sum || outer.style == Style::OpenTelemetry).collect();
    let kind = section.require("type", "write counter, gauge, info or unknown");
    let kind = kind.and_then(|item| item.choice(&kinds));
    let unit = section.text("unit").unwrap_or_default();
    let help = section.text("help").unwrap_or_default();
    let also = section.get("also").map(|item| also(&item, outer.style)).unwrap_or_default();
    let when = section.choice("when", &[("correct", false), ("bug_compatible", true)]);
    let outer = inherited(&mut section, outer);
    let several = section.get("items");
    let single = if several.is_none() { source(&mut section) } else { None };
    section.finish();
    let (Some(name), Some(kind)) = (name, kind) else { return };
    let named = Named { name, also: &also, kind, unit: &unit, help: &help };
    let mut entries = Vec::new();
    match several {
        None => entries.extend(single.map(|(name, part)| named.entry(item, objects, name, part, &outer))),
        Some(items) => {
            for item in items.list() {
                let Some(mut section) = item.section(&[]) else { continue };
                let outer = inherited(&mut section, &outer);
                let source = source(&mut section);
                section.finish();
                entries.extend(source.map(|(name, part)| named.entry(&item, objects, name, part, &outer)));
            }
        }
    }
    if when.is_none_or(|when| when == bug_compatible) {
        out.extend(entries.into_iter().flatten());
    }
}

/// Other names of the metric.
fn also(item: &Item<'_>, style: Style) -> Vec<String> {
    if style == Style::OpenTelemetry {
        item.problem("has no meaning with `style: opentelemetry`", None);
        return Vec::new();
    }
    item.texts()
}

/// The counter and which part of it.
fn source(section: &mut Section<'_>) -> Option<(String, String)> {
    let item = section.require("item", "name the counter").and_then(|item| item.text().map(str::to_owned));
    let parts = ["base", "inactive", "start_time"].map(|part| (part, part));
    let part = section.choice("part", &parts).unwrap_or_default();
    Some((item?, part.to_owned()))
}

fn factor(section: &mut Section<'_>) -> Option<Factor> {
    let multiply = section.get("multiply").and_then(|item| number(&item, Factor::times));
    let divide = section.get("divide").and_then(|item| {
        if multiply.is_some() {
            item.problem("cannot stand beside `multiply`", Some("remove one of them".to_owned()));
        }
        number(&item, Factor::divided_by)
    });
    multiply.or(divide)
}

#[expect(clippy::cast_precision_loss, reason = "factors are small")]
fn number(item: &Item<'_>, factor: impl Fn(f64) -> Option<Factor>) -> Option<Factor> {
    let value = match item.node.value {
        Value::Integer(value) => Some(value as f64),
        Value::Float(value) => Some(value),
        _ => None,
    };
    let factor = value.and_then(factor);
    if factor.is_none() {
        item.problem("is not a number above 0", None);
    }
    factor
}

/// The word after `type`.
#[derive(Clone, Copy, Debug)]
struct Type {
    kind: Kind,
    is_sum: bool,
}

impl Type {
    const COUNTER: Self = Self { kind: Kind::Counter, is_sum: false };
    const GAUGE: Self = Self { kind: Kind::Gauge, is_sum: false };
    const INFO: Self = Self { kind: Kind::Info, is_sum: false };
    const UNKNOWN: Self = Self { kind: Kind::Unknown, is_sum: false };
    const UP_DOWN: Self = Self { kind: Kind::Gauge, is_sum: true };
}

/// A metric as it is written.
#[derive(Clone, Copy, Debug)]
struct Named<'a> {
    name: &'a str,
    also: &'a [String],
    kind: Type,
    unit: &'a str,
    help: &'a str,
}

impl Named<'_> {
    fn entry(
        &self,
        place: &Item<'_>,
        objects: &[String],
        item: String,
        part: String,
        outer: &Outer,
    ) -> Option<Placed> {
        let at = |key| if place.key(key).path == place.path { place.clone() } else { place.key(key) };
        let kind = self.kind.kind;
        let (name, unit, otlp) = match outer.style {
            Style::Prometheus => (self.name.to_owned(), self.unit.to_owned(), None),
            Style::OpenTelemetry => {
                let Some(word) = style::unit_word(self.unit, kind) else {
                    at("unit").problem(format!("`{}` is not a unit that has a name", self.unit), None);
                    return None;
                };
                let name = style::sample_name(self.name, word, kind);
                (name, word.to_owned(), Some(Arc::new(self.otlp_names(&outer.labels))))
            }
        };
        let labels = outer.instances.clone().with_labels(outer.labels.rules(outer.style));
        let (factor, help) = (outer.multiply, self.help.to_owned());
        let also = self.also.to_vec();
        let metric = MappedMetric { name, also, kind, unit, help, factor, labels, is_shared: false, otlp };
        if let Err((key, message)) = metric.check() {
            at(key).problem(message, None);
            return None;
        }
        let entry =
            Entry { namespace: outer.namespace.clone(), objects: objects.to_vec(), item, part, metric };
        Some((entry, (place.position(), place.path.clone())))
    }

    fn otlp_names(&self, labels: &Labels) -> OtlpNames {
        let attributes = labels.names().map(|name| OtlpAttribute {
            label: Style::OpenTelemetry.label(name),
            name: name.to_owned(),
            is_integer: style::is_integer(name),
        });
        OtlpNames {
            name: self.name.to_owned(),
            unit: self.unit.to_owned(),
            is_sum: self.kind.is_sum,
            attributes: attributes.collect(),
        }
    }
}
