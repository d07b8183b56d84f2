//! What is known of the sets of one category. A set that is read takes the place of what it was: nothing is kept twice, and what
//! was read stays when the reading does not come to its end.

use std::collections::{HashMap, HashSet};

use super::super::list::Listed;
use super::{HostSet, Size};
use crate::model::clean;

/// The sets of one category.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) sets: Vec<HostSet>,
    /// The number of this reading.
    reading: u64,
    /// What could not be read first in this reading.
    problem: Option<String>,
    /// Sets that cannot be read, which was said, by name, with the reading in which that was so last.
    told: HashMap<String, u64>,
    /// Whether it was said that something is left out.
    is_cut: bool,
}

/// What others leave to the sets of one category.
pub(super) struct Room<'a> {
    pub(super) size: Size,
    /// Names of sets that are not the host's.
    pub(super) own_names: &'a HashSet<String>,
    /// The sets of the other categories.
    pub(super) others: Vec<&'a Known>,
}

impl Room<'_> {
    fn has_set(&self, name: &str) -> bool {
        let has = |other: &Known| other.sets.iter().any(|set| set.is_admitted && set.set.name == name);
        self.own_names.contains(name) || self.others.iter().any(|other| has(other))
    }
}

impl Known {
    /// Another reading begins: sets that do not come in it are gone.
    pub(super) fn begin(&mut self) {
        self.reading += 1;
        self.problem = None;
    }

    /// Takes a set that was read. Returns whether a set became another one.
    pub(super) fn take(&mut self, listed: &Listed, room: &Room<'_>) -> bool {
        let name = clean(&listed.name);
        let reading = self.reading;
        let place = self.sets.iter().position(|set| set.reading != reading && set.set.name == name);
        let mut new = match HostSet::new(listed, reading) {
            Ok(new) => new,
            Err(why) => {
                self.problem.get_or_insert_with(|| format!("set `{name}`: {why}"));
                if let Some(known) = place.map(|place| &mut self.sets[place]) {
                    (known.problem, known.reading) = (Some(why.to_owned()), reading);
                }
                if self.told.insert(name.clone(), reading).is_none() {
                    tracing::warn!(set = name, problem = why, "A set of the host cannot be read");
                }
                return false;
            }
        };
        if self.told.remove(&name).is_some() {
            tracing::info!(set = name, "A set of the host can be read again");
        }
        let is_double = self.sets.iter().any(|set| set.reading == reading && set.set.name == name);
        if is_double || room.has_set(&name) {
            new.leave_out(place.is_some_and(|place| !self.sets[place].is_admitted));
        } else {
            let others = self.sets.iter().enumerate().filter(|(index, _)| Some(*index) != place);
            let mut taken = Size::default();
            others.for_each(|(_, set)| taken.add(set.size()));
            new.cut(room.size.without(taken));
        }
        if new.is_cut && !std::mem::replace(&mut self.is_cut, true) {
            let problem = new.set.problems.last().map(|problem| &*problem.message);
            tracing::warn!(set = name, problem, "The sets of the host are above a limit");
        }
        match place.map(|place| &mut self.sets[place]) {
            Some(known) => {
                let is_other = known.set != new.set;
                *known = new;
                is_other
            }
            None => {
                new.set.tell(&new.set.problems, new.set.problems_left_out);
                self.sets.push(new);
                true
            }
        }
    }

    /// All sets had their turn. `unread` says why some are missing whose names are not known. Returns what is missing, and whether
    /// sets are gone.
    pub(super) fn end(&mut self, unread: Option<String>) -> (Option<String>, bool) {
        let (reading, before) = (self.reading, self.sets.len());
        match &unread {
            // They may be those.
            Some(why) => self.fail(why),
            None => self.sets.retain(|set| set.reading == reading),
        }
        self.told.retain(|_, last| *last == reading);
        self.is_cut &= self.sets.iter().any(|set| set.is_cut);
        (unread.or_else(|| self.problem.take()), self.sets.len() < before)
    }

    /// Sets that were not read in this reading are what they were before it.
    pub(super) fn fail(&mut self, why: &str) {
        let unread = self.sets.iter_mut().filter(|set| set.reading != self.reading);
        unread.for_each(|set| set.problem = Some(why.to_owned()));
    }

    /// Whether something of the sets is left out for want of room.
    pub(super) const fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(super) fn size(&self) -> Size {
        let mut size = Size::default();
        self.sets.iter().for_each(|set| size.add(set.size()));
        size
    }
}

#[cfg(test)]
mod tests {
    use ms_pla::DataCollectorSetStatus;
    use ms_pla::xml::DataCollectorSet;

    use super::super::super::list::HostXml;
    use super::*;
    use crate::model::{LIMITS, ProblemKind};

    /// A set as a host lists it.
    fn listed(name: &str, content: &str) -> Listed {
        let text =
            format!("<DataCollectorSet><SchedulesEnabled>-1</SchedulesEnabled>{content}</DataCollectorSet>");
        let document = DataCollectorSet::read(text.as_bytes(), &LIMITS).expect("a set");
        let status = DataCollectorSetStatus::STOPPED;
        Listed { name: name.to_owned(), read: Ok(HostXml { text, document, status }) }
    }

    fn alerts(threshold: &str, number: usize) -> String {
        let alerts = format!("<Alert>{threshold}</Alert>").repeat(number);
        format!("<AlertDataCollector><Name>High</Name>{alerts}</AlertDataCollector>")
    }

    /// Nobody takes a part of it, but for the names of sets that are not the host's.
    fn room(own_names: &HashSet<String>) -> Room<'_> {
        Room { size: Size::MAX, own_names, others: Vec::new() }
    }

    #[test]
    fn many_sets_never_keep_more_than_the_room_for_all_and_say_what_is_left_out() {
        let schedule = "<Schedule><StartTime>04:00:00</StartTime><Days>127</Days></Schedule>";
        for (content, what) in [
            (alerts(r"\A\B&gt;1", 900), "10000 alerts"),
            (alerts(r"\A\B&gt;1,5", 900), "2000 problems"),
            (schedule.repeat(900), "10000 schedules"),
        ] {
            let mut known = Known::default();
            // A second reading replaces the first one set by set.
            for reading in 0..2 {
                known.begin();
                for number in 0..100 {
                    let has_changed =
                        known.take(&listed(&format!("Set {number}"), &content), &room(&HashSet::new()));
                    assert_eq!(has_changed, reading == 0, "{what}: set {number}");
                    assert_eq!(
                        known.size().without(Size::MAX),
                        Size::default(),
                        "{what}: {:?}",
                        known.size()
                    );
                }
                assert_eq!(known.end(None), (None, false));
                assert_eq!(
                    (known.sets.len(), known.is_cut()),
                    (100, true),
                    "their states are known all the same"
                );
            }
            let [first, .., last] = &known.sets[..] else { panic!("a hundred") };
            assert!(!first.is_cut && last.is_cut, "the first ones count");
            let said = last.set.problems.last().expect("what is left out is said");
            assert_eq!(said.kind, ProblemKind::Limit);
            assert!(said.message.contains(what) && said.message.contains("`host`"), "{}", said.message);
        }
    }

    #[test]
    fn a_set_that_is_gone_leaves_its_room_to_others() {
        let (small, large) =
            (listed("Small", &alerts(r"\A\B&gt;1", 10)), listed("Large", &alerts(r"\A\B&gt;1", 9_999)));
        let (mut known, mut gone) = (Known::default(), Vec::new());
        for sets in [&[&large, &small][..], &[&small], &[&small]] {
            known.begin();
            for set in sets {
                known.take(set, &room(&HashSet::new()));
            }
            let (problem, are_gone) = known.end(None);
            assert_eq!(problem, None);
            gone.push((are_gone, known.is_cut(), known.size().alerts));
        }
        assert_eq!(gone, [(false, true, 10_000), (true, true, 1), (false, false, 10)]);
    }

    #[test]
    fn nothing_is_kept_of_a_set_whose_name_is_taken() {
        let mut known = Known::default();
        let own = HashSet::from(["Own".to_owned()]);
        known.begin();
        for name in ["Own", "Twice", "Other", "Twice"] {
            known.take(&listed(name, &alerts(r"\A\B&gt;1", 5)), &room(&own));
        }
        let admitted: Vec<_> = known.sets.iter().map(|set| (&*set.set.name, set.is_admitted)).collect();
        assert_eq!(admitted, [("Own", false), ("Twice", true), ("Other", true), ("Twice", false)]);
        assert_eq!(known.size().alerts, 10);
    }

    #[test]
    fn what_was_read_holds_where_a_reading_misses_something() {
        let mut known = Known::default();
        let read = |known: &mut Known, name: &str| {
            known.take(&listed(name, &alerts(r"\A\B&gt;1", 1)), &room(&HashSet::new()))
        };
        known.begin();
        assert!(["One", "Two", "Three"].iter().all(|name| read(&mut known, name)), "they are new");
        assert_eq!(known.end(None), (None, false));
        let problems = |known: &Known| -> Vec<Option<String>> {
            known.sets.iter().map(|set| set.problem.clone()).collect()
        };
        // The connection is lost at the second one.
        known.begin();
        read(&mut known, "One");
        known.fail("lost");
        assert_eq!(problems(&known), [None, Some("lost".to_owned()), Some("lost".to_owned())]);
        // One is refused, and one has no name.
        known.begin();
        known.take(
            &Listed { name: "Two".to_owned(), read: Err("refused".to_owned()) },
            &room(&HashSet::new()),
        );
        read(&mut known, "One");
        assert_eq!(known.end(Some("set 3 of 3: no".to_owned())).0.as_deref(), Some("set 3 of 3: no"));
        assert_eq!(problems(&known), [None, Some("refused".to_owned()), Some("set 3 of 3: no".to_owned())]);
        assert_eq!(known.size().alerts, 3);
        known.begin();
        read(&mut known, "One");
        assert_eq!(known.end(None), (None, true));
        assert_eq!(problems(&known), [None]);
    }
}
