//! Actions that are not done, because of what the module has.

use std::collections::HashMap;

use crate::model::links::LinkProblem;
use crate::model::{Problem, Set};

/// The problems of the sets of a target.
#[derive(Debug, Default)]
pub(super) struct Problems(HashMap<String, Vec<Problem>>);

impl Problems {
    /// Takes what was found in these sets, and logs what is new of a set.
    pub(super) fn select(&mut self, sets: &[&Set], found: Vec<LinkProblem>) {
        let before = Self(std::mem::take(&mut self.0));
        for LinkProblem { set, alert, kind, message } in found {
            // Indexes are those of the sets, and of their alerts.
            let set = sets[set];
            let alert = alert.map(|alert| set.alerts[alert].name.clone()).unwrap_or_default();
            self.0.entry(set.name.clone()).or_default().push(Problem { alert, kind, message });
        }
        for set in sets {
            let now = self.of(&set.name);
            if before.of(&set.name) != now {
                set.tell(now, 0);
            }
        }
    }

    /// Those of a set.
    pub(super) fn of(&self, set: &str) -> &[Problem] {
        self.0.get(set).map_or(&[], Vec::as_slice)
    }
}
