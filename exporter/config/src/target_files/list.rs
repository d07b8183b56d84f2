use std::collections::{HashMap, HashSet};

use crate::problem::Problem;
use crate::target::Target;

/// Maximum skipped entries that are kept; further ones are only counted.
const SKIPPED_MAX: usize = 10_000;

/// What is in a target file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetList {
    /// Those that can be asked.
    pub targets: Vec<Target>,
    /// Those that cannot, in the order of the file.
    pub skipped: Vec<Skipped>,
    /// How many targets that are.
    pub skipped_targets: usize,
}

/// One target, or a group of them, that cannot be asked as it is in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// What is wrong with it: at least one thing.
    pub problems: Vec<Problem>,
    /// The names of its targets.
    pub names: Vec<String>,
    /// Something is wrong with what holds for a whole group: its targets go on as they last were.
    pub is_group: bool,
    /// The number of its targets that go on.
    pub kept: usize,
}

impl TargetList {
    /// Everything that is wrong with the entries.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.skipped.iter().flat_map(|skipped| &skipped.problems)
    }

    /// One target cannot be asked, and says why.
    pub(super) fn skip_target(&mut self, name: String, problems: Vec<Problem>) {
        self.skipped_targets += 1;
        self.skip(Skipped { problems, names: vec![name], is_group: false, kept: 0 });
    }

    /// None of a group can be asked, and the group says why.
    pub(super) fn skip_group(&mut self, problems: Vec<Problem>, names: Vec<String>) {
        self.skipped_targets += names.len().max(1);
        self.skip(Skipped { problems, names, is_group: true, kept: 0 });
    }

    fn skip(&mut self, skipped: Skipped) {
        if self.skipped.len() < SKIPPED_MAX {
            self.skipped.push(skipped);
        }
    }

    /// Adds what the targets of skipped groups were in `before`, when the file was read last.
    pub(super) fn keep_from(&mut self, before: &[Target]) {
        if before.is_empty() || !self.skipped.iter().any(|skipped| skipped.is_group) {
            return;
        }
        let before: HashMap<&str, &Target> =
            before.iter().map(|target| (target.name.as_str(), target)).collect();
        let mut there: HashSet<String> = self.targets.iter().map(|target| target.name.clone()).collect();
        for skipped in self.skipped.iter_mut().filter(|skipped| skipped.is_group) {
            for name in &skipped.names {
                if let Some(target) = before.get(name.as_str())
                    && there.insert(name.clone())
                {
                    self.targets.push((*target).clone());
                    skipped.kept += 1;
                }
            }
        }
    }
}
