//! Which actions of alerts are done: tasks that the settings name, and sets that may start each other.

use std::collections::{HashMap, HashSet};

use super::{Origin, Problem, ProblemKind, Set, Start};

/// What was found about the actions of all sets of a module.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// What is not done.
    pub(crate) problems: Vec<LinkProblem>,
    /// The second set is not started by the first one.
    pub(crate) refused: HashSet<(String, String)>,
}

/// An action that is not done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LinkProblem {
    /// The place of the set among all.
    pub(crate) set: usize,
    /// The place of the alert in the set; none if it is about the set.
    pub(crate) alert: Option<usize>,
    pub(crate) kind: ProblemKind,
    /// What is said about it.
    pub(crate) message: String,
}

impl LinkProblem {
    /// As a problem of its set, which is one of those that were searched.
    pub(crate) fn of(self, sets: &[&Set]) -> Problem {
        let Self { set, alert, kind, message } = self;
        let alert = alert.map(|alert| sets[set].alerts[alert].name.clone()).unwrap_or_default();
        Problem { alert, kind, message }
    }
}

/// Follows the actions of all sets. `has_task` says whether the settings name a task, and `may_start` whether they let a set of
/// the host be started there, which is no link: the host judges nothing here.
///
/// A link that closes a circle of sets is refused: the sets would keep each other running without end.
pub(crate) fn find(
    sets: &[&Set],
    has_task: impl Fn(&str) -> bool,
    may_start: impl Fn(&str) -> bool,
) -> Links {
    let mut search = Search::new(sets);
    for (index, set) in sets.iter().enumerate() {
        let own = set.logs.as_ref().and_then(|logs| logs.task.as_ref());
        if let Some(task) = own.filter(|task| !has_task(&task.name)) {
            let message = format!("the task `{}` is not started: `tasks` does not name it", task.name);
            search.report(index, None, ProblemKind::Task, message);
        }
        for (place, alert) in set.alerts.iter().enumerate() {
            if let Some(task) = alert.task.as_ref().filter(|task| !has_task(&task.name)) {
                let message = format!("the task `{}` is not started: `tasks` does not name it", task.name);
                search.report(index, Some(place), ProblemKind::Task, message);
            }
            let is_unknown = |other: &&String| !search.places.contains_key(&***other) && !may_start(other);
            if let Some(other) = alert.start_set.as_ref().filter(is_unknown) {
                let message = format!(
                    "the set `{other}` is not started: the module has no such set, and `control` names none of the host"
                );
                search.report(index, Some(place), ProblemKind::TriggeredSet, message);
            }
        }
    }
    // Nothing starts a set that always runs, so each of these begins a chain.
    let (always, triggered): (Vec<usize>, Vec<usize>) =
        (0..sets.len()).partition(|index| sets[*index].start == Start::Always);
    always.into_iter().for_each(|index| search.visit(index));
    for index in triggered {
        if search.visits[index] == Visit::Not {
            let message = "no alert starts the set, so that its alerts are not judged".to_owned();
            search.report(index, None, ProblemKind::TriggeredSet, message);
        }
    }
    // Those that nothing starts may still be a circle, and this is why.
    (0..sets.len()).for_each(|index| search.visit(index));
    search.links
}

struct Search<'a> {
    sets: &'a [&'a Set],
    places: HashMap<&'a str, usize>,
    visits: Vec<Visit>,
    /// The sets from the first one of the chain to this one.
    path: Vec<usize>,
    links: Links,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visit {
    Not,
    OnPath,
    Done,
}

impl<'a> Search<'a> {
    fn new(sets: &'a [&'a Set]) -> Self {
        let own = sets.iter().enumerate().filter(|(_, set)| set.origin != Origin::Host);
        let places = own.map(|(index, set)| (&*set.name, index)).collect();
        let visits = vec![Visit::Not; sets.len()];
        Self { sets, places, visits, path: Vec::new(), links: Links::default() }
    }

    /// Follows the links of a set that was not visited yet. It is not deeper than a module has sets.
    fn visit(&mut self, index: usize) {
        if self.visits[index] != Visit::Not {
            return;
        }
        self.visits[index] = Visit::OnPath;
        self.path.push(index);
        let mut followed = HashSet::new();
        for (place, alert) in self.sets[index].alerts.iter().enumerate() {
            let Some(other) = alert.start_set.as_deref().and_then(|name| self.places.get(name).copied())
            else {
                continue;
            };
            if self.sets[other].start == Start::Always {
                continue;
            }
            if self.visits[other] == Visit::OnPath {
                self.refuse(index, place, other);
            } else if followed.insert(other) {
                self.visit(other);
            }
        }
        self.path.pop();
        self.visits[index] = Visit::Done;
    }

    fn refuse(&mut self, index: usize, alert: usize, other: usize) {
        let name = &self.sets[other].name;
        let begin = self.path.iter().position(|set| *set == other).unwrap_or_default();
        let message = match &self.path[begin..] {
            [_] => format!("the set `{name}` is not started: it would start itself without end"),
            circle => {
                let names: Vec<String> =
                    circle.iter().map(|set| format!("`{}`", self.sets[*set].name)).collect();
                let names = names.join(" starts ");
                format!(
                    "the set `{name}` is not started: {names}, and they would start each other without end"
                )
            }
        };
        self.links.refused.insert((self.sets[index].name.clone(), name.clone()));
        self.report(index, Some(alert), ProblemKind::TriggeredSet, message);
    }

    fn report(&mut self, set: usize, alert: Option<usize>, kind: ProblemKind, message: String) {
        self.links.problems.push(LinkProblem { set, alert, kind, message });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Alert, SampleInterval};
    use super::*;
    use std::time::Duration;

    fn set(name: &str, start: Start, starts: &[&str]) -> Set {
        let alert = |other: &&str| Alert {
            name: "high".to_owned(),
            threshold: r"\A\B>1".parse().expect("a threshold"),
            interval: SampleInterval::DEFAULT,
            hold: Duration::ZERO,
            logs_events: true,
            task: None,
            start_set: Some((*other).to_owned()),
            is_optional: false,
        };
        Set {
            name: name.to_owned(),
            origin: Origin::Configuration,
            start,
            duration: Duration::ZERO,
            alerts: starts.iter().map(alert).collect(),
            logs: None,
            is_optional: false,
            collectors: Default::default(),
            problems: Vec::new(),
            problems_left_out: 0,
        }
    }

    fn problems(sets: &[Set]) -> Vec<String> {
        let links = find(&sets.iter().collect::<Vec<_>>(), |_| false, |_| false);
        links.problems.into_iter().map(|it| format!("{}: {}", sets[it.set].name, it.message)).collect()
    }

    const T: Start = Start::Triggered;

    #[test]
    fn the_link_that_closes_a_circle_is_refused() {
        let sets = [set("b", T, &["c"]), set("c", T, &["a", "b"]), set("a", Start::Always, &["b", "c"])];
        let expected =
            "c: the set `b` is not started: `b` starts `c`, and they would start each other without end";
        assert_eq!(problems(&sets), [expected]);
        let links = find(&sets.iter().collect::<Vec<_>>(), |_| false, |_| false);
        assert_eq!(links.refused, HashSet::from([("c".to_owned(), "b".to_owned())]));
    }

    #[test]
    fn a_set_does_not_start_itself_unless_that_changes_nothing() {
        let expected = "b: the set `b` is not started: it would start itself without end";
        assert_eq!(problems(&[set("a", Start::Always, &["b", "a"]), set("b", T, &["b"])]), [expected]);
    }

    #[test]
    fn a_set_that_nothing_starts_is_said() {
        let found = problems(&[set("a", T, &["b"]), set("b", T, &["a"]), set("c", T, &["x"])]);
        assert_eq!(
            found,
            [
                "c: the set `x` is not started: the module has no such set, and `control` names none of the host",
                "a: no alert starts the set, so that its alerts are not judged",
                "b: no alert starts the set, so that its alerts are not judged",
                "c: no alert starts the set, so that its alerts are not judged",
                "b: the set `a` is not started: `a` starts `b`, and they would start each other without end",
            ]
        );
    }

    #[test]
    fn two_ways_to_one_set_are_no_circle() {
        let sets = [set("a", Start::Always, &["b", "c"]), set("b", T, &["c", "c"]), set("c", T, &[])];
        assert_eq!(problems(&sets), [""; 0]);
    }
}
