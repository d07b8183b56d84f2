use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use plugin_abi::raw::STALE;
use plugin_host::testing::{Recorded, RecordedOutcome};
use plugin_host::{CollectError, InstanceState, QuarantineCause, Violation};

use crate::support::{World, collect, config, instance, wait_until};

/// The door of a cage: whoever collects from after it hangs until it is opened.
struct Door {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Door {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("door");
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
        Self { path, _folder: folder }
    }

    fn path(&self) -> &str {
        self.path.to_str().expect("a path in UTF-8")
    }

    /// Waits for the one who hangs, and lets him go.
    fn open(path: &Path) {
        OpenOptions::new().write(true).open(path).expect("the door opens");
    }
}

#[test]
fn a_collection_that_hangs_is_given_up_and_nobody_else_waits_for_it() {
    let world = World::new();
    let library = world.load("zoo/hang.c");
    let door = Door::new();
    let (caged, caged_sink) = instance(&library, door.path());
    let (free, free_sink) = instance(&library, "free");
    caged.collect(world.deadline()).expect("the collection begins");

    // The call of an async source must return within 10 ms.
    wait_until("the call is slow", || {
        world.host.poll_deadlines(world.now_ns() + 11_000_000);
        library.violations().of(Violation::SlowCall) == 1
    });
    assert_eq!(library.lost_threads(), 1);
    assert_eq!(collect(&world, &free, &free_sink).completions.len(), 1, "the other target is collected");

    assert_eq!(caged.collect(world.deadline()), Err(CollectError::InFlight));
    world.advance(Duration::from_millis(1_000));
    world.poll();
    assert_eq!(caged_sink.recorded().completions, [], "the plugin is cancelled and given a moment");
    world.advance(Duration::from_millis(250));
    world.poll();
    let recorded = caged_sink.wait_completions(1).expect("the collection is given up");
    assert_eq!(failure(&recorded), "plugin: timeout: the plugin did not end the collection at its deadline");
    let InstanceState::Quarantined { until_ns, why } = caged.state() else { panic!("it goes on") };
    assert_eq!(why, QuarantineCause::Hung);

    world.advance(Duration::from_nanos(until_ns - world.now_ns()));
    assert_eq!(
        caged.collect(world.deadline()),
        Err(CollectError::Hung),
        "the pause is over, but it still hangs"
    );

    Door::open(&door.path);
    wait_until("the late end is counted", || library.violations().of(Violation::LateCompletion) == 1);
    wait_until("the thread comes back", || library.lost_threads() == 0);
    assert_eq!(caged_sink.recorded().completions.len(), 1, "the sink heard of one end");
    caged.collect(world.deadline()).expect("it may try again");
    Door::open(&door.path);
    let recorded = caged_sink.wait_completions(2).expect("this time it ends");
    assert_eq!(recorded.completions[1].outcome, RecordedOutcome::Full);
}

#[test]
fn a_library_that_hangs_in_all_its_threads_gets_no_more_calls() {
    let world = World::limited(|limits| limits.lost_threads_max = 2);
    let library = world.load("zoo/hang.c");
    let doors = [Door::new(), Door::new()];
    let caged: Vec<_> = doors.iter().map(|door| instance(&library, door.path())).collect();
    let (free, _sink) = instance(&library, "free");
    for (index, (instance, _)) in caged.iter().enumerate() {
        instance.collect(world.deadline()).expect("the collection begins");
        wait_until("the thread is lost", || {
            world.host.poll_deadlines(world.now_ns() + 11_000_000);
            library.lost_threads() == index + 1
        });
    }
    assert_eq!(free.collect(world.deadline()), Err(CollectError::Hung));
    let error = library.validate("animal", &config("x")).expect_err("nor is anything else asked");
    assert_eq!(error.to_string(), "zoo: validate did not return within 5000 ms");
    for door in &doors {
        Door::open(&door.path);
    }
    wait_until("the threads come back", || library.lost_threads() == 0);
    free.collect(world.deadline()).expect("the library is used again");
}

#[test]
fn a_call_that_is_slow_several_times_in_a_row_costs_a_pause() {
    let world = World::new();
    let library = world.load("zoo/hang.c");
    let door = Door::new();
    let (caged, sink) = instance(&library, door.path());
    for round in 1..=3 {
        caged.collect(world.deadline()).expect("the collection begins");
        wait_until("the call is slow", || {
            world.host.poll_deadlines(world.now_ns() + 11_000_000);
            library.violations().of(Violation::SlowCall) == round
        });
        Door::open(&door.path);
        sink.wait_completions(usize::try_from(round).expect("small")).expect("the collection ends in time");
        wait_until("the thread comes back", || library.lost_threads() == 0);
    }
    let InstanceState::Quarantined { why, .. } = caged.state() else { panic!("it goes on") };
    assert_eq!(why, QuarantineCause::SlowCalls);
}

#[test]
fn an_end_after_the_deadline_is_dropped_and_counted() {
    let world = World::new();
    let library = world.load("zoo/completes_late.c");
    let (late, sink) = instance(&library, "a");
    late.collect(world.deadline()).expect("the collection begins");
    world.advance(Duration::from_secs(1));
    world.poll();
    assert_eq!(world.log.wait_said("cancelled"), 1, "the deadline cancels");
    world.advance(Duration::from_secs(1));
    world.poll();
    let recorded = sink.wait_completions(1).expect("the collection is given up");
    assert!(failure(&recorded).starts_with("plugin: timeout"));
    library.validate("animal", &config("a")).expect("the source answers");
    assert_eq!(world.log.wait_said("late"), i64::from(STALE));
    assert_eq!(library.violations().of(Violation::LateCompletion), 1);
    assert_eq!(sink.recorded().completions.len(), 1);
}

#[test]
fn destroying_an_instance_ends_its_collection() {
    let world = World::new();
    let library = world.load("zoo/completes_late.c");
    let (late, sink) = instance(&library, "a");
    late.collect(world.deadline()).expect("the collection begins");
    drop(late);
    let recorded = sink.wait_completions(1).expect("the collection ends");
    assert_eq!(failure(&recorded), "plugin: cancelled: destroyed");
    assert_eq!(world.host.wait_destroyed(Duration::from_secs(10)), 0);
}

#[test]
fn the_host_names_the_time_at_which_it_wants_to_look_again() {
    let world = World::new();
    let library = world.load("zoo/completes_late.c");
    let (late, _sink) = instance(&library, "a");
    wait_until("nothing is under way", || world.host.poll_deadlines(world.now_ns()).is_none());
    let deadline_ns = world.deadline();
    late.collect(deadline_ns).expect("the collection begins");
    wait_until("the call returned", || world.host.poll_deadlines(world.now_ns()) == Some(deadline_ns));
}

#[test]
fn collections_against_one_host_are_limited_over_all_instances() {
    let world = World::limited(|limits| limits.collections_per_target_max = 2);
    let library = world.load("zoo/completes_late.c");
    let all: Vec<_> = (0..3).map(|_| instance(&library, "same").0).collect();
    all[0].collect(world.deadline()).expect("the first begins");
    all[1].collect(world.deadline()).expect("the second begins");
    assert_eq!(all[2].collect(world.deadline()), Err(CollectError::TargetBusy { limit: 2 }));
    let (elsewhere, _sink) = instance(&library, "other");
    elsewhere.collect(world.deadline()).expect("another host is not concerned");
}

fn failure(recorded: &Recorded) -> String {
    match &recorded.completions[0].outcome {
        RecordedOutcome::Failed(failure) => failure.to_string(),
        other => panic!("it did not fail: {other:?}"),
    }
}
