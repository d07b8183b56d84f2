use std::collections::BTreeMap;
use std::time::Duration;

use exposition::testing::schema;

use ::alerts::ReceiverOptions;
use ::otlp::push::OtlpEndpoint;
use support::http_client::ClientTls;

use super::*;

const REFERENCE: &str = include_str!("../../perfmon.reference.yaml");

/// The way to a key without what the user chose, the numbers of lists and the names. A section that may stand in
/// several places is one.
fn shape(path: &str) -> String {
    let without_numbers = path.split('.').map(|segment| segment.split('[').next().unwrap_or_default());
    let mut segments: Vec<&str> = without_numbers.collect();
    let named = match segments[0] {
        "identities" | "modules" | "transports" => Some(1),
        "alerts" if segments.get(2) == Some(&"headers") => Some(3),
        "otlp" | "telemetry" if segments.get(1) == Some(&"headers") => Some(2),
        _ => None,
    };
    if let Some(name) = named.and_then(|name| segments.get_mut(name)) {
        *name = "*";
    }
    let path = segments.join(".");
    for (place, home) in [
        ("modules.*.normalize.", "normalize."),
        ("targets.normalize.", "normalize."),
        ("target_defaults.normalize.", "normalize."),
        ("telemetry.tls.", "otlp.tls."),
        ("telemetry.headers.", "otlp.headers."),
        ("alerts.alertmanagers.tls.", "otlp.tls."),
        ("alerts.alertmanagers.headers.", "otlp.headers."),
        ("alerts.webhooks.tls.", "otlp.tls."),
        ("alerts.webhooks.headers.", "otlp.headers."),
    ] {
        if let Some(rest) = path.strip_prefix(place) {
            return format!("{home}{rest}");
        }
    }
    path
}

#[test]
fn the_reference_has_every_key_and_no_other() {
    let root = Node::parse(REFERENCE).unwrap();
    let problems = Problems::default();
    let mut config = document::config(&Item::root(&root, &problems), Path::new("/etc")).unwrap();
    check::references(&config, &root, &problems);
    let mut schemas = Schemas::default();
    schemas.add_source("pcq", &schema::smb(&[]));
    schemas.add_source("comt", &schema::dcom(&[]));
    schemas.add_source("rpc_endpoints", &schema::tcp(&[]));
    transport::set_declared(&mut config.transports, &schemas.transports(), &problems);
    let mut known: BTreeMap<String, bool> = BTreeMap::new();
    for (path, is_there) in problems.known.borrow().iter() {
        *known.entry(shape(path)).or_default() |= is_there;
    }
    assert_eq!(problems.into_vec(), []);
    let elsewhere = ["tls_server_config", "http_server_config", "basic_auth_users", "rate_limit", "tls"];
    let is_refused = |key: &str| {
        // The file would have to be there.
        key == "normalize.naming.file"
            || key == "identities.*.password"
            || key.strip_prefix("web.").is_some_and(|key| elsewhere.contains(&key))
    };
    let missing: Vec<_> = known.iter().filter(|(key, is_there)| !**is_there && !is_refused(key)).collect();
    assert!(missing.is_empty(), "the reference lacks {missing:?}");
}

#[test]
fn the_reference_shows_the_defaults() {
    let mut config = parse("perfmon.reference.yaml", REFERENCE, Path::new("/etc")).unwrap();
    // What has no default but none is shown by an example.
    let web = Web {
        external_url: None,
        allowed_hosts: Web::default().allowed_hosts,
        config_file: None,
        max_connections_per_peer: None,
        ..config.web.clone()
    };
    assert_eq!(web, Web::default());
    assert_eq!(Scrape { deadline: None, ..config.scrape }, Scrape::default());
    assert_eq!(config.scrape.deadline, Some(Duration::from_secs(10)));
    assert_eq!(config.credentials.cooldown, Credentials::default().cooldown);
    assert_eq!(RpcState { directory: None, ..config.rpc_state.clone() }, RpcState::default());
    assert!(config.storage.as_ref().is_some_and(|storage| !storage.downloads));
    let (smb, mut schemas) = (schema::smb(&[]), Schemas::default());
    schemas.add_source("pcq", &smb);
    schemas.add_source("comt", &schema::dcom(&[]));
    schemas.add_source("rpc_endpoints", &schema::tcp(&[]));
    assert_eq!(config.set_schemas(&schemas), []);
    let transport = config.transports["default"].settings(&smb);
    let least = parse("least.yaml", "targets: []", Path::new("/etc"));
    let mut least = least.unwrap();
    assert_eq!(least.set_schemas(&schemas), []);
    let default = least.transports["default"].settings(&smb);
    assert_eq!(transport.port, default.default_port);
    assert_eq!(TransportSettings { port: None, ..transport }, default);
    assert_eq!(Probe { allow_targets: AllowHosts::default(), ..config.probe.clone() }, Probe::default());
    let least = "{plugins: {load: [pcq]}, otlp: [{endpoint: 'https://collector.example.com:4317'}]}";
    let least = parse("least.yaml", least, Path::new("/etc")).unwrap();
    let (shown, default) = (config.otlp[0].as_ref().clone(), least.otlp[0].as_ref().clone());
    let shown = OtlpEndpoint {
        name: default.name.clone(),
        headers: Vec::new(),
        tls: ClientTls::default(),
        traces: None,
        ..shown
    };
    assert_eq!(shown, default);
    let shown = &config.alerts;
    let least = "alerts: {alertmanagers: [{url: 'https://alertmanager.example.com:9093'}], \
                 webhooks: [{url: 'https://hooks.example.com/alerts'}]}";
    let default = parse("least.yaml", least, Path::new("/etc")).unwrap().alerts;
    assert_eq!(shown.alerts_max, default.alerts_max);
    for (shown, default) in shown.receivers.iter().zip(&default.receivers) {
        let name = default.name.clone();
        assert_eq!(ReceiverOptions { name, headers: Vec::new(), ..(**shown).clone() }, **default);
    }
}

#[test]
fn a_source_with_several_transports_gets_the_port_of_each() {
    let text = "transports: {both: {smb: {port: 4450}, dcom: {port: 1135}}, one: {dcom: {port: 1135}}}";
    let mut config = parse("a.yaml", text, Path::new("/etc")).unwrap();
    let (smb, dcom) = (schema::smb(&[]), schema::dcom(&[]));
    let transports = smb.transports.iter().chain(&dcom.transports).cloned().collect();
    let both = schema::schema(&[], transports);
    let mut schemas = Schemas::default();
    [("pcq", &smb), ("pla", &both)].into_iter().for_each(|(plugin, of)| schemas.add_source(plugin, of));
    assert_eq!(config.set_schemas(&schemas), []);
    let given = |transport: &str, schema: &_| {
        let settings = config.transports[transport].settings(schema);
        (serde_json::Value::from(settings.by_kind).to_string(), settings.port)
    };
    let expected = r#"{"dcom":{"port":1135},"smb":{"encryption":"preferred","port":4450}}"#;
    assert_eq!(given("both", &both), (expected.to_owned(), Some(4450)));
    assert_eq!(given("one", &both).0, r#"{"dcom":{"port":1135}}"#);
    assert_eq!(given("default", &both), (r#"{"smb":{"encryption":"preferred"}}"#.to_owned(), None));
    // Of one transport the port comes with the target alone.
    assert_eq!(given("both", &smb), (r#"{"smb":{"encryption":"preferred"}}"#.to_owned(), Some(4450)));
}
