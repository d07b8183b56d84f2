//! The series of sets: they are few.

use std::collections::HashMap;

use plugin_sdk::{FamilyId, Output, SeriesId};

use super::families::{PROBLEMS, SET_ALERTS, SET_INFO, SET_RUNNING};
use super::{Labels, register};
use crate::actions::Actions;
use crate::board::{Place, Watched};
use crate::model::{Origin, ProblemKind};
use crate::sets::LoadedSet;

/// The series that are there, by their family and their labels.
#[derive(Debug, Default)]
pub(super) struct SetTable(HashMap<(usize, Labels), Option<SeriesId>>);

impl SetTable {
    pub(super) fn send(
        &mut self,
        families: &[Option<FamilyId>],
        sets: &[LoadedSet],
        (alerts, actions): (&[Watched], &Actions),
        output: &mut Output,
    ) {
        let samples: HashMap<(usize, Labels), u64> =
            sets.iter().flat_map(|set| samples(set, alerts, actions)).collect();
        let gone = self.0.extract_if(|key, _| !samples.contains_key(key));
        let gone: Vec<SeriesId> = gone.filter_map(|(_, id)| id).collect();
        output.retire(&gone);
        let new: Vec<(usize, Labels)> =
            samples.keys().filter(|key| !self.0.contains_key(*key)).cloned().collect();
        let ids = register(families, new.iter().map(|(family, labels)| (*family, labels)), output);
        self.0.extend(new.into_iter().zip(ids));
        for (key, value) in &samples {
            if let Some(Some(id)) = self.0.get(key) {
                output.push_u64(*id, *value);
            }
        }
    }
}

fn samples(loaded: &LoadedSet, alerts: &[Watched], actions: &Actions) -> Vec<((usize, Labels), u64)> {
    let set = loaded.set();
    let own = || vec![("set", set.name.clone())];
    let path = match &set.origin {
        Origin::Configuration => String::new(),
        Origin::File(path) => path.display().to_string().chars().take(PATH_CHARS_SHOWN).collect(),
    };
    let info = vec![("source", set.origin.as_str().to_owned()), ("path", path)];
    let of_set = || alerts.iter().filter(|alert| *alert.set == *set.name);
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let mut samples = vec![
        ((SET_INFO, own().into_iter().chain(info).collect()), 1),
        ((SET_ALERTS, own()), count(of_set().count())),
        ((SET_RUNNING, own()), u64::from(actions.is_running(&set.name))),
    ];
    for kind in ProblemKind::SHOWN {
        let number = match kind {
            ProblemKind::OtherHost => of_set().filter(|alert| alert.place() == Place::OtherHost).count(),
            ProblemKind::File => usize::from(loaded.problem().is_some()),
            kind => loaded.problems().filter(|problem| problem.kind == kind).count(),
        };
        let labels = own().into_iter().chain([("kind", kind.as_str().to_owned())]).collect();
        samples.push(((PROBLEMS, labels), count(number)));
    }
    samples
}

/// Of a file's path.
const PATH_CHARS_SHOWN: usize = 250;
