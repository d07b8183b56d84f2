//! The values of logs: those of alerts, of instances that come and go, and of many sets.

use serde_json::{Value, json};

use crate::logging::{LEVEL, LOAD, Place, TURNS, cells, written};
use crate::steered::Mill;
use crate::world::{Plugin, SimHost};

#[test]
fn a_log_has_the_values_that_alerts_compare() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let set = json!([{
        "name": "Mill",
        "counters": [LOAD, TURNS, LEVEL],
        "alerts": [
            {"name": "load", "counter": LOAD, "above": -1},
            {"name": "turns", "counter": TURNS, "above": -1},
            {"name": "level", "counter": LEVEL, "above": -1},
        ],
    }]);
    let watch = plugin.watch(&mill.sim, place.settings(&set));
    mill.wheel("small", |wheel| wheel.load = 7);
    let calls = mill.sim.calls(6);
    watch.full();
    assert_eq!(mill.sim.calls(6) - calls, 1, "alerts and logs are one call");
    mill.pass(15);
    mill.wheel("big", |wheel| (wheel.load, wheel.turns) = (90, 150));
    mill.level(12);
    watch.full();
    let ended = written(&watch, "Mill", 2.0);
    let lines = place.lines("Mill");
    assert_eq!(lines.len(), 3, "{lines:#?}");
    let columns = cells(&lines[0]);
    let expected = [
        r"\\web1\Wheels(big)\Load",
        r"\\web1\Wheels(small)\Load",
        r"\\web1\Wheels(big)\Turns/sec",
        r"\\web1\Wheels(small)\Turns/sec",
        r"\\web1\Water\Level",
    ];
    assert_eq!(columns[1..6], expected);
    assert_eq!(columns[0], "(PDH-CSV 4.0) (Coordinated Universal Time)(0)");
    let first = cells(&lines[1]);
    assert!(first[1..6] == ["0", "7", " ", " ", "50"], "a rate has no value yet: {first:?}");
    let numbers: Vec<f64> =
        cells(&lines[2])[1..6].iter().map(|cell| cell.parse().expect("a number")).collect();
    let shown: Vec<f64> = ended.of("Alert", "Value").into_iter().map(|(_, value)| value).collect();
    // By name: level, load, turns.
    assert_eq!(shown, [numbers[4], numbers[0], numbers[1], numbers[2], numbers[3]]);
    assert_eq!(numbers, [90.0, 7.0, 10.0, 0.0, 12.0]);
    assert_eq!(
        ended.of("Run", "Status").iter().find(|(_, value)| *value == 1.0).expect("one").0,
        "Mill|running"
    );
    assert_eq!(ended.of("Log", "Records"), [("Mill|counters".to_owned(), 2.0)]);
    assert_eq!(
        ended.of("Log", "Bytes")[0].1,
        lines[1..].iter().map(|line| line.len() + 2).sum::<usize>() as f64
    );
    plugin.end(watch);
}

#[test]
fn instances_that_come_later_are_in_the_next_segment_and_values_that_are_missing_are_blank() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let set = json!([{"name": "Mill", "counters": [LOAD], "segment": {"records": 3}}]);
    let watch = plugin.watch(&mill.sim, place.settings(&set));
    mill.wheel("small", |wheel| wheel.load = 7);
    watch.full();
    mill.wheel("new", |wheel| wheel.load = 3);
    mill.remove("small");
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(ended.of("Log", "Left Out Instances"), [("Mill|counters".to_owned(), 1.0)]);
    mill.pass(15);
    watch.full();
    mill.pass(15);
    watch.full();
    written(&watch, "Mill", 4.0);
    let files = place.files("Mill");
    let logs: Vec<Vec<String>> = files
        .iter()
        .filter(|(name, _)| name.ends_with(".csv"))
        .map(|(_, text)| text.lines().map(str::to_owned).collect())
        .collect();
    let [first, second] = &logs[..] else { panic!("two segments: {files:#?}") };
    assert_eq!(cells(&first[0])[1..3], [r"\\web1\Wheels(big)\Load", r"\\web1\Wheels(small)\Load"]);
    let values: Vec<Vec<String>> = first[1..].iter().map(|line| cells(line)[1..3].to_vec()).collect();
    assert_eq!(values, [["0", "7"], ["0", " "], ["0", " "]]);
    assert_eq!(cells(&second[0])[1..3], [r"\\web1\Wheels(big)\Load", r"\\web1\Wheels(new)\Load"]);
    assert_eq!(second.len(), 2);
    plugin.end(watch);
}

#[test]
fn fifty_logs_are_one_call() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let sets: Vec<Value> =
        (0..50).map(|number| json!({"name": format!("Set {number}"), "counters": [LOAD, LEVEL]})).collect();
    let watch = plugin.watch(&mill.sim, place.settings(&json!(sets)));
    watch.full();
    mill.pass(15);
    let calls = mill.sim.calls(6);
    watch.full();
    assert_eq!(mill.sim.calls(6) - calls, 1);
    plugin.end(watch);
    for number in 0..50 {
        assert_eq!(place.lines(&format!("Set {number}")).len(), 3);
    }
}

#[test]
fn alerts_and_logs_have_all_of_an_aggregate_counterset_as_one() {
    let (sim, plugin, place) = (SimHost::new(), Plugin::new(), Place::new());
    let (all, each) = (r"\Workers Together\Queue Length", r"\Workers Together(*)\Queue Length");
    let set = json!([{
        "name": "Mill",
        "counters": [all],
        "alerts": [{"name": "all", "counter": all, "above": -1}, {"name": "each", "counter": each, "above": -1}],
    }]);
    let watch = plugin.watch(&sim, place.settings(&set));
    watch.full();
    let ended = written(&watch, "Mill", 1.0);
    let (of_all, of_each): (Vec<_>, Vec<_>) =
        ended.of("Alert", "Value").into_iter().partition(|(labels, _)| labels.contains("all"));
    let sum: f64 = of_each.iter().map(|(_, value)| value).sum();
    assert!(of_each.len() > 1 && sum > 0.0, "{}", ended.page());
    assert_eq!(of_all.iter().map(|(_, value)| *value).collect::<Vec<_>>(), [sum], "{}", ended.page());
    let lines = place.lines("Mill");
    assert_eq!(cells(&lines[0])[1], r"\\web1\Workers Together\Queue Length");
    assert_eq!(cells(&lines[1])[1].parse(), Ok(sum), "{lines:?}");
    plugin.end(watch);
}

#[test]
fn a_process_that_ends_leaves_its_name_to_another_one_and_no_value_is_of_both() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let (operations, bytes) =
        (r"\Process(svchost#1)\IO Data Operations/sec", r"\Process(svchost#1)\Private Bytes");
    let set = json!([{
        "name": "Mill",
        "counters": [operations, bytes],
        "alerts": [{"name": "busy", "counter": operations, "above": 50}],
    }]);
    let watch = plugin.watch(&mill.sim, place.settings(&set));
    // Of three processes of one name the second one ends, and the third one has its place from then on.
    let rounds: [&[(&str, u64, u64, u64)]; 4] = [
        &[("svchost", 700, 0, 1), ("svchost", 812, 0, 2), ("svchost", 900, 9_000, 3)],
        &[("svchost", 700, 0, 1), ("svchost", 812, 150, 2), ("svchost", 900, 9_150, 3)],
        &[("svchost", 700, 0, 1), ("svchost", 900, 9_300, 3)],
        &[("svchost", 700, 0, 1), ("svchost", 900, 9_330, 3)],
    ];
    let states = rounds.map(|processes| {
        mill.processes(processes);
        let states = watch.full().states();
        mill.pass(15);
        states
    });
    assert_eq!(states.concat()[1..], ["busy(svchost#1) ok"; 3]);
    assert_eq!(watch.alerts(), []);
    written(&watch, "Mill", 4.0);
    let lines = place.lines("Mill");
    // To see that they are written takes another collection.
    let rows: Vec<Vec<String>> = lines[1..5].iter().map(|line| cells(line)[1..3].to_vec()).collect();
    assert_eq!(rows, [[" ", "2"], ["10", "2"], [" ", "3"], ["2", "3"]]);
    plugin.end(watch);
}
