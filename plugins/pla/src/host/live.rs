//! The host's sets that a module wants: read again and again, category by category.

mod known;
mod reader;

use std::collections::HashSet;
use std::time::Duration;

use counter_types::NamePattern;
use host_session::Target;
use ms_pla::DataCollectorSetStatus;
use ms_pla::xml::Schedule;
use plugin_sdk::{Collection, Failure};
use plugin_session::{ObjectConnection, TransportSettings};
use tokio::time::Instant;

use self::known::Room;
use self::reader::Reader;
use super::CategoryWord;
use super::list::Listed;
use crate::model::{ALERTS_MAX, Origin, Problem, ProblemKind, Set, clean};

/// Sets that the settings want.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) names: Vec<NamePattern>,
    pub(crate) category: CategoryWord,
    /// How often they are read.
    pub(crate) refresh: Duration,
}

/// The sets of one host.
#[derive(Debug)]
pub(crate) struct LiveSets {
    target: Target,
    transport: TransportSettings,
    readers: Vec<Reader>,
    /// Names of the module's other sets.
    own_names: HashSet<String>,
    /// What those take of the room for all.
    own_size: Size,
    /// What the settings do not want any more.
    removed: Vec<ObjectConnection>,
}

impl LiveSets {
    pub(crate) fn new(target: Target, wanted: Vec<Wanted>, transport: TransportSettings) -> Self {
        let mut sets = Self {
            target,
            transport,
            readers: Vec::new(),
            own_names: HashSet::new(),
            own_size: Size::default(),
            removed: Vec::new(),
        };
        sets.want(wanted);
        sets
    }

    /// Takes other settings. The sets that are known stay where they are still wanted.
    pub(crate) fn reconfigure(&mut self, wanted: Vec<Wanted>, transport: TransportSettings) {
        self.transport = transport;
        self.want(wanted);
    }

    fn want(&mut self, wanted: Vec<Wanted>) {
        let mut before = std::mem::take(&mut self.readers);
        for Wanted { names, category, refresh } in wanted {
            if let Some(reader) = self.readers.iter_mut().find(|reader| reader.category == category) {
                reader.names.extend(names);
                reader.refresh = reader.refresh.min(refresh);
                continue;
            }
            let known = before.iter().position(|reader| reader.category == category);
            let known = known.map(|index| before.swap_remove(index));
            let mut reader = known.unwrap_or_else(|| Reader::new(category, &self.target, &self.transport));
            (reader.names, reader.refresh) = (names, refresh);
            reader.connection.reconfigure(self.transport.clone());
            reader.restart();
            self.readers.push(reader);
        }
        for Reader { names, known, .. } in &mut self.readers {
            known.sets.retain(|set| names.iter().any(|pattern| pattern.matches(&set.set.name)));
        }
        self.removed.extend(before.into_iter().map(|reader| reader.connection));
    }

    /// Whether the settings want any.
    pub(crate) fn is_used(&self) -> bool {
        !self.readers.is_empty()
    }

    pub(crate) fn sets(&self) -> impl Iterator<Item = &HostSet> {
        self.readers.iter().flat_map(|reader| &reader.known.sets)
    }

    /// Why something is missing of them.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.readers.iter().find_map(|reader| reader.failure.as_ref())
    }

    /// Reads what is due, by `deadline` at the latest. Returns whether a set became another one.
    pub(crate) async fn step(&mut self, collection: &Collection, deadline: Instant) -> bool {
        for mut connection in self.removed.drain(..) {
            connection.release(deadline.min(Instant::now() + RELEASE_MAX)).await;
        }
        let mut has_changed = false;
        for index in 0..self.readers.len() {
            let left = u32::try_from(self.readers.len() - index).unwrap_or(u32::MAX);
            let now = Instant::now();
            let deadline = now + deadline.saturating_duration_since(now) / left;
            let (before, others) = self.readers.split_at_mut(index);
            let Some((reader, after)) = others.split_first_mut() else { break };
            let others: Vec<_> = before.iter().chain(&*after).map(|other| &other.known).collect();
            let mut taken = self.own_size;
            others.iter().for_each(|other| taken.add(other.size()));
            let room = Room { size: Size::MAX.without(taken), own_names: &self.own_names, others };
            has_changed |= reader.step(collection, &room, deadline).await;
        }
        has_changed
    }

    /// Whether the host is there, though its counters are not: it was read just now, or answers a call. Nobody logs on for
    /// that.
    pub(crate) async fn answers(&mut self, collection: &Collection, deadline: Instant) -> bool {
        for reader in &mut self.readers {
            if reader.has_answered || reader.ask(collection, deadline).await {
                return true;
            }
        }
        false
    }

    /// Lets those sets count whose names nobody else has. `own` are the module's other sets.
    pub(crate) fn admit<'a>(&mut self, own: impl Iterator<Item = &'a Set>) {
        self.own_names.clear();
        self.own_size = Size::default();
        for set in own {
            self.own_names.insert(set.name.clone());
            self.own_size.alerts += set.alerts.len();
        }
        let mut names = self.own_names.clone();
        let mut alerts = Size::MAX.without(self.own_size).alerts;
        for Reader { known, is_stale, .. } in &mut self.readers {
            for set in &mut known.sets {
                match (names.insert(set.set.name.clone()), set.is_admitted) {
                    (true, true) => {
                        set.cut(Size { alerts, problems: usize::MAX, schedules: usize::MAX });
                        alerts -= set.set.alerts.len();
                    }
                    // Nothing was kept of it.
                    (true, false) => *is_stale = true,
                    (false, true) => set.leave_out(false),
                    (false, false) => {}
                }
            }
        }
    }

    /// Gives the objects back to the host.
    pub(crate) async fn release(&mut self, deadline: Instant) {
        let kept = self.readers.iter_mut().map(|reader| &mut reader.connection);
        for connection in self.removed.iter_mut().chain(kept) {
            connection.release(deadline).await;
        }
    }
}

const RELEASE_MAX: Duration = Duration::from_secs(2);

// A set of the host, as far as this plugin keeps it.

/// A set of the host, as it was read last.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HostSet {
    pub(crate) set: Set,
    pub(crate) status: DataCollectorSetStatus,
    /// The number of its next run.
    pub(crate) serial_number: Option<u32>,
    /// When it starts; none if its schedules are not in force.
    pub(crate) schedules: Vec<Schedule>,
    /// Why it was not read the last time. This is what it was before.
    pub(crate) problem: Option<String>,
    /// Whether no other set of the module has its name.
    pub(crate) is_admitted: bool,
    /// Whether something of it was left out, because of the room for all sets.
    pub(crate) is_cut: bool,
    /// The reading in which it was there.
    pub(super) reading: u64,
}

/// What is kept of all sets of a module together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) alerts: usize,
    pub(super) problems: usize,
    pub(super) schedules: usize,
}

impl Size {
    pub(super) const MAX: Self = Self { alerts: ALERTS_MAX, problems: 2_000, schedules: 10_000 };

    pub(super) fn add(&mut self, other: Self) {
        self.alerts += other.alerts;
        self.problems += other.problems;
        self.schedules += other.schedules;
    }

    /// What is left of it.
    pub(super) const fn without(self, taken: Self) -> Self {
        Self {
            alerts: self.alerts.saturating_sub(taken.alerts),
            problems: self.problems.saturating_sub(taken.problems),
            schedules: self.schedules.saturating_sub(taken.schedules),
        }
    }
}

impl HostSet {
    /// What was listed.
    ///
    /// # Errors
    /// Why it was not read.
    pub(super) fn new(listed: &Listed, reading: u64) -> Result<Self, &str> {
        let read = listed.read.as_ref().map_err(String::as_str)?;
        let document = &read.document;
        let mut set = Set::of_document(document, &listed.name, Origin::Host);
        // What it is asked for by, whatever the document says.
        set.name = clean(&listed.name);
        let schedules = match document.are_schedules_enabled {
            Some(true) => document.schedules.clone(),
            _ => Vec::new(),
        };
        Ok(Self {
            set,
            status: read.status,
            serial_number: document.serial_number,
            schedules,
            problem: None,
            is_admitted: true,
            is_cut: false,
            reading,
        })
    }

    pub(super) fn size(&self) -> Size {
        let Set { alerts, problems, .. } = &self.set;
        // The one that says what is left out always has room.
        let problems = problems.len() - usize::from(self.is_cut);
        Size { alerts: alerts.len(), problems, schedules: self.schedules.len() }
    }

    /// Leaves out what is above `room`, and says so in its problems.
    pub(super) fn cut(&mut self, room: Size) {
        let Size { alerts, problems, schedules } = Size::MAX;
        let kinds = [
            (cut(&mut self.set.alerts, room.alerts), format!("{alerts} alerts")),
            (cut(&mut self.schedules, room.schedules), format!("{schedules} schedules")),
            (cut(&mut self.set.problems, room.problems), format!("{problems} problems")),
        ];
        let above: Vec<&str> = kinds.iter().filter(|(is_cut, _)| *is_cut).map(|(_, what)| &**what).collect();
        if !above.is_empty() {
            self.is_cut = true;
            let what = above.join(", ");
            let message = format!(
                "all sets together have more than {what}: those above are left out; write fewer names in `host`"
            );
            self.set.problems.push(Problem { alert: String::new(), kind: ProblemKind::Limit, message });
        }
    }

    /// Another set of the module has its name: nothing of it counts, and its room is free.
    pub(super) fn leave_out(&mut self, is_known: bool) {
        if !is_known {
            let set = &self.set.name;
            tracing::warn!(
                set,
                "A set of the host is left out: another set of the module has its name; give that one another `name`"
            );
        }
        (self.set.alerts, self.set.problems, self.schedules) = (Vec::new(), Vec::new(), Vec::new());
        (self.is_admitted, self.is_cut) = (false, false);
    }
}

/// Whether something was above. The memory of that is given back.
fn cut<T>(all: &mut Vec<T>, room: usize) -> bool {
    let is_above = all.len() > room;
    all.truncate(room);
    all.shrink_to_fit();
    is_above
}
