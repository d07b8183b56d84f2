//! What a user reads when the configuration is wrong: where, what, and the way out.

use std::path::Path;
use std::time::Duration;

use config::{Config, FilePattern, RpcState, RpcStateLevel, Schemas, Secret, SecretSource, parse};
use expect_test::{Expect, expect};
use exposition::testing::schema;
use serde_json::json;

fn check(text: &str, expected: &Expect) {
    let report = parse("perfmon.yml", text, Path::new("/etc/perfmon")).expect_err("a report");
    expected.assert_eq(&report.to_string());
}

fn good(text: &str) -> Config {
    let config = parse("perfmon.yml", text, Path::new("/etc/perfmon"));
    let mut config = config.unwrap_or_else(|report| panic!("{report}"));
    let mut schemas = Schemas::default();
    schemas.add_source("pcq", &schema::smb(&[]));
    assert_eq!(config.set_schemas(&schemas), []);
    config
}

const ISSUE: &str = r#"
web: {listen: ["0.0.0.0:9483"]}
plugins: {path: /usr/lib/perfmon-exporter, load: [pcq]}        # default path: beside the program
identities:                                                    # who we are
  corp: {kind: ntlm, domain: CORP, username: svc-metrics, password_file: /run/secrets/corp, allow_hosts: ['*.corp.example.com', 10.0.0.0/8]}
transports:
  default: {connect_timeout: 3s, smb: {encryption: preferred}}
modules:
  os: {plugin: pcq, countersets: [{name: Processor Information, instances: {exclude: ['.*,_Total']}}, {name: Process V2}]}
targets:
  - {host: web1.corp.example.com, identity: corp, modules: [os], interval: 15s, labels: {env: prod}}
"#;

#[test]
fn the_documented_configuration_is_read() {
    let config = good(ISSUE);
    assert_eq!(config.web.listen, ["0.0.0.0:9483"]);
    assert_eq!(config.plugins.load[0].name, "pcq");
    assert_eq!(config.transports["default"].connect_timeout, Duration::from_secs(3));
    let smb = config.transports["default"].settings(&schema::smb(&[])).by_kind;
    assert_eq!(smb["smb"]["encryption"], "preferred");
    assert_eq!(
        config.identities["corp"].secret,
        Secret::Password(SecretSource::File("/run/secrets/corp".into()))
    );
    let target = &config.targets[0];
    assert_eq!((target.name.as_str(), target.transport.as_str()), ("web1.corp.example.com", "default"));
    assert_eq!((target.interval, target.deadline), (Duration::from_secs(15), Duration::from_secs(10)));
    assert_eq!(target.labels["env"], "prod");
    let settings = serde_json::to_string(&config.modules["os"].settings).unwrap();
    expect![[r#"{"countersets":[{"instances":{"exclude":[".*,_Total"]},"name":"Processor Information"},{"name":"Process V2"}]}"#]].assert_eq(&settings);
}

#[test]
fn everything_but_the_targets_has_a_default() {
    let config = good("targets: []");
    assert_eq!(config.web.listen, ["0.0.0.0:9483"]);
    assert_eq!(config.scrape.interval, Duration::from_secs(30));
    assert!(config.transports.contains_key("default"));
    assert_eq!(config.credentials.state_dir, None);
}

#[test]
fn the_state_of_rpc_calls_is_kept_in_full_unless_less_is_asked_for() {
    let state = |yaml: &str| good(&format!("targets: []\nrpc_state: {yaml}\n")).rpc_state;
    assert_eq!(state(""), RpcState { level: RpcStateLevel::Full, directory: None });
    assert_eq!(state("{level: server}").level, RpcStateLevel::Server);
    let none = RpcState { level: RpcStateLevel::None, directory: Some("/etc/perfmon/state".into()) };
    assert_eq!(state("{level: none, directory: state}"), none);
}

#[test]
fn a_short_interval_shortens_the_default_deadline() {
    let config = good("modules: {}\nscrape: {interval: 5s}\ntargets: []\n");
    assert_eq!(config.scrape.deadline, None);
    let text = ISSUE.replace("interval: 15s", "interval: 5s");
    assert_eq!(good(&text).targets[0].deadline, Duration::from_secs(5));
}

#[test]
fn relative_paths_start_at_the_folder_of_the_file() {
    let config = good(&ISSUE.replace("/run/secrets/corp", "secrets/corp"));
    assert_eq!(
        config.identities["corp"].secret,
        Secret::Password(SecretSource::File("/etc/perfmon/secrets/corp".into()))
    );

    // Where a plugin gets a path, by the name of its key.
    let settings = "{file: a, files: [b], databases: {d: {password_file: c, ca_file: /d, database: e}}, more: [{file: [f, '']}]}";
    let expected = json!({
        "file": "/etc/perfmon/a",
        "files": ["b"],
        "databases": {"d": {"password_file": "/etc/perfmon/c", "ca_file": "/d", "database": "e"}},
        "more": [{"file": ["/etc/perfmon/f", ""]}],
    });
    let module = settings.replacen('{', "{plugin: pcq, ", 1);
    let config = good(&format!(
        "plugins: {{load: [pcq], settings: {{pcq: {settings}}}}}\nmodules: {{os: {module}}}\n"
    ));
    assert_eq!(config.plugins.settings["pcq"].values, expected);
    assert_eq!(serde_json::Value::from(config.modules["os"].settings.clone()), expected);
}

#[test]
fn an_unknown_key_names_the_nearest_one() {
    check(
        "web:\n  lisen: ['0.0.0.0:1']\ntragets: []\n",
        &expect![[r#"
            perfmon.yml:2:3: web: unknown key `lisen`; did you mean `listen`?
            perfmon.yml:3:1: unknown key `tragets`; did you mean `targets`?"#]],
    );
}

#[test]
fn every_problem_is_reported_at_once_in_the_order_of_the_file() {
    check(
        r#"
web: {listen: ["here"], max_scrapes: many}
scrape: {interval: 30, deadline: 10 minutes}
identities:
  corp: {kind: ntlm, username: svc, password: hunter2, allow_hosts: [10.0.0.0/99]}
modules:
  os: {plugin: pqc}
plugins: {load: [pcq, libplugin_pcq.so]}
targets:
  - {host: web1, identity: crop, modules: [ox], labels: {target: x, 9a: y, rack: 12}}
  - {identity: corp, modules: []}
  - {host: "web1:445", modules: [os], interval: 0s}
"#,
        &expect![[r#"
            perfmon.yml:2:16: web.listen[0]: `here` is not an address to listen on; write ADDRESS:PORT, such as `0.0.0.0:9483` or `[::]:9483`
            perfmon.yml:2:38: web.max_scrapes: expected a whole number, found text
            perfmon.yml:3:20: scrape.interval: a time needs a unit; write `30s` for seconds
            perfmon.yml:3:34: scrape.deadline: is longer than the interval of 30s; a collection must end before the next begins
            perfmon.yml:5:47: identities.corp.password: a secret must not be in the configuration; put it into a file and name that in `password_file`, or use `password_env`
            perfmon.yml:5:70: identities.corp.allow_hosts[0]: `10.0.0.0/99` is neither a host name pattern nor a network; write '*.corp.example.com', 10.0.0.0/8 or one address
            perfmon.yml:7:8: modules.os: plugin `pqc` is not in `plugins.load`; did you mean `pcq`?
            perfmon.yml:8:23: plugins.load[1]: `libplugin_pcq.so` is not a valid plugin name; give the name, not the file: `pcq` is `libplugin_pcq.so` in `plugins.path`
            perfmon.yml:10:18: targets[0]: there is no identity `crop`; did you mean `corp`?
            perfmon.yml:10:44: targets[0]: there is no module `ox`; did you mean `os`?
            perfmon.yml:10:58: targets[0].labels: label `target` is the exporter's own; choose another name
            perfmon.yml:10:69: targets[0].labels: label `9a` is not a valid label name; use letters, digits and `_`, and no digit or `__` in front
            perfmon.yml:10:82: targets[0].labels.rack: expected text, found a number; put it in quotes
            perfmon.yml:11:5: targets[1]: `host` is missing; name the host or its address
            perfmon.yml:11:31: targets[1].modules: is empty; name at least one of `modules`
            perfmon.yml:12:12: targets[2].host: `web1:445` is not a valid host; write the name or the address alone, `web1`; a port goes into the transport: `transports: {default: {PROTOCOL: {port: …}}}`
            perfmon.yml:12:49: targets[2].interval: `0s` is outside 1s to 1day"#]],
    );
}

#[test]
fn a_secret_in_the_configuration_is_refused_and_not_printed() {
    let text = ISSUE.replace("password_file: /run/secrets/corp", "password: hunter2");
    let report = parse("perfmon.yml", &text, Path::new("/")).unwrap_err().to_string();
    assert!(report.contains("a secret must not be in the configuration"), "{report}");
    assert!(!report.contains("hunter2"), "{report}");
}

#[test]
fn keys_of_later_versions_are_told_apart_from_mistakes() {
    check(
        r#"
web: {basic_auth_users: {}}
sd: {}
profiles: []
identities:
  tier0: {kind: ntlm, username: a, password_env: P, allow_hosts: ['*'], delegate: true}
targets:
  - {host: a, modules: [], address: b}
"#,
        &expect![[r#"
            perfmon.yml:2:25: web.basic_auth_users: does not belong here; put it into a file of its own and name that in `web.config_file`
            perfmon.yml:3:1: `sd` is not supported yet; remove it, or use a later version
            perfmon.yml:4:1: `profiles` is not supported yet; remove it, or use a later version
            perfmon.yml:6:73: identities.tier0: `delegate` is not supported yet; remove it, or use a later version
            perfmon.yml:8:24: targets[0].modules: is empty; name at least one of `modules`
            perfmon.yml:8:28: targets[0]: `address` is not supported yet; remove it, or use a later version"#]],
    );
}

#[test]
fn what_is_wrong_with_kerberos_is_told_with_what_to_write() {
    check(
        r#"
plugins: {load: [pcq]}
identities:
  good: {kind: kerberos, principal: svc@CORP.EXAMPLE, keytab_file: k, kdc: [dc1.corp.example, '10.0.0.1:88'], allow_hosts: ['*', 10.0.0.0/8]}
  alike: {kind: negotiate, principal: svc, realm: CORP.EXAMPLE, password_env: P, ntlm_fallback: true, allow_hosts: ['*', 10.0.0.0/8]}
  cache: {kind: kerberos, ccache: 'FILE:/run/c', allow_hosts: ['*', 10.0.0.0/8]}
  a: {kind: kerberos, username: svc, keytab_file: k, allow_hosts: ['*', 10.0.0.0/8]}
  b: {kind: kerberos, principal: svc, keytab_file: k, allow_hosts: ['*', 10.0.0.0/8]}
  c: {kind: kerberos, principal: svc@corp.example, password_env: P, keytab_file: k, allow_hosts: ['*', 10.0.0.0/8]}
  d: {kind: negotiate, principal: svc@CORP.EXAMPLE, keytab_file: k, ntlm_fallback: true, allow_hosts: ['*', 10.0.0.0/8]}
  e: {kind: kerberos, principal: svc@CORP.EXAMPLE, password_env: P, ntlm_fallback: true, allow_hosts: ['*', 10.0.0.0/8]}
  f: {kind: kerberos, principal: 'CORP\svc@CORP', realm: X, allow_hosts: ['*', 10.0.0.0/8]}
  g: {kind: ntlm, username: svc, password_env: P, keytab_file: k, allow_hosts: ['*', 10.0.0.0/8]}
  h: {kind: kerberos, principal: svc@CORP.EXAMPLE, password_env: P, kdc: other.example, allow_hosts: ['*', 10.0.0.0/8]}
  i: {kind: kerberos, principal: svc@CORP.EXAMPLE, password_env: P, kdc: 'dc 1}', allow_hosts: ['*', 10.0.0.0/8]}
  j: {kind: spnego, username: svc, password_env: P, allow_hosts: ['*', 10.0.0.0/8]}
modules: {os: {plugin: pcq}}
targets:
  - {host: 10.0.0.1, identity: good, modules: [os]}
  - {host: 10.0.0.2, identity: good, modules: [os], service_principal: host/web1.corp.example}
  - {host: 10.0.0.3, identity: alike, modules: [os]}
  - {host: web1, identity: good, modules: [os], service_principal: web1}
"#,
        &expect![[r#"
            perfmon.yml:7:33: identities.a.username: belongs to `kind: ntlm`; write `principal: NAME@REALM`
            perfmon.yml:8:34: identities.b.principal: has no realm; write `NAME@REALM`, or `realm: REALM`
            perfmon.yml:9:34: identities.c.principal: realm `corp.example` is not in capitals; write `svc@CORP.EXAMPLE`
            perfmon.yml:9:82: identities.c.keytab_file: another secret is also set; keep one of `password_file`, `keytab_file` and `ccache`
            perfmon.yml:10:84: identities.d.ntlm_fallback: NTLM needs the password; use `password_file`, or remove `ntlm_fallback`
            perfmon.yml:11:84: identities.e.ntlm_fallback: `kind: kerberos` never uses NTLM; write `kind: negotiate`
            perfmon.yml:12:6: identities.f: `keytab_file` is missing; name the account's keytab, or write `password_file`, or `ccache`
            perfmon.yml:12:34: identities.f.principal: `CORP\svc@CORP` is not a principal; write `NAME@REALM`, the realm in capitals
            perfmon.yml:13:64: identities.g.keytab_file: belongs to `kind: kerberos`; remove it, or change `kind`
            perfmon.yml:14:6: identities.h.kdc: realm `CORP.EXAMPLE` has other KDCs at identity `good`; list all of them at both, or leave `kdc` out of one
            perfmon.yml:15:6: identities.i.kdc: realm `CORP.EXAMPLE` has other KDCs at identity `good`; list all of them at both, or leave `kdc` out of one
            perfmon.yml:15:74: identities.i.kdc: `dc 1}` is not a host; write `HOST` or `HOST:PORT`
            perfmon.yml:16:13: identities.j.kind: `spnego` is not a choice; there is `kerberos`, `negotiate`, `ntlm`
            perfmon.yml:19:6: targets[0]: `10.0.0.1` is an address, and a KDC knows hosts by their names alone; name the host as in its domain, or set `service_principal: host/NAME` at the target
            perfmon.yml:22:68: targets[3].service_principal: `web1` is not a service principal; write `CLASS/HOST`, such as `host/web1.corp.example.com`"#]],
    );
}

#[test]
fn a_host_outside_of_the_identitys_list_is_refused() {
    check(
        r#"
plugins: {load: [pcq]}
identities:
  corp: {kind: ntlm, domain: CORP, username: svc, password_env: P, allow_hosts: ['*.corp.example.com', 10.0.0.0/8]}
modules: {os: {plugin: pcq}}
targets:
  - {host: web1.example.net, identity: corp, modules: [os]}
  - {host: 192.0.2.7, identity: corp, modules: [os]}
  - {host: 10.9.8.7, identity: corp, modules: [os]}
"#,
        &expect![[r#"
            perfmon.yml:7:6: targets[0]: identity `corp` may not be used for `web1.example.net`; its `allow_hosts` has *.corp.example.com, 10.0.0.0/8
            perfmon.yml:8:6: targets[1]: identity `corp` may not be used for `192.0.2.7`; its `allow_hosts` has *.corp.example.com, 10.0.0.0/8"#]],
    );
}

#[test]
fn two_targets_of_one_name_are_refused() {
    check(
        r#"
plugins: {load: [pcq]}
modules: {os: {plugin: pcq}}
targets:
  - {host: a, modules: [os]}
  - {host: a, modules: [os]}
  - {host: a, name: a2, modules: [os, os]}
"#,
        &expect![[r#"
            perfmon.yml:6:5: targets[1]: target `a` is already defined, on line 5; give one of them another `name`
            perfmon.yml:7:39: targets[2]: module `os` is listed twice"#]],
    );
}

#[test]
fn a_duplicate_key_is_refused_where_it_stands() {
    check("targets: []\nweb: {}\ntargets: []\n", &expect!["perfmon.yml:3:1: duplicate mapping key: targets"]);
}

#[test]
fn what_is_no_yaml_is_refused_where_it_breaks() {
    check("targets:\n  - {host: a\nmodules: {}\n", &expect!["perfmon.yml:2:5: unclosed bracket '{'"]);
    check("", &expect!["perfmon.yml: the file is empty; begin with `targets:`"]);
    check("- a\n- b\n", &expect!["perfmon.yml:1:1: expected a mapping, found a list"]);
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut text = String::from("modules:\n  a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let below = vec![format!("*a{}", level - 1); 9].join(", ");
        text.push_str(&format!("  a{level}: &a{level} [{below}]\n"));
    }
    let report = parse("perfmon.yml", &text, Path::new("/")).unwrap_err();
    assert_eq!(report.problems.len(), 1, "{report}");
    assert!(report.to_string().contains("aliases repeat more than 50000 values"), "{report}");
}

#[test]
fn anchors_may_share_settings() {
    let config = good(
        r#"
plugins: {load: [pcq]}
modules:
  os: {plugin: pcq}
targets:
  - &web {host: a, modules: [os], labels: &prod {env: prod}}
  - {host: b, modules: [os], labels: *prod}
"#,
    );
    assert_eq!(config.targets[1].labels["env"], "prod");
}

#[test]
fn a_place_in_a_modules_settings_is_found_by_its_json_pointer() {
    let config = good(ISSUE);
    let module = &config.modules["os"];
    let at = |pointer: &str| {
        let position = module.source.locate(pointer);
        (position.line, position.column)
    };
    let column = |text: &str| ISSUE.lines().nth(8).unwrap().find(text).unwrap() as u64 + 1;
    assert_eq!(at("/countersets/0/instances/exclude/0"), (9, column("'.*,_Total'")));
    assert_eq!(at("/countersets/1"), (9, column("{name: Process V2")));
    // What is not there is the nearest thing above it.
    assert_eq!(at("/countersets/7/name"), (9, column("countersets")));
}

#[test]
fn defaults_of_targets_are_used_where_a_target_says_nothing() {
    let config = good(
        r#"
plugins: {load: [pcq]}
scrape: {max_series: 5000, connect_rate: 20}
identities:
  corp: {kind: ntlm, username: svc, password_env: P, allow_hosts: ['*']}
  other: {kind: ntlm, username: svc2, password_env: P, allow_hosts: ['*']}
transports: {wan: {connect_timeout: 9s}}
modules: {os: {plugin: pcq}, iis: {plugin: pcq}}
target_defaults: {identity: corp, transport: wan, modules: [os], labels: {env: prod, site: ber}}
targets:
  - {host: a}
  - {host: b, identity: other, transport: default, modules: [iis], max_series: 10, labels: {env: test}}
target_files: [/etc/targets/*.yml, 'more.json']
"#,
    );
    assert_eq!(config.scrape.connect_rate, 20);
    let [a, b] = &config.targets[..] else { panic!("two targets") };
    assert_eq!((a.identity.as_deref(), a.transport.as_str(), a.max_series), (Some("corp"), "wan", 5000));
    assert_eq!((&a.modules[..], a.labels["env"].as_str()), (&["os".to_owned()][..], "prod"));
    assert_eq!((b.identity.as_deref(), b.transport.as_str(), b.max_series), (Some("other"), "default", 10));
    assert_eq!((b.labels["env"].as_str(), b.labels["site"].as_str()), ("test", "ber"));
    let files: Vec<_> = config.target_files.iter().map(FilePattern::path).collect();
    assert_eq!(files, [Path::new("/etc/targets/*.yml"), Path::new("/etc/perfmon/more.json")]);
}

#[test]
fn a_mistake_in_the_defaults_is_one_problem_and_not_one_for_each_target() {
    check(
        r#"
plugins: {load: [pcq]}
scrape: {connect_rate: 0}
identities:
  corp: {kind: ntlm, username: svc, password_env: P, allow_hosts: ['*']}
modules: {os: {plugin: pcq}}
target_defaults: {identity: crop, transport: lan, modules: [ox]}
targets: [{host: a}, {host: b, max_series: 0}]
target_files: ['*/t.yml', 'targets.d/*']
"#,
        &expect![[r#"
            perfmon.yml:3:24: scrape.connect_rate: 0 is outside 1 to 100000
            perfmon.yml:7:19: target_defaults: there is no identity `crop`; did you mean `corp`?
            perfmon.yml:7:35: target_defaults: there is no transport `lan`
            perfmon.yml:7:61: target_defaults: there is no module `ox`; did you mean `os`?
            perfmon.yml:8:44: targets[1].max_series: 0 is outside 1 to 1000000
            perfmon.yml:9:16: target_files[0]: `*/t.yml` has a wildcard in a folder's name; only the file's own name may have `*` and `?`
            perfmon.yml:9:27: target_files[1]: `targets.d/*` does not say whether its files are YAML or JSON; let it end in .yml, .yaml or .json"#]],
    );
}

#[test]
fn limits_are_told_in_words_that_say_what_to_do() {
    check(
        "plugins: {}\n---\nplugins: {}\n",
        &expect!["perfmon.yml:2:1: a second document begins here; keep one, without a line `---` behind it"],
    );
    check("targets:\n\t- a\n", &expect!["perfmon.yml:2:2: a tab cannot indent; use spaces"]);
    check("? {a: b}\n: c\n", &expect!["perfmon.yml:1:3: a key must be a text; put it in quotes"]);
    let deep = format!("a: {}{}", "[".repeat(100), "]".repeat(100));
    check(&deep, &expect!["perfmon.yml:1:35: lists and mappings nest deeper than 32, which is the limit"]);
}
