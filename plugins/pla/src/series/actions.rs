//! The series of what alerts did.

use std::collections::HashMap;

use plugin_sdk::{FamilyId, Output, SeriesId};

use super::families::ACTIONS;
use super::{Labels, register};
use crate::actions::{ActionResult, Counts, Key};

/// The series that are there; no id for those that the exporter dropped.
#[derive(Debug, Default)]
pub(super) struct ActionSeries(HashMap<(Key, ActionResult), Option<SeriesId>>);

impl ActionSeries {
    pub(super) fn send(&mut self, families: &[Option<FamilyId>], counts: &Counts, output: &mut Output) {
        let gone: Vec<SeriesId> =
            self.0.extract_if(|key, _| !counts.has(key)).filter_map(|(_, id)| id).collect();
        output.retire(&gone);
        let new = counts.iter().map(|(key, _)| key).filter(|key| !self.0.contains_key(*key));
        let new: Vec<((Key, ActionResult), Labels)> = new.map(|key| (key.clone(), labels_of(key))).collect();
        let ids = register(families, new.iter().map(|(_, labels)| (ACTIONS, labels)), output);
        self.0.extend(new.into_iter().map(|(key, _)| key).zip(ids));
        for (key, count) in counts.iter() {
            if let Some(Some(id)) = self.0.get(key) {
                output.push_u64(*id, count);
            }
        }
    }
}

fn labels_of((key, result): &(Key, ActionResult)) -> Labels {
    vec![
        ("set", key.set.to_string()),
        ("alert", key.alert.to_string()),
        ("action", key.action.as_str().to_owned()),
        ("result", result.as_str().to_owned()),
    ]
}
