use counter_poll::paths::{OpenPath, PathMatch, PathPlan, PathProblem};
use counter_poll::survey::Counterset;
use counters::pcq::wire::CounterRegInfo;
use pla_engine::AlertState;
use plugin_sdk::Failure;

use super::Kinds;

/// What the paths mean.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// What is asked for.
    pub(crate) plan: PathPlan,
    /// By path: the place of its match. A path names one counterset; where the host has several of the name, the first counts.
    matches: Vec<Option<usize>>,
    /// By path: why it means nothing.
    pub(super) problems: Vec<Option<String>>,
    /// By path: whether the host has the counterset, or may have it, and does not say what is in it.
    are_unusable: Vec<bool>,
    /// By path: whether the host has no such counterset or counter, as far as it tells what it has.
    are_absent: Vec<bool>,
    /// By path: whether hosts may lack it.
    are_optional: Vec<bool>,
    /// Whether it was searched in this collection.
    pub(super) is_new: bool,
    /// Whether paths may mean classic objects.
    pub(super) may_be_classic: bool,
}

/// The counter that a path means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pick<'a> {
    pub(crate) path: &'a PathMatch,
    pub(crate) info: &'a CounterRegInfo,
    needs: Kinds,
}

/// All counters that a path means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meaning<'a> {
    /// Counterset, counters and instances.
    pub(crate) path: &'a PathMatch,
    pub(crate) counterset: &'a Counterset,
    /// Which reply has their values.
    pub(crate) needs: Kinds,
}

impl Found {
    /// What is in `plan`, of so many paths.
    pub(super) fn new(plan: PathPlan, paths: usize) -> Self {
        let mut problems: Vec<Option<String>> = vec![None; paths];
        let mut matches: Vec<Option<usize>> = vec![None; paths];
        for (place, one) in plan.matches.iter().enumerate() {
            matches[one.order()].get_or_insert(place);
        }
        let (mut are_unusable, mut are_absent) = (vec![false; paths], vec![false; paths]);
        for (order, problem) in &plan.problems {
            problems[*order] = Some(problem.to_string());
            are_unusable[*order] = is_unusable(problem);
            are_absent[*order] = problem.is_absence();
        }
        Self { plan, matches, problems, are_unusable, are_absent, ..Self::default() }
    }

    /// Adds the problems of paths that may mean classic objects. `failure` says why those could not be read, and `unlisted` why
    /// the host may have countersets that were not searched.
    pub(super) fn add_problems(
        &mut self,
        open: &[OpenPath],
        failure: Option<&Failure>,
        unlisted: Option<&str>,
    ) {
        for path in open {
            let order = path.order();
            if self.matches[order].is_none() && self.problems[order].is_none() {
                let unread = failure.map(|failure| {
                    let (path, message) = (path.path(), &failure.message);
                    format!("{path}: the host's classic counters cannot be read: {message}")
                });
                let absent = path.problem().filter(|_| unread.is_none());
                self.are_absent[order] = absent.is_some_and(PathProblem::is_absence);
                self.problems[order] = unread.or_else(|| path.problem().map(ToString::to_string));
                self.are_unusable[order] = path.problem().is_some_and(is_unusable);
            }
            if let (Some(problem), Some(unlisted)) = (&mut self.problems[order], unlisted) {
                *problem += &format!("; {unlisted}");
                self.are_absent[order] = false;
            }
        }
    }

    /// What the path at this place means.
    pub(crate) fn pick(&self, path: usize) -> Option<Pick<'_>> {
        let path = self.plan.matches.get((*self.matches.get(path)?)?)?;
        let counterset = self.plan.countersets.get(path.counterset)?;
        let counter = counterset.counters.get(*path.counters.first()?)?;
        Some(Pick { path, info: &counter.info, needs: Kinds::of(counterset.provider) })
    }

    /// All that the path at this place means.
    pub(crate) fn meaning(&self, path: usize) -> Option<Meaning<'_>> {
        let path = self.plan.matches.get((*self.matches.get(path)?)?)?;
        let counterset = self.plan.countersets.get(path.counterset)?;
        Some(Meaning { path, counterset, needs: Kinds::of(counterset.provider) })
    }

    /// What an alert is whose path means nothing.
    pub(crate) fn state_without(&self, path: usize) -> AlertState {
        match self.are_unusable.get(path) {
            Some(true) => AlertState::NoData,
            _ if self.is_excused(path) => AlertState::Waiting,
            _ => AlertState::Unresolved,
        }
    }

    /// Hosts may lack what these paths mean.
    pub(super) fn set_optional(&mut self, are_optional: &[bool]) {
        are_optional.clone_into(&mut self.are_optional);
    }

    /// Whether the host lacks what the path means, and may.
    pub(super) fn is_excused(&self, path: usize) -> bool {
        [&self.are_absent, &self.are_optional].iter().all(|flags| flags.get(path) == Some(&true))
    }

    /// Why paths mean nothing that must not.
    pub(crate) fn failures(&self) -> impl Iterator<Item = &str> {
        let failed = self.problems.iter().enumerate().filter(|(path, _)| !self.is_excused(*path));
        failed.filter_map(|(_, problem)| problem.as_deref())
    }

    /// Whether a path means nothing.
    pub(crate) fn has_problems(&self) -> bool {
        self.problems.iter().any(Option::is_some)
    }
}

const fn is_unusable(problem: &PathProblem) -> bool {
    matches!(problem, PathProblem::Unusable { .. })
}

impl Pick<'_> {
    /// Which reply has its values.
    pub(crate) const fn needs(&self) -> Kinds {
        self.needs
    }
}
