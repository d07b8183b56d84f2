//! `objects:` of a profile file: the metrics that the families of a counterset become.

use std::sync::Arc;

use series::model::{Factor, Kind, OtlpAttribute, OtlpNames, is_legacy_label};
use series::pipeline::{Entry, Group, LabelMap, LabelValue, MappedMetric};

use super::Style;
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
            item.problem("cannot be combined with `multiply`", Some("remove one of them".to_owned()));
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
                let Some(word) = super::unit_word(self.unit, kind) else {
                    at("unit").problem(format!("`{}` is not a unit that has a name", self.unit), None);
                    return None;
                };
                let name = super::sample_name(self.name, word, kind);
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
            is_integer: super::is_integer(name),
        });
        OtlpNames {
            name: self.name.to_owned(),
            unit: self.unit.to_owned(),
            is_sum: self.kind.is_sum,
            attributes: attributes.collect(),
        }
    }
}

// `labels:` of a profile file, and which instances have series.

/// What a file says of labels, the last one of a name wins.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels(Vec<(String, LabelValue)>);

impl Labels {
    /// The same with those of a narrower place.
    pub(super) fn with(&self, item: Option<Item<'_>>, style: Style) -> Self {
        let mut labels = self.clone();
        let Some(item) = item else { return labels };
        for (entry, value) in item.named() {
            let name = entry.key.as_str();
            let label = style.label(name);
            if !is_legacy_label(&label) || label.starts_with("__") || RESERVED.contains(&label.as_str()) {
                let hint = "use letters, digits and `_`, and none of the exporter's own labels".to_owned();
                item.problem_at(entry.position, format!("`{name}` is not a label's name"), Some(hint));
            } else if let Some(value) = label_value(&value) {
                labels.0.retain(|(own, _)| own != name);
                labels.0.push((name.to_owned(), value));
            }
        }
        labels
    }

    /// The labels as they are on a page.
    pub(super) fn rules(&self, style: Style) -> Vec<(String, LabelValue)> {
        self.0.iter().map(|(name, value)| (style.label(name), value.clone())).collect()
    }

    /// The labels' names as they are written.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

/// A text, or the label of the source that it is taken from; `null` for none.
fn label_value(item: &Item<'_>) -> Option<LabelValue> {
    if let Value::Null = item.node.value {
        return Some(LabelValue::Fixed(String::new()));
    }
    if let Value::Text(_) = item.node.value {
        return item.text().map(|text| LabelValue::Fixed(text.to_owned()));
    }
    let mut section = item.section(&[])?;
    if let Some(star) = section.get("star") {
        section.finish();
        return star.text().map(|text| LabelValue::Star(text.to_owned()));
    }
    let from = section.require("from", "name a label of the source, such as `counter_instance`");
    let label = from.and_then(|item| item.text().map(str::to_owned));
    let strip = section.text("strip").unwrap_or_default();
    let after = section.text("after").unwrap_or_default();
    let until = section.text("until").unwrap_or_default();
    let underscores = section.flag("underscores");
    let regex = section.get("regex");
    section.finish();
    let label = label?;
    let Some(regex) = regex else {
        let underscores = underscores.unwrap_or_default();
        return Some(LabelValue::From { label, strip, after, until, underscores });
    };
    if !(strip.is_empty() && after.is_empty() && until.is_empty() && underscores.is_none()) {
        regex.problem("cannot be combined with `strip`, `after`, `until` or `underscores`", None);
    }
    match Group::new(&label, regex.text()?) {
        Ok(group) => Some(LabelValue::Group(group)),
        Err(problem) => {
            regex.problem(format!("is not a valid regular expression: {problem}"), None);
            None
        }
    }
}

/// Labels that the exporter sets itself.
const RESERVED: &[&str] = &["target", "le", "quantile"];
