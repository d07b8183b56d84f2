//! A set of the host, as far as this plugin keeps it.

use ms_pla::DataCollectorSetStatus;
use ms_pla::xml::Schedule;

use super::list::Listed;
use crate::model::{ALERTS_MAX, Origin, Problem, ProblemKind, Set, clean};

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
