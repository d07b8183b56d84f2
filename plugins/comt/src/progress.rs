//! How far the components of a host's applications were read. A host that is not near takes more time for them than one
//! collection has: the next one goes on where this one ended, within an application, too.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use com::comt::{Application, ComponentData};
use tokio::time::Instant;
use wire::Guid;

use crate::model::{ComponentFigures, add_to};

/// The place of a reading. It outlives a collection.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// The application whose components are read first.
    next: Option<Guid>,
    /// What was read of an application, if there was no time for all of it.
    begun: Option<Begun>,
    /// How many components of each application were read the last time.
    shown: BTreeMap<Guid, usize>,
}

/// An application whose containers are being read.
#[derive(Debug)]
pub(crate) struct Begun {
    application: Guid,
    since: Instant,
    /// The containers that were read.
    containers: BTreeSet<u32>,
    /// How many of them there were before this collection, also if what was read of them counts no more.
    before: usize,
    pub(crate) found: Found,
}

/// The components of an application.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) shown: BTreeMap<Guid, ComponentFigures>,
    /// The classes of those for which there is no room.
    pub(crate) not_shown: BTreeSet<Guid>,
}

/// How old the figures of a container may be that are added to those of another one.
const BEGUN_AGE_MAX: Duration = Duration::from_secs(300);

impl Progress {
    /// Forgets what was read of one application: the host may have been started again.
    pub(crate) fn forget_begun(&mut self) {
        self.begun = None;
    }

    /// Begins a collection of applications in the order of their identifiers. Returns the place of the first one that is read.
    pub(crate) fn begin(&mut self, listed: &[Application]) -> usize {
        self.shown.retain(|id, _| listed.binary_search_by_key(id, |application| application.id).is_ok());
        let next = self.next.unwrap_or_default();
        let place = listed.partition_point(|application| application.id < next);
        if place < listed.len() { place } else { 0 }
    }

    /// How many components are shown of these applications.
    pub(crate) fn shown_of(&self, applications: &[Application]) -> usize {
        applications.iter().filter_map(|application| self.shown.get(&application.id)).sum()
    }

    /// So many components are shown of an application.
    pub(crate) fn show(&mut self, application: Guid, components: usize) {
        self.shown.insert(application, components);
    }

    /// What is known of an application that is read now. Nothing is, if a container has ended since.
    pub(crate) fn take(&mut self, application: &Application, now: Instant) -> Begun {
        let kept = self.begun.take().filter(|begun| begun.application == application.id);
        let before = kept.as_ref().map_or(0, |begun| begun.containers.len());
        let is_there = |container: &u32| application.containers.contains(container);
        let kept = kept.filter(|begun| {
            now.saturating_duration_since(begun.since) < BEGUN_AGE_MAX
                && begun.containers.iter().all(is_there)
        });
        match kept {
            Some(begun) => Begun { before, ..begun },
            None => Begun {
                application: application.id,
                since: now,
                containers: BTreeSet::new(),
                before,
                found: Found::default(),
            },
        }
    }

    /// The next collection goes on with this application.
    pub(crate) fn keep(&mut self, begun: Begun) {
        self.begun = Some(begun);
    }

    /// Ends a collection that began with the application `first` and had no time for `late`, in the order of their turns. The
    /// next one begins with these. One that gets nowhere lets the others go before it.
    pub(crate) fn end(&mut self, first: Option<Guid>, late: &[Guid]) {
        let has_gained = self.begun.as_ref().is_some_and(|begun| begun.containers.len() > begun.before);
        let next = late.iter().find(|id| has_gained || Some(**id) != first);
        self.next = next.or(late.first()).copied();
        self.begun.take_if(|begun| Some(begun.application) != self.next);
    }
}

impl Begun {
    /// Whether no container was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.containers.is_empty()
    }

    /// Whether a container was read.
    pub(crate) fn has(&self, container: u32) -> bool {
        self.containers.contains(&container)
    }

    /// A container was read.
    pub(crate) fn add(&mut self, container: u32) {
        self.containers.insert(container);
    }
}

impl Found {
    /// Adds a component of a container. At most `max` are shown.
    pub(crate) fn add(&mut self, component: &ComponentData, max: usize) {
        if self.shown.len() < max || self.shown.contains_key(&component.clsid) {
            add_component(self.shown.entry(component.clsid).or_default(), component);
        } else {
            self.not_shown.insert(component.clsid);
        }
    }
}

fn add_component(figures: &mut ComponentFigures, data: &ComponentData) {
    figures.clsid = data.clsid;
    add_to(&mut figures.references, data.total_references.get());
    add_to(&mut figures.bound_references, data.bound_references.get());
    add_to(&mut figures.pooled, data.pooled_instances.get());
    add_to(&mut figures.in_call, data.instances_in_call.get());
    figures.call_time_ms = figures.call_time_ms.max(data.response_time_ms.get());
    add_to(&mut figures.calls_completed, data.calls_completed.get());
    add_to(&mut figures.calls_failed, data.calls_failed.get());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applications by their numbers, each with these containers.
    fn listed(applications: &[(u128, &[u32])]) -> Vec<Application> {
        let of = |(id, containers): &(u128, &[u32])| Application {
            id: Guid::from_u128(*id),
            containers: containers.to_vec(),
            ..Application::default()
        };
        applications.iter().map(of).collect()
    }

    /// A collection with time for so many calls. Returns the containers that were read, and the applications that are complete.
    fn collect(progress: &mut Progress, listed: &[Application], calls: usize) -> (Vec<u32>, Vec<u128>) {
        collect_at(progress, listed, calls, Instant::now())
    }

    fn collect_at(
        progress: &mut Progress,
        listed: &[Application],
        mut calls: usize,
        now: Instant,
    ) -> (Vec<u32>, Vec<u128>) {
        let (mut read, mut complete, mut late) = (Vec::new(), Vec::new(), Vec::new());
        let first = progress.begin(listed);
        'turns: for application in listed.iter().cycle().skip(first).take(listed.len()) {
            if calls == 0 {
                late.push(application.id);
                continue;
            }
            let mut begun = progress.take(application, now);
            for &container in &application.containers {
                if begun.has(container) {
                    continue;
                }
                if calls == 0 {
                    progress.keep(begun);
                    late.push(application.id);
                    continue 'turns;
                }
                calls -= 1;
                begun.add(container);
                read.push(container);
            }
            complete.push(application.id.to_u128());
        }
        progress.end(listed.get(first).map(|application| application.id), &late);
        (read, complete)
    }

    #[test]
    fn each_container_has_its_turn_in_as_many_collections_as_that_takes() {
        let host = listed(&[(1, &[10]), (2, &[20, 21, 22, 23, 24]), (3, &[30, 31])]);
        let mut progress = Progress::default();
        let mut expect = |read: &[u32], complete: &[u128]| {
            assert_eq!(collect(&mut progress, &host, 3), (read.to_vec(), complete.to_vec()));
        };
        expect(&[10, 20, 21], &[1]);
        expect(&[22, 23, 24], &[2]);
        expect(&[30, 31, 10], &[3, 1]);
        expect(&[20, 21, 22], &[]);
        expect(&[23, 24, 30], &[2]);
        expect(&[31, 10, 20], &[3, 1]);
    }

    #[test]
    fn an_application_that_gets_nowhere_lets_the_others_go_before_it() {
        let mut progress = Progress::default();
        let host = |containers| listed(&[(1, &[10]), (2, containers), (3, &[30])]);
        assert_eq!(collect(&mut progress, &host(&[20, 21, 22, 23]), 4).1, [1]);
        // A container has ended: what was read of it is no part of the sum any more.
        assert_eq!(collect(&mut progress, &host(&[21, 22, 23, 24]), 3), (vec![21, 22, 23], vec![]));
        assert_eq!(collect(&mut progress, &host(&[21, 22, 23, 24]), 3), (vec![30, 10, 21], vec![3, 1]));
    }

    #[test]
    fn what_ended_while_it_was_to_be_next_keeps_no_place() {
        let mut progress = Progress::default();
        assert_eq!(collect(&mut progress, &listed(&[(1, &[10]), (9, &[90, 91])]), 2).0, [10, 90]);
        progress.show(Guid::from_u128(9), 5);
        let left = listed(&[(1, &[10]), (2, &[20])]);
        assert_eq!(collect(&mut progress, &left, 2), (vec![10, 20], vec![1, 2]));
        assert_eq!(progress.shown_of(&listed(&[(9, &[90])])), 0);
    }

    #[test]
    fn figures_of_long_ago_are_not_added_to_those_of_now() {
        let (mut progress, begin) = (Progress::default(), Instant::now());
        let host = listed(&[(1, &[10, 11, 12])]);
        let mut read = |now| collect_at(&mut progress, &host, 2, now).0;
        assert_eq!(read(begin), [10, 11]);
        assert_eq!(read(begin + BEGUN_AGE_MAX), [10, 11]);
        assert_eq!(read(begin + BEGUN_AGE_MAX + BEGUN_AGE_MAX / 2), [12]);
    }
}
