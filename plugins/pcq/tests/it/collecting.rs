//! What is collected: first, again, in part, and when what there is changes.

use std::time::Duration;

use plugin_abi::{CredentialVerdict, Stage};
use plugin_host::testing::Value;
use serde_json::json;

use crate::world::{Plugin, SimHost, all_calls, countersets};

const STAGES: [Stage; 8] =
    [Stage::Dns, Stage::Tcp, Stage::Smb, Stage::Auth, Stage::Pipe, Stage::Bind, Stage::Query, Stage::Decode];

#[test]
fn the_first_collection_is_complete_and_accounts_for_every_stage() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["Processor Information", "HTTP Service"]));
    let before_ns = plugin_host::monotonic_ns();
    let first = watch.full();
    let took_ns = plugin_host::monotonic_ns() - before_ns;
    let stages: Vec<Stage> = first.stages.iter().map(|report| report.stage).collect();
    assert_eq!(stages, STAGES);
    assert!(first.stages.iter().map(|report| report.duration_ns).sum::<u64>() <= took_ns);
    for stage in [Stage::Smb, Stage::Auth, Stage::Pipe, Stage::Bind, Stage::Query] {
        let report = first.stage(stage);
        assert!(report.calls > 0 && report.bytes_in > 0 && report.bytes_out > 0, "{report:?}");
        assert!(report.duration_ns > 0, "{report:?}");
    }
    assert_eq!(first.stage(Stage::Query).calls, all_calls(&sim));
    assert!(!first.recorded.families.is_empty() && !first.series().is_empty());
    assert!(first.recorded.series.iter().all(|series| series.value.is_some()));
    assert_eq!(plugin.lender.verdicts(), [CredentialVerdict::Accepted]);
}

#[test]
fn every_further_collection_is_one_call_and_registers_nothing() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["Processor Information", "HTTP Service"]));
    let first = watch.full();
    let calls = all_calls(&sim);
    for round in 1..=3 {
        sim.clock.advance(Duration::from_secs(15));
        let again = watch.full();
        assert_eq!(again.stage(Stage::Query).calls, 1);
        assert_eq!(all_calls(&sim), calls + round);
        let stages: Vec<Stage> = again.stages.iter().map(|report| report.stage).collect();
        assert_eq!(stages, [Stage::Query, Stage::Decode]);
        assert_eq!(again.recorded.families.len(), first.recorded.families.len());
        assert_eq!(again.recorded.series.len(), first.recorded.series.len());
        assert_ne!(again.series(), first.series(), "the values are new ones");
    }
    assert_eq!(sim.logons(), (2, 0), "one over SMB, one over RPC");
    assert_eq!(sim.connections(), 1);
}

#[test]
fn the_version_of_windows_is_told_once_even_over_a_new_connection() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["HTTP Service"]));
    let told = &watch.full().recorded.facts;
    let [(system, windows), (name, version)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((&**system, &**windows, &**name), ("os.type", "windows", "os.version"));
    let numbers: Vec<Result<u16, _>> = version.split('.').map(str::parse).collect();
    assert!(matches!(numbers[..], [Ok(10), Ok(_), Ok(1..)]), "{version}");
    sim.cut();
    assert_eq!(&watch.full().recorded.facts, told, "the new connection leads to the same");
}

#[test]
fn a_family_tells_its_origin_and_what_it_counts() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["processor information", "HTTP Service"]));
    let recorded = &watch.full().recorded;
    let family = |item: &str| {
        let family = recorded.families.iter().find(|family| family.item == item);
        family.unwrap_or_else(|| panic!("no family of {item}")).clone()
    };
    let busy = family("% Processor Time");
    assert_eq!(busy.object, "Processor Information");
    assert_eq!(
        busy.origin,
        r"\Processor Information(*)\% Processor Time [PERF_100NSEC_TIMER_INV] (start time inferred from the host's start)"
    );
    assert!(!busy.help.is_empty());
    let single = family("CurrentUrisCached");
    assert_eq!(single.origin, r"\HTTP Service\CurrentUrisCached [PERF_COUNTER_RAWCOUNT]");
    assert_eq!(single.help, "URIs in the cache now.");
}

#[test]
fn a_counterset_of_one_instance_has_no_label_for_it() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["HTTP Service"]));
    let ended = watch.full();
    assert_eq!(ended.recorded.series.len(), 6);
    assert!(ended.recorded.series.iter().all(|series| series.labels.is_empty()));
}

#[test]
fn instances_and_counters_are_included_and_excluded() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let settings = json!({"countersets": [{
        "name": "Thermal Zone Information",
        "instances": {"exclude": [r".*TZ01"]},
        "counters": {"include": ["temperature", "High Precision Temperature"], "exclude": ["Temperature"]},
    }]});
    let series = plugin.watch(&sim, settings).full().series();
    assert_eq!(series.len(), 1, "{series:?}");
    let expected = r"Thermal Zone Information|High Precision Temperature|{counter_instance=\_TZ.TZ00} = ";
    assert!(series[0].starts_with(expected), "{series:?}");
}

#[test]
fn instances_carry_their_number_where_the_rule_says_so() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let settings = json!({"countersets": [{
        "name": "Thermal Zone Information", "instance_id": true, "counters": {"include": ["Temperature"]},
    }]});
    let ended = plugin.watch(&sim, settings).full();
    let labels: Vec<_> = ended.recorded.series.iter().map(|series| series.labels.clone()).collect();
    let pair = |name: &str, id: &str| {
        vec![("counter_instance".to_owned(), name.to_owned()), ("instance_id".to_owned(), id.to_owned())]
    };
    assert_eq!(labels, [pair(r"\_TZ.TZ00", "0"), pair(r"\_TZ.TZ01", "1")]);
}

#[test]
fn instances_that_come_get_series_and_those_that_go_lose_them() {
    let (sim, plugin) = (SimHost::with_options(|options| options.slots = 24), Plugin::new());
    let settings = json!({"countersets": [
        {"name": "Process V2", "counters": {"include": ["Working Set", "Elapsed Time"]}},
    ]});
    let watch = plugin.watch(&sim, settings);
    let mut names = watch.full().instances();
    let (mut came, mut went) = (0, 0);
    for _ in 0..20 {
        sim.clock.advance(Duration::from_secs(15));
        let ended = watch.full();
        let now = ended.instances();
        came += now.iter().filter(|name| !names.contains(name)).count();
        went += names.iter().filter(|name| !now.contains(name)).count();
        let live = ended.recorded.series.iter().filter(|series| !series.retired).count();
        assert_eq!(live, 2 * now.len(), "two series for each instance that is there");
        assert!(ended.series().iter().all(|line| !line.ends_with("None")));
        names = now;
    }
    assert!(came > 0 && went > 0, "{came} came, {went} went");
}

#[test]
fn new_settings_end_the_old_series_and_keep_the_connection() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["HTTP Service", "Thermal Zone Information"]));
    let before = watch.full().series();
    watch.reconfigure(countersets(&["Thermal Zone Information"]));
    let after = watch.full();
    let expected: Vec<&String> = before.iter().filter(|line| line.starts_with("Thermal")).collect();
    assert_eq!(after.series().iter().collect::<Vec<_>>(), expected);
    assert_eq!(sim.connections(), 1);
    assert_eq!((sim.calls(3), sim.calls(4)), (2, 1), "the old query was closed");
    watch.reconfigure(json!({
        "countersets": [{"name": "Thermal Zone Information"}], "transport": {"smb": {"encryption": "required"}},
    }));
    assert_eq!(watch.full().series(), after.series());
    assert_eq!(sim.connections(), 2, "another way to speak takes another connection");
}

#[test]
fn a_counterset_that_the_host_lacks_is_named_and_the_others_arrive() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["Process V3", "HTTP Service"]));
    for _ in 0..2 {
        let ended = watch.collect();
        let (objects, failure) = ended.partial();
        assert_eq!(objects, ["HTTP Service"]);
        assert_eq!((failure.stage, failure.reason.as_str()), (Stage::Query, "not_found"));
        assert_eq!(failure.message, "the host has no counterset `Process V3`; did you mean `Process V2`?");
    }
    assert_eq!(sim.calls(6), 2);
}

#[test]
fn a_host_that_has_none_of_the_countersets_fails_and_holds_no_query() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["Process V3", "Nonsense"]));
    for _ in 0..2 {
        let ended = watch.collect();
        let message = "the host has no counterset `Process V3`; did you mean `Process V2`?; \
                       the host has no counterset `Nonsense`";
        assert_eq!(ended.failed(), (Stage::Query, "not_found", message));
    }
    assert_eq!((sim.calls(3), sim.calls(6)), (0, 0));
    assert_eq!(sim.connections(), 1);
}

#[test]
fn two_instances_of_the_same_host_do_not_share_series() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let one = plugin.watch(&sim, countersets(&["HTTP Service"]));
    let other = plugin.watch(&sim, countersets(&["Thermal Zone Information"]));
    assert_eq!((one.full().recorded.series.len(), other.full().recorded.series.len()), (6, 8));
    let value = one.full().recorded.series[0].value;
    assert!(matches!(value, Some(Value::U64(_))), "{value:?}");
}
