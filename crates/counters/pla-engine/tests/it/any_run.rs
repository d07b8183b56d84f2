//! What holds of any set, whatever happens to it.

use std::collections::HashSet;
use std::time::Duration;

use jiff::civil::time;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use pla_engine::{
    Action, Collector, Moment, RunSnapshot, RunState, SetDefinition, SetRun, StartCause, StartSchedule,
    Written,
};
use proptest::prelude::*;

/// The longest time between two events, unless time is said to pass in one piece.
const TICK_MAX: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
enum Event {
    /// The set is called when it wants to be, for so many minutes.
    Pass(u16),
    SetClock {
        minutes: i32,
    },
    Start,
    Stop,
    Write {
        records: u64,
        bytes: u64,
    },
    Collected,
    /// The newest work of the data manager is done, or an older one.
    Compiled {
        is_newest: bool,
    },
    StartFailed,
    /// The process is killed after the snapshot was stored, and before the actions are carried out or after them.
    Restart {
        minutes: u16,
    },
    Redefine(Box<SetDefinition>),
}

fn definition() -> impl Strategy<Value = SetDefinition> {
    let schedule = (0..24_i8, 0..60_i8, prop_oneof![3 => Just(0x7f_u16), 1 => 0..0x80_u16]).prop_map(
        |(hour, minute, week_days)| StartSchedule {
            time: time(hour, minute, 0, 0),
            week_days,
            ..StartSchedule::default()
        },
    );
    let minutes = |max: u64| {
        proptest::option::weighted(0.7, 1..max)
            .prop_map(|minutes| minutes.map(|minutes: u64| Duration::from_secs(60 * minutes)))
    };
    let collector = prop_oneof![
        4 => proptest::option::of(1..50_u64).prop_map(|records_max| Collector::Counters { records_max }),
        1 => Just(Collector::Configuration),
        1 => Just(Collector::Alerts),
    ];
    let zone =
        proptest::sample::select(vec!["UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo"]);
    let flags = (any::<bool>(), prop::bool::weighted(0.2), any::<bool>(), prop::bool::weighted(0.9));
    (
        (proptest::collection::vec(schedule, 0..3), zone, minutes(3_000), minutes(300)),
        (
            proptest::option::weighted(0.5, 1..1_000_u64),
            proptest::collection::vec(collector, 1..3),
            flags,
            0..40_u32,
        ),
    )
        .prop_map(
            |(
                (schedules, zone, duration, segment_duration_max),
                (segment_bytes_max, collectors, flags, serial_number),
            )| SetDefinition {
                schedules,
                are_schedules_enabled: flags.3,
                zone: TimeZone::get(zone).expect("the database is compiled in"),
                duration,
                is_segmented: flags.0,
                segment_duration_max,
                segment_bytes_max,
                collectors,
                stops_on_completion: flags.1,
                is_managed: flags.2,
                serial_number,
            },
        )
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => (1..4_000_u16).prop_map(Event::Pass),
        2 => (-3_000..3_000_i32).prop_map(|minutes| Event::SetClock { minutes }),
        3 => Just(Event::Start),
        1 => Just(Event::Stop),
        4 => (0..100_u64, 0..2_000_u64).prop_map(|(records, bytes)| Event::Write { records, bytes }),
        1 => Just(Event::Collected),
        4 => any::<bool>().prop_map(|is_newest| Event::Compiled { is_newest }),
        1 => Just(Event::StartFailed),
        2 => (0..3_000_u16).prop_map(|minutes| Event::Restart { minutes }),
        1 => definition().prop_map(|definition| Event::Redefine(Box::new(definition))),
    ]
}

/// What the actions say of the set, and what they must not say.
struct Witness {
    state: RunState,
    highest: u32,
    /// Since when the run runs, and the longest it may.
    running: Option<(Duration, Option<Duration>)>,
    scheduled: HashSet<Timestamp>,
    /// The latest time that the clock on the wall has shown.
    latest: Timestamp,
    compiling: Vec<u32>,
}

impl Witness {
    fn see(&mut self, action: Action, definition: &SetDefinition, now: Moment) {
        match action {
            Action::StartRun { serial_number, cause } => {
                assert_eq!(self.state, RunState::Stopped, "{action:?}");
                self.use_number(serial_number);
                if let StartCause::Scheduled(due) = cause {
                    assert!(self.scheduled.insert(due), "{due} twice");
                    assert!(due <= self.latest, "{due} was never due");
                }
                self.running = Some((now.monotonic, definition.duration));
                self.state = RunState::Running;
            }
            Action::NextSegment { serial_number, .. } => {
                assert_eq!(self.state, RunState::Running, "{action:?}");
                assert!(definition.is_segmented && !definition.stops_on_completion);
                self.use_number(serial_number);
            }
            Action::StopRun { serial_number, .. } => {
                assert_eq!((self.state, serial_number), (RunState::Running, self.highest), "{action:?}");
                let (since, longest) = self.running.take().expect("it runs");
                if let Some(longest) = longest {
                    assert!(
                        now.monotonic - since <= longest + TICK_MAX,
                        "longer than {longest:?}: {:?}",
                        now.monotonic - since
                    );
                }
                self.state = RunState::Stopped;
            }
            Action::Compile { serial_number, is_last } => {
                assert!(definition.is_managed && serial_number <= self.highest);
                self.compiling.push(serial_number);
                assert_eq!(
                    self.state,
                    if is_last { RunState::Stopped } else { RunState::Running },
                    "{action:?}"
                );
                if is_last {
                    self.state = RunState::Compiling;
                }
            }
        }
    }

    fn use_number(&mut self, serial_number: u32) {
        assert!(serial_number > self.highest, "{serial_number} is not above {}", self.highest);
        self.highest = serial_number;
    }
}

struct Machine {
    run: SetRun,
    now: Moment,
    witness: Witness,
    stored: RunSnapshot,
    revision: u64,
}

impl Machine {
    fn new(definition: SetDefinition) -> Self {
        let now = Moment {
            wall: "2026-03-20T12:00:00Z".parse().expect("a moment"),
            monotonic: Duration::from_secs(5),
        };
        let run = SetRun::new(definition, now);
        let witness = Witness {
            state: RunState::Stopped,
            highest: 0,
            running: None,
            scheduled: HashSet::new(),
            latest: now.wall,
            compiling: Vec::new(),
        };
        Self { stored: run.snapshot(now), revision: run.revision(), run, now, witness }
    }

    /// As a program does after each event.
    fn settle(&mut self) {
        self.witness.latest = self.witness.latest.max(self.now.wall);
        self.store();
        while let Some(action) = self.run.poll_action() {
            // The data manager of a run that ended is the witness' business, not that of a start after it.
            if matches!(action, Action::StartRun { .. }) && self.witness.state == RunState::Compiling {
                self.witness.state = RunState::Stopped;
            }
            self.witness.see(action, self.run.definition(), self.now);
        }
        let shown = match self.run.state() {
            RunState::Queued => RunState::Compiling,
            state => state,
        };
        if self.witness.state == RunState::Compiling && shown == RunState::Stopped {
            self.witness.state = RunState::Stopped;
        }
        assert_eq!(shown, self.witness.state);
        let next = self.run.next_wake(self.now);
        assert!(next <= self.now.monotonic + TICK_MAX, "it wants to be called at least every minute");
    }

    fn store(&mut self) {
        if std::mem::replace(&mut self.revision, self.run.revision()) != self.run.revision() {
            self.stored = self.run.snapshot(self.now);
        }
    }

    fn happen(&mut self, event: Event) {
        let newest = self.run.serial_number().unwrap_or_default();
        match event {
            Event::Pass(minutes) => {
                let end = self.now.monotonic + Duration::from_secs(60 * u64::from(minutes));
                while self.now.monotonic < end {
                    let wake = self
                        .run
                        .next_wake(self.now)
                        .clamp(self.now.monotonic + Duration::from_millis(1), end);
                    self.now.wall += wake - self.now.monotonic;
                    self.now.monotonic = wake;
                    self.run.handle_time(self.now);
                    self.settle();
                }
            }
            Event::SetClock { minutes } => self.now.wall += SignedDuration::from_mins(minutes.into()),
            Event::Start => drop(self.run.handle_start(self.now)),
            Event::Stop => drop(self.run.handle_stop(self.now)),
            Event::Write { records, bytes } => {
                self.run.handle_written(0, Written { serial_number: newest, records, bytes }, self.now);
            }
            Event::Collected => self.run.handle_collected(0, newest, self.now),
            Event::Compiled { is_newest } => {
                let done =
                    if is_newest { self.witness.compiling.last() } else { self.witness.compiling.first() };
                self.run.handle_compiled(done.copied().unwrap_or_default(), self.now);
            }
            Event::StartFailed => {
                let is_running = self.run.state() == RunState::Running;
                self.run.handle_start_failed(newest, self.now);
                if is_running && self.run.state() == RunState::Stopped {
                    (self.witness.state, self.witness.running) = (RunState::Stopped, None);
                    while self.run.poll_action().is_some() {}
                }
            }
            Event::Restart { minutes } => self.restart(minutes),
            Event::Redefine(definition) => {
                // A new duration holds from now on.
                self.witness.running = self.witness.running.map(|(since, _)| (since, None));
                self.run.handle_definition(*definition, self.now);
            }
        }
        self.settle();
    }

    /// The witness remembers what was done; the set, what was stored.
    fn restart(&mut self, minutes: u16) {
        let definition = self.run.definition().clone();
        self.now.wall += SignedDuration::from_mins(minutes.into());
        self.now.monotonic = Duration::from_secs(60 * 60);
        self.run = SetRun::resume(definition, &self.stored, self.now);
        self.revision = self.run.revision();
        self.stored = self.run.snapshot(self.now);
        (self.witness.state, self.witness.running) = (RunState::Stopped, None);
        self.witness.compiling.clear();
    }
}

proptest! {
    #[test]
    fn numbers_grow_runs_end_in_time_and_no_start_takes_place_twice(
        definition in definition(), events in proptest::collection::vec(event(), 1..60),
    ) {
        let mut machine = Machine::new(definition);
        for event in events {
            machine.happen(event);
        }
    }

    #[test]
    fn each_start_takes_place_is_queued_or_finds_the_set_running(definition in definition(), days in 1..20_u16, is_compiled: bool) {
        let mut machine = Machine::new(definition);
        let from = machine.now.wall;
        for _ in 0..days {
            machine.happen(Event::Pass(24 * 60));
            if is_compiled {
                machine.happen(Event::Compiled { is_newest: true });
            }
        }
        let definition = machine.run.definition();
        let all = std::iter::successors(definition.next_start(from), |start| definition.next_start(*start));
        let due: Vec<Timestamp> = all.take_while(|start| *start <= machine.now.wall).collect();
        let counts = machine.run.counts();
        let queued = u64::from(machine.run.state() == RunState::Queued);
        let known = machine.witness.scheduled.len() as u64 + counts.ignored_starts + counts.missed_starts + queued;
        prop_assert_eq!((known, counts.missed_starts), (due.len() as u64, 0));
        prop_assert!(machine.witness.scheduled.iter().all(|start| due.contains(start)));
    }
}
