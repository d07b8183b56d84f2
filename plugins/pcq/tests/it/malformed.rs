//! Hosts that answer nonsense: each kind ends the collection in time, by name, and does no other harm.

use std::time::Duration;

use plugin_host::testing::RecordedOutcome;

use crate::world::{Ended, Plugin, SimHost, Watch, all_calls, countersets};

const SETS: &[&str] = &["HTTP Service", "Thermal Zone Information", "Processor Information"];

/// Stage and reason of a failure, or of what a partial collection lacks; `full` where nothing was noticed.
fn outcome(ended: &Ended) -> String {
    match &ended.outcome {
        RecordedOutcome::Full => "full".to_owned(),
        RecordedOutcome::Partial(_, Some(failure)) => {
            assert!(!failure.message.is_empty() && !failure.reason.next_step().is_empty());
            format!("partial: {} {}", failure.stage, failure.reason.as_str())
        }
        RecordedOutcome::Partial(_, None) => "partial".to_owned(),
        RecordedOutcome::Failed(failure) => {
            ended.failed();
            format!("{} {}", failure.stage, failure.reason.as_str())
        }
    }
}

/// Lets `rule` hit a host that was polled before where `is_warm`, or else one that is new.
fn hit(rule: &str, is_warm: bool, deadline: Duration) -> (String, String) {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let other_sim = SimHost::new();
    let (watch, other) = (plugin.watch(&sim, countersets(SETS)), plugin.watch(&other_sim, countersets(SETS)));
    other.full();
    if is_warm {
        watch.full();
    }
    sim.rule(rule);
    let ended = watch.collect_within(deadline);
    let message = match &ended.outcome {
        RecordedOutcome::Failed(failure) | RecordedOutcome::Partial(_, Some(failure)) => {
            failure.message.clone()
        }
        _ => String::new(),
    };
    assert_still_polled(&other, &other_sim);
    sim.heal();
    assert_recovers(&watch, rule);
    let violations: Vec<_> = watch.instance.violations().iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(violations, [], "{rule}");
    (outcome(&ended), message)
}

fn assert_still_polled(other: &Watch, sim: &SimHost) {
    let (calls, connections) = (all_calls(sim), sim.connections());
    other.full();
    assert_eq!((all_calls(sim), sim.connections()), (calls + 1, connections), "another host noticed");
}

#[track_caller]
fn assert_recovers(watch: &Watch, rule: &str) {
    let after = watch.collect();
    assert_eq!(after.outcome, RecordedOutcome::Full, "after {rule}");
    assert!(after.series().iter().all(|line| !line.ends_with("None")), "after {rule}");
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_fault_on_any_call_is_told_with_its_method_and_name() {
    let methods = [
        (0, "enumerate countersets"),
        (1, "query counterset registration info"),
        (3, "open query handle"),
        (6, "query counter data"),
        (7, "validate counters"),
    ];
    for (opnum, method) in methods {
        let (outcome, message) = hit(&format!("{opnum}=fault:0x1c000012"), false, LONG);
        assert_eq!(outcome, "query server_fault", "{message}");
        assert!(message.contains(method) && message.contains("0x1c000012"), "{message}");
        let (outcome, message) = hit(&format!("{opnum}=fault:0x5"), false, LONG);
        assert_eq!(outcome, "query access_denied", "{message}");
    }
    let (outcome, _) = hit("6=fault:0x1c000012", true, LONG);
    assert_eq!(outcome, "query server_fault");
}

#[test]
fn wrong_sizes_of_the_data_are_malformed_replies() {
    for (corruption, expected) in [
        ("out-size", "decode malformed_reply"),
        ("total-size", "decode malformed_reply"),
        ("block-size", "decode malformed_reply"),
        ("instance-count", "partial: decode malformed_reply"),
    ] {
        for is_warm in [false, true] {
            let (outcome, message) = hit(&format!("6=corrupt:{corruption}"), is_warm, LONG);
            assert_eq!(outcome, expected, "{corruption}: {message}");
        }
    }
}

#[test]
fn wrong_sizes_of_registrations_are_malformed_replies() {
    for (rule, expected) in
        [("0=corrupt:out-size", "decode malformed_reply"), ("1=corrupt:out-size", "decode malformed_reply")]
    {
        let (outcome, message) = hit(rule, false, LONG);
        assert_eq!(outcome, expected, "{rule}: {message}");
    }
}

#[test]
fn a_malformed_registration_costs_its_own_counterset_only() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["Processor Information", "Process V2"]));
    // Neither all of its counters nor their names, in either language, can be believed: nothing of it can be known.
    sim.rules(&["1.1x1=corrupt:out-size", "1.10x1=corrupt:string-offset", "1.5x1=corrupt:string-offset"]);
    let ended = watch.collect();
    let (objects, failure) = ended.partial();
    assert_eq!(objects, ["Process V2"]);
    assert_eq!(failure.reason.as_str(), "malformed_reply");
    assert!(failure.message.contains("Processor Information"), "{failure}");
    assert_recovers_in_time(&plugin, &watch);
}

#[test]
fn a_malformed_registration_is_read_by_another_request_code() {
    let plugin = Plugin::new();
    let expected = plugin.watch(&SimHost::new(), countersets(SETS)).full();
    for rule in [
        "1.10=corrupt:string-offset",
        "1.6=corrupt:string-offset",
        "1.9=corrupt:out-size",
        "1.1=corrupt:out-size",
    ] {
        let sim = SimHost::new();
        sim.rule(rule);
        let ended = plugin.watch(&sim, countersets(SETS)).full();
        assert_eq!(ended.series(), expected.series(), "{rule}");
    }
}

/// What could not be read is looked for again by and by.
fn assert_recovers_in_time(plugin: &Plugin, watch: &Watch) {
    for _ in 0..3 {
        plugin.advance(Duration::from_secs(600));
        if watch.collect().outcome == RecordedOutcome::Full {
            return;
        }
    }
    panic!("the counterset is not looked for again");
}

#[test]
fn bytes_that_are_no_pdu_and_answers_that_end_too_early_are_refused() {
    let (outcome, message) = hit("6=garbage", true, LONG);
    assert!(
        ["query malformed_reply", "query protocol_error"].contains(&outcome.as_str()),
        "{outcome}: {message}"
    );
    // What is after the end of an answer is nothing that it says.
    let (outcome, message) = hit("6=oversize:1000000", true, LONG);
    assert_eq!(outcome, "full", "{message}");
    let (outcome, message) = hit("6=truncate", true, LONG);
    assert_eq!(outcome, "query connection_reset", "{message}");
}

#[test]
fn a_fragment_that_never_ends_and_an_answer_that_never_comes_end_at_the_deadline() {
    for rule in ["6=stall", "1=stall", "6=delay:1h"] {
        let (outcome, message) = hit(rule, false, Duration::from_millis(1_500));
        assert_eq!(outcome, "query timeout", "{rule}: {message}");
    }
}
