//! What follows when an alert fires, besides its event: tasks on this machine, and sets that it starts.
//!
//! Windows does both with each sample across the threshold. A set that is judged here is started in the same way, which changes
//! nothing while it runs. A task is started once, when an instance begins to fire: one that was restarted every few seconds, for as long as a
//! disk is full, would be a burden for this machine, which watches many hosts. The same goes for sets that the host starts.
//!
//! | module | job |
//! | --- | --- |
//! | `triggers` | which sets are judged |
//! | `arguments` | the words and the environment of a task |
//! | `runner` | the tasks of a target: a queue, and a few at a time |
//! | `process` | one program: its limits and its end |
//! | `counts` | what became of all that |
//!
//! A new action: `Action` in `counts`, [`Actions::judge`] and `Actions::watch` here; `Alert` in `model`; `WatchedAlert` in
//! `alert_table/alert.rs`, both in `new` and in `with`, and its `acts`, or it never fires; `AlertSettings` and `SHOWN` in
//! `config`; `model/exported.rs` and `model/links.rs`; `to_rules/translate.rs`, which says what rules do not do; HELP in
//! `series/families.rs`; the table in `docs/pla.md`.

mod arguments;
mod counts;
mod process;
mod runner;
mod triggers;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use counter_poll::paths::Frame;
use counter_types::NamePattern;

pub(crate) use self::counts::{Action, ActionResult, Counts, Key};

use self::arguments::{Occasion, SetOccasion};
use self::process::Program;
use self::runner::{Job, Runner};
use self::triggers::Triggers;
use super::model::Origin;
use super::model::links::LinkProblem;
use crate::alert_table::{AlertTable, Fired, WatchedAlert};
use crate::counters::{Found, Kinds};
use crate::host::may_control;
use crate::model::links::{self, Links};
use crate::model::{Problem, Set, TaskCall, Tasks};

/// The actions of one target.
#[derive(Debug)]
pub(crate) struct Actions {
    /// The name of the target, and its host.
    target: (String, String),
    tasks: Tasks,
    /// Sets of the host that may be started.
    control: Vec<NamePattern>,
    triggers: Triggers,
    problems: Problems,
    counts: Counts,
    /// Sets that start a task when a run of theirs has ended.
    set_tasks: Vec<Key>,
    /// Made when the first task is started.
    runner: Option<Runner>,
    /// Whether tasks found no room.
    tasks_skipped: Skipping,
    /// Whether the settings were checked after the sets were last selected.
    are_settings_new: bool,
    /// Sets that the host is to start.
    host_starts: Vec<HostStart>,
    /// Whether there are too many of these.
    starts_skipped: Skipping,
    /// When a task, or a set of the host, was last started for an instance of an alert, where that is not long ago.
    started: HashMap<(Key, Arc<str>, String), Duration>,
}

/// A set that the host is to start, for an alert.
#[derive(Clone, Debug)]
pub(crate) struct HostStart {
    pub(crate) set: String,
    pub(crate) key: Key,
}

/// A segment or a run that has ended, for the task of the set.
#[derive(Clone, Debug)]
pub(crate) struct RunEnded {
    pub(crate) set: Arc<str>,
    /// The task that follows.
    pub(crate) task: TaskCall,
    /// Whether the set goes on with another segment.
    pub(crate) is_running: bool,
    /// The full paths of the files of the segment, with blanks between them.
    pub(crate) logs: String,
}

/// Whether something is skipped in this collection, and was in the one before.
#[derive(Clone, Copy, Debug, Default)]
struct Skipping {
    now: bool,
    before: bool,
}

impl Skipping {
    /// Something is skipped. Returns whether that is to be said.
    fn begins(&mut self) -> bool {
        !std::mem::replace(&mut self.now, true) && !self.before
    }

    fn end_collection(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }
}

/// The moment of a sample, by three clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// That of the samples.
    pub(crate) sample: Duration,
    /// Ours, for times between two starts: a host cannot make it go faster.
    pub(crate) at: Duration,
    /// The calendar, for people.
    pub(crate) time: SystemTime,
}

impl Actions {
    pub(crate) fn new(target: &str, host: &str) -> Self {
        Self {
            target: (target.to_owned(), host.to_owned()),
            tasks: Tasks::new(),
            control: Vec::new(),
            triggers: Triggers::default(),
            problems: Problems::default(),
            are_settings_new: false,
            counts: Counts::default(),
            set_tasks: Vec::new(),
            runner: None,
            tasks_skipped: Skipping::default(),
            host_starts: Vec::new(),
            starts_skipped: Skipping::default(),
            started: HashMap::new(),
        }
    }

    /// Takes what the settings allow: these tasks, and to start these sets of the host.
    pub(crate) fn allow(&mut self, tasks: Tasks, control: Vec<NamePattern>) {
        (self.tasks, self.control, self.are_settings_new) = (tasks, control, true);
    }

    fn may_start(&self, set: &str) -> bool {
        may_control(&self.control, set)
    }

    /// Takes the sets as they are now. What of their actions is not done is logged, unless the settings were just checked.
    pub(crate) fn select(&mut self, sets: &[&Set]) {
        let has_task = |name: &str| self.tasks.contains_key(name);
        let Links { problems, refused } = links::find(sets, has_task, |name| self.may_start(name));
        let call = |set: &Set| set.logs.as_ref().and_then(|logs| logs.task.clone());
        let with_task = sets.iter().filter(|set| call(set).is_some_and(|call| has_task(&call.name)));
        let key = |set: &&Set| Key { set: (&*set.name).into(), alert: "".into(), action: Action::Task };
        self.set_tasks = with_task.map(key).collect();
        self.triggers.select(sets.iter().copied(), refused);
        self.problems.select(sets, problems, std::mem::take(&mut self.are_settings_new));
    }

    /// Actions of the alerts of a set that are not done, because of what the module has.
    pub(crate) fn problems(&self, set: &str) -> &[Problem] {
        self.problems.of(set)
    }

    /// Takes the alerts of these sets.
    pub(crate) fn watch(&mut self, alert_table: &mut AlertTable) {
        alert_table.run(|set| self.triggers.is_running(set));
        let Self { tasks, counts, .. } = self;
        counts.select(
            alert_table
                .alerts()
                .iter()
                .flat_map(|alert| {
                    let has_task = alert.task.as_ref().is_some_and(|call| tasks.contains_key(&call.name));
                    let actions = [
                        alert.logs_events.then_some(Action::Event),
                        has_task.then_some(Action::Task),
                        alert.start_set.as_ref().map(|_| Action::Trigger),
                    ];
                    actions.into_iter().flatten().map(|action| key(alert, action))
                })
                .chain(self.set_tasks.iter().cloned()),
        );
    }

    /// Whether the alerts of a set are judged.
    pub(crate) fn is_running(&self, set: &str) -> bool {
        self.triggers.is_running(set)
    }

    /// Stops the sets whose time has passed.
    pub(crate) fn expire(&mut self, alert_table: &mut AlertTable, now: Duration) {
        if self.triggers.expire(now) {
            alert_table.run(|set| self.triggers.is_running(set));
        }
    }

    /// Judges what is due, and does what follows. A set that is started is judged at once: it may not last until the next samples.
    pub(crate) async fn judge(
        &mut self,
        alert_table: &mut AlertTable,
        (found, frame, replied): (&Found, &Frame, Kinds),
        moment: Moment,
    ) {
        self.started.retain(|_, at| moment.at.saturating_sub(*at) < PAUSE);
        // Each time but the last one starts a set, and none is started twice.
        loop {
            let fired = alert_table.judge(found, frame, replied, moment.sample).await;
            let mut has_started = false;
            for fired in &fired {
                let alert = &alert_table.alerts()[fired.alert];
                if fired.is_first {
                    self.start_task(alert, fired, moment);
                }
                has_started |= self.start_set(alert, fired, moment);
            }
            if !has_started {
                return;
            }
            alert_table.run(|set| self.triggers.is_running(set));
        }
    }

    /// Starts the set that an alert names. Returns whether it is judged from now on.
    fn start_set(&mut self, alert: &WatchedAlert, fired: &Fired, moment: Moment) -> bool {
        let Some(set) = &alert.start_set else { return false };
        if !self.triggers.has(set) {
            if fired.is_first && self.may_start(set) {
                self.start_on_host(alert, set, fired, moment);
            }
            return false;
        }
        let Some(result) = self.triggers.start(&alert.set, set, moment.sample) else { return false };
        self.counts.add(key(alert, Action::Trigger), result);
        result == ActionResult::Done
    }

    /// Has the host start one of its sets. It is asked once for all instances that begin to fire together.
    fn start_on_host(&mut self, alert: &WatchedAlert, set: &str, fired: &Fired, moment: Moment) {
        let key = key(alert, Action::Trigger);
        let instance = (key.clone(), Arc::clone(&alert.counter), fired.instance.clone());
        let is_recent = self.started.contains_key(&instance);
        let is_queued = self.host_starts.iter().any(|start| start.set == set);
        let is_full = self.host_starts.len() >= HOST_STARTS_MAX;
        if is_full && !is_recent && !is_queued && self.starts_skipped.begins() {
            let (of, alert) = (&*alert.set, &*alert.name);
            tracing::warn!(
                set = of,
                alert,
                starts = set,
                next_step = "have fewer alerts start sets of the host",
                "The host is not told to start a set: {HOST_STARTS_MAX} others begin with the same collection"
            );
        }
        if is_recent || is_queued || is_full {
            return self.counts.add(key, ActionResult::Skipped);
        }
        self.started.insert(instance, moment.at);
        self.host_starts.push(HostStart { set: set.to_owned(), key });
    }

    /// What the host is to start next.
    pub(crate) fn next_host_start(&self) -> Option<HostStart> {
        self.host_starts.first().cloned()
    }

    /// All that the host was to start in this collection is done with.
    pub(crate) fn end_host_starts(&mut self) {
        self.starts_skipped.end_collection();
    }

    /// Counts what became of the set that the host was to start next. Before that it stays the next one: a collection may be
    /// dropped while the host starts it.
    pub(crate) fn end_host_start(&mut self, result: ActionResult) {
        if !self.host_starts.is_empty() {
            let HostStart { key, .. } = self.host_starts.remove(0);
            self.counts.add(key, result);
        }
    }

    fn start_task(&mut self, alert: &WatchedAlert, fired: &Fired, moment: Moment) {
        let Some(call) = &alert.task else { return };
        let Some(task) = self.tasks.get(&call.name) else { return };
        let key = key(alert, Action::Task);
        let instance = (key.clone(), Arc::clone(&alert.counter), fired.instance.clone());
        if self.started.contains_key(&instance) {
            return self.counts.add(key, ActionResult::Skipped);
        }
        let (target, host) = &self.target;
        let program = arguments::program(
            task,
            call,
            &Occasion {
                target,
                host,
                set: &alert.set,
                alert: &alert.name,
                threshold: &alert.rule().threshold,
                instance: &fired.instance,
                value: fired.value,
                time: moment.time,
            },
        );
        if self.start_program(key, &call.name, program) {
            self.started.insert(instance, moment.at);
        }
    }

    /// Starts the task of a set, of which a segment or a run has ended.
    pub(crate) fn run_ended(&mut self, ended: &RunEnded, time: SystemTime) {
        let RunEnded { set, task: call, is_running, logs } = ended;
        let Some(task) = self.tasks.get(&call.name) else { return };
        let key = Key { set: Arc::clone(set), alert: "".into(), action: Action::Task };
        let (target, host) = &self.target;
        let occasion = SetOccasion { target, host, set, is_running: *is_running, logs, time };
        let program = arguments::program_of_set(task, call, &occasion);
        self.start_program(key, &call.name, program);
    }

    /// Starts the program of a task, and counts why if it cannot. Returns whether it has started.
    fn start_program(&mut self, key: Key, task: &str, program: Result<Program, &'static str>) -> bool {
        let target = self.target.0.clone();
        let refused = match program {
            Ok(program) => {
                let job = Job { key: key.clone(), task: task.to_owned(), target: target.clone(), program };
                if self.runner.get_or_insert_with(Runner::new).start(job) {
                    return true;
                }
                if self.tasks_skipped.begins() {
                    let (set, alert, next_step) =
                        (&*key.set, &*key.alert, "let tasks end sooner, or fewer alerts start them");
                    tracing::warn!(target, set, alert, task, next_step, "Tasks are skipped: too many wait");
                }
                ActionResult::Skipped
            }
            Err(reason) => {
                let (set, alert) = (&*key.set, &*key.alert);
                tracing::warn!(target, set, alert, task, reason, "Task not started");
                ActionResult::Refused
            }
        };
        self.counts.add(key, refused);
        false
    }

    /// Counts what became of tasks since the last time, and the events that were `reported`.
    pub(crate) fn count(&mut self, reported: impl Iterator<Item = (Arc<str>, Arc<str>)>) -> &Counts {
        for (set, alert) in reported {
            self.counts.add(Key { set, alert, action: Action::Event }, ActionResult::Done);
        }
        self.tasks_skipped.end_collection();
        for (key, result) in self.runner.iter_mut().flat_map(Runner::ended) {
            self.counts.add(key, result);
        }
        &self.counts
    }

    /// Ends the tasks that run, and waits for that.
    pub(crate) async fn end(self) {
        if let Some(runner) = self.runner {
            runner.end().await;
        }
    }
}

fn key(alert: &WatchedAlert, action: Action) -> Key {
    Key { set: Arc::clone(&alert.set), alert: Arc::clone(&alert.name), action }
}

/// Sets that the host is to start in one collection.
const HOST_STARTS_MAX: usize = 8;
/// The least time between two starts of a task, or of a set of the host, for one instance of an alert.
const PAUSE: Duration = Duration::from_secs(60);

// Actions that are not done, because of what the module has.

/// The problems of the sets of a target.
#[derive(Debug, Default)]
struct Problems(HashMap<String, Vec<Problem>>);

impl Problems {
    /// Takes what was found in these sets, and logs what is new of a set. Where the settings have just been checked, the check
    /// has said it of all sets but those of the host.
    fn select(&mut self, sets: &[&Set], found: Vec<LinkProblem>, are_settings_new: bool) {
        let before = Self(std::mem::take(&mut self.0));
        for problem in found {
            let set = sets[problem.set].name.clone();
            self.0.entry(set).or_default().push(problem.of(sets));
        }
        for set in sets {
            let now = self.of(&set.name);
            let is_said = are_settings_new && set.origin != Origin::Host;
            if before.of(&set.name) != now && !is_said {
                set.tell(now, 0);
            }
        }
    }

    /// Those of a set.
    fn of(&self, set: &str) -> &[Problem] {
        self.0.get(set).map_or(&[], Vec::as_slice)
    }
}
