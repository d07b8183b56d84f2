//! Classic objects: found, collected and lost, over the registry of the host.

use std::sync::Arc;
use std::time::Duration;

use plugin_abi::Stage;
use serde_json::json;
use windows_sim::choices::{NameTables, ObjectCorruption};
use windows_sim::model::{self, Clock};

use crate::world::{Ended, NOON, Plugin, SimHost, Watch, countersets};

/// A question to one object gets a quarter of this.
const DEADLINE: Duration = Duration::from_secs(8);
const QUERY_DATA: u16 = 6;
const QUERY_VALUE: u16 = 17;

fn watch(sim: &SimHost, names: &[&str]) -> Watch {
    Plugin::new().watch(sim, countersets(names))
}

#[track_caller]
fn assert_has(ended: &Ended, line: &str) {
    let series = ended.series();
    assert!(series.iter().any(|one| one.starts_with(line)), "{line} is not among {series:#?}");
}

fn registry_calls(sim: &SimHost, opnum: u16) -> u64 {
    sim.host.counts().calls("winreg", opnum)
}

#[test]
fn classic_objects_and_countersets_come_by_one_call_each() {
    let sim = SimHost::new();
    let watch = watch(&sim, &["Memory", "Processor Information", "LogicalDisk", "Network Interface"]);
    let first = watch.full();
    assert_has(&first, "Memory|Available Bytes|{} = ");
    assert_has(&first, "Memory|% Committed Bytes In Use|base{} = ");
    assert_has(&first, "LogicalDisk|Avg. Disk sec/Read|base{counter_instance=C:} = ");
    assert_has(&first, "Processor Information|% Processor Time|inactive{counter_instance=0,0} = ");
    let (data, values) = (sim.calls(QUERY_DATA), registry_calls(&sim, QUERY_VALUE));
    let families = first.recorded.families.len();
    sim.clock.advance(Duration::from_secs(15));
    let second = watch.full();
    assert_eq!(sim.calls(QUERY_DATA) - data, 1);
    assert_eq!(registry_calls(&sim, QUERY_VALUE) - values, 1, "the tables of names are not read again");
    assert_eq!(second.recorded.families.len(), families, "nothing is registered again");
    assert_eq!(sim.connections(), 1);
}

#[test]
fn a_metric_tells_which_kind_of_provider_gives_a_counterset() {
    let ended = watch(&SimHost::new(), &["System", "Thermal Zone Information"]).full();
    assert_eq!(ended.providers, [["Thermal Zone Information", "v2"], ["System", "v1"]]);
}

#[test]
fn a_counterset_that_shows_nothing_has_no_provider_either() {
    let nobody = json!({"include": ["nobody"]});
    let settings = json!({"countersets": [{"name": "LogicalDisk", "instances": nobody}]});
    let ended = Plugin::new().watch(&SimHost::new(), settings).full();
    assert!(ended.series().is_empty() && ended.providers.is_empty(), "{:?}", ended.providers);
}

#[test]
fn classic_processes_have_the_labels_of_the_version_2_counterset() {
    let sim = SimHost::new();
    let lines = |name: &str, item: &str| {
        let filter = json!({"include": [item]});
        let settings = json!({"countersets": [{"name": name, "counters": filter}]});
        let series = Plugin::new().watch(&sim, settings).full().series();
        let mut lines: Vec<String> =
            series.iter().filter_map(|line| line.split_once('|')).map(|(_, rest)| rest.to_owned()).collect();
        lines.sort();
        lines
    };
    let mut classic = lines("Process", "Working Set");
    // The model's version 2 counterset leaves it out.
    classic.retain(|line| !line.contains("{process=Idle,"));
    assert!(classic.len() > 10, "{classic:#?}");
    assert!(classic.iter().filter(|line| line.contains("{process=svchost,process_id=")).count() > 1);
    assert_eq!(classic, lines("Process V2", "Working Set"));
}

#[test]
fn a_pattern_finds_classic_objects_and_countersets() {
    let sim = SimHost::new();
    let settings = json!({"countersets": [{"name": {"wildcard": "*Disk*"}}]});
    let ended = Plugin::new().watch(&sim, settings).full();
    assert_has(&ended, "LogicalDisk|");
    assert_has(&ended, "PhysicalDisk|");
    assert_has(&ended, "FileSystem Disk Activity|");
}

#[test]
fn a_host_that_hides_its_performance_data_still_gives_its_countersets() {
    let sim = SimHost::new();
    sim.behave(|behaviour| behaviour.refuses_performance_data = true);
    let plugin = Plugin::new();
    let watch = plugin.watch(&sim, countersets(&["Thermal Zone Information", "Memory", "System", "Cache"]));
    let ended = watch.collect();
    let (objects, failure) = ended.partial();
    assert!(objects.contains(&"Thermal Zone Information"), "{objects:?}");
    assert_eq!((failure.stage, failure.reason.as_str()), (Stage::Query, "access_denied"));
    assert!(failure.message.contains("`Memory`, `System`, `Cache`"), "{failure}");
    let refusals = failure.message.matches("cannot be read").count();
    assert_eq!(refusals, 1, "one refusal is said once: {failure}");
    let logons = sim.logons();
    watch.collect().partial();
    assert_eq!(sim.logons(), logons, "it is not logged on to with each collection");
}

#[test]
fn an_object_whose_provider_is_disabled_is_missing_alone_and_comes_back() {
    let clock = Clock::manual(NOON);
    let model = Arc::new(model::Host::new(crate::world::at_noon(&clock)));
    let sim = SimHost::with_source(Arc::<model::Host>::clone(&model), clock);
    let watch = watch(&sim, &["Memory", "System"]);
    watch.full();
    model.replace_changes(vec!["System=absent".parse().expect("a change")]);
    let ended = watch.collect();
    let (objects, failure) = ended.partial();
    assert!(objects.contains(&"Memory") && !objects.contains(&"System"), "{objects:?}");
    assert!(failure.message.contains("the host sent no data of `System`"), "{failure}");
    model.replace_changes(Vec::new());
    assert_has(&watch.full(), "System|Processes|{} = ");
}

#[test]
fn an_object_whose_provider_hangs_is_found_and_left_out() {
    let sim = SimHost::new();
    sim.choose(|choices| choices.hanging_counterset = Some("Paging File".to_owned()));
    let watch = watch(&sim, &["Memory", "Paging File", "System", "Thermal Zone Information"]);
    let ended = watch.collect_within(DEADLINE);
    let (objects, failure) = ended.partial();
    for object in ["Memory", "System", "Thermal Zone Information"] {
        assert!(objects.contains(&object), "{object}: {objects:?}");
    }
    assert!(failure.message.contains("counterset `Paging File`: the host did not answer"), "{failure}");
    let (asked, connections) = (registry_calls(&sim, QUERY_VALUE), sim.connections());
    assert_eq!(connections, 1, "another pipe is enough");
    watch.collect_within(DEADLINE).partial();
    assert_eq!(registry_calls(&sim, QUERY_VALUE) - asked, 1, "the others are asked for in one call again");
}

#[test]
fn a_malformed_object_costs_no_other() {
    let sim = SimHost::new();
    sim.choose(|choices| {
        choices.performance_data.corrupt_object = Some("Memory".to_owned());
        choices.performance_data.object_corruption = ObjectCorruption::Definition;
    });
    let ended = watch(&sim, &["Memory", "System"]).collect();
    let (objects, failure) = ended.partial();
    assert!(objects.contains(&"System") && !objects.contains(&"Memory"), "{objects:?}");
    assert!(failure.message.contains("`Memory`"), "{failure}");
}

#[test]
fn damaged_tables_of_names_cost_what_they_lack_and_no_more() {
    for tables in NameTables::ALL {
        let sim = SimHost::new();
        sim.choose(|choices| choices.performance_data.name_tables = *tables);
        let ended = watch(&sim, &["Memory", "Thermal Zone Information"]).collect();
        assert_has(&ended, "Thermal Zone Information|Temperature|{counter_instance=");
    }
}

#[test]
fn the_registry_service_may_let_go_of_the_pipe() {
    let sim = SimHost::new();
    let watch = watch(&sim, &["Memory", "Thermal Zone Information"]);
    watch.full();
    sim.cut();
    assert_has(&watch.full(), "Memory|Available Bytes|{} = ");
}

#[test]
fn an_object_that_the_host_does_not_offer_is_told_with_what_comes_near_it() {
    let clock = Clock::manual(NOON);
    let model = Arc::new(model::Host::new(crate::world::at_noon(&clock)));
    model.replace_changes(vec!["Process=absent".parse().expect("a change")]);
    let sim = SimHost::with_source(model, clock);
    let ended = watch(&sim, &["Process"]).collect();
    let (stage, reason, message) = ended.failed();
    assert_eq!((stage, reason), (Stage::Query, "not_found"));
    assert!(message.contains("does not offer the classic counter object `Process`"), "{message}");
    assert!(message.contains("near it: `Process V2`"), "{message}");
}

#[test]
fn threads_have_the_name_and_the_number_of_their_process_and_their_own() {
    let sim = SimHost::new();
    let settings = json!({"countersets": [{
        "name": "Thread", "instance_id": true,
        "counters": {"include": ["Context Switches/sec"]},
        "instances": {"include": [{"wildcard": "lsass/*"}]},
    }]});
    let ended = Plugin::new().watch(&sim, settings).full();
    assert!(!ended.series().is_empty());
    for line in ended.series() {
        let id = line.split_once("thread_id=").and_then(|(_, id)| id.split_once(',')).expect("a number").0;
        assert!(line.starts_with("Thread|Context Switches/sec|{process=lsass,process_id="), "{line}");
        assert!(line.contains(&format!(",instance_id={id}}}")), "{line}");
    }
}
