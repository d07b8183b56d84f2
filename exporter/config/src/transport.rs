//! `transports:`, how targets are reached. What can be set besides the time is declared by plugins: each kind of transport
//! is a section. The file is read before they are loaded, so that sections are kept as written until then.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use plugin_abi::{SettingInfo, SettingKind, SettingsSchema, TransportInfo};
use serde_json::{Map, Value};

use super::item::{Item, child};
use super::node::Node;
use super::problem::Problems;
use super::section::{ReservedKeys, Section, set};
use super::shown::HIDDEN;

#[derive(Clone, Debug)]
pub struct Transport {
    /// `connect_timeout`: for name, TCP and negotiation together. Default 3 s.
    pub connect_timeout: Duration,
    /// As the file has it; nothing for a `default` that is not written.
    source: Option<Node>,
    /// What is set by kind, for all kinds that the loaded plugins declare.
    by_kind: BTreeMap<String, KindSettings>,
}

/// What is set of one kind of transport.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct KindSettings {
    /// The file has a section of this kind.
    is_written: bool,
    /// As sources get it: with defaults, times in milliseconds, and without the port.
    values: Map<String, Value>,
    /// The port that the file names.
    port: Option<u16>,
    default_port: Option<u16>,
}

impl KindSettings {
    fn asked_port(&self) -> Option<u16> {
        self.port.or(self.default_port)
    }
}

/// A source's settings of a target's transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransportSettings {
    pub connect_timeout: Duration,
    /// The settings of each kind that the source gets, as a JSON object: with defaults, times in milliseconds, and without
    /// the port. A source with several kinds, which may use them side by side, gets the port that the file names for each.
    pub by_kind: Map<String, Value>,
    /// The port that the file names; of several kinds, that of the first one with a port.
    pub port: Option<u16>,
    /// The port where the file names none.
    pub default_port: Option<u16>,
}

impl Default for Transport {
    fn default() -> Self {
        Self { connect_timeout: Duration::from_secs(3), source: None, by_kind: BTreeMap::new() }
    }
}

impl Transport {
    /// The settings for a source that declares `schema`: of its kinds those that the file has, or else the first.
    #[must_use]
    pub fn settings(&self, schema: &SettingsSchema) -> TransportSettings {
        let declared = schema.transports.iter();
        let known: Vec<(&str, &KindSettings)> =
            declared.filter_map(|info| Some((&*info.kind, self.by_kind.get(&info.kind)?))).collect();
        let mut given: Vec<_> = known.iter().filter(|(_, settings)| settings.is_written).copied().collect();
        if given.is_empty() {
            given.extend(known.first());
        }
        let by_kind = given.iter().map(|(kind, settings)| {
            let mut values = settings.values.clone();
            let port = schema.transports.iter().find(|info| info.kind == *kind).and_then(TransportInfo::port);
            if let (Some(setting), Some(port), true) = (port, settings.port, known.len() > 1) {
                values.insert(setting.key.clone(), port.into());
            }
            ((*kind).to_owned(), values.into())
        });
        TransportSettings {
            connect_timeout: self.connect_timeout,
            by_kind: by_kind.collect(),
            port: given.iter().find_map(|(_, settings)| settings.port),
            default_port: given.iter().find_map(|(_, settings)| settings.default_port),
        }
    }

    /// The same as a line for each kind, in the words of the file, with what may be shown of it: `tls: mode strict, port 9`.
    #[must_use]
    pub fn shown(&self, schema: &SettingsSchema) -> Vec<String> {
        let given = self.settings(schema);
        let by_kind =
            schema.transports.iter().filter_map(|info| Some((info, given.by_kind.get(&info.kind)?)));
        let lines = by_kind.map(|(info, values)| {
            let port = self.by_kind.get(&info.kind).and_then(KindSettings::asked_port).map(Value::from);
            let shown = info.settings.iter().filter_map(|setting| {
                let value = match setting.kind {
                    SettingKind::Port => port.as_ref(),
                    _ => values.get(&setting.key),
                }?;
                let value = if setting.is_shown { in_words(&setting.kind, value) } else { HIDDEN.to_owned() };
                Some(format!("{} {value}", setting.key))
            });
            format!("{}: {}", info.kind, shown.collect::<Vec<_>>().join(", "))
        });
        lines.collect()
    }

    /// The ports of all kinds, each the default where the file names none.
    pub(super) fn ports(&self) -> Vec<u16> {
        self.by_kind.values().filter_map(KindSettings::asked_port).collect()
    }
}

impl TransportSettings {
    /// The port of hosts, if known.
    #[must_use]
    pub fn asked_port(&self) -> Option<u16> {
        self.port.or(self.default_port)
    }
}

const RESERVED: ReservedKeys = &["call_timeout", "retries", "max_series", "rpc", "proxy"];
const TIMEOUTS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(300);
const TIMEOUT: &str = "connect_timeout";

/// Reads of one of `transports:` what is the exporter's.
pub(super) fn transport(item: &Item<'_>) -> Option<Transport> {
    let mut transport = Transport { source: Some(item.node.clone()), ..Transport::default() };
    let mut section = item.section(&[])?;
    set(&mut transport.connect_timeout, section.duration(TIMEOUT, TIMEOUTS));
    section.rest();
    section.finish();
    Some(transport)
}

/// Reads of all transports what plugins declare.
pub(super) fn set_declared(
    transports: &mut BTreeMap<String, Transport>,
    declared: &BTreeMap<&str, &TransportInfo>,
    problems: &Problems,
) {
    for (name, transport) in transports {
        let source = transport.source.take();
        let item = source.as_ref().map(|node| Item { node, path: child("transports", name), problems });
        let mut section = item.as_ref().and_then(|item| item.section(RESERVED));
        if let Some(section) = &mut section {
            // It was read already.
            section.get(TIMEOUT);
        }
        let by_kind = declared.iter().map(|(kind, info)| {
            let of_kind = section.as_mut().and_then(|section| section.get(kind)?.section(&[]));
            ((*kind).to_owned(), of_kind_settings(info, of_kind))
        });
        transport.by_kind = by_kind.collect();
        if let Some(section) = section {
            let nothing = "no plugin of `plugins.load` declares a transport";
            section.finish_or(declared.is_empty().then_some(nothing));
        }
    }
}

fn of_kind_settings<'a>(info: &'a TransportInfo, mut section: Option<Section<'a>>) -> KindSettings {
    let mut settings = KindSettings { is_written: section.is_some(), ..KindSettings::default() };
    for setting in &info.settings {
        let written = section.as_mut().and_then(|section| value(&section.get(&setting.key)?, setting));
        if setting.kind == SettingKind::Port {
            let port = |value: &Value| u16::try_from(value.as_u64()?).ok();
            settings.port = written.as_ref().and_then(port);
            settings.default_port = setting.default.as_ref().and_then(port);
        } else if let Some(value) = written.or_else(|| setting.default.clone()) {
            settings.values.insert(setting.key.clone(), value);
        }
    }
    if let Some(section) = section {
        section.finish();
    }
    settings
}

/// A value as sources get it; `None` if it is invalid, which is reported.
fn value(item: &Item<'_>, setting: &SettingInfo) -> Option<Value> {
    let milliseconds = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    match &setting.kind {
        SettingKind::Text => item.text_or_empty().map(Value::from),
        SettingKind::Word(words) => {
            let words: Vec<(&str, &str)> = words.iter().map(|word| (word.as_str(), word.as_str())).collect();
            item.choice(&words).map(Value::from)
        }
        SettingKind::Integer { min, max } => item.integer(*min..=*max).map(Value::from),
        SettingKind::Bool => item.flag().map(Value::from),
        SettingKind::Duration { min_ms, max_ms } => {
            let range = Duration::from_millis(*min_ms)..=Duration::from_millis(*max_ms);
            item.duration(range).map(|duration| milliseconds(duration).into())
        }
        SettingKind::Port => item.count(1..=65_535).map(Value::from),
    }
}

/// A value of a setting as people write it, in the configuration and after options.
#[must_use]
pub fn in_words(kind: &SettingKind, value: &Value) -> String {
    match (kind, value) {
        (SettingKind::Duration { .. }, Value::Number(milliseconds)) => {
            let duration = Duration::from_millis(milliseconds.as_u64().unwrap_or_default());
            humantime::format_duration(duration).to_string()
        }
        (_, Value::String(text)) => text.clone(),
        (_, value) => value.to_string(),
    }
}
