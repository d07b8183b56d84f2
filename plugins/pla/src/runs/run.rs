//! The life of one set that logs.

mod restore;
mod segment;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use counter_poll::Pace;
use counter_poll::paths::Frame;
use pla_engine::{Action, Moment, RunCounts, RunError, RunState, SetDefinition, SetRun, StopReason, Written};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use self::restore::Loaded;
use super::active_collector::ActiveCollector;
use super::folder::{SegmentState, SetFolder};
use super::log_factory::LogFactory;
use super::open_log::ClosedLog;
use super::state::StateStore;
use super::work::{Compiled, Event, Upkeep};
use crate::actions::RunEnded;
use crate::counters::{Found, Kinds};
use crate::logs::HeaderContext;
use crate::model::{COLUMNS_MAX, Logs, Start};

/// A set that logs counters.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) name: Arc<str>,
    pub(super) logs: Arc<Logs>,
    pub(super) start: Start,
    pub(super) log_factory: Arc<LogFactory>,
    /// Where its files are. When its state was read, this keeps other instances out.
    pub(super) folder: Option<SetFolder>,
    /// Not before what is kept of it was read.
    state_machine: Option<SetRun>,
    /// What its life counted while its logs went to other places.
    earlier: RunCounts,
    loading: Option<JoinHandle<Loaded>>,
    /// Why it does not run yet, if that was said.
    waits_for: Option<&'static str>,
    /// Whether there may be an earlier state that could not be read: its folder is not there.
    is_blind: bool,
    /// What of its life is stored; nothing of a set without a folder.
    state: Option<Arc<StateStore>>,
    /// The revision of its life and the segment that are in `state`.
    noted: Option<(u64, Option<u32>)>,
    storing: Option<JoinHandle<()>>,
    upkeep: Arc<Upkeep>,
    pub(super) collectors: Vec<ActiveCollector>,
    segment: Option<Segment>,
    /// The segment that an earlier process left behind.
    cut_off: Option<SegmentState>,
    /// The logs of segments that ended, until the data manager has them.
    closing: HashMap<u32, Closing>,
    events: (mpsc::UnboundedSender<Event>, mpsc::UnboundedReceiver<Event>),
    /// Work beside the collections that has not ended.
    at_work: usize,
    /// It does not start again by itself.
    is_over: bool,
    /// When it may be started again after a failure.
    retry_at: Option<Duration>,
    /// What the data manager did.
    pub(crate) compiled: Compiled,
    /// Segments that ended since the last look.
    pub(super) ended: Vec<RunEnded>,
}

/// A segment that has ended.
#[derive(Debug)]
struct Closing {
    segment: Option<Segment>,
    logs: JoinHandle<Vec<ClosedLog>>,
}

/// The segment that is written.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    serial_number: u32,
    /// The name of its folder.
    folder: String,
    began: Moment,
    /// Names of files that collectors of this segment have.
    files: Vec<String>,
    /// Whether it may begin: the limits were checked.
    is_ready: bool,
}

impl Run {
    /// Nothing is known of it yet.
    pub(super) fn new(
        name: &str,
        (logs, start): (Arc<Logs>, Start),
        log_factory: Arc<LogFactory>,
        collectors: Vec<ActiveCollector>,
    ) -> Self {
        let folder = log_factory.folder(name);
        Self {
            name: name.into(),
            logs,
            start,
            log_factory,
            folder,
            state_machine: None,
            earlier: RunCounts::default(),
            loading: None,
            waits_for: None,
            is_blind: false,
            state: None,
            noted: Some((0, None)),
            storing: None,
            upkeep: Arc::default(),
            collectors,
            segment: None,
            cut_off: None,
            closing: HashMap::new(),
            events: mpsc::unbounded_channel(),
            at_work: 0,
            is_over: false,
            retry_at: None,
            compiled: Compiled::default(),
            ended: Vec::new(),
        }
    }

    /// What it does; nothing while that is not known.
    pub(crate) fn state_machine(&self) -> Option<&SetRun> {
        self.state_machine.as_ref()
    }

    /// What decides when it runs. Of a set that alerts start, these decide that, and its duration is theirs.
    fn definition(&self) -> SetDefinition {
        let definition = self.logs.definition();
        match self.start {
            Start::Always => definition,
            Start::Triggered => SetDefinition { duration: None, are_schedules_enabled: false, ..definition },
        }
    }

    /// Its starts since the exporter watches it.
    pub(crate) fn counts(&self) -> RunCounts {
        let earlier = self.earlier;
        self.state_machine.as_ref().map_or(earlier, |state_machine| earlier.plus(state_machine.counts()))
    }

    /// Goes on with the counts of a run of this set, which has stopped because its logs went to other places.
    pub(super) fn count_on(&mut self, before: &mut Self) {
        self.earlier = before.counts();
        self.collectors.iter_mut().for_each(|one| one.count_on(&mut before.collectors));
    }

    pub(crate) fn collectors(&self) -> &[ActiveCollector] {
        &self.collectors
    }

    pub(super) fn step(&mut self, is_triggered: bool, moment: Moment) {
        let now = Instant::now();
        self.collectors.iter_mut().for_each(|one| one.tidy(&self.name, now));
        self.look_for_earlier();
        while let Ok(event) = self.events.1.try_recv() {
            self.take(event, moment);
        }
        if let Some(state_machine) = &mut self.state_machine {
            state_machine.handle_time(moment);
        }
        self.follow(is_triggered, moment);
    }

    /// Waits until the data manager is done if a start waits for that, but not longer than until `patience`: a set that runs
    /// always leaves out no sample between two runs. Only a start that needs the limits to hold waits longer.
    pub(super) async fn wait_until_compiled(&mut self, moment: Moment, patience: Instant) {
        while self
            .state_machine
            .as_ref()
            .is_some_and(|state_machine| state_machine.state() == RunState::Queued)
        {
            match tokio::time::timeout_at(patience, self.events.1.recv()).await {
                Ok(Some(event)) => self.take(event, moment),
                _ if self.needs_check() => return,
                // Logs that wait for a disk or a database take longer than a start can wait. Their folders are in use, and left alone.
                _ => self.start_while_compiling(moment),
            }
            self.act(moment);
        }
    }

    /// Starts what is queued while the data manager still works on the last run.
    fn start_while_compiling(&mut self, moment: Moment) {
        if let Some(state_machine) = &mut self.state_machine
            && let Some(serial_number) = state_machine.snapshot(moment).compiling
        {
            state_machine.handle_compiled(serial_number, moment);
        }
    }

    /// Whether a start needs the limits to hold, which the data manager may have to see to.
    fn needs_check(&self) -> bool {
        self.logs.manager.checks_before_running.unwrap_or_default()
    }

    /// Whether nothing of it is at work any more, and nothing is left to say.
    pub(super) fn has_left(&self) -> bool {
        let mut closing = self.closing.values();
        self.at_work == 0
            && self.ended.is_empty()
            && closing.all(|closing| closing.logs.is_finished())
            && !self.is_storing()
    }

    /// Starts and stops it by what alerts want. One without schedules runs always.
    pub(super) fn follow(&mut self, is_triggered: bool, moment: Moment) {
        let Some(state_machine) = &mut self.state_machine else { return };
        let is_paused = self.retry_at.is_some_and(|at| moment.monotonic < at);
        let runs = matches!(state_machine.state(), RunState::Running | RunState::Queued);
        let changed = match self.start {
            Start::Triggered if is_triggered && !runs && !is_paused => state_machine.handle_start(moment),
            Start::Triggered if !is_triggered && runs => state_machine.handle_stop(moment),
            Start::Always if !self.logs.is_scheduled() && !runs && !self.is_over && !is_paused => {
                state_machine.handle_start(moment)
            }
            _ => Ok(()),
        };
        if changed == Err(RunError::SerialNumbersUsedUp) {
            self.is_over = true;
        }
        self.act(moment);
    }

    /// Another definition holds. A run goes on with it, in other files.
    pub(super) fn redefine(
        &mut self,
        logs: Arc<Logs>,
        start: Start,
        mut collectors: Vec<ActiveCollector>,
        moment: Moment,
    ) {
        let serial_number = self.segment.as_ref().map(|segment| segment.serial_number);
        if let Some(serial_number) = serial_number {
            self.close(serial_number, FINISH, (false, None));
        }
        collectors.iter_mut().for_each(|one| one.count_on(&mut self.collectors));
        (self.collectors, self.logs, self.start, self.is_over) = (collectors, logs, start, false);
        let definition = self.definition();
        if let Some(state_machine) = &mut self.state_machine {
            state_machine.handle_definition(definition, moment);
        }
        self.act(moment);
    }

    /// It ends, and does not start again.
    pub(super) fn stop(&mut self, moment: Moment) {
        self.is_over = true;
        if let Some(state_machine) = &mut self.state_machine {
            // One that does not run has stopped already.
            let _ = state_machine.handle_stop(moment);
        }
        self.act(moment);
    }

    fn take(&mut self, event: Event, moment: Moment) {
        self.at_work = self.at_work.saturating_sub(1);
        match event {
            Event::Closed(ended) => self.ended.push(ended),
            Event::Compiled { serial_number, compiled } => {
                self.compiled.add(compiled);
                if let Some(state_machine) = &mut self.state_machine {
                    state_machine.handle_compiled(serial_number, moment);
                }
            }
            Event::Checked { serial_number, result } => match (result, &mut self.segment) {
                (Ok(()), Some(segment)) if segment.serial_number == serial_number => segment.is_ready = true,
                (Ok(()), _) => {}
                (Err(_), Some(segment)) if segment.serial_number != serial_number => {}
                (Err(reason), _) => {
                    let set = &*self.name;
                    tracing::warn!(set, reason, "The data manager of a set does not permit it to run");
                    self.upkeep.end(serial_number);
                    (self.segment, self.retry_at) = (None, Some(moment.monotonic + PAUSE));
                    if let Some(state_machine) = &mut self.state_machine {
                        state_machine.handle_start_failed(serial_number, moment);
                    }
                }
            },
        }
    }

    /// Does what the engine wants, and notes the state: it is on the disk before a file of a new segment is.
    fn act(&mut self, moment: Moment) {
        while let Some(action) = self.state_machine.as_mut().and_then(SetRun::poll_action) {
            match action {
                Action::StartRun { serial_number, .. } => {
                    tracing::info!(set = &*self.name, serial_number, "A set runs");
                    self.collectors.iter_mut().for_each(|one| one.recorder.restart());
                    self.begin(serial_number, self.needs_check(), moment);
                }
                Action::NextSegment { serial_number, .. } => {
                    self.close_segment(true);
                    self.begin(serial_number, false, moment);
                }
                Action::StopRun { serial_number, reason } => {
                    let (set, why) = (&*self.name, reason.as_str());
                    tracing::info!(set, serial_number, reason = why, "A set has stopped");
                    self.is_over |= matches!(reason, StopReason::Completed | StopReason::SerialNumbersUsedUp);
                    self.close_segment(false);
                }
                Action::Compile { serial_number, .. } => self.compile(serial_number, moment),
            }
        }
        self.note_state(moment);
    }
}

/// What a log may take to write what waits when its segment has ended.
const FINISH: Duration = Duration::from_secs(600);
/// After limits that did not permit a run.
const PAUSE: Duration = Duration::from_secs(60);

impl Run {
    /// Whether its collectors are at work.
    fn segment_in_work(&self) -> Option<&Segment> {
        self.segment.as_ref().filter(|segment| segment.is_ready)
    }

    /// Which replies are needed for what is due.
    pub(in crate::runs) fn due(&self, found: &Found, now: Duration) -> Kinds {
        if self.segment_in_work().is_none() {
            return Kinds::default();
        }
        let due = self.collectors.iter().filter(|one| one.recorder.is_due(now));
        due.fold(Kinds::default(), |all, one| all.or(one.recorder.needs(found)))
    }

    /// Takes the samples that are due.
    pub(in crate::runs) async fn sample(
        &mut self,
        (found, frame, replied): (&Found, &Frame, Kinds),
        now: Duration,
        moment: Moment,
        pace: &mut Pace,
    ) {
        for index in 0..self.collectors.len() {
            // A segment may end with any sample.
            let Some(segment) = self.segment.as_mut().filter(|segment| segment.is_ready) else { return };
            let active = &mut self.collectors[index];
            if !active.recorder.is_due(now) {
                continue;
            }
            let opening = HeaderContext {
                machine: &self.log_factory.machine,
                zone: &self.logs.zone,
                description: &self.logs.description,
            };
            let had_all = active.recorder.without_column == 0;
            if let Some(header) = active.recorder.begin(found, frame, replied, now, &opening, pace).await {
                let left_out = active.recorder.without_column;
                if had_all && left_out > 0 {
                    tracing::warn!(
                        set = &*self.name,
                        log = active.name(),
                        columns_max = COLUMNS_MAX,
                        left_out,
                        next_step = "name fewer counters or instances, or make several logs of it",
                        "A log has no room for all of its counters"
                    );
                }
                let parts = (
                    segment.serial_number,
                    &*segment.folder,
                    segment.began.wall,
                    self.logs.segment.bytes_max,
                );
                let log = self.log_factory.open(
                    self.state.as_ref(),
                    (&self.logs.zone, &active.recorder.collector),
                    parts,
                    &mut segment.files,
                    header,
                );
                let Some(log) = log else { continue };
                active.begin(log);
            }
            let ActiveCollector { recorder, log: Some(log), .. } = active else { continue };
            let sampled = recorder.sample(found, frame, replied, (now, moment.wall), pace).await;
            let Some((time, samples)) = sampled else { continue };
            log.push(time, samples);
            // [MS-PLA] 2.2.2.11: a circular file that is full goes on with its oldest records.
            let bytes = if recorder.collector.is_circular() { 0 } else { log.bytes() };
            let written = Written { serial_number: segment.serial_number, records: log.records, bytes };
            if let Some(state_machine) = &mut self.state_machine {
                state_machine.handle_written(index, written, moment);
            }
            self.act(moment);
        }
    }
}
