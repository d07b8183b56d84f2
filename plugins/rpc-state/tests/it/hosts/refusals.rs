//! What one server does not answer costs no other one.

use std::collections::BTreeSet;
use std::time::Duration;

use plugin_abi::{
    CredentialVerdict::{Accepted, Rejected},
    Stage,
};
use serde_json::json;
use windows_sim::RpcSecurity;

use super::mapper::at_port;
use super::sim_host::{SimHost, closed_port};
use super::world::{Asked as _, Plugin};

fn words(call: &str, reason: &str) -> Vec<(String, String)> {
    vec![(call.to_owned(), reason.to_owned())]
}

#[test]
fn servers_that_hang_or_are_gone_are_shown_with_their_reason_beside_those_that_answer() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let (hangs, gone) = (sim.black_hole(), closed_port());
    let hanging: Vec<u16> = (0..5).map(|_| sim.black_hole()).chain([hangs]).collect();
    let mut map = vec![at_port(1, sim.objects, "Answers"), at_port(2, gone, "Gone")];
    map.extend(hanging.iter().map(|port| at_port(3, *port, "Hangs")));
    sim.map.set(map);
    let watch = plugin.watch(sim.port, json!({"endpoint_timeout": "300ms"}));
    let mut leases = Vec::new();
    for _ in 0..3 {
        let ended = watch.collect_within(Duration::from_secs(20));
        let (_, reason, message) = ended.partial();
        assert!(matches!(reason, "timeout" | "connection_refused"), "{reason}");
        assert!(message.starts_with("7 of 9 endpoints without an answer: "), "{message}");
        assert!(message.contains("(Hangs)") && message.contains("(Gone)"), "{message}");
        for port in [sim.port, sim.objects] {
            assert_eq!((ended.server(port, "Up"), ended.refusals(port)), (Some(1.0), Vec::new()));
            assert!(ended.server(port, "Calls In").is_some());
        }
        for port in &hanging {
            assert_eq!((ended.server(*port, "Up"), ended.server(*port, "Calls In")), (Some(0.0), None));
            assert_eq!(ended.refusals(*port), words("connect", "timeout"));
        }
        assert_eq!(ended.refusals(gone), words("connect", "connection_refused"));
        leases.push(plugin.lender.hosts().len());
        plugin.advance(Duration::from_secs(40));
    }
    // The mapper, the two that answer, and those that hang while they are logged on to, which the second collection leaves
    // alone.
    assert_eq!(leases, [9, 9, 15]);
}

#[test]
fn a_server_that_is_gone_is_asked_again_ever_more_rarely_until_settings_change_or_the_host_was_away() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let gone = sim.black_hole();
    sim.map.set(vec![at_port(1, sim.objects, "Answers"), at_port(3, gone, "Hangs")]);
    let settings = json!({"endpoint_timeout": "300ms"});
    let watch = plugin.watch(sim.port, settings.clone());
    let is_asked = || {
        let before = plugin.lender.hosts().len();
        watch.collect_within(Duration::from_secs(20));
        plugin.lender.hosts().len() > before
    };
    let mut attempts = Vec::new();
    let mut second = 0;
    for pass in [0, 30, 40, 30, 40, 40, 50, 70, 80] {
        plugin.advance(Duration::from_secs(pass));
        second += pass;
        attempts.extend(is_asked().then_some(second));
    }
    assert_eq!(attempts, [0, 70, 140, 230, 380]);
    watch.reconfigure(json!({"endpoint_timeout": "301ms"}));
    assert!(is_asked(), "somebody may have removed the cause");
    assert!(!is_asked());
    sim.shut();
    watch.collect().failed();
    sim.cut();
    assert!(is_asked());
    assert!(!is_asked());
}

#[test]
fn a_server_that_knows_no_way_to_log_on_is_up_and_says_why_it_tells_nothing() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let port = sim.without_security();
    sim.map.set(vec![at_port(1, sim.objects, "Answers"), at_port(2, port, "Kerberos alone")]);
    let watch = plugin.watch(sim.port, json!({}));
    for _ in 0..4 {
        let ended = watch.full();
        assert_eq!((ended.server(port, "Up"), ended.server(port, "Calls In")), (Some(1.0), None));
        assert_eq!(ended.refusals(port), words("connect", "server_fault"));
        assert_eq!((ended.server(sim.objects, "Up"), ended.refusals(sim.objects)), (Some(1.0), Vec::new()));
    }
}

#[test]
fn servers_that_know_ntlm_alone_are_asked_with_it() {
    for security in [RpcSecurity::Ntlm, RpcSecurity::SecretlyNtlm] {
        let (sim, plugin) = (SimHost::standard(), Plugin::new());
        sim.behave(|behaviour| behaviour.rpc_security = security);
        let watch = plugin.watch(sim.port, json!({}));
        for port in [sim.port, sim.objects] {
            let ended = watch.full();
            assert_eq!((ended.server(port, "Up"), ended.refusals(port)), (Some(1.0), Vec::new()));
            assert!(ended.server(port, "Calls In").is_some());
        }
    }
}

#[test]
fn a_server_that_refuses_its_statistics_shows_the_rest() {
    let (sim, plugin) = (SimHost::standard(), Plugin::new());
    for (rule, reason) in [
        ("mgmt/1=fault:0x6f7", "server_fault"),
        ("mgmt/1=fault:5", "access_denied"),
        ("mgmt/1=status:5", "access_denied"),
        ("mgmt/1=fault:0x1c010002", "server_fault"),
    ] {
        sim.rule(rule);
        let watch = plugin.watch(sim.port, json!({}));
        for _ in 0..2 {
            let ended = watch.full();
            for port in [sim.port, sim.objects] {
                assert_eq!(
                    ["Up", "Listening"].map(|item| ended.server(port, item)),
                    [Some(1.0); 2],
                    "{rule}"
                );
                assert!(ended.server(port, "Interfaces") > Some(1.0));
                assert_eq!((ended.server(port, "Calls In"), ended.server(port, "Packets Out")), (None, None));
                assert_eq!(ended.refusals(port), words("inq_stats", reason), "{rule}");
            }
        }
        sim.heal();
        let ended = watch.full();
        assert!(ended.server(sim.objects, "Calls In").is_some());
        assert_eq!(ended.refusals(sim.objects), []);
    }
}

#[test]
fn an_answer_that_is_cut_off_or_cannot_be_read_is_a_failure_of_that_server() {
    let (sim, plugin) = (SimHost::standard(), Plugin::new());
    let watch = plugin.watch(sim.port, json!({"endpoint_timeout": "500ms"}));
    watch.full();
    for (rule, call, reason) in [
        ("mgmt/1x1=oversize:3", "inq_stats", "malformed_reply"),
        ("mgmt/0x1=oversize:5", "inq_if_ids", "malformed_reply"),
        ("mgmt/2x1=stall", "is_server_listening", "timeout"),
    ] {
        sim.rule(rule);
        let ended = watch.collect();
        let (_, found, message) = ended.partial();
        assert_eq!(found, reason, "{rule}");
        assert!(message.starts_with("1 of 2 endpoints without an answer: "), "{message}");
        let failed: Vec<_> = [sim.port, sim.objects].iter().flat_map(|port| ended.refusals(*port)).collect();
        assert_eq!(failed, words(call, reason), "{rule}");
        sim.heal();
        // One that answered a moment ago is asked again soon.
        plugin.advance(Duration::from_secs(15));
        watch.full();
    }
}

#[test]
fn a_host_that_refuses_its_map_has_no_figures() {
    let (sim, plugin) = (SimHost::standard(), Plugin::new());
    for (rule, reason) in [("epm/2=status:5", "access_denied"), ("epm/2=oversize:3", "malformed_reply")] {
        sim.rule(rule);
        let ended = plugin.watch(sim.port, json!({})).collect();
        assert_eq!(ended.failed().1, reason, "{rule}");
        assert_eq!(ended.labels_of("Up"), Vec::<Vec<String>>::new());
    }
    sim.shut();
    let ended = plugin.watch(sim.port, json!({})).collect();
    assert_eq!((ended.failed().0, ended.failed().1), (Stage::Tcp, "connection_refused"));
}

#[test]
fn pages_of_the_map_that_came_are_shown_when_the_host_hangs_at_the_next_one() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let objects = sim.objects;
    sim.map.set((0..250).map(|number| at_port(number, objects, "Many")).collect());
    let watch = plugin.watch(sim.port, json!({}));
    sim.rule("epm/2+2x1=stall");
    let ended = watch.collect_within(Duration::from_secs(4));
    let (_, reason, message) = ended.partial();
    assert!(
        reason == "timeout" && message.starts_with("the first 200 entries of the endpoint map"),
        "{message}"
    );
    assert_eq!((ended.entries("ncacn_ip_tcp"), ended.labels_of("Interface Info").len()), (Some(200.0), 200));
    assert_eq!(ended.value("Endpoint Map", "Complete", &[]), Some(0.0));
    sim.heal();
    let ended = watch.full();
    assert_eq!(ended.entries("ncacn_ip_tcp"), Some(250.0));
    assert_eq!(ended.value("Endpoint Map", "Complete", &[]), Some(1.0));
}

#[test]
fn the_map_of_a_slow_host_is_read_in_several_collections_and_shown_as_it_comes() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let objects = sim.objects;
    sim.map.set((0..600).map(|number| at_port(number, objects, "Many")).collect());
    let watch = plugin.watch(sim.port, json!({}));
    sim.rule("epm/2=delay:1s");
    let (mut shown, mut collections) = (0.0, 0);
    while shown < 600.0 {
        // Half of it is for the map, which takes six calls.
        let ended = watch.collect_within(Duration::from_secs(8));
        let now = ended.entries("ncacn_ip_tcp").expect("some");
        assert!(now > shown, "{now} after {shown}");
        if now < 600.0 {
            let (_, _, message) = ended.partial();
            assert!(
                message.starts_with(&format!("the first {now} entries of the endpoint map")),
                "{message}"
            );
        }
        assert_eq!(ended.server(objects, "Up"), Some(1.0), "servers have their share of the time");
        (shown, collections) = (now, collections + 1);
    }
    assert!(collections > 1);
    assert_eq!(sim.host.counts().calls("epm", 2), 6, "no page is read twice");
    // While it is read again, what is known of it stays.
    let ended = watch.collect_within(Duration::from_secs(8));
    assert_eq!(ended.entries("ncacn_ip_tcp"), Some(600.0));
    assert_eq!(ended.value("Endpoint Map", "Complete", &[]), Some(1.0));
}

#[test]
fn servers_of_a_slow_host_that_had_no_turn_are_the_first_in_the_next_collection() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let ports: Vec<u16> = (0..15).map(|_| sim.another_port()).collect();
    sim.map.set(ports.iter().map(|port| at_port(1, *port, "Slow")).collect());
    let watch = plugin.watch(sim.port, json!({}));
    watch.full();
    // Each has three calls, and four are asked at a time.
    sim.rule("mgmt/*=delay:250ms");
    let (mut answered, mut said) = (BTreeSet::<u16>::new(), String::new());
    for _ in 0..4 {
        let ended = watch.collect_within(Duration::from_secs(2));
        let (_, reason, message) = ended.partial();
        assert_eq!(reason, "timeout");
        said += message;
        answered.extend(ports.iter().filter(|port| ended.server(**port, "Packets Out").is_some()));
    }
    assert_eq!(answered.len(), ports.len());
    let next_step = "; the next collection begins there: lengthen `deadline` of the target, or name fewer ports in `ports`";
    assert!(said.contains(next_step), "{said}");
    sim.heal();
    watch.full();
}

#[test]
fn a_wrong_password_is_shown_once_and_to_the_mapper_alone() {
    let (sim, plugin) = (SimHost::standard(), Plugin::new());
    plugin.lender.change_password("not this one");
    let ended = plugin.watch(sim.port, json!({})).collect();
    assert_eq!((ended.failed().0, ended.failed().1), (Stage::Auth, "wrong_credentials"));
    assert_eq!((sim.logons(), plugin.lender.verdicts()), ((0, 1), vec![Rejected]));
}

#[test]
fn a_password_that_was_changed_is_shown_to_few_ports_and_judged_at_the_mapper() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(sim.port, json!({}));
    watch.full();
    assert_eq!(sim.logons(), (2, 0));
    sim.change_password();
    sim.map.set(vec![at_port(1, sim.objects, "New")]);
    let ended = watch.collect();
    assert_eq!(ended.partial().1, "wrong_credentials");
    assert_eq!(ended.refusals(sim.objects), words("connect", "wrong_credentials"));
    assert_eq!(ended.server(sim.port, "Up"), Some(1.0), "its connection was logged on before");
    assert!(!plugin.lender.verdicts().contains(&Rejected), "one port alone does not decide");
    let ended = watch.collect();
    assert_eq!((ended.failed().0, ended.failed().1), (Stage::Auth, "wrong_credentials"));
    assert_eq!((sim.logons(), plugin.lender.verdicts().last()), ((2, 2), Some(&Rejected)));
    assert!(plugin.lender.verdicts().contains(&Accepted));
}
