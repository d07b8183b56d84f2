//! What of a host is fetched, and how it is told apart: patterns, totals, first ones, aggregates, languages, start times.

use std::time::Duration;

use counters::pcq::types::Lcid;
use plugin_abi::{Level, Start};
use plugin_host::testing::{RecordedOutcome, RecordedSeries, Value};
use serde_json::{Value as Json, json};
use windows_sim::model::Moment;
use wire::FileTime;

use crate::world::{BOOT, Ended, NOON, Plugin, SimHost};

fn collect(sim: &SimHost, counterset: &Json) -> Ended {
    Plugin::new().watch(sim, json!({ "countersets": [counterset] })).full()
}

/// The objects of the series that are there.
fn objects(ended: &Ended) -> Vec<String> {
    let mut objects: Vec<String> = live(ended).map(|(_, object, _)| object.to_owned()).collect();
    objects.sort();
    objects.dedup();
    objects
}

fn live(ended: &Ended) -> impl Iterator<Item = (&RecordedSeries, &str, &str)> {
    ended.recorded.series.iter().filter(|series| !series.retired).map(|series| {
        let family = &ended.recorded.families[series.family as usize];
        (series, family.object.as_str(), family.item.as_str())
    })
}

fn unix_nanos(time: FileTime) -> i64 {
    i64::try_from(time.0 - FileTime::UNIX_EPOCH.0).expect("this century") * 100
}

#[test]
fn countersets_are_found_by_wildcard_expression_and_identifier() {
    let sim = SimHost::new();
    let memories = ["GPU Adapter Memory", "GPU Process Memory"];
    assert_eq!(objects(&collect(&sim, &json!({"name": {"wildcard": "gpu ??????? memory"}}))), memories);
    assert_eq!(objects(&collect(&sim, &json!({"name": {"regex": "GPU (Ad|Pro)\\w+ Memory"}}))), memories);
    let guid = json!({"guid": "52bc5412-dac2-449c-8bc2-96443888fe6b"});
    assert_eq!(objects(&collect(&sim, &guid)), ["Thermal Zone Information"]);
}

#[test]
fn what_must_be_there_and_is_not_fails_and_what_is_optional_does_not() {
    let (pattern, name) = (json!({"wildcard": "Hyper-V *"}), json!("DHCP Server"));
    let choice = json!(["DHCP Server", "Hyper-V Hypervisor"]);
    let said_of_pattern = "the host has no counterset whose name matches `Hyper-V *`";
    let said_of_choice = "the host has none of the countersets `DHCP Server, Hyper-V Hypervisor`";
    for (counterset, said) in [
        (json!({"name": pattern}), None),
        (json!({"name": pattern, "optional": true}), None),
        (json!({"name": pattern, "optional": false}), Some(said_of_pattern)),
        (json!({"name": name, "optional": true}), None),
        (json!({"name": name}), Some("the host does not offer the classic counter object `DHCP Server`")),
        (json!({"first_of": choice, "optional": true}), None),
        (json!({"first_of": choice}), Some(said_of_choice)),
    ] {
        let (sim, plugin) = (SimHost::new(), Plugin::new());
        for other in ["Memory", "Thermal Zone Information"] {
            let ended = plugin.watch(&sim, json!({"countersets": [counterset, {"name": other}]})).collect();
            match said {
                None => assert_eq!(ended.outcome, RecordedOutcome::Full, "{counterset}"),
                Some(said) => assert!(ended.partial().1.message.starts_with(said), "{:?}", ended.outcome),
            }
            let noted = said.is_none().then_some("Optional Counterset");
            let mut expected: Vec<&str> = [other].into_iter().chain(noted).collect();
            expected.sort_unstable();
            assert_eq!(objects(&ended), expected, "{counterset}");
        }
    }
}

#[test]
fn what_is_missing_on_purpose_and_what_is_taken_instead_is_logged_once_as_information() {
    for (counterset, message, fields) in [
        (
            json!({"name": "DHCP Server", "optional": true}),
            "Host lacks an optional counterset",
            [("counterset", "DHCP Server")].as_slice(),
        ),
        (
            json!({"first_of": ["DHCP Server", "Memory"]}),
            "First counterset that the host has",
            &[("first_of", "DHCP Server, Memory"), ("taken", "Memory")],
        ),
    ] {
        let (sim, plugin) = (SimHost::new(), Plugin::new());
        let watch = plugin.watch(&sim, json!({"countersets": [counterset, {"name": "System"}]}));
        let _ = watch.full();
        let _ = watch.full();
        let ended = watch.full();
        let said: Vec<_> = ended.lines(message).collect();
        let [(Level::Info, found)] = &said[..] else { panic!("once: {said:?} of {:?}", ended.recorded.logs) };
        assert!(fields.iter().all(|field| found.contains(field)), "{found:?}");
        let louder = ended.recorded.logs.iter().filter(|log| matches!(log.level, Level::Warn | Level::Error));
        assert_eq!(louder.count(), 0, "{:?}", ended.recorded.logs);
    }
}

#[test]
fn an_optional_counterset_that_cannot_be_read_fails_all_the_same() {
    let sim = SimHost::new();
    sim.behave(|behaviour| behaviour.refuses_performance_data = true);
    let counterset = json!({"name": "Memory", "optional": true});
    let watch = Plugin::new();
    let ended = watch.watch(&sim, json!({"countersets": [counterset, {"name": "HTTP Service"}]})).collect();
    assert!(ended.partial().1.message.contains("its classic counters cannot be read"));
}

#[test]
fn of_an_optional_counterset_it_is_said_whether_it_is_missing_only_while_that_is_known() {
    let noted = |ended: &Ended| {
        let of = |(series, object, _): (&RecordedSeries, &str, &str)| {
            (object == "Optional Counterset").then_some(series.value).flatten()
        };
        live(ended).find_map(of)
    };
    // What is not sent keeps its last value here.
    let (absent, there) = (Some(Value::U64(1)), Some(Value::U64(0)));
    // One whose name is nearly another one, one that is known as a classic object, a pattern and a choice.
    for (counterset, change) in [
        (json!({"name": "HTTP Servise", "optional": true}), None),
        (json!({"name": "Memory", "optional": true}), Some("Memory=absent@4d/2d")),
        (json!({"name": {"wildcard": "Memor?"}}), Some("Memory=absent@4d/2d")),
        (json!({"first_of": ["DHCP Server", "Memory"], "optional": true}), Some("Memory=absent@4d/2d")),
    ] {
        // The first half of each four days it is there.
        let sim = SimHost::with_options(|options| {
            options.changes = change.iter().map(|change| change.parse().expect("a change")).collect();
            options.boot = Some(FileTime(NOON.0 - 3 * 86_400 * FileTime::INTERVALS_PER_SECOND));
        });
        let refuse = |refuses| {
            sim.behave(|behaviour| behaviour.refuses_performance_data = refuses);
            sim.cut();
        };
        let plugin = Plugin::new();
        let watch = plugin.watch(&sim, json!({"countersets": [counterset, {"name": "HTTP Service"}]}));
        assert_eq!(noted(&watch.collect()), absent, "{counterset}");
        refuse(true);
        for _ in 0..2 {
            plugin.advance(Duration::from_secs(1_200));
            let ended = watch.collect();
            assert!(ended.partial().1.message.contains("cannot be read"), "{counterset}");
            assert_eq!(noted(&ended), absent, "{counterset}");
        }
        refuse(false);
        sim.clock.advance(Duration::from_secs(86_400));
        plugin.advance(Duration::from_secs(1_200));
        watch.collect();
        plugin.advance(Duration::from_secs(1_200));
        let expected = if change.is_some() { there } else { absent };
        assert_eq!(noted(&watch.collect()), expected, "{counterset}");
    }
}

#[test]
fn the_first_counterset_that_the_host_has_is_taken_whichever_provider_gives_it() {
    let taken = |names: [&str; 2], absent: &[&str]| {
        let sim = SimHost::with_options(|options| {
            let change = |name: &&str| format!("{name}=absent").parse().expect("a change");
            options.changes = absent.iter().map(change).collect();
        });
        let plugin = Plugin::new();
        let watch = plugin.watch(&sim, json!({"countersets": [{"first_of": names}]}));
        let ended = watch.full();
        assert_eq!(watch.full().providers, ended.providers);
        let [[name, provider]] = &ended.providers[..] else { panic!("{:?}", ended.providers) };
        assert_eq!(objects(&ended), [name.as_str()]);
        format!("{name} {provider}")
    };
    assert_eq!(taken(["Process V2", "Process"], &[]), "Process V2 v2");
    assert_eq!(taken(["Process V2", "Process"], &["Process V2"]), "Process v1");
    assert_eq!(taken(["Process", "Process V2"], &[]), "Process v1");
    assert_eq!(taken(["Process", "Process V2"], &["Process"]), "Process V2 v2");
    assert_eq!(taken(["Memory", "System"], &["Memory"]), "System v1");
}

#[test]
fn a_host_that_changes_to_another_of_several_countersets_shows_only_that() {
    let sim = SimHost::with_options(|options| {
        options.changes = vec!["Process V2=absent@4d/2d".parse().expect("a change")];
    });
    let plugin = Plugin::new();
    let watch = plugin.watch(&sim, json!({"countersets": [{"first_of": ["Process V2", "Process"]}]}));
    for days in 1..10 {
        // What is lost is searched for soon, and what comes before it within ten minutes.
        for _ in 0..2 {
            plugin.advance(Duration::from_secs(601));
            watch.collect();
        }
        plugin.advance(Duration::from_secs(601));
        let ended = watch.collect();
        assert_eq!(ended.outcome, RecordedOutcome::Full);
        let shown = objects(&ended);
        assert!(shown == ["Process V2"] || shown == ["Process"], "day {days}: {shown:?}");
        sim.clock.advance(Duration::from_secs(86_400));
    }
    let last = watch.full();
    let seen = &last.recorded.families;
    for object in ["Process", "Process V2"] {
        assert!(seen.iter().any(|family| family.object == object), "{object} was shown");
    }
}

#[test]
fn a_counterset_of_a_pattern_that_comes_later_is_found() {
    // Of each four days it is away for the last two, and the third of them is over.
    let sim = SimHost::with_options(|options| {
        options.changes = vec!["GPU Engine=absent@4d/2d".parse().expect("a change")];
        options.boot = Some(FileTime(NOON.0 - 3 * 86_400 * FileTime::INTERVALS_PER_SECOND));
    });
    let plugin = Plugin::new();
    let watch = plugin.watch(&sim, json!({"countersets": [{"name": {"wildcard": "GPU *"}}]}));
    let has_engine = || objects(&watch.full()).contains(&"GPU Engine".to_owned());
    assert!(!has_engine());
    sim.clock.advance(Duration::from_secs(86_400));
    assert!(!has_engine(), "it is not searched for with each collection");
    plugin.advance(Duration::from_secs(600));
    assert!(has_engine());
}

#[test]
fn totals_are_kept_dropped_or_shown_apart() {
    let sim = SimHost::new();
    let processors = |totals: &str| {
        let counters = json!({"include": ["% User Time"]});
        let counterset = json!({"name": "Processor Information", "counters": counters, "totals": totals});
        let ended = collect(&sim, &counterset);
        let of = |wanted: &str| {
            let series = live(&ended).filter(|(_, object, _)| *object == wanted);
            let mut names: Vec<String> = series.map(|(series, ..)| series.labels[0].1.clone()).collect();
            names.sort();
            names
        };
        (of("Processor Information"), of("Processor Information Total"))
    };
    let (single, totals) = (["0,0", "0,1", "0,2", "0,3"], ["0,_Total", "_Total"]);
    let all: Vec<String> = ["0,0", "0,1", "0,2", "0,3", "0,_Total", "_Total"].map(str::to_owned).into();
    assert_eq!(processors("keep"), (all, vec![]));
    assert_eq!(processors("drop"), (single.map(str::to_owned).into(), vec![]));
    assert_eq!(processors("separate"), (single.map(str::to_owned).into(), totals.map(str::to_owned).into()));
}

#[test]
fn totals_are_left_out_beside_their_parts_unless_they_are_asked_for() {
    let sim = SimHost::new();
    let names = |instances: Json| {
        let counters = json!({"include": ["% User Time"]});
        let ended = collect(
            &sim,
            &json!({"name": "Processor Information", "counters": counters, "instances": instances}),
        );
        let mut names: Vec<String> =
            live(&ended).map(|(series, ..)| series.labels.last().expect("a name").1.clone()).collect();
        names.sort();
        names
    };
    assert_eq!(names(json!({})), ["0,0", "0,1", "0,2", "0,3"]);
    assert_eq!(names(json!({"include": ["0,1", "_Total"]})), ["0,1", "_Total"]);
    assert_eq!(names(json!({"include": [".*"]})), ["0,0", "0,1", "0,2", "0,3"]);
}

#[test]
fn processes_have_their_names_and_identifiers_in_labels_of_their_own() {
    let ended =
        collect(&SimHost::new(), &json!({"name": "Process V2", "counters": {"include": ["Thread Count"]}}));
    let mut series = 0;
    for (one, ..) in live(&ended) {
        let names: Vec<&str> = one.labels.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["process", "process_id"], "{:?}", one.labels);
        assert!(!one.labels[0].1.contains(':') && one.labels[1].1.parse::<u32>().is_ok(), "{:?}", one.labels);
        series += 1;
    }
    assert!(series > 3);
}

#[test]
fn the_first_instances_by_a_counter_are_shown_and_the_others_counted() {
    let sim = SimHost::new();
    let named = |top_n: &Json| {
        let counters = json!({"include": ["Working Set"]});
        json!({"name": "Process V2", "totals": "drop", "counters": counters, "top_n": top_n})
    };
    let sets = |ended: &Ended| {
        let of =
            live(ended).filter(|(.., item)| *item == "Working Set").map(|(series, ..)| match series.value {
                Some(Value::U64(value)) => value,
                other => panic!("{other:?}"),
            });
        let mut sets: Vec<u64> = of.collect();
        sets.sort_unstable_by(|one, other| other.cmp(one));
        sets
    };
    let all = sets(&collect(&sim, &named(&Json::Null)));
    let plugin = Plugin::new();
    let watch =
        plugin.watch(&sim, json!({"countersets": [named(&json!({"counter": "working set", "n": 3}))]}));
    for _ in 0..2 {
        let first = watch.full();
        assert_eq!(sets(&first), all[..3]);
        let left_out = format!("reason=top_n}} = Some(U64({}))", all.len() - 3);
        assert!(first.series().iter().any(|line| line.ends_with(&left_out)), "{:?}", first.series());
    }
}

// The simulator says what a client makes of its workers, some of which come and go.
#[test]
fn the_workers_of_an_aggregate_counterset_are_added_up() {
    let sim = SimHost::new();
    let ended = collect(&sim, &json!({"name": "Workers Together", "aggregate": "only"}));
    assert_eq!(objects(&ended), ["Workers Together Aggregate"]);
    let at = Moment { time: NOON, boot: BOOT, perf_freq: 10_000_000 };
    for (id, item) in [(1, "Requests/sec"), (2, "Errors/sec"), (3, "Queue Length")] {
        let expected = windows_sim::model::aggregates::aggregated(id, &at, false).map(Value::U64);
        let series = live(&ended).find(|(.., name)| *name == item).expect("it is added up").0;
        assert_eq!((series.value, series.labels.len()), (expected, 0), "{item}");
    }
    let beside = collect(&sim, &json!({"name": "Workers", "aggregate": true}));
    assert_eq!(objects(&beside), ["Workers", "Workers Aggregate"]);
    let apart = collect(&sim, &json!({"name": "Workers"}));
    assert_eq!(objects(&apart), ["Workers"]);
}

#[test]
fn what_all_workers_have_done_never_falls() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let counterset = json!({"name": "Workers Together", "aggregate": "only",
        "counters": {"include": ["Requests/sec"]}});
    let watch = plugin.watch(&sim, json!({"countersets": [counterset]}));
    let mut last = 0;
    for _ in 0..40 {
        let Some(Value::U64(sum)) = watch.full().recorded.series[0].value else { panic!("a sum") };
        assert!(sum >= last, "{sum} after {last}");
        last = sum;
        sim.clock.advance(Duration::from_secs(7));
    }
}

#[test]
fn a_counter_that_is_not_there_is_a_state_that_names_the_nearest() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let counters = json!({"include": ["% Processer Time", "% User Time"]});
    let watch = plugin.watch(
        &sim,
        json!({"countersets": [
            {"name": "Processor Information", "counters": counters},
        ]}),
    );
    let ended = watch.collect();
    let (objects, failure) = ended.partial();
    assert_eq!(objects, ["Processor Information"]);
    let said = "counterset `Processor Information` has no counter `% Processer Time`; \
                did you mean `% Processor Time`?";
    assert_eq!(failure.message, said);
}

#[test]
fn help_tells_the_names_in_the_language_that_is_asked_for() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let settings = json!({"language": Lcid(1031).0, "countersets": [{"name": "Processor Information"}]});
    let ended = plugin.watch(&sim, settings).full();
    let origin = &ended.recorded.families[0].origin;
    assert!(origin.starts_with(r"\Processor Information(*)\% Processor Time ["), "{origin}");
    assert!(origin.contains(r"] = \Prozessorinformationen(*)\"), "{origin}");
}

#[test]
fn counters_that_a_newer_provider_brings_are_found() {
    let sim = SimHost::with_options(|options| {
        options.changes = vec!["Updates=updated@4d/2d".parse().expect("a change")];
        options.boot = Some(FileTime(NOON.0 - 86_400 * FileTime::INTERVALS_PER_SECOND));
    });
    let plugin = Plugin::new();
    let watch = plugin.watch(&sim, json!({"countersets": [{"name": "Updates"}]}));
    assert_eq!(live(&watch.full()).count(), 2);
    sim.clock.advance(Duration::from_secs(2 * 86_400));
    // The reply shows that there are others, and the next collection knows them.
    watch.collect();
    assert_eq!(live(&watch.full()).count(), 4);
}

#[test]
fn counters_count_since_the_host_was_started_or_the_process_created() {
    const PROCESSOR: &str = "Processor Information";
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(
        &sim,
        json!({"countersets": [
            {"name": PROCESSOR, "counters": {"include": ["% User Time", "Processor Frequency"]}},
            {"name": "Process V2", "totals": "drop"},
        ]}),
    );
    let ended = watch.full();
    let start_of = |object: &str, item: &str| {
        let is_it = |(_, of, name): &(&RecordedSeries, &str, &str)| (*of, *name) == (object, item);
        let series = live(&ended).find(is_it).expect("it is there").0;
        (series.start, series.labels.clone())
    };
    let boot = Start { unix_nanos: unix_nanos(BOOT), is_inferred: true };
    assert_eq!(start_of(PROCESSOR, "% User Time").0, Some(boot));
    assert_eq!(start_of(PROCESSOR, "Processor Frequency").0, None, "a gauge counts nothing");
    let origin_of = |item: &str| {
        ended.recorded.families.iter().find(|family| family.item == item).expect("it is there").origin.clone()
    };
    assert!(origin_of("% User Time").ends_with("(start time inferred from the host's start)"));
    assert!(origin_of("IO Read Bytes/sec").ends_with(']'), "that one is known");
    let (start, process) = start_of("Process V2", "IO Read Bytes/sec");
    let created = live(&ended).find(|(series, _, item)| *item == "Elapsed Time" && series.labels == process);
    let Some(Value::F64(created)) = created.expect("it tells").0.value else { panic!("seconds") };
    let start = start.expect("a process knows when it was created");
    assert!(!start.is_inferred);
    assert!((Duration::from_nanos(start.unix_nanos.unsigned_abs()).as_secs_f64() - created).abs() < 1e-3);
}
