//! Actions that are not done, because of what the module has.

use std::collections::HashMap;

use crate::model::links::LinkProblem;
use crate::model::{Origin, Problem, Set};

/// The problems of the sets of a target.
#[derive(Debug, Default)]
pub(super) struct Problems(HashMap<String, Vec<Problem>>);

impl Problems {
    /// Takes what was found in these sets, and logs what is new of a set. Where the settings have just been checked, the check
    /// has said it of all sets but those of the host.
    pub(super) fn select(&mut self, sets: &[&Set], found: Vec<LinkProblem>, are_settings_new: bool) {
        let before = Self(std::mem::take(&mut self.0));
        for problem in found {
            let set = sets[problem.set].name.clone();
            self.0.entry(set).or_default().push(problem.of(sets));
        }
        for set in sets {
            let now = self.of(&set.name);
            let is_said = are_settings_new && set.origin != Origin::Host;
            if before.of(&set.name) != now && !is_said {
                set.tell(now, 0);
            }
        }
    }

    /// Those of a set.
    pub(super) fn of(&self, set: &str) -> &[Problem] {
        self.0.get(set).map_or(&[], Vec::as_slice)
    }
}
