//! A set, its two clocks, and what it does, in words.

use std::time::Duration;

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use pla_engine::{
    Action, Collector, Moment, RunSnapshot, RunState, SetDefinition, SetRun, StartCause, StartSchedule,
    Written,
};

pub(crate) const MINUTE: Duration = Duration::from_secs(60);
pub(crate) const HOUR: Duration = Duration::from_secs(3_600);
pub(crate) const DAY: Duration = Duration::from_secs(86_400);
pub(crate) const MB: u64 = 1 << 20;

pub(crate) struct World {
    pub(crate) run: SetRun,
    wall: Timestamp,
    monotonic: Duration,
    /// How late each call with the time is.
    late: Duration,
    log: Vec<String>,
}

/// A set with a collector of counters.
pub(crate) fn counters() -> SetDefinition {
    SetDefinition { collectors: vec![Collector::Counters { records_max: None }], ..SetDefinition::default() }
}

/// The same, which starts each day at a time in UTC.
pub(crate) fn daily(time: Time) -> SetDefinition {
    let schedule = StartSchedule { time, week_days: 0x7f, ..StartSchedule::default() };
    SetDefinition { schedules: vec![schedule], are_schedules_enabled: true, ..counters() }
}

pub(crate) fn in_zone(name: &str, definition: SetDefinition) -> SetDefinition {
    SetDefinition { zone: TimeZone::get(name).expect("the database is compiled in"), ..definition }
}

impl World {
    /// At a moment in UTC.
    pub(crate) fn new(at: &str, definition: SetDefinition) -> Self {
        let wall = at.parse().expect("a moment");
        let monotonic = DAY;
        let run = SetRun::new(definition, Moment { wall, monotonic });
        Self { run, wall, monotonic, late: Duration::ZERO, log: Vec::new() }
    }

    /// Each call with the time comes so late.
    pub(crate) fn with_late_calls(mut self, late: Duration) -> Self {
        self.late = late;
        self
    }

    pub(crate) fn now(&self) -> Moment {
        Moment { wall: self.wall, monotonic: self.monotonic }
    }

    /// Time passes, and the set is called when it wants to be.
    pub(crate) fn pass(&mut self, time: Duration) -> &mut Self {
        let end = self.monotonic + time;
        while self.monotonic < end {
            let wake = (self.run.next_wake(self.now()).max(self.monotonic) + self.late).min(end);
            self.tick(wake - self.monotonic);
        }
        self
    }

    fn tick(&mut self, time: Duration) {
        self.monotonic += time;
        self.wall += time;
        let now = self.now();
        self.run.handle_time(now);
        self.note();
    }

    /// The clock is set, and the set is called at the next occasion.
    pub(crate) fn set_clock(&mut self, by: SignedDuration) -> &mut Self {
        self.wall += by;
        self.tick(Duration::ZERO);
        self
    }

    pub(crate) fn start(&mut self) -> Result<(), String> {
        let started = self.run.handle_start(self.now()).map_err(|error| error.to_string());
        self.note();
        started
    }

    pub(crate) fn stop(&mut self) -> Result<(), String> {
        let stopped = self.run.handle_stop(self.now()).map_err(|error| error.to_string());
        self.note();
        stopped
    }

    /// The first collector has written so much of the newest segment.
    pub(crate) fn write(&mut self, records: u64, bytes: u64) -> &mut Self {
        let serial_number = self.run.serial_number().unwrap_or_default();
        self.run.handle_written(0, Written { serial_number, records, bytes }, self.now());
        self.note();
        self
    }

    /// A collector has collected all for a segment.
    pub(crate) fn collected(&mut self, collector: usize, serial_number: u32) -> &mut Self {
        self.run.handle_collected(collector, serial_number, self.now());
        self.note();
        self
    }

    pub(crate) fn compiled(&mut self, serial_number: u32) -> &mut Self {
        self.run.handle_compiled(serial_number, self.now());
        self.note();
        self
    }

    pub(crate) fn failed(&mut self, serial_number: u32) -> &mut Self {
        self.run.handle_start_failed(serial_number, self.now());
        self.note();
        self
    }

    pub(crate) fn redefine(&mut self, definition: SetDefinition) -> &mut Self {
        self.run.handle_definition(definition, self.now());
        self.note();
        self
    }

    /// The process ends, and another one starts after a while, with what was stored as JSON.
    pub(crate) fn restart(&mut self, after: Duration) -> &mut Self {
        let snapshot = serde_json::to_string(&self.run.snapshot(self.now())).expect("it is plain data");
        let snapshot: RunSnapshot = serde_json::from_str(&snapshot).expect("it was just written");
        self.wall += after;
        // Another process on another boot.
        self.monotonic = HOUR;
        self.run = SetRun::resume(self.run.definition().clone(), &snapshot, self.now());
        self.log.push("restart".to_owned());
        self.note();
        self
    }

    /// What the set has done since the last call.
    pub(crate) fn log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    pub(crate) fn state(&self) -> RunState {
        self.run.state()
    }

    fn note(&mut self) {
        while let Some(action) = self.run.poll_action() {
            let time = self.wall.strftime("%dT%H:%M:%S");
            self.log.push(format!("{time} {}", in_words(&action)));
        }
    }
}

fn in_words(action: &Action) -> String {
    match action {
        Action::StartRun { serial_number, cause } => {
            let cause = match cause {
                StartCause::Requested => "requested".to_owned(),
                StartCause::Scheduled(due) => format!("due at {}", due.strftime("%dT%H:%M")),
                StartCause::Resumed => "resumed".to_owned(),
            };
            format!("start {serial_number}: {cause}")
        }
        Action::NextSegment { serial_number, condition } => format!("segment {serial_number}: {condition:?}"),
        Action::StopRun { serial_number, reason } => format!("stop {serial_number}: {}", reason.as_str()),
        Action::Compile { serial_number, is_last: true } => format!("compile {serial_number}"),
        Action::Compile { serial_number, is_last: false } => format!("compile segment {serial_number}"),
    }
}
