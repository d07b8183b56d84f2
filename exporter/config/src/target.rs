//! `targets:` and `target_defaults:`, whom we ask.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::item::Item;
use super::node::{Entry, Position};
use super::normalize::{NormalizeSection, normalize};
use super::scrape::{INTERVALS, SERIES, Scrape, StaleAfter, deadline, stale_after};
use super::section::ReservedKeys;

#[derive(Clone, Debug, PartialEq)]
pub struct TargetDefaults {
    pub identity: Option<String>,
    pub transport: String,
    pub modules: Vec<String>,
    /// `labels`: a target's own of the same name win.
    pub labels: BTreeMap<String, String>,
    /// `normalize`: of targets that have no section of their own, be it an empty one.
    pub normalize: NormalizeSection,
}

impl Default for TargetDefaults {
    fn default() -> Self {
        Self {
            identity: None,
            transport: "default".to_owned(),
            modules: Vec::new(),
            labels: BTreeMap::new(),
            normalize: NormalizeSection::default(),
        }
    }
}

/// One of `targets:`, or one of a target file.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// `name`: unique; the host where it is not given.
    pub name: String,
    /// `host`: a name or an address.
    pub host: String,
    /// `identity`: nothing for plugins that need none.
    pub identity: Option<String>,
    /// `service_principal`: the name of its services for a KDC, where that is not made of the host's.
    pub service_principal: Option<String>,
    pub transport: String,
    /// `modules`: what is asked of it.
    pub modules: Vec<String>,
    pub interval: Duration,
    pub deadline: Duration,
    pub max_series: u32,
    /// `stale_after`: how long its series outlive a collection that fails.
    pub stale_after: Duration,
    /// `labels`: added to each of its series.
    pub labels: BTreeMap<String, String>,
    pub normalize: NormalizeSection,
    /// Where its file has it.
    pub position: Position,
}

impl Target {
    /// Whether both ask the same in the same way, wherever they are.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let Self { name, host, identity, service_principal, transport, modules, interval, deadline, .. } =
            self;
        let Self { max_series, stale_after, labels, normalize, .. } = self;
        (name, host, identity, transport, modules)
            == (&other.name, &other.host, &other.identity, &other.transport, &other.modules)
            && *service_principal == other.service_principal
            && (interval, deadline) == (&other.interval, &other.deadline)
            && (max_series, stale_after, labels) == (&other.max_series, &other.stale_after, &other.labels)
            && *normalize == other.normalize
    }

    /// What Prometheus gets as `instance` from `/sd`: its label of that name, or else its own name. An empty label is
    /// none.
    #[must_use]
    pub fn instance(&self) -> &str {
        self.labels.get("instance").filter(|instance| !instance.is_empty()).unwrap_or(&self.name)
    }
}

const RESERVED: ReservedKeys = &["probe", "address"];
const NAME_BYTES_MAX: usize = 253;
/// Maximum modules per target.
pub(super) const MODULES_MAX: usize = 100;
const DEADLINE: Duration = Duration::from_secs(10);

pub(super) fn defaults(item: &Item<'_>, outer: &NormalizeSection, base: &Path) -> TargetDefaults {
    let mut defaults = TargetDefaults::default();
    let Some(mut section) = item.section(&[]) else { return defaults };
    defaults.identity = section.text("identity");
    if let Some(transport) = section.get("transport").and_then(|item| item.text()) {
        transport.clone_into(&mut defaults.transport);
    }
    defaults.modules = section.get("modules").map(|item| modules(&item)).unwrap_or_default();
    defaults.labels = section.get("labels").map(|item| labels(&item)).unwrap_or_default();
    if let Some(item) = section.get("normalize") {
        defaults.normalize = normalize(&item, Some(outer), base);
    }
    section.finish();
    defaults
}

/// Reads one of `targets:`.
pub(super) fn target(
    item: &Item<'_>,
    scrape: &Scrape,
    defaults: &TargetDefaults,
    outer: &NormalizeSection,
    base: &Path,
) -> Option<Target> {
    let mut section = item.section(RESERVED)?;
    let host = section.require("host", "name the host or its address");
    let host = host.and_then(|item| host_name(&item, || None));
    let name = section.get("name").and_then(|item| name_of(&item)).or(host);
    let overrides = TargetOverrides {
        identity: section.text("identity"),
        service_principal: section.get("service_principal").and_then(|item| service_principal(&item)),
        transport: section.text("transport"),
        modules: if defaults.modules.is_empty() {
            section.require("modules", "list what is collected from it").map(|item| modules(&item))
        } else {
            section.get("modules").map(|item| modules(&item))
        },
        interval: section.duration("interval", INTERVALS),
        deadline: None,
        max_series: section.count("max_series", SERIES),
        stale_after: None,
        labels: BTreeMap::new(),
        normalize: section.get("normalize").map(|item| normalize(&item, Some(outer), base)),
    };
    let interval = overrides.interval.unwrap_or(scrape.interval);
    let deadline = section.get("deadline").and_then(|item| deadline(&item, interval));
    let stale_after = section.get("stale_after").and_then(|item| stale_after(&item, interval));
    let labels = section.get("labels").map(|item| labels(&item)).unwrap_or_default();
    let position = section.position;
    section.finish();
    let overrides = TargetOverrides { deadline, stale_after, labels, ..overrides };
    if overrides.modules.is_none() && defaults.modules.is_empty() {
        return None;
    }
    Some(overrides.target(name?, host?, position, scrape, defaults))
}

/// `CLASS/HOST`, with or without a realm.
fn service_principal(item: &Item<'_>) -> Option<String> {
    let text = item.text()?;
    let is_one = text.split_once('/').is_some_and(|(class, host)| !class.is_empty() && !host.is_empty());
    if !is_one || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        let hint = Some("write `CLASS/HOST`, such as `host/web1.corp.example.com`".to_owned());
        item.problem(format!("`{text}` is not a service principal"), hint);
    }
    Some(text.to_owned())
}

/// What is said of a target, or of a group of them; the rest is the defaults'.
#[derive(Clone, Debug, Default)]
pub(super) struct TargetOverrides {
    pub(super) identity: Option<String>,
    pub(super) service_principal: Option<String>,
    pub(super) transport: Option<String>,
    pub(super) modules: Option<Vec<String>>,
    pub(super) interval: Option<Duration>,
    pub(super) deadline: Option<Duration>,
    pub(super) max_series: Option<u32>,
    pub(super) stale_after: Option<StaleAfter>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) normalize: Option<NormalizeSection>,
}

impl TargetOverrides {
    /// The target of which these are.
    pub(super) fn target(
        self,
        name: &str,
        host: &str,
        position: Position,
        scrape: &Scrape,
        defaults: &TargetDefaults,
    ) -> Target {
        let interval = self.interval(scrape);
        let default_deadline = scrape.deadline.unwrap_or(DEADLINE).min(interval);
        let mut labels = defaults.labels.clone();
        labels.extend(self.labels);
        Target {
            name: name.to_owned(),
            host: host.to_owned(),
            identity: self.identity.or_else(|| defaults.identity.clone()),
            service_principal: self.service_principal,
            transport: self.transport.unwrap_or_else(|| defaults.transport.clone()),
            modules: self.modules.unwrap_or_else(|| defaults.modules.clone()),
            interval,
            deadline: self.deadline.unwrap_or(default_deadline),
            max_series: self.max_series.unwrap_or(scrape.max_series),
            stale_after: self.stale_after.unwrap_or(scrape.stale_after).of(interval),
            labels,
            normalize: self.normalize.unwrap_or_else(|| defaults.normalize.clone()),
            position,
        }
    }

    /// The time between two of its collections.
    pub(super) fn interval(&self, scrape: &Scrape) -> Duration {
        self.interval.unwrap_or(scrape.interval)
    }
}

fn modules(item: &Item<'_>) -> Vec<String> {
    let items = item.list();
    if items.is_empty() {
        item.problem("is empty", Some("name at least one of `modules`".to_owned()));
    } else if items.len() > MODULES_MAX {
        item.problem(format!("has {} entries, the limit is {MODULES_MAX}", items.len()), None);
    }
    items.iter().take(MODULES_MAX).filter_map(Item::text).map(str::to_owned).collect()
}

/// A host's name or address. `port_key` says how a transport's port is written, where that is known.
pub(super) fn host_name<'a>(item: &Item<'a>, port_key: impl FnOnce() -> Option<String>) -> Option<&'a str> {
    let host = name_of(item)?;
    if super::hosts::is_host_name(host) {
        Some(host)
    } else {
        let hint = super::hosts::host_hint(host, || in_transport(port_key().as_deref()));
        item.problem(format!("`{host}` is not a valid host"), Some(hint));
        None
    }
}

/// Where a port is written, of which the key may be known.
#[must_use]
pub fn in_transport(port_key: Option<&str>) -> String {
    let port_key = port_key.unwrap_or("transports: {default: {PROTOCOL: {port: …}}}");
    format!("the transport: `{port_key}`")
}

pub(super) fn name_of<'a>(item: &Item<'a>) -> Option<&'a str> {
    let name = item.text()?;
    if name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
        item.problem(format!("must be printable and at most {NAME_BYTES_MAX} bytes long"), None);
        return None;
    }
    Some(name)
}

fn labels(item: &Item<'_>) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    for (entry, value) in item.named() {
        if let Some(text) = label(item, entry, &value) {
            labels.insert(entry.key.clone(), text.to_owned());
        }
    }
    labels
}

/// The value of one of `labels`, if it may be one.
pub(super) fn label<'a>(labels: &Item<'_>, entry: &Entry, value: &Item<'a>) -> Option<&'a str> {
    const RESERVED: &[&str] = &["target", "counter_instance", "instance_id", "le", "quantile"];
    let key = entry.key.as_str();
    let mut chars = key.chars();
    let begins = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let valid = begins && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    let refuse = |message: &str, hint: &str| {
        let hint = Some(hint.to_owned());
        labels.problem_at(entry.position, format!("label `{key}` {message}"), hint);
        None
    };
    if !valid || key.starts_with("__") {
        refuse("is not a valid label name", "use letters, digits and `_`, and no digit or `__` in front")
    } else if RESERVED.contains(&key) {
        refuse("is the exporter's own", "choose another name")
    } else {
        value.text_or_empty()
    }
}
