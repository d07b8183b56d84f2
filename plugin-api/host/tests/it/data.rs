use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use plugin_abi::raw::{DROPPED_INVALID, DROPPED_UNKNOWN_FAMILY, FULL, INVALID, OK, STALE, STOPPED};
use plugin_abi::{AlertState, Comparison, DisplayRule, Evaluation, Level};
use plugin_host::testing::{RecordedOutcome, RecordingSink, Value};
use plugin_host::{InstanceState, Library, QuarantineCause, Violation};

use crate::support::{World, collect, config, instance, said};

#[test]
fn text_that_is_not_utf8_is_dropped_beside_text_that_is() {
    let world = World::new();
    let library = world.load("zoo/bad_utf8.c");
    let (instance, sink) = instance(&library, "a");
    let recorded = collect(&world, &instance, &sink);
    assert_eq!((said(&recorded, "good"), said(&recorded, "bad")), (0, i64::from(DROPPED_INVALID)));
    assert_eq!(said(&recorded, "log"), i64::from(INVALID));
    assert_eq!(recorded.families.len(), 1);
    assert_eq!(recorded.completions[0].outcome, RecordedOutcome::Full, "the collection goes on");
    assert_eq!(counted(&library), [(Violation::NotUtf8, 2)]);
}

#[test]
fn a_batch_with_an_id_that_was_never_handed_out_is_refused_whole() {
    let world = World::new();
    let library = world.load("zoo/ids_out_of_range.c");
    let (instance, sink) = instance(&library, "a");
    let recorded = collect(&world, &instance, &sink);
    assert_eq!(
        (said(&recorded, "batch"), said(&recorded, "far batch")),
        (i64::from(INVALID), i64::from(INVALID))
    );
    assert_eq!(said(&recorded, "series"), i64::from(DROPPED_UNKNOWN_FAMILY));
    assert_eq!(said(&recorded, "retire"), i64::from(OK), "what cannot be retired is passed over");
    assert_eq!(said(&recorded, "retired"), i64::from(OK), "a value of a retired series is left out");
    assert_eq!(recorded.series[0].value, None);
    assert!(recorded.series[0].retired);
    assert_eq!(counted(&library), [(Violation::IdOutOfRange, 4), (Violation::RetiredId, 1)]);
}

#[test]
fn the_sink_hears_how_long_the_batches_of_a_collection_were_checked() {
    let looks = AtomicU64::new(0);
    let world = World::with(|options| {
        options.clock = Arc::new(move || looks.fetch_add(1_000, Ordering::SeqCst));
    });
    let library = world.load("pulse.c");
    let (instance, sink) = instance(&library, "a");
    collect(&world, &instance, &sink);
    let recorded = collect(&world, &instance, &sink);
    // Two batches in each of two collections.
    assert_eq!((recorded.batches, recorded.checked_ns.len()), (4, 2));
    for took_ns in recorded.checked_ns {
        // The second batch is no larger than the first: not timed, it counts as much. Other threads may look at the
        // clock meanwhile.
        assert!(took_ns >= 2_000 && took_ns % 2_000 == 0, "{took_ns}");
    }
}

#[test]
fn lengths_and_sizes_that_lie_are_refused_before_anything_is_read() {
    let world = World::new();
    let library = world.load("zoo/lying_lengths.c");
    let (instance, sink) = instance(&library, "a");
    let recorded = collect(&world, &instance, &sink);
    for what in ["mismatch", "null", "misaligned", "element", "kind", "size", "no struct", "no room"] {
        assert_eq!(said(&recorded, what), i64::from(INVALID), "{what}");
    }
    assert_eq!(said(&recorded, "labels"), i64::from(DROPPED_INVALID));
    assert_eq!(recorded.batches, 0, "the sink saw none of it");
    let expected = [
        (Violation::NullPointer, 2),
        (Violation::Misaligned, 1),
        (Violation::BadSize, 2),
        (Violation::TooLong, 1),
        (Violation::LengthMismatch, 2),
        (Violation::BadEnum, 1),
    ];
    assert_eq!(counted(&library), expected);
}

#[test]
fn what_a_target_says_of_itself_arrives_where_it_has_a_name_and_one_line() {
    let world = World::new();
    let library = world.load("zoo/facts.c");
    let (instance, sink) = instance(&library, "a");
    let recorded = collect(&world, &instance, &sink);
    let told = |value: &str| ("os.version".to_owned(), value.to_owned());
    assert_eq!(recorded.facts, [told("10.0.20348"), told("")]);
    assert_eq!((said(&recorded, "version"), said(&recorded, "taken back")), (i64::from(OK), i64::from(OK)));
    for what in ["capital", "two lines", "no text", "null"] {
        assert_eq!(said(&recorded, what), i64::from(INVALID), "{what}");
    }
    let expected = [(Violation::NullPointer, 1), (Violation::NotUtf8, 1), (Violation::BadName, 2)];
    assert_eq!(counted(&library), expected);
}

#[test]
fn how_a_family_is_shown_arrives_and_a_base_that_cannot_be_is_refused() {
    let world = World::new();
    let library = world.load("zoo/displays.c");
    let (instance, sink) = instance(&library, "a");
    let recorded = collect(&world, &instance, &sink);
    let families: Vec<_> = recorded
        .families
        .iter()
        .map(|family| (family.item.as_str(), family.display, &*family.base))
        .collect();
    let expected = [
        ("Idle", DisplayRule::PercentNotOfTime, ""),
        ("Mean", DisplayRule::Average, "base"),
        ("Mean", DisplayRule::Base, ""),
        // An unknown rule is none, and a base that the rule has no use for is not looked at.
        ("Later", DisplayRule::None, ""),
        ("Unused", DisplayRule::Rate, ""),
    ];
    assert_eq!(families, expected);
    for what in ["without", "itself"] {
        assert_eq!(said(&recorded, what), i64::from(DROPPED_INVALID), "{what}");
    }
    assert_eq!(counted(&library), [(Violation::BadBase, 2)]);
}

#[test]
fn a_failure_may_ask_for_a_pause_up_to_the_limit() {
    let world = World::limited(|limits| limits.retry_after_ms_max = 60_000);
    let library = world.load("zoo/retry_after.c");
    let (instance, sink) = instance(&library, "a");
    for expected_ms in [Some(2_500), None, Some(60_000)] {
        let recorded = collect(&world, &instance, &sink);
        let last = recorded.completions.last().map(|completion| &completion.outcome);
        let Some(RecordedOutcome::Failed(failure)) = last else { panic!("it fails") };
        assert_eq!(failure.retry_after, expected_ms.map(Duration::from_millis));
    }
    assert_eq!(counted(&library), []);
}

#[test]
fn an_instance_says_how_often_it_is_sensible_to_ask_it() {
    let world = World::new();
    let library = world.load("zoo/min_interval.c");
    let (instance, sink) = instance(&library, "a");
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(instance.min_interval(), seconds(60));
    for (status, min_interval) in [(OK, seconds(90)), (INVALID, seconds(90)), (OK, None)] {
        let recorded = collect(&world, &instance, &sink);
        let said = recorded.logs.last().map(|log| log.message.clone());
        assert_eq!(said, Some(format!("asked {status}")));
        assert_eq!(instance.min_interval(), min_interval);
    }
    drop(instance);
    assert_eq!(world.log.wait_said("ending"), i64::from(STOPPED));
    assert_eq!(counted(&library), [(Violation::OverLimit, 1), (Violation::AfterDestroy, 1)]);
}

#[test]
fn what_becomes_of_alerts_arrives_as_far_as_it_can_be() {
    let world = World::new();
    let library = world.load("zoo/alerts.c");
    let sink = Arc::new(RecordingSink::with_alerts_max(2));
    let instance = library.create(&library.info().sources[0].name, &config("a"), Arc::clone(&sink));
    let instance = instance.expect("the instance is made");
    let recorded = collect(&world, &instance, &sink);
    let expected = [
        ("bear", AlertState::Opened),
        ("bear", AlertState::Opened),
        ("lynx", AlertState::Open),
        ("bear", AlertState::Closed),
        ("wolf", AlertState::Opened),
        ("bear", AlertState::Closed),
    ];
    let expected = expected.into_iter().chain([("food", AlertState::Closed); 5]);
    assert_eq!(recorded.alerts, expected.map(|(id, state)| (id.to_owned(), state)).collect::<Vec<_>>());
    assert_eq!(recorded.events.len(), 13, "an unknown state is none, and its event arrives");
    let compares = |value, comparison, threshold| Some(Evaluation { value, comparison, threshold });
    let below = compares(Some(3.5), Comparison::Below, 4.0);
    let compared = [below, compares(None, Comparison::Above, -4.0), None, None, None];
    assert_eq!(recorded.evaluations[6..], compared);
    assert_eq!(said(&recorded, "too many"), i64::from(FULL));
    for what in ["lines", "nameless"] {
        assert_eq!(said(&recorded, what), i64::from(INVALID), "{what}");
    }
    assert_eq!(said(&recorded, "shorter"), i64::from(INVALID));
    assert_eq!(counted(&library), [(Violation::BadSize, 1), (Violation::BadName, 2)]);
}

#[test]
fn the_end_of_an_open_alert_is_taken_however_much_was_said_before() {
    let world = World::limited(|limits| limits.log_bytes_per_second_max = 100);
    let library = world.load("zoo/alerts.c");
    let (instance, sink) = instance(&library, "a");
    let recorded = collect(&world, &instance, &sink);
    let all_are_of_bear = recorded.alerts.iter().all(|(id, _)| id == "bear");
    assert!(all_are_of_bear && recorded.open_alerts().is_empty(), "{:?}", recorded.alerts);
    assert_eq!(recorded.alerts[0].1, AlertState::Opened);
    assert!(library.violations().of(Violation::LogOverflow) > 10, "the others are not taken");
}

#[test]
fn the_labels_of_an_alert_are_few_and_valid() {
    let world = World::new();
    let library = world.load("zoo/alert_labels.c");
    let (instance, sink) = instance(&library, "a");
    let recorded = collect(&world, &instance, &sink);
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let both = vec![pair("cage", "7"), pair("species", "ursus \"arctos\"")];
    assert_eq!(recorded.alert_labels, [both, vec![], vec![]]);
    for (what, status) in
        [("two", OK), ("none", OK), ("a detail", OK), ("too many", INVALID), ("no name", INVALID)]
    {
        assert_eq!(said(&recorded, what), i64::from(status), "{what}");
    }
    assert_eq!(said(&recorded, "reserved"), i64::from(INVALID));
    assert_eq!(said(&recorded, "twice"), i64::from(INVALID));
    assert_eq!(counted(&library), [(Violation::TooLong, 1), (Violation::BadName, 3)]);
}

#[test]
fn registering_without_end_stops_at_the_limit_of_the_instance() {
    let world = World::limited(|limits| limits.series_max = 2_500);
    let library = world.load("zoo/registers_without_end.c");
    let (instance, sink) = instance(&library, "a");
    let recorded = collect(&world, &instance, &sink);
    assert_eq!(recorded.series.len(), 2_500);
    assert_eq!(said(&recorded, "accepted"), 2_499, "all but the one registered before");
    assert!(library.violations().of(Violation::OverLimit) >= 50);
    assert_eq!(instance.state(), InstanceState::Idle);
}

#[test]
fn too_many_violations_in_one_collection_put_the_instance_into_quarantine() {
    let world = World::limited(|limits| {
        limits.series_max = 2_500;
        limits.violations_max = 20;
    });
    let library = world.load("zoo/registers_without_end.c");
    let (instance, sink) = instance(&library, "a");
    collect(&world, &instance, &sink);
    let InstanceState::Quarantined { why, .. } = instance.state() else { panic!("it goes on") };
    assert_eq!(why, QuarantineCause::Violations);
}

#[test]
fn a_log_without_end_is_cut_to_what_a_second_may_hold() {
    let world = World::limited(|limits| limits.log_bytes_per_second_max = 10_500);
    let library = world.load("zoo/noisy.c");
    let (instance, sink) = instance(&library, "a");
    let recorded = collect(&world, &instance, &sink);
    let (said, logs): (Vec<_>, Vec<_>) =
        recorded.logs.iter().partition(|log| log.message.starts_with("Log records are dropped"));
    assert_eq!((logs.len(), world.log.wait_said("taken")), (10, 10));
    assert_eq!(said.len(), 1, "once, and not at each of them");
    assert_eq!((said[0].level, &*said[0].fields[0].0), (Level::Warn, "records"));
    assert_eq!(counted(&library), [(Violation::LogOverflow, 990)]);
}

#[test]
fn records_about_one_host_have_a_share_of_those_of_the_library() {
    let world = World::limited(|limits| limits.log_bytes_per_second_max = 20_000);
    let library = world.load("zoo/noisy_hosts.c");
    let (instance, sink) = instance(&library, "a");
    collect(&world, &instance, &sink);
    // Of ten each; a quarter is for one host, by whichever field it is named.
    let taken = ["target", "host", "set"].map(|field| world.log.last_said(field));
    assert_eq!(taken, [4, 4, 10]);
}

#[test]
fn a_batch_above_the_limit_is_taken_in_parts() {
    let world = World::limited(|limits| limits.register_rows_max = 100);
    let library = world.load("zoo/registers_without_end.c");
    let (instance, sink) = instance(&library, "a");
    let recorded = collect(&world, &instance, &sink);
    assert_eq!(recorded.series.len(), 101, "the plugin stops at FULL ({FULL}) after the first hundred");
}

#[test]
fn the_second_end_of_a_collection_is_dropped_and_counted() {
    let world = World::new();
    let library = world.load("zoo/completes_twice.c");
    let (instance, sink) = instance(&library, "a");
    let recorded = collect(&world, &instance, &sink);
    let [ok, stale] = [i64::from(OK), i64::from(STALE)];
    assert_eq!(world.log.wait_said("statuses"), ok * 100 + stale * 10 + stale);
    assert_eq!(recorded.completions.len(), 1);
    assert_eq!(counted(&library), [(Violation::DoubleCompletion, 2)]);
}

#[test]
fn calls_from_a_foreign_thread_after_destroy_are_answered_and_do_nothing() {
    let world = World::new();
    let library = world.load("zoo/after_destroy.c");
    let (instance, sink) = instance(&library, "a");
    let recorded = collect(&world, &instance, &sink);
    assert_eq!(recorded.series[0].value, Some(Value::F64(1.0)));
    drop(instance);
    assert_eq!(world.log.wait_said("stopped"), i64::from(STOPPED));
    for what in ["stale batch", "stale series", "stale completion", "stale destroyed"] {
        assert_eq!(world.log.wait_said(what), i64::from(STALE), "{what}");
    }
    assert_eq!(sink.recorded(), recorded, "the sink hears nothing more");
    assert_eq!(library.violations().of(Violation::AfterDestroy), 1);
}

#[test]
fn an_instance_whose_calls_keep_failing_is_given_longer_and_longer_pauses() {
    let world = World::limited(|limits| limits.quarantine_s = 10);
    let library = world.load("zoo/failing_collect.c");
    let (instance, sink) = instance(&library, "a");
    let mut pauses_s = Vec::new();
    for _ in 0..3 {
        for _ in 0..3 {
            let recorded = collect(&world, &instance, &sink);
            let RecordedOutcome::Failed(failure) = &recorded.completions[0].outcome else {
                panic!("it fails")
            };
            assert_eq!(failure.to_string(), "plugin: internal: collect answered FAILED");
        }
        let InstanceState::Quarantined { until_ns, why } = instance.state() else { panic!("it goes on") };
        assert_eq!(why, QuarantineCause::Faults);
        assert_eq!(library.quarantined(world.now_ns()), 1);
        instance.collect(world.deadline()).expect_err("not before the pause is over");
        pauses_s.push((until_ns - world.now_ns()) / 1_000_000_000);
        world.advance(std::time::Duration::from_nanos(until_ns - world.now_ns()));
    }
    assert_eq!(pauses_s, [10, 20, 40]);
}

fn counted(library: &Library) -> Vec<(Violation, u64)> {
    library.violations().iter().filter(|(_, count)| *count > 0).collect()
}
