//! What is shown of a host is what its endpoint map and its servers say.

use std::net::Ipv4Addr;

use plugin_abi::CredentialVerdict::Accepted;
use rpc::endpoints::epm::wire::Binding;
use serde_json::json;

use super::mapper::{at, at_port, entry};
use super::sim_host::SimHost;
use super::world::{Asked as _, Plugin};
use plugin_harness::Collection;

#[test]
fn a_host_shows_its_interfaces_and_what_the_server_at_each_port_counted() {
    let (sim, plugin) = (SimHost::standard(), Plugin::new());
    let watch = plugin.watch(sim.port, json!({}));
    let first = watch.full();
    assert_eq!(
        ["ncacn_ip_tcp", "ncacn_np", "ncalrpc", "ncacn_http", "other"].map(|it| first.entries(it)),
        [3.0, 2.0, 3.0, 0.0, 0.0].map(Some)
    );
    assert_eq!(first.value("Endpoint Map", "Complete", &[]), Some(1.0));
    let tracker = "b60040e0-bcf3-11d1-861d-0080c729264d";
    let port = sim.objects.to_string();
    let info = first.value(
        "Endpoint Map",
        "Interface Info",
        &[tracker, "0.0", "COM+ Tracker", "ncacn_ip_tcp", &port],
    );
    assert_eq!(info, Some(1.0));
    let pipe = first.labels_of("Interface Info").into_iter().find(|labels| labels[3] == "ncacn_np");
    assert_eq!(pipe.expect("a pipe is registered")[4], r"\PIPE\winreg");
    for port in [sim.port, sim.objects] {
        let of = |ended: &Collection| ["Up", "Listening", "Calls Out"].map(|item| ended.server(port, item));
        assert_eq!(of(&first), [Some(1.0), Some(1.0), Some(0.0)]);
        assert!(first.server(port, "Interfaces") > Some(1.0), "its own, and management");
    }
    let second = watch.full();
    // Three calls of management; the packets of the last one were not all sent when it was answered.
    let grown = |item| {
        second.server(sim.objects, item).zip(first.server(sim.objects, item)).map(|(now, then)| now - then)
    };
    assert_eq!(
        ["Calls In", "Calls Out", "Packets In", "Packets Out"].map(grown),
        [3.0, 0.0, 3.0, 3.0].map(Some)
    );
}

#[test]
fn connections_and_logons_are_kept_from_collection_to_collection() {
    let (sim, plugin) = (SimHost::standard(), Plugin::new());
    let watch = plugin.watch(sim.port, json!({}));
    for _ in 0..4 {
        watch.full();
    }
    // The mapper, and management at its port and at that of the objects.
    assert_eq!((sim.connections(), sim.logons()), (3, (3, 0)));
    assert_eq!(plugin.lender.verdicts(), [Accepted; 3]);
    assert_eq!([0, 1, 2].map(|opnum| sim.management_calls(opnum)), [8, 8, 8]);
    sim.cut();
    let ended = watch.full();
    assert_eq!((sim.connections(), sim.logons()), (6, (6, 0)), "within one collection");
    assert!(ended.server(sim.objects, "Calls In") > Some(12.0), "the server's process is the same");
}

#[test]
fn a_password_goes_to_the_host_and_not_where_its_map_leads() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    // Another host at the port of the first one's objects.
    let elsewhere = SimHost::standard_on(Ipv4Addr::new(127, 0, 0, 9));
    let at_elsewhere = |number, port| at(number, Ipv4Addr::new(127, 0, 0, 9), port, "Elsewhere");
    sim.map.set(vec![
        at_elsewhere(1, sim.objects),
        at_elsewhere(2, elsewhere.objects),
        at_port(3, sim.objects, "Here"),
    ]);
    let watch = plugin.watch(sim.port, json!({}));
    let ended = watch.collect();
    let (_, reason, message) = ended.partial();
    assert_eq!(reason, "connection_refused", "nobody listens there at the host's own address: {message}");
    assert_eq!(ended.server(sim.objects, "Up"), Some(1.0));
    assert_eq!(ended.server(elsewhere.objects, "Up"), Some(0.0));
    assert_eq!((elsewhere.connections(), elsewhere.logons()), (0, (0, 0)));
    assert!(plugin.lender.hosts().iter().all(|host| host == "127.0.0.1"));
}

#[test]
fn only_ports_that_are_selected_are_asked() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.map
        .set(vec![at_port(0x1111_0000, sim.objects, "COM+ Tracker"), at_port(0x2222_0000, sim.objects, "")]);
    for (settings, asked) in [
        (json!({}), vec![sim.port, sim.objects]),
        (json!({"ports": [sim.objects]}), vec![sim.objects]),
        (json!({"ports": [format!("{0}-{0}", sim.port)]}), vec![sim.port]),
        (json!({"annotations": ["com+ *"]}), vec![sim.objects]),
        (json!({"annotations": ["*registry*"]}), vec![]),
        (json!({"interfaces": ["22220000-*"]}), vec![sim.objects]),
        (json!({"interfaces": ["22220000-*"], "annotations": ["com*"]}), vec![]),
        (json!({"max_endpoints": 1}), vec![sim.port]),
    ] {
        let ended = plugin.watch(sim.port, settings.clone()).full();
        let shown = ended.labels_of("Up");
        let mut asked: Vec<Vec<String>> = asked.iter().map(|port| vec![port.to_string()]).collect();
        asked.sort();
        let mut shown_sorted = shown;
        shown_sorted.sort();
        assert_eq!(shown_sorted, asked, "{settings}");
        let is_limited = settings.get("max_endpoints").is_some();
        assert_eq!(ended.left_out("endpoint", "limit"), Some(is_limited.into()));
        assert_eq!(ended.labels_of("Interface Info").len(), 2, "interfaces are shown all the same");
    }
}

#[test]
fn a_map_of_ten_thousand_entries_is_read_and_shown_within_limits() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let objects = sim.objects;
    let entries = (0..10_000).map(|number| match number % 4 {
        0 => entry(number, Binding::Local { endpoint: format!("LRPC-{number}") }, ""),
        _ => at_port(number, objects, "Many"),
    });
    sim.map.set(entries.collect());
    let ended = plugin.watch(sim.port, json!({})).full();
    assert_eq!(
        (ended.entries("ncacn_ip_tcp"), ended.entries("ncalrpc")),
        (Some(3072.0), Some(1024.0)),
        "4,096 by default"
    );
    assert_eq!(ended.value("Endpoint Map", "Complete", &[]), Some(0.0));
    assert_eq!(
        (ended.labels_of("Interface Info").len(), ended.left_out("interface", "limit")),
        (512, Some(2560.0))
    );
    assert_eq!(ended.server(objects, "Up"), Some(1.0));
    let watch = plugin.watch(sim.port, json!({"max_entries": 20_000, "max_interfaces": 8000}));
    let ended = watch.full();
    assert_eq!((ended.entries("ncacn_ip_tcp"), ended.entries("ncalrpc")), (Some(7500.0), Some(2500.0)));
    assert_eq!(ended.value("Endpoint Map", "Complete", &[]), Some(1.0));
    assert_eq!(
        (ended.labels_of("Interface Info").len(), ended.left_out("interface", "limit")),
        (7500, Some(0.0))
    );
}

#[test]
fn what_is_no_longer_registered_has_no_series_and_no_connection() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.map.set(vec![at_port(1, sim.objects, "One"), at_port(1, sim.objects, "One")]);
    let watch = plugin.watch(sim.port, json!({}));
    let ended = watch.full();
    assert_eq!((ended.entries("ncacn_ip_tcp"), ended.labels_of("Interface Info").len()), (Some(2.0), 1));
    assert_eq!(ended.server(sim.objects, "Up"), Some(1.0));
    sim.map.set(Vec::new());
    let ended = watch.full();
    assert_eq!((ended.entries("ncacn_ip_tcp"), ended.labels_of("Interface Info").len()), (Some(0.0), 0));
    assert_eq!(ended.server(sim.objects, "Up"), None);
    assert_eq!(ended.server(sim.port, "Up"), Some(1.0));
}
