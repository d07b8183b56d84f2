//! What sources declare of settings and transports.

use expect_test::{Expect, expect};
use plugin_abi::{SettingInfo, SettingKind};
use serde_json::json;

use crate::rust::linked;
use crate::support::{World, compile_with};

#[test]
fn which_settings_may_be_shown_and_how_a_source_is_reached_is_known() {
    let library = World::new().load("zoo/schema.c");
    let source = &library.info().sources[0].schema;
    assert_eq!(source.shown, ["food", "cages"]);
    let kinds: Vec<_> = source.transports.iter().map(|transport| transport.kind.as_str()).collect();
    assert_eq!(kinds, ["cable", "air"]);
    let settings: Vec<_> = source.transports[0]
        .settings
        .iter()
        .map(|setting| (setting.key.as_str(), &setting.kind, setting.default.clone(), setting.is_shown))
        .collect();
    let words = SettingKind::Word(vec!["calm".to_owned(), "wild".to_owned()]);
    let expected = [
        ("port", &SettingKind::Port, Some(json!(4711)), true),
        ("mood", &words, Some(json!("calm")), false),
        ("nap", &SettingKind::Duration { min_ms: 1, max_ms: 60_000 }, None, false),
        ("secret", &SettingKind::Text, None, false),
        ("retries", &SettingKind::Integer { min: 0, max: 9 }, Some(json!(3)), false),
    ];
    assert_eq!(settings, expected);
}

#[test]
fn whether_a_source_keeps_files_is_known_and_other_flags_mean_nothing() {
    for (flags, expected) in [("0", false), ("PERFMON_SOURCE_KEEPS_FILES", true), ("0xfffffffe", false)] {
        let file = compile_with("zoo/schema.c", &[&format!("-DSOURCE_FLAGS={flags}")]);
        let library = World::new().host.load(&file).expect("the plugin loads");
        assert_eq!(library.info().sources[0].schema.keeps_files, expected, "{flags}");
    }
}

#[test]
fn what_the_sdk_declares_arrives() {
    let (_host, library) = linked(|_| {});
    let source = &library.info().sources[0].schema;
    assert_eq!(source.shown, ["start", "action"]);
    let keep_files: Vec<_> = library.info().sources.iter().map(|source| source.schema.keeps_files).collect();
    assert_eq!(keep_files, [true, false], "`counting` does, `blocking` does not");
    let settings: Vec<_> = source.transports[0]
        .settings
        .iter()
        .map(|SettingInfo { key, kind, default, is_shown, .. }| {
            format!("{key} {kind:?} {default:?} {is_shown}")
        })
        .collect();
    let expected = expect![[r#"
        host_key Text None false
        mode Word(["loud", "quiet"]) Some(String("loud")) false
        tries Integer { min: -1, max: 5 } Some(Number(-1)) false
        is_fast Bool Some(Bool(true)) false
        pause Duration { min_ms: 1, max_ms: 9000 } Some(Number(250)) false
        port Port None true"#]];
    expected.assert_eq(&settings.join("\n"));
}

#[test]
fn what_cannot_be_of_a_setting_is_refused_with_its_field() {
    let check = |setting: &str, expected: Expect| check_broken(&format!("-DSETTING={setting}"), &expected);
    check(
        r#"SETTING_OF("mood",1,.reserved=0)"#,
        expect![
            "`sources[0].transports[0].settings[4].key`: expected a key that no other setting has, found mood"
        ],
    );
    check(
        r#"SETTING_OF("two words",1,.reserved=0)"#,
        expect![
            "`sources[0].transports[0].settings[4].key`: expected a name of [a-z][a-z0-9_-]* with at most 64 bytes, found `two words`"
        ],
    );
    check(
        r#"SETTING_OF("a",17,.reserved=0)"#,
        expect!["`sources[0].transports[0].settings[4].kind`: expected 1 to 6, found 17"],
    );
    check(
        r#"SETTING_OF("a",PERFMON_SETTING_KIND_PORT,.reserved=0)"#,
        expect!["`sources[0].transports[0].settings[4].kind`: expected one port at most, found another one"],
    );
    check(
        r#"SETTING_OF("a",PERFMON_SETTING_KIND_WORD,.reserved=0)"#,
        expect![
            "`sources[0].transports[0].settings[4].words`: expected the words that there are, found none"
        ],
    );
    check(
        r#"SETTING_OF("a",PERFMON_SETTING_KIND_INTEGER,.min=5,.max=4)"#,
        expect!["`sources[0].transports[0].settings[4].max`: expected no less than min, found 4"],
    );
    check(
        r#"SETTING_OF("a",PERFMON_SETTING_KIND_DURATION,.min=-1)"#,
        expect!["`sources[0].transports[0].settings[4].min`: expected no negative duration, found -1"],
    );
    check(
        r#"SETTING_OF("a",PERFMON_SETTING_KIND_INTEGER,.default_value=STR("1"))"#,
        expect![
            "`sources[0].transports[0].settings[4].default_value`: expected JSON that the setting admits, found 1"
        ],
    );
    check(
        r#"SETTING_OF("a",PERFMON_SETTING_KIND_BOOL,.default_value=STR("yes"))"#,
        expect![
            "`sources[0].transports[0].settings[4].default_value`: expected JSON that the setting admits, found yes"
        ],
    );
    check_broken(
        r#"-DTRANSPORT=STR("air")"#,
        &expect!["`sources[0].transports[1].kind`: expected a kind that no other transport has, found air"],
    );
    for taken in ["connect_timeout", "connect_timeout_ms", "addresses"] {
        let file = compile_with("zoo/schema.c", &[&format!("-DTRANSPORT=STR(\"{taken}\")")]);
        let error = World::new().host.load(&file).err().expect("it does not load").to_string();
        let expected = format!(
            "`sources[0].transports[0].kind`: expected a kind that no other transport has, found {taken}"
        );
        assert!(error.contains(&expected), "{error}");
    }
}

#[track_caller]
fn check_broken(option: &str, expected: &Expect) {
    let file = compile_with("zoo/schema.c", &[option]);
    let error = World::new().host.load(&file).err().expect("it does not load").to_string();
    let (_, what) = error.split_once(".so: ").expect("the file is named");
    expected.assert_eq(what.trim_end_matches("; report it to the plugin's author"));
}
