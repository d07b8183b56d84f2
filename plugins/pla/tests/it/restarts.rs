//! Faults that end, and what is judged and logged right after: whatever is asked over a connection comes again with it.

use std::time::Duration;

use plugin_harness::{CounterHost, PASSWORD};
use plugin_host::testing::RecordedOutcome;
use serde_json::json;

use crate::logging::{Place, written};
use crate::steered::Mill;
use crate::world::{Plugin, SimHost, set};

const CLASSIC: &str = r"\Memory\Available Bytes";
const VERSION_2: &str = r"\Thermal Zone Information(*)\Temperature";
const SAMPLE: Duration = Duration::from_secs(15);

/// What happens to a host between two collections.
struct Fault {
    name: &'static str,
    begins: fn(&CounterHost, &Plugin),
    ends: fn(&CounterHost),
    /// Whether the host cannot be reached until the fault ends.
    is_away: bool,
}

const fn nothing(_: &CounterHost) {}

const FAULTS: [Fault; 5] = [
    Fault {
        name: "the host ends and returns",
        begins: |sim, _| sim.shut(),
        ends: |sim| sim.cut(),
        is_away: true,
    },
    Fault { name: "connections are cut", begins: |sim, _| sim.cut(), ends: nothing, is_away: false },
    Fault {
        name: "the service ends its pipes",
        begins: |sim, _| sim.host.stop_service(),
        ends: nothing,
        is_away: false,
    },
    Fault {
        name: "sessions expire",
        begins: |sim, _| sim.behave(|behaviour| behaviour.session_expires_after = Some(1)),
        ends: |sim| sim.behave(|behaviour| behaviour.session_expires_after = None),
        is_away: false,
    },
    Fault {
        name: "the password is another one when the pipes end",
        begins: |sim, plugin| {
            let password = format!("{PASSWORD}, changed");
            plugin.lender.change_password(&password);
            sim.change_account(|account| account.password = ssp::Secret::new(password.clone()));
            sim.host.stop_service();
        },
        ends: nothing,
        is_away: false,
    },
];

#[test]
fn alerts_and_logs_go_on_as_soon_as_a_fault_is_over() {
    for counters in [&[CLASSIC][..], &[VERSION_2], &[CLASSIC, VERSION_2]] {
        for Fault { name, begins, ends, is_away } in &FAULTS {
            let (sim, plugin, place) = (SimHost::new(), Plugin::new(), Place::new());
            let alerts: Vec<_> = counters.iter().map(|path| json!({"counter": path, "above": 1})).collect();
            let one = json!([{"name": "Mill", "alerts": alerts, "counters": counters}]);
            let watch = plugin.watch(&sim, place.settings(&one));
            let states = watch.full().states();
            assert!(states.iter().all(|state| state.ends_with("firing")), "{states:?}");
            for _ in 0..2 {
                begins(&sim, &plugin);
                for _ in 0..if *is_away { 4 } else { 0 } {
                    sim.pass(SAMPLE);
                    let ended = watch.collect();
                    let (_, reason, said) = ended.failed();
                    assert!(reason.starts_with("connection_re"), "{name}: {counters:?}: {reason}: {said}");
                }
                ends(&sim);
                sim.pass(SAMPLE);
                assert_eq!(watch.full().states(), states, "{name}: {counters:?}");
            }
            written(&watch, "Mill", 3.0);
            plugin.end(watch);
        }
    }
}

#[test]
fn a_host_that_falls_silent_is_down_and_its_objects_do_not_hang() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim, set(&json!([{"name": "memory", "counter": CLASSIC, "above": 1}])));
    assert_eq!(watch.full().states(), ["memory() firing"]);
    let thaw = sim.freeze();
    for round in 0..2 {
        sim.pass(SAMPLE);
        let ended = watch.collect_within(Duration::from_secs(3));
        // At first it may be the provider that hangs.
        assert_eq!(ended.failure().reason.as_str(), "timeout");
        assert!(round == 0 || matches!(ended.outcome, RecordedOutcome::Failed(_)), "{:?}", ended.outcome);
    }
    drop(thaw);
    sim.pass(SAMPLE);
    assert_eq!(watch.full().states(), ["memory() firing"]);
}

#[test]
fn a_provider_that_starts_after_its_host_is_found_soon() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let alerts = json!([
        {"name": "level", "counter": r"\Water\Level", "below": 60},
        {"name": "load", "counter": r"\Wheels(*)\Load", "below": 60},
    ]);
    let watch = plugin.watch(&mill.sim, set(&alerts));
    let firing = ["level() firing", "load(big) firing"];
    assert_eq!(watch.full().states(), firing);
    mill.restart();
    mill.set_water_away(true);
    mill.sim.cut();
    let states = |count: usize| {
        let collect = |_| {
            mill.pass(15);
            watch.collect().states()
        };
        (0..count).map(collect).last().unwrap_or_default()
    };
    assert_eq!(states(4), ["level() no_data", "load(big) firing"]);
    mill.set_water_away(false);
    assert_eq!(states(4), firing, "within a minute");
}

#[test]
fn what_comes_back_is_found_after_half_the_time_that_it_was_away_whatever_the_interval() {
    const AWAY_S: u64 = 120;
    for interval_s in [5, 15] {
        for was_there in [true, false] {
            let (mill, plugin) = (Mill::new(), Plugin::new());
            mill.set_water_away(!was_there);
            let watch = plugin
                .watch(&mill.sim, set(&json!([{"name": "level", "counter": r"\Water\Level", "below": 60}])));
            let is_found = || watch.collect().states() == ["level() firing"];
            assert_eq!(is_found(), was_there);
            mill.restart();
            mill.set_water_away(true);
            mill.sim.cut();
            // Until it is time for another sample, the state of the last one is shown.
            let collect = |_| {
                mill.pass(interval_s);
                is_found()
            };
            assert_eq!((0..AWAY_S / interval_s).map(collect).last(), Some(false));
            mill.set_water_away(false);
            let collect_later = |_: &u64| {
                mill.pass(interval_s);
                is_found()
            };
            let mut times = (1..=AWAY_S / interval_s).map(|collections| collections * interval_s);
            let found_s = times.find(collect_later).unwrap_or(u64::MAX);
            assert!(
                found_s <= AWAY_S / 2 + interval_s,
                "{found_s} s at {interval_s} s, was there: {was_there}"
            );
        }
    }
}
