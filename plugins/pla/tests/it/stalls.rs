//! Providers that hang while the host asks them something.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::steered::Mill;
use crate::world::{Plugin, SimHost, set};

/// Of which a question about one counterset gets a quarter.
const DEADLINE: Duration = Duration::from_secs(8);

#[test]
fn a_counterset_whose_provider_hangs_costs_its_own_alerts_only_and_comes_back() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    mill.sim.choose(|choices| choices.hanging_counterset = Some("Wheels".to_owned()));
    let alerts = json!([
        {"name": "hangs", "counter": r"\Wheels(*)\Load", "above": 80},
        {"name": "level", "counter": r"\Water\Level", "above": 80},
    ]);
    let watch = plugin.watch(&mill.sim, set(&alerts));
    mill.level(90);
    let ended = watch.collect_within(DEADLINE);
    assert_eq!(ended.states(), ["hangs() no_data", "level() firing"]);
    assert!(ended.partial().contains("did not answer"), "{}", ended.partial());
    assert_eq!(mill.sim.connections(), 1, "another pipe is enough");

    // It is remembered, over another connection too.
    let (asked, begun) = (mill.sim.calls(1), Instant::now());
    mill.sim.cut();
    mill.pass(15);
    mill.level(1);
    assert_eq!(watch.collect_within(DEADLINE).states(), ["hangs() no_data", "level() ok"]);
    assert!(begun.elapsed() < DEADLINE / 4, "{:?}", begun.elapsed());
    assert_eq!(mill.sim.calls(1), asked, "nothing is asked twice");

    mill.sim.choose(|choices| choices.hanging_counterset = None);
    // A minute after the question that it did not answer, and then after a search that is made for it.
    for _ in 0..4 {
        mill.pass(30);
        watch.collect_within(DEADLINE);
    }
    mill.pass(15);
    assert_eq!(watch.full().states(), ["hangs(big) ok", "level() ok"]);
}

#[test]
fn a_classic_object_whose_provider_hangs_costs_its_own_alerts_only() {
    let alerts = json!([
        {"name": "memory", "counter": r"\Memory\Available Bytes", "above": 1},
        {"name": "paging", "counter": r"\Paging File(_Total)\% Usage", "above": -1},
    ]);
    let hang = |sim: &SimHost| {
        sim.choose(|choices| choices.hanging_counterset = Some("Paging File".to_owned()));
    };
    // From the beginning.
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    hang(&sim);
    let ended = plugin.watch(&sim, set(&alerts)).collect_within(DEADLINE);
    assert_eq!(ended.states(), ["memory() firing", "paging() no_data"]);
    assert!(ended.partial().contains("`Paging File`: the host did not answer"), "{}", ended.partial());

    // After it gave values.
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim, set(&alerts));
    assert_eq!(watch.full().states(), ["memory() firing", "paging(_Total) firing"]);
    hang(&sim);
    for (expected, calls) in [("firing", None), ("no_data", Some(1))] {
        sim.pass(Duration::from_secs(15));
        let before = sim.fetches().1;
        let states = watch.collect_within(DEADLINE).states();
        assert_eq!(states, ["memory() firing".to_owned(), format!("paging(_Total) {expected}")]);
        assert!(
            calls.is_none_or(|calls| sim.fetches().1 - before == calls),
            "the others come by one call again"
        );
    }
}
