//! Transports, whose settings plugins declare.

use std::path::Path;
use std::sync::Arc;

use config::{Config, Report, Schemas, parse};
use expect_test::{Expect, expect};
use exposition::testing::schema::{self, setting, transport};
use plugin_abi::{SettingInfo, SettingKind, SettingsSchema};
use serde_json::json;

/// A source that is reached through `cable` or `air`.
fn zoo() -> Arc<SettingsSchema> {
    let words = ["calm", "wild"].map(str::to_owned);
    let cable = vec![
        SettingInfo {
            default: Some(json!("calm")),
            is_shown: true,
            ..setting("mood", SettingKind::Word(words.into()))
        },
        SettingInfo { default: Some(json!(4711)), is_shown: true, ..setting("port", SettingKind::Port) },
        SettingInfo {
            default: Some(json!(250)),
            is_shown: true,
            ..setting("nap", SettingKind::Duration { min_ms: 10, max_ms: 60_000 })
        },
        SettingInfo {
            default: Some(json!(-1)),
            ..setting("tries", SettingKind::Integer { min: -1, max: 9 })
        },
        SettingInfo { default: Some(json!(true)), ..setting("is_fast", SettingKind::Bool) },
        setting("host_key", SettingKind::Text),
    ];
    let air = vec![SettingInfo { default: Some(json!(80)), ..setting("channel", SettingKind::Port) }];
    schema::schema(&[], vec![transport("cable", cable), transport("air", air)])
}

fn schemas(of: &[(&str, &Arc<SettingsSchema>)]) -> Schemas {
    let mut schemas = Schemas::default();
    for (plugin, schema) in of {
        schemas.add_source(plugin, schema);
        schemas.set_module(plugin, schema);
    }
    schemas
}

fn read(text: &str) -> Config {
    parse("perfmon.yml", text, Path::new("/etc")).unwrap_or_else(|report| panic!("{report}"))
}

fn check(text: &str, schemas: &Schemas, expected: &Expect) {
    let problems = read(text).set_schemas(schemas);
    expected.assert_eq(&Report::new("perfmon.yml", problems).to_string());
}

#[test]
fn a_mistake_in_a_transport_is_told_with_its_place_as_any_other() {
    check(
        "
transports:
  default:
    conect_timeout: 1s
    retries: 3
    cabel: {}
    cable: {mood: mild, port: 0, nap: 3, tries: 10, is_fast: 1, host_key: 7, nup: 1s}
  far: {cable: soon, air: {channel: 65536}}
",
        &schemas(&[("zoo", &zoo())]),
        &expect![[r#"
            perfmon.yml:4:5: transports.default: unknown key `conect_timeout`; did you mean `connect_timeout`?
            perfmon.yml:5:5: transports.default: `retries` is not supported yet; remove it, or use a later version
            perfmon.yml:6:5: transports.default: unknown key `cabel`; did you mean `cable`?
            perfmon.yml:7:19: transports.default.cable.mood: `mild` is not a choice; did you mean `wild`?
            perfmon.yml:7:31: transports.default.cable.port: 0 is outside 1 to 65535
            perfmon.yml:7:39: transports.default.cable.nap: a time needs a unit; write `3s` for seconds
            perfmon.yml:7:49: transports.default.cable.tries: 10 is outside -1 to 9
            perfmon.yml:7:62: transports.default.cable.is_fast: expected `true` or `false`, found a number
            perfmon.yml:7:75: transports.default.cable.host_key: expected text, found a number; put it in quotes
            perfmon.yml:7:78: transports.default.cable: unknown key `nup`; did you mean `nap`?
            perfmon.yml:8:16: transports.far.cable: expected a mapping, found text
            perfmon.yml:8:37: transports.far.air.channel: 65536 is outside 1 to 65535"#]],
    );
}

#[test]
fn a_source_gets_the_kinds_that_the_file_has_or_else_its_first_with_defaults() {
    let mut config = read(
        "
transports:
  far: {connect_timeout: 9s, cable: {mood: wild, nap: 2s, host_key: abc}}
  high: {air: {channel: 9}}
  both: {air: {}, cable: {port: 1}}
",
    );
    let (zoo, smb) = (zoo(), schema::smb(&[]));
    assert_eq!(config.set_schemas(&schemas(&[("zoo", &zoo), ("pcq", &smb)])), []);
    let get = |name: &str, schema: &SettingsSchema| {
        let settings = config.transports[name].settings(schema);
        (json!(settings.by_kind), settings.port, settings.asked_port())
    };
    let calm = json!({"mood": "calm", "nap": 250, "tries": -1, "is_fast": true});
    let wild = json!({"mood": "wild", "nap": 2_000, "tries": -1, "is_fast": true, "host_key": "abc"});
    assert_eq!(get("default", &zoo), (json!({"cable": calm}), None, Some(4711)));
    assert_eq!(get("far", &zoo), (json!({"cable": wild}), None, Some(4711)));
    assert_eq!(get("high", &zoo), (json!({"air": {"channel": 9}}), Some(9), Some(9)));
    // It may use several side by side: the port of each is among its settings.
    let calm = json!({"mood": "calm", "nap": 250, "tries": -1, "is_fast": true, "port": 1});
    assert_eq!(get("both", &zoo), (json!({"cable": calm, "air": {}}), Some(1), Some(1)));
    // Of the kinds of others a source hears nothing.
    assert_eq!(get("far", &smb), (json!({"smb": {"encryption": "preferred"}}), None, Some(445)));
    assert_eq!(get("far", &SettingsSchema::default()), (json!({}), None, None));
    assert_eq!(
        config.transports["far"].shown(&zoo),
        ["cable: mood wild, port 4711, nap 2s, tries hidden, is_fast hidden, host_key hidden"]
    );
}

#[test]
fn without_a_plugin_that_declares_one_a_transport_has_nothing_but_a_time() {
    check(
        "transports: {default: {connect_timeout: 1s, smb: {port: 445}}}",
        &Schemas::default(),
        &expect![
            "perfmon.yml:1:45: transports.default: unknown key `smb`; no plugin of `plugins.load` declares a transport"
        ],
    );
}

#[test]
fn plugins_may_share_a_transport_that_they_declare_alike() {
    let (zoo, smb) = (zoo(), schema::smb(&[]));
    let text = "plugins: {load: [zoo, farm, more]}";
    check(text, &schemas(&[("zoo", &zoo), ("farm", &zoo), ("more", &smb)]), &expect![""]);
    let other = schema::schema(&[], vec![transport("cable", vec![setting("mood", SettingKind::Text)])]);
    check(
        text,
        &schemas(&[("zoo", &zoo), ("farm", &other)]),
        &expect![
            "perfmon.yml:1:23: plugins.load[1]: plugin `farm` declares the transport `cable` differently from plugin `zoo`; load versions of the two that belong together"
        ],
    );
}
