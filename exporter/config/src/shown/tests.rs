use expect_test::expect;

use super::*;

#[test]
fn of_identities_everybody_is_shown_the_names_alone() {
    let yaml = "identities: {corp: {kind: ntlm, domain: CORP, username: svc, password_file: /run/s, allow_hosts: ['*.corp']}}\n\
                target_defaults: {identity: corp}\n";
    let text = Shown::of(&Node::parse(yaml).expect("it is YAML"), &Schemas::default()).to_all;
    expect![[r#"
        identities:
          corp:
            kind: hidden
            domain: hidden
            username: hidden
            password_file: hidden
            allow_hosts: [hidden]
        target_defaults:
          identity: corp
    "#]]
    .assert_eq(&text);
}

/// Of the modules of these tests, and of the reference.
fn schemas() -> Schemas {
    let shown = [
        "counter",
        "countersets",
        "detail",
        "exclude",
        "first_of",
        "host_info",
        "include",
        "max_services",
        "n",
        "name",
        "optional",
        "wildcard",
    ];
    let schema = exposition::testing::schema::smb(&shown);
    let mut schemas = Schemas::default();
    schemas.add_source("pcq", &schema);
    ["os", "iis", "processes"].iter().for_each(|module| schemas.set_module(module, &schema));
    let of_objects = [
        "advertise",
        "advertise_port",
        "allow",
        "application_directory",
        "directories",
        "events_max_age",
        "listen",
        "log_changes",
        "max_applications",
        "max_components",
        "max_processes",
        "mode",
    ];
    let objects = exposition::testing::schema::dcom(&of_objects);
    schemas.add_source("comt", &objects);
    schemas.set_module("complus", &objects);
    let of_files = ["directories", "include_dead", "max_connections", "max_operations"];
    let files = exposition::testing::schema::schema(&of_files, Vec::new());
    schemas.add_source("rpc_state", &files);
    schemas.set_module("rpc", &files);
    let of_servers = [
        "annotations",
        "endpoint_timeout",
        "interfaces",
        "max_endpoints",
        "max_entries",
        "max_interfaces",
        "ports",
    ];
    let servers = exposition::testing::schema::tcp(&of_servers);
    schemas.add_source("rpc_endpoints", &servers);
    schemas.set_module("rpc_servers", &servers);
    let of_alerts = [
        "above",
        "alerts",
        "below",
        "category",
        "control",
        "counter",
        "duration",
        "event",
        "file",
        "for",
        "host",
        "log_memory",
        "name",
        "refresh",
        "sample_interval",
        "sets",
        "start",
        "start_set",
        "task",
        "threshold",
        "timeout",
    ];
    let alerts = exposition::testing::schema::smb(&of_alerts);
    schemas.add_source("pla", &alerts);
    schemas.set_module("alerts", &alerts);
    schemas
}

fn check(yaml: &str) -> String {
    let text = Shown::of(&Node::parse(yaml).expect("it is YAML"), &schemas()).to_authenticated;
    Node::parse(&text).unwrap_or_else(|error| panic!("{}: {text}", error.message));
    text.to_string()
}

#[test]
fn what_is_known_is_shown_and_everything_else_is_not() {
    let text = check(
        "web: {listen: ['0.0.0.0:9483'], max_scrapes: 4}
identities:
  corp: {kind: ntlm, username: svc, password: hunter2, password_file: /run/s, pin: 1234, allow_hosts: ['*.corp']}
modules:
  os: {plugin: pcq, countersets: [{name: Process V2, instances: {exclude: ['.*,_Total']}}], api_token: abc, level: 7}
normalize: {rename: [{from: 'a_(.*)', to: b_$1}]}
target_defaults: {normalize: {drop: [a_b]}}
targets:
  - {host: web1, modules: [os], interval: 15s, labels: {env: prod}}
otlp:
  - {endpoint: 'https://me:pw@otel:4317/x?key=abc', headers: {authorization: 'Bearer abc', x: {file: /run/t, prefix: 'Bearer abc'}}}
soon: {secret: abc, list: [abc]}
",
    );
    expect![[r#"
        web:
          listen: ["0.0.0.0:9483"]
          max_scrapes: 4
        identities:
          corp:
            kind: ntlm
            username: svc
            password: hidden
            password_file: /run/s
            pin: hidden
            allow_hosts: ["*.corp"]
        modules:
          os:
            plugin: pcq
            countersets:
              - name: Process V2
                instances:
                  exclude: [".*,_Total"]
            api_token: hidden
            level: hidden
        normalize:
          rename:
            - from: "a_(.*)"
              to: "b_$1"
        target_defaults:
          normalize:
            drop: [a_b]
        targets:
          - host: web1
            modules: [os]
            interval: 15s
            labels:
              env: prod
        otlp:
          - endpoint: "https://hidden@otel:4317/hidden"
            headers:
              authorization: hidden
              x:
                file: /run/t
                prefix: hidden
        soon:
          secret: hidden
          list: [hidden]
    "#]]
    .assert_eq(&text);
}

#[test]
fn of_the_reference_nothing_is_hidden_but_what_may_be_a_secret() {
    let text = check(include_str!("../../../perfmon.reference.yaml"));
    let hidden: Vec<&str> = text.lines().map(str::trim).filter(|line| line.contains(HIDDEN)).collect();
    let of_webhook = "- url: \"https://hooks.example.com/hidden\"";
    assert_eq!(hidden, ["x-scope-orgid: hidden", "prefix: hidden", of_webhook, "x-scope-orgid: hidden"]);
}

#[test]
fn no_url_shows_more_than_its_host() {
    let text = "web: {external_url: 'https://me.example/prefix'}
alerts: {alertmanagers: [{url: 'http://am:9093/T0'}, {url: 'http://am:9093/'}], webhooks: [{url: 'https://h/T0/T1#T2'}]}
otlp: [{endpoint: 'https://o:4318/T0/v1/metrics', protocol: http}, {endpoint: 'http://o:4317'}]
telemetry: {endpoint: 'https://u:T0@o:4318/T1?T2'}
normalize: {rename: [{from: a, to: 'x://y/T0'}]}
";
    let shown = check(text);
    assert!(!shown.contains("T0") && !shown.contains("T1") && !shown.contains("T2"), "{shown}");
    for kept in ["https://me.example/prefix", "http://am:9093/", "https://h/hidden", "http://o:4317"] {
        assert!(shown.contains(kept), "{kept}\n{shown}");
    }
}

#[test]
fn of_plugins_is_shown_what_they_declare_and_nothing_else() {
    use exposition::testing::schema::{schema, setting, transport};
    use plugin_abi::{SettingInfo, SettingKind};
    let yaml = "transports: {wan: {cable: {length: 7, pin: 1234, more: [1234]}, smb: {encryption: required}}}
modules: {zoo: {plugin: zoo, animals: [cow, {cow: 1234}], keeper: 1234}, other: {plugin: other, animals: [1234]}}
plugins: {settings: {zoo: {house: {animals: [cow, [cow]], keeper: 1234}}, other: {animals: [1234]}}}
";
    let length = SettingInfo { is_shown: true, ..setting("length", SettingKind::Integer { min: 0, max: 9 }) };
    let settings = vec![length, setting("pin", SettingKind::Integer { min: 0, max: 9_999 })];
    let zoo = schema(&["animals"], vec![transport("cable", settings)]);
    let mut schemas = Schemas::default();
    schemas.add_source("zoo", &zoo);
    schemas.set_module("zoo", &zoo);
    let text = Shown::of(&Node::parse(yaml).expect("it is YAML"), &schemas).to_all;
    expect![[r#"
        transports:
          wan:
            cable:
              length: 7
              pin: hidden
              more: [hidden]
            smb:
              encryption: hidden
        modules:
          zoo:
            plugin: zoo
            animals:
              - cow
              - cow: hidden
            keeper: hidden
          other:
            plugin: other
            animals: [hidden]
        plugins:
          settings:
            zoo:
              house:
                animals:
                  - cow
                  - - cow
                keeper: hidden
            other:
              animals: [hidden]
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_secret_of_any_type_in_any_place_is_hidden() {
    for place in ["a: 5550199", "identities: {corp: {password: 5550199}}", "- 5550199"] {
        assert!(!check(place).contains("5550199"), "{place}");
        assert!(!check(&place.replace("5550199", "'s3cr 5550199'")).contains("5550199"), "{place}");
        assert!(!check(&place.replace("5550199", "[{k: 5550199}]")).contains("5550199"), "{place}");
    }
    // A list or a map where a text is known is no text that is known.
    assert!(!check("identities: {corp: {username: {x: 5550199}}}").contains("5550199"));
}

#[test]
fn texts_that_yaml_would_read_otherwise_are_quoted() {
    for (text, expected) in [
        ("no", "\"no\""),
        ("a: b", "\"a: b\""),
        ("line\nbreak", "\"line\\nbreak\""),
        ("1e5", "\"1e5\""),
        ("0x1f", "\"0x1f\""),
        ("30s", "30s"),
        ("# x", "\"# x\""),
        ("", "\"\""),
        ("Processor Information", "Processor Information"),
    ] {
        assert_eq!(scalar(text), expected);
    }
}
