//! Values are those of the host's model, whichever way the host lists its applications.

use std::collections::BTreeMap;
use std::time::Duration;

use plugin_abi::{CredentialVerdict, Stage};
use windows_sim::choices::{CallRate, ContainerList};
use windows_sim::model::{ComComponent, ComContainer};
use wire::Guid;

use crate::world::{Asked as _, Plugin, SimHost};
use plugin_harness::Collection;

/// The containers of each application.
fn applications(sim: &SimHost) -> BTreeMap<Guid, Vec<ComContainer>> {
    let mut applications: BTreeMap<Guid, Vec<ComContainer>> = BTreeMap::new();
    for container in sim.processes().into_iter().flat_map(|process| process.containers) {
        applications.entry(container.application_id).or_default().push(container);
    }
    applications
}

/// The sum of a figure over all containers, of the components that are wanted.
fn sum(containers: &[ComContainer], of: impl Fn(&ComComponent) -> Option<u32>) -> f64 {
    f64::from(containers.iter().flat_map(|one| &one.components).filter_map(of).sum::<u32>())
}

/// Compares the series of components with the model. Returns how many components have figures.
#[track_caller]
fn check_components(ended: &Collection, id: Guid, containers: &[ComContainer]) -> usize {
    let mut classes: Vec<Guid> =
        containers.iter().flat_map(|one| &one.components).map(|one| one.clsid).collect();
    classes.sort();
    classes.dedup();
    for clsid in &classes {
        let labels = [id.to_string(), clsid.to_string()];
        let value = |item| ended.value("Component", item, &[&labels[0], &labels[1]]);
        if !containers[0].is_tracked {
            assert_eq!(value("References"), None, "{labels:?}");
            assert_eq!(value("Call Time"), None, "{labels:?}");
            continue;
        }
        let of = |figure: fn(&ComComponent) -> u32| {
            Some(sum(containers, |one| (one.clsid == *clsid).then(|| figure(one))))
        };
        assert_eq!(value("References"), of(|one| one.bound_references + one.pooled), "{labels:?}");
        assert_eq!(value("Bound References"), of(|one| one.bound_references), "{labels:?}");
        assert_eq!(value("Instances Pooled"), of(|one| one.pooled), "{labels:?}");
        assert_eq!(value("Instances In Call"), of(|one| one.in_call), "{labels:?}");
        assert_eq!(value("Recent Calls Completed"), of(|one| one.recent.completed), "{labels:?}");
        assert_eq!(value("Recent Calls Failed"), of(|one| one.recent.failed), "{labels:?}");
        let components = containers.iter().flat_map(|one| &one.components);
        let slowest =
            components.filter(|one| one.clsid == *clsid).map(|one| one.recent.response_time_ms).max();
        assert_eq!(value("Call Time"), slowest.map(|ms| f64::from(ms) / 1000.0), "{labels:?}");
    }
    if containers[0].is_tracked { classes.len() } else { 0 }
}

#[track_caller]
fn check(sim: &SimHost, ended: &Collection) {
    let (mut tracked, applications) = (0, applications(sim));
    for (id, containers) in &applications {
        let label = id.to_string();
        let value = |item| ended.value("Application", item, &[&label]).expect("each application is shown");
        assert_eq!(value("Containers"), containers.len() as f64);
        assert_eq!(value("Calls In Progress"), sum(containers, |one| Some(one.in_call)));
        assert_eq!(value("Instances"), sum(containers, |one| Some(one.instances())));
        assert_eq!(value("Components"), containers[0].components.len() as f64);
        let calls = |one: &ComContainer| {
            one.components.iter().map(|one| one.recent.completed + one.recent.failed).sum::<u32>() / 4
        };
        assert_eq!(value("Calls/sec"), f64::from(containers.iter().map(calls).sum::<u32>()));
        tracked += check_components(ended, *id, containers);
    }
    assert_eq!(ended.count("Application"), 5 * applications.len());
    assert_eq!(ended.count("Component"), 7 * tracked, "what is not tracked has no series");
}

#[test]
fn applications_and_components_have_the_values_of_the_model() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    // Over two recyclings of an application, each of them with a second container for a while, and over pauses.
    for _ in 0..40 {
        check(&sim, &watch.full());
        sim.clock.advance(Duration::from_secs(47));
    }
    let verdicts = plugin.lender.verdicts();
    assert!(verdicts.iter().all(|verdict| *verdict == CredentialVerdict::Accepted), "{verdicts:?}");
}

#[test]
fn a_steady_poll_is_one_call_and_one_for_each_container_over_kept_connections() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    let first = watch.full();
    let stages: Vec<Stage> = first.stages.iter().map(|report| report.stage).collect();
    assert_eq!(stages, [Stage::Dns, Stage::Tcp, Stage::Auth, Stage::Bind, Stage::Query]);
    let containers = sim.processes().iter().map(|process| process.containers.len() as u64).sum::<u64>();
    let (before, connections, logons) = (sim.calls(), sim.connections(), sim.logons());
    for _ in 0..3 {
        let ended = watch.full();
        let query = ended.stages.iter().find(|report| report.stage == Stage::Query).expect("it called");
        assert_eq!(query.calls, 1 + containers);
        assert!(query.bytes_in > 0 && query.bytes_out > 0);
    }
    assert_eq!((sim.calls().0 - before.0, sim.calls().1 - before.1), (3, 3 * containers));
    assert_eq!((sim.connections(), sim.logons()), (connections, logons));
}

#[test]
fn an_application_that_is_listed_once_for_all_containers_is_read_with_averages() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.behave(|behaviour| behaviour.choices.com_plus.container_list = ContainerList::Applications);
    let ended = plugin.watch(&sim).full();
    let applications = applications(&sim);
    let (id, containers) = applications.iter().find(|(_, containers)| containers.len() == 2).expect("one");
    let label = id.to_string();
    let value = |item| ended.value("Application", item, &[&label]).expect("it is shown");
    assert_eq!(value("Containers"), 1.0);
    assert_eq!(value("Instances"), (sum(containers, |one| Some(one.instances())) / 2.0).floor());
    // The components are those of the container that the host names.
    assert_eq!(check_components(&ended, *id, &containers[..1]), 2);
    assert_eq!(ended.count("Application"), 5 * applications.len());
}

#[test]
fn a_host_that_is_named_is_read_where_its_name_leads() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch_host("localhost", sim.port, serde_json::json!({}));
    check(&sim, &watch.full());
}

#[test]
fn a_host_that_computes_no_rates_gives_zero() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.behave(|behaviour| behaviour.choices.com_plus.call_rate = CallRate::Zero);
    let ended = plugin.watch(&sim).full();
    for id in applications(&sim).keys() {
        assert_eq!(ended.value("Application", "Calls/sec", &[&id.to_string()]), Some(0.0));
    }
}

#[test]
fn an_object_that_was_not_pinged_for_long_is_activated_again() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    watch.full();
    let logons = sim.logons();
    // By the host's clock no ping has come for longer than an object may live without one.
    sim.clock.advance(Duration::from_secs(3_600));
    check(&sim, &watch.full());
    assert!(sim.logons() > logons, "another object was activated");
}
