//! A provider that hangs while the host asks it what it registered.

use std::time::{Duration, Instant};

use plugin_abi::CredentialVerdict::Accepted;

use crate::orchard::{host, settings};
use crate::world::{Plugin, SimHost, countersets};

/// Of which a question about one counterset gets a quarter.
const DEADLINE: Duration = Duration::from_secs(8);

#[test]
fn a_counterset_whose_provider_hangs_costs_its_own_time_and_nothing_else() {
    let (sim, plugin) = (host(), Plugin::new());
    // It comes before Beta and Delta, so that it is passed in the search for their names.
    sim.choose(|choices| choices.hanging_counterset = Some("Alpha".to_owned()));
    let watch = plugin.watch(&sim, settings(&["Beta", "Delta"]));
    let ended = watch.collect_within(DEADLINE);
    assert_eq!(ended.series().len(), 15 + 9, "{:?}", ended.outcome);
    assert_eq!(sim.connections(), 1, "another pipe is enough");
    assert_eq!(plugin.lender.verdicts(), [Accepted, Accepted], "which is a logon as well");

    // It is remembered, over another connection too.
    for _ in 0..2 {
        let (asked, begun) = (sim.calls(1), Instant::now());
        sim.cut();
        assert_eq!(watch.collect_within(DEADLINE).series().len(), 15 + 9);
        assert!(begun.elapsed() < DEADLINE / 4, "{:?}", begun.elapsed());
        assert_eq!(sim.calls(1), asked, "nothing is asked twice");
    }
}

#[test]
fn a_watched_counterset_whose_provider_hangs_is_missing_alone_and_comes_back() {
    let (sim, plugin) = (host(), Plugin::new());
    sim.choose(|choices| choices.hanging_counterset = Some("Beta".to_owned()));
    let watch = plugin.watch(&sim, settings(&["Alpha", "Beta", "Delta"]));
    let ended = watch.collect_within(DEADLINE);
    let (objects, failure) = ended.partial();
    assert_eq!(objects, ["Alpha", "Delta"]);
    assert!(failure.message.contains("the host did not answer when it was asked about it"), "{failure}");

    sim.choose(|choices| choices.hanging_counterset = None);
    watch.collect_within(DEADLINE).partial();
    for _ in 0..2 {
        plugin.advance(Duration::from_secs(61));
        watch.collect_within(DEADLINE);
    }
    assert_eq!(watch.full().series().len(), 3 + 15 + 9);
}

#[test]
fn what_did_not_answer_while_the_host_was_silent_is_asked_for_as_soon_as_it_answers() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["Memory"]));
    let series = watch.full().series().len();
    let thaw = sim.freeze();
    for _ in 0..2 {
        plugin.advance(Duration::from_secs(15));
        let ended = watch.collect_within(Duration::from_secs(3));
        // At first it may be the provider that hangs.
        assert_eq!(ended.failure().reason.as_str(), "timeout");
    }
    drop(thaw);
    plugin.advance(Duration::from_secs(15));
    assert_eq!(watch.full().series().len(), series);
}
