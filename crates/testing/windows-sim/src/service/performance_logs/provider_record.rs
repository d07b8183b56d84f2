//! A provider of events and its maps.

use std::collections::BTreeMap;

use ms_pla::ValueMapType;
use ms_pla::xml::{self, Finding, TraceDataProvider};

use super::shared::{List, Shared, list, records, shared};

/// [MS-PLA] 3.2.4.11: a provider of events.
pub(super) struct Provider {
    /// Its properties, without maps.
    pub(super) record: TraceDataProvider,
    pub(super) maps: BTreeMap<MapOf, Shared<Map>>,
    /// Its security descriptor in SDDL, if one was set.
    pub(super) security: Option<String>,
}

/// What a map of a provider is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MapOf {
    Level,
    KeywordsAny,
    KeywordsAll,
    Properties,
}

impl Provider {
    pub(super) fn new(record: TraceDataProvider) -> Self {
        let mut provider =
            Self { record: TraceDataProvider::default(), maps: BTreeMap::new(), security: None };
        provider.fill(record);
        provider
    }

    pub(super) fn fill(&mut self, mut record: TraceDataProvider) {
        let maps = [
            (MapOf::Level, ValueMapType::INDEX, record.level.take()),
            (MapOf::KeywordsAny, ValueMapType::FLAG, record.keywords_any.take()),
            (MapOf::KeywordsAll, ValueMapType::FLAG, record.keywords_all.take()),
            (MapOf::Properties, ValueMapType::FLAG, record.properties.take()),
        ];
        for (of, kind, map) in maps {
            self.maps.insert(of, shared(Map::new(kind, map.unwrap_or_default())));
        }
        self.record = record;
    }

    pub(super) fn record(&self) -> TraceDataProvider {
        let map = |of| self.maps.get(&of).and_then(|map| map.lock().record());
        TraceDataProvider {
            level: map(MapOf::Level),
            keywords_any: map(MapOf::KeywordsAny),
            keywords_all: map(MapOf::KeywordsAll),
            properties: map(MapOf::Properties),
            ..self.record.clone()
        }
    }
}

/// [MS-PLA] 3.2.4.18: a map.
pub(super) struct Map {
    pub(super) description: Option<String>,
    pub(super) kind: ValueMapType,
    /// The value of a map without items, a number.
    pub(super) value: Option<String>,
    pub(super) items: List<MapItem>,
}

/// [MS-PLA] 3.2.4.17: an item of a map.
#[derive(Default)]
pub(super) struct MapItem {
    pub(super) record: xml::ValueMapItem,
    pub(super) kind: ValueMapType,
}

impl Map {
    fn new(kind: ValueMapType, map: xml::ValueMap) -> Self {
        let kind = map.kind.unwrap_or(kind);
        let items = map.items.into_iter().map(|record| MapItem { record, kind });
        Self { description: map.description, kind, value: map.value, items: list(items) }
    }

    /// [MS-PLA] 2.2.2.11: properties that are ignored or wrong, each with its result.
    pub(super) fn of_findings(findings: Vec<Finding>) -> Self {
        let kind = ValueMapType::VALIDATION;
        let item = |finding: Finding| MapItem {
            record: xml::ValueMapItem {
                key: Some(finding.property),
                value: Some(finding.code.0.to_string()),
                is_enabled: Some(true),
                ..xml::ValueMapItem::default()
            },
            kind,
        };
        Self { description: None, kind, value: None, items: list(findings.into_iter().map(item)) }
    }

    /// The map as XML; none if it says nothing.
    fn record(&self) -> Option<xml::ValueMap> {
        let items = records(&self.items, |item| item.record.clone());
        let is_empty = items.is_empty() && self.value.is_none() && self.description.is_none();
        let record = xml::ValueMap {
            description: self.description.clone(),
            kind: Some(self.kind),
            value: self.value.clone(),
            items,
            ..xml::ValueMap::default()
        };
        (!is_empty).then_some(record)
    }
}
