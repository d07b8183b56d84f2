//! The documents: sections that are written from the program, and whether nothing is missing in the others.
//!
//! `UPDATE_EXPECT=1 cargo test -p perfmon-exporter --test it documents` writes the sections again.

mod keys;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use config::Schemas;
use expect_test::{ExpectFile, expect_file};
use perfmon_exporter::process::own_metrics;
use plugin_abi::{GeneralReason, Stage};
use plugin_host::{CommandInfo, Host, HostOptions, Library};
use serde_json::Value;
use support::telemetry::MetricKind;

/// The text of a page of `docs/`.
fn page(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// Compares what is in a page between the markers `name` with `expected`.
fn check_section(file: &ExpectFile, text: &str, name: &str, expected: &str) {
    let (begin, end) = (format!("<!-- begin: {name} -->\n"), format!("<!-- end: {name} -->"));
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("the page has no `{begin}`"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("the page has no `{end}`"));
    file.assert_eq(&format!("{before}{begin}{expected}{end}{after}"));
}

fn pcq() -> Library {
    Host::new(HostOptions::default()).link("pcq", plugin_pcq::entry).unwrap()
}

/// Loaded from its file: two plugins cannot be linked into one program.
fn loaded(name: &str) -> Library {
    let file = format!("deps/libplugin_{name}.so");
    let file = Path::new(env!("CARGO_BIN_EXE_perfmon-exporter")).with_file_name(file);
    Host::new(HostOptions::default()).load(&file).unwrap()
}

fn comt() -> Library {
    loaded("comt")
}

/// Word, what happened, and the next step of every reason there is, those of the plugins included.
fn reasons() -> Vec<(String, String, String)> {
    let general = GeneralReason::ALL.iter().map(|reason| {
        (reason.as_str().to_owned(), reason.sentence().to_owned(), reason.next_step().to_owned())
    });
    let mut reasons: Vec<_> = general.collect();
    for library in [pcq(), comt(), loaded("rpc_state"), loaded("pla")] {
        for reason in library.info().sources.iter().flat_map(|source| &source.reasons) {
            let row = (reason.word.to_string(), reason.sentence.to_string(), reason.next_step.to_string());
            // Plugins of Windows hosts share some.
            if !reasons.contains(&row) {
                reasons.push(row);
            }
        }
    }
    reasons
}

#[test]
fn the_table_of_reasons_is_up_to_date() {
    let mut table = "| reason | what happened | next step |\n| --- | --- | --- |\n".to_owned();
    for (word, sentence, next_step) in reasons() {
        let _ = writeln!(table, "| [`{word}`](#{word}) | {sentence} | {next_step} |");
    }
    let file = expect_file!["../../../docs/troubleshooting.md"];
    check_section(&file, &page("troubleshooting.md"), "reasons", &table);
}

#[test]
fn the_table_of_what_is_left_out_is_up_to_date() {
    let mut table = "| reason | what happened | next step |\n| --- | --- | --- |\n".to_owned();
    for refusal in series::pipeline::Refusal::ALL {
        let (sentence, next_step) = (refusal.sentence(), refusal.next_step());
        let _ = writeln!(table, "| `{}` | {sentence} | {next_step} |", refusal.as_str());
    }
    let file = expect_file!["../../../docs/naming.md"];
    check_section(&file, &page("naming.md"), "refusals", &table);
}

#[test]
fn the_tables_of_the_abi_are_up_to_date() {
    let mut text = format!("Version {} of the ABI.\n\n| stage | number |\n| --- | --- |\n", pcq().info().abi);
    for stage in Stage::ALL {
        let _ = writeln!(text, "| `{stage}` | {} |", stage.code());
    }
    text += "\n| reason | number |\n| --- | --- |\n";
    for reason in GeneralReason::ALL {
        let _ = writeln!(text, "| [`{reason}`](troubleshooting.md#{reason}) | {} |", reason.code());
    }
    let file = expect_file!["../../../docs/writing-a-source.md"];
    check_section(&file, &page("writing-a-source.md"), "abi", &text);
}

#[test]
fn every_reason_and_every_stage_has_its_place_in_the_page_on_troubles() {
    let text = page("troubleshooting.md");
    let sections: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let known = reasons();
    for (word, ..) in &known {
        let body = text.split_once(&format!("\n### {word}\n")).map(|(_, rest)| rest);
        let body = body.unwrap_or_else(|| panic!("the reason `{word}` has no section"));
        let body = body.split("\n##").next().unwrap().trim();
        assert!(body.len() > 40, "the section of `{word}` says nothing: {body:?}");
    }
    for section in sections {
        assert!(known.iter().any(|(word, ..)| word == section), "`{section}` is no reason");
    }
    for stage in Stage::ALL {
        assert!(text.contains(&format!("\n| `{stage}` | ")), "the stage `{stage}` has no line");
    }
}

#[test]
fn the_table_of_keys_is_up_to_date() {
    let file = expect_file!["../../../docs/configuration.md"];
    check_section(&file, &page("configuration.md"), "keys", &keys::table());
}

#[test]
fn the_reference_has_what_plugins_declare_of_transports_with_the_defaults() {
    let libraries = [pcq(), comt(), loaded("rpc_state"), loaded("pla")];
    let sources: Vec<_> = libraries.iter().flat_map(|library| &library.info().sources).collect();
    for schema in sources.iter().map(|source| &source.schema).filter(|schema| !schema.transports.is_empty()) {
        let settings = |text: &str| {
            let mut config = config::parse("a.yml", text, Path::new("/etc")).unwrap();
            let mut schemas = Schemas::default();
            for source in &sources {
                schemas.add_source(&source.name, &source.schema);
            }
            assert_eq!(config.set_schemas(&schemas), []);
            config.transports["default"].settings(schema)
        };
        let (mut reference, default) = (settings(keys::REFERENCE), settings("targets: []"));
        // A source of several kinds gets the ports that are written with the settings of each.
        if schema.transports.len() > 1 {
            for transport in &schema.transports {
                let own = reference.by_kind.get_mut(&transport.kind).and_then(Value::as_object_mut).unwrap();
                let port = own.remove("port");
                assert_eq!(port, transport.port().and_then(|port| port.default.clone()));
            }
            reference.by_kind.retain(|_, own| !own.as_object().unwrap().is_empty());
        }
        assert_eq!(reference.by_kind, default.by_kind);
        assert_eq!(reference.port, default.default_port);
        let declared = schema.transports.iter().flat_map(|transport| {
            let key = |key| format!("transports.*.{}.{key}", transport.kind);
            transport.settings.iter().map(move |setting| key(&setting.key))
        });
        let (known, declared) = (keys::all(), declared.collect::<Vec<_>>());
        assert!(!declared.is_empty() && declared.iter().all(|key| known.contains(key)), "{declared:?}");
    }
}

#[test]
fn every_key_of_the_configuration_is_explained_in_a_page() {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let page = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        // The table that is written from the reference explains nothing that is not there.
        let (before, rest) = page.split_once("<!-- begin: keys -->").unwrap_or((&page, ""));
        text = text + before + rest.split_once("<!-- end: keys -->").map_or("", |(_, after)| after);
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: std::collections::BTreeSet<&str> = text.split(|c| !is_part(c)).collect();
    let missing: Vec<String> = keys::all().into_iter().filter(|key| !words.contains(last(key))).collect();
    assert!(missing.is_empty(), "no page explains {missing:?}");
}

fn last(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key).trim_end_matches("[]")
}

#[test]
fn every_metric_of_the_exporter_that_a_page_names_exists() {
    let mut known = std::collections::BTreeSet::new();
    for metric in own_metrics() {
        known.insert(metric.shown_name());
        if matches!(metric.kind, MetricKind::Histogram(_)) {
            known.extend(["bucket", "count", "sum"].map(|part| format!("{}_{part}", metric.name)));
        }
    }
    let mut pages = vec![folder().join("../README.md")];
    pages.extend(std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()));
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for word in text.split(|c| !is_part(c)).filter(|word| word.starts_with("perfmon_exporter_")) {
            assert!(known.contains(word), "{}: there is no metric `{word}`", page.display());
        }
    }
}

#[test]
fn the_help_of_the_program_is_up_to_date() {
    // Away from the plugins that were built beside it: which ones there are differs.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("perfmon-exporter");
    std::fs::copy(env!("CARGO_BIN_EXE_perfmon-exporter"), &program).unwrap();
    let list = help(&program, &["--help"]);
    let mut text = format!("```text\n{list}```\n");
    for command in ["init", "check-config", "explain", "plugin check"] {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let _ = write!(text, "\n### {command}\n\n```text\n{}```\n", help(&program, &words));
    }
    check_section(&expect_file!["../../../docs/commands.md"], &page("commands.md"), "help", &text);
}

fn help(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .env_remove("COLUMNS")
        .env_remove("PERFMON_EXPORTER_CONFIG")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

#[test]
fn the_commands_of_plugins_are_up_to_date() {
    for (name, library) in [("pcq", pcq()), ("comt", comt()), ("pla", loaded("pla"))] {
        let texts: Vec<String> = library.info().commands.iter().map(command).collect();
        let file = expect_file!["../../../docs/commands.md"];
        check_section(&file, &page("commands.md"), &format!("commands of {name}"), &texts.join("\n"));
    }
}

fn command(command: &CommandInfo) -> String {
    let mut text =
        format!("### {}\n\n{}.\n\n| option | meaning |\n| --- | --- |\n", command.name, command.help);
    for option in &command.options {
        let name = match (option.name.as_str(), option.value_name.as_str()) {
            ("", value) => format!("<{value}>"),
            (name, "") => format!("--{name}"),
            (name, value) => format!("--{name} <{value}>"),
        };
        let remark = match (option.required, option.repeated) {
            (true, true) => " Needed; may be repeated.",
            (true, false) => " Needed.",
            (false, true) => " May be repeated.",
            (false, false) => "",
        };
        let help = option.help.replace('|', "\\|").replace('*', "\\*");
        let _ = writeln!(text, "| `{name}` | {help}.{remark} |");
    }
    text
}
