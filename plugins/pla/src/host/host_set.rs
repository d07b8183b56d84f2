//! A set of the host, as far as this plugin keeps it.

use ms_pla::DataCollectorSetStatus;
use ms_pla::xml::Schedule;

use super::list::Listed;
use crate::model::{ALERTS_MAX, Origin, Problem, ProblemKind, Set, clean};

/// A set of the host, as it was read last.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HostSet {
    /// The set.
    pub(crate) set: Set,
    /// Whether it runs.
    pub(crate) status: DataCollectorSetStatus,
    /// The number of its next run.
    pub(crate) serial_number: Option<u32>,
    /// When it starts; none if its schedules are not in force.
    pub(crate) schedules: Vec<Schedule>,
    /// Why it was not read the last time. This is what it was before.
    pub(crate) problem: Option<String>,
    /// Whether no other set of the module has its name.
    pub(crate) is_admitted: bool,
}

impl HostSet {
    /// What was listed.
    ///
    /// # Errors
    /// Why it was not read.
    pub(super) fn new(listed: &Listed) -> Result<Self, &str> {
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
        })
    }

    /// Leaves the alerts above `room` out.
    pub(super) fn cut(&mut self, room: usize) {
        if self.set.alerts.len() > room {
            let message =
                format!("all sets together have more than {ALERTS_MAX} alerts: those above are not judged");
            tracing::warn!(set = self.set.name, "{message}");
            self.set.alerts.truncate(room);
            self.set.problems.push(Problem { alert: String::new(), kind: ProblemKind::Limit, message });
        }
    }

    /// Says what is not done of a set that is new.
    pub(super) fn tell_problems(&self) {
        for problem in &self.set.problems {
            let (set, alert, kind) = (&self.set.name, &problem.alert, problem.kind.as_str());
            tracing::warn!(
                set,
                alert,
                kind,
                problem = problem.message,
                "A part of a set of the host is not done here"
            );
        }
    }
}
