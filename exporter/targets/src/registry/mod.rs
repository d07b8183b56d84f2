mod state;
mod status;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::target_files::FileState;
use config::{Config, PasswordFiles, Shown};
use otlp::encode::{Facts, Resource};
use parking_lot::Mutex;
use plugin_abi::{GeneralReason, Stage};
use series::model;

pub use self::state::TargetState;
pub use self::status::TargetStatus;

use super::{Change, Changes};
use crate::account::Down;

/// The state of every target: all that pages and metrics show. Each change of it is one line in the log.
///
/// Targets come and go; who reads takes the list as it is and keeps it for as long as it reads.
#[derive(Default)]
pub struct TargetRegistry {
    targets: Mutex<Arc<[Arc<TargetState>]>>,
    files: Mutex<Arc<[FileState]>>,
    changes: Arc<Changes>,
    groups: Arc<Groups>,
    config_shown: Mutex<Shown>,
    /// Of this configuration and those before it: what failed then is still shown.
    password_files: Mutex<PasswordFiles>,
}

/// Targets that fail or recover for one and the same reason, so that the log needs no line for each of them.
#[derive(Debug, Default)]
struct Groups {
    denials: Denials,
    recoveries: Recoveries,
}

impl TargetRegistry {
    /// Every target, in the order of the configuration.
    #[must_use]
    pub fn targets(&self) -> Arc<[Arc<TargetState>]> {
        Arc::clone(&self.targets.lock())
    }

    /// These are the targets from now on.
    pub fn set_targets(&self, targets: Vec<Arc<TargetState>>) {
        for entry in &targets {
            entry.enter_registry(&self.changes, &self.groups);
        }
        *self.targets.lock() = targets.into();
    }

    /// The files that targets come from.
    #[must_use]
    pub fn files(&self) -> Arc<[FileState]> {
        Arc::clone(&self.files.lock())
    }

    /// This is known of the files.
    pub fn set_files(&self, files: Vec<FileState>) {
        *self.files.lock() = files.into();
    }

    /// The last changes of state, the newest first.
    #[must_use]
    pub fn changes(&self) -> Vec<Arc<Change>> {
        self.changes.newest_first()
    }

    /// The configuration in use, as it is shown.
    #[must_use]
    pub fn config_shown(&self) -> Shown {
        self.config_shown.lock().clone()
    }

    /// Paths that only authenticated readers may see.
    #[must_use]
    pub fn password_files(&self) -> PasswordFiles {
        self.password_files.lock().clone()
    }

    /// This is the configuration from now on.
    pub fn set_config(&self, config: &Config) {
        *self.config_shown.lock() = config.shown.clone();
        self.password_files.lock().add(&config.identities);
    }
}

/// How many targets are down for each reason, by identity and details. The details of a host outside of `allow_hosts`
/// name that host, so that it is counted apart.
#[derive(Debug, Default)]
struct Denials(Mutex<HashMap<(String, String), usize>>);

impl Denials {
    /// Counts one more target of `identity`; answers how many there are.
    fn enter(&self, identity: &str, down: &Down) -> usize {
        let mut counts = self.0.lock();
        let count = counts.entry((identity.to_owned(), down.message.clone())).or_default();
        *count += 1;
        *count
    }

    fn leave(&self, identity: &str, down: &Down) {
        let mut counts = self.0.lock();
        let key = (identity.to_owned(), down.message.clone());
        let Some(count) = counts.get_mut(&key) else { return };
        *count -= 1;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

/// Whether a target may be down because its identity's credential is not given to it. The message is then the same for all
/// that do not get it; that of a host that refused it is the host's own.
fn is_denial(down: &Down) -> bool {
    DENIALS.iter().any(|reason| down.reason == reason.as_str())
}

/// What targets say that do not get a credential: they are not allowed it, or somebody was refused with it.
const DENIALS: [GeneralReason; 5] = [
    GeneralReason::CredentialsWithheld,
    GeneralReason::WrongCredentials,
    GeneralReason::AccountLocked,
    GeneralReason::AccountDisabled,
    GeneralReason::PasswordExpired,
];

/// Whether a line is due when the count comes to this: at 1, 10, 100 and so on.
fn is_milestone(count: usize) -> bool {
    count.checked_ilog10().is_some_and(|exponent| 10_usize.pow(exponent) == count)
}

// What a target says of itself, and who hears it.

/// Who a target is to collectors: its resource, which its series, events and collections share.
#[derive(Debug)]
pub(super) struct Identity {
    target: model::Target,
    host: String,
    now: Mutex<Known>,
}

/// What is known of it by now.
#[derive(Debug)]
struct Known {
    facts: SaidFacts,
    resource: Arc<Resource>,
}

/// What a target said of itself. What it has not said is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SaidFacts {
    host_name: String,
    system: OperatingSystem,
}

/// The operating system that a target said it runs. What it has not said is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatingSystem {
    /// As OpenTelemetry has it: `windows`.
    pub name: String,
    pub version: String,
}

impl SaidFacts {
    /// The same with one of the facts that targets tell; others are passed over.
    fn with(mut self, fact: &str, value: &str) -> Self {
        match fact {
            "host.name" => value.clone_into(&mut self.host_name),
            "os.type" => value.clone_into(&mut self.system.name),
            "os.version" => value.clone_into(&mut self.system.version),
            _ => {}
        }
        self
    }
}

impl Identity {
    /// What the configuration says.
    pub(super) fn of(target: &config::Target) -> Self {
        let labels = target.labels.iter();
        let labelled = labels.fold(model::Target::new(&target.name), |labelled, (name, value)| {
            labelled.with_label(name, value)
        });
        let facts = SaidFacts::default();
        let resource = resource(&labelled, &target.host, &facts);
        Self { target: labelled, host: target.host.clone(), now: Mutex::new(Known { facts, resource }) }
    }

    /// What the target said of itself.
    pub(super) fn set_fact(&self, name: &str, value: &str) {
        let mut now = self.now.lock();
        let facts = now.facts.clone().with(name, value);
        if facts != now.facts {
            let resource = resource(&self.target, &self.host, &facts);
            *now = Known { facts, resource };
        }
    }

    /// What it runs, as far as it said so.
    pub(super) fn operating_system(&self) -> OperatingSystem {
        self.now.lock().facts.system.clone()
    }

    /// Its resource, as far as it is known by now.
    pub(super) fn resource(&self) -> Arc<Resource> {
        Arc::clone(&self.now.lock().resource)
    }
}

/// The host is called by its own name, once it said that, else as the configuration does.
fn resource(target: &model::Target, host: &str, said: &SaidFacts) -> Arc<Resource> {
    let host = if said.host_name.is_empty() { host } else { &said.host_name };
    let facts = Facts { host, os_type: &said.system.name, os_version: &said.system.version };
    Arc::new(Resource::of(target, &facts))
}

// Targets that are up again: what one cause took down comes back at once, and the log needs no line for each.

/// Why targets are down or partial: stage and reason.
type Cause = (Stage, String);

/// What each cause keeps from being up, and what came back from it.
#[derive(Debug, Default)]
struct Recoveries(Mutex<HashMap<Cause, Group>>);

#[derive(Debug, Default)]
struct Group {
    /// Targets that are down or partial.
    failing: usize,
    /// Targets that came back, each within [`PAUSE`] of the one before.
    recovered: usize,
    /// When the last one did.
    last: Option<Instant>,
    /// Whether some of them have no line, and no line has their number.
    has_untold: bool,
}

/// What the log says of a target that is up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recovery {
    /// How many targets recovered, this one included.
    targets: Option<usize>,
    /// Whether this one has a line of its own.
    is_alone: bool,
}

impl Recovery {
    /// Nothing but a line of its own.
    const ALONE: Self = Self { targets: None, is_alone: true };
}

/// Maximum recoveries in quick succession that are logged one by one.
const ALONE_MAX: usize = 9;
/// Targets that come back later than this after the one before have lines of their own again.
const PAUSE: Duration = Duration::from_secs(60);

impl Recoveries {
    /// Counts one more target that `cause` keeps from being up.
    fn enter(&self, cause: Cause) {
        let mut groups = self.0.lock();
        let group = groups.entry(cause).or_default();
        group.failing += 1;
        // A single target that comes and goes has its lines each time.
        if group.recovered <= ALONE_MAX {
            group.recovered = 0;
        }
    }

    /// Counts one less: it fails for another cause, or is asked no longer.
    fn leave(&self, cause: &Cause) {
        let mut groups = self.0.lock();
        let Some(group) = groups.get_mut(cause) else { return };
        group.failing = group.failing.saturating_sub(1);
        if group.failing == 0 {
            groups.remove(cause);
        }
    }

    /// Counts one less, which is up at `now`. The first ones have a line each; then a line has their number at 10, 100
    /// and so on, and when the last one is back.
    fn recover(&self, cause: &Cause, now: Instant) -> Recovery {
        let mut groups = self.0.lock();
        let Some(group) = groups.get_mut(cause) else { return Recovery::ALONE };
        let goes_on = group.last.is_some_and(|last| now.saturating_duration_since(last) < PAUSE);
        let before = (!goes_on && group.has_untold).then_some(group.recovered);
        if !goes_on {
            (group.recovered, group.has_untold) = (0, false);
        }
        group.failing = group.failing.saturating_sub(1);
        group.recovered += 1;
        group.last = Some(now);
        let (count, is_last) = (group.recovered, group.failing == 0);
        let is_alone = count <= ALONE_MAX;
        let is_counted = !is_alone && (is_last || is_milestone(count));
        group.has_untold = !is_alone && !is_counted;
        if is_last {
            groups.remove(cause);
        }
        Recovery { targets: if is_counted { Some(count) } else { before }, is_alone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause() -> Cause {
        (Stage::Tcp, "timeout".to_owned())
    }

    fn counted(targets: usize) -> Recovery {
        Recovery { targets: Some(targets), is_alone: false }
    }

    const SILENT: Recovery = Recovery { targets: None, is_alone: false };

    #[test]
    fn targets_that_come_back_after_a_pause_have_lines_again_and_those_before_their_number() {
        let recoveries = Recoveries::default();
        (0..30).for_each(|_| recoveries.enter(cause()));
        let began = Instant::now();
        let at = |seconds| recoveries.recover(&cause(), began + Duration::from_secs(seconds));
        let first: Vec<Recovery> = (0..12).map(at).collect();
        assert_eq!(first[..9], [Recovery::ALONE; 9]);
        assert_eq!(first[9..], [counted(10), SILENT, SILENT]);
        assert_eq!(at(100), Recovery { targets: Some(12), is_alone: true });
        assert_eq!(at(101), Recovery::ALONE);
    }

    #[test]
    fn a_target_that_comes_and_goes_beside_one_that_stays_down_has_its_lines() {
        let recoveries = Recoveries::default();
        recoveries.enter(cause());
        let now = Instant::now();
        for _ in 0..20 {
            recoveries.enter(cause());
            assert_eq!(recoveries.recover(&cause(), now), Recovery::ALONE);
        }
        // Nothing is kept of a cause that nobody fails for.
        recoveries.leave(&cause());
        assert!(recoveries.0.lock().is_empty());
    }
}
