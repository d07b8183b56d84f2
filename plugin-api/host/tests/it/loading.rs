use std::path::Path;

use expect_test::{Expect, expect};
use plugin_host::testing::{RecordedOutcome, Value};
use plugin_host::{AbiVersion, ConfigureError, Host, HostOptions, Mode};

use crate::support::{World, collect, compile, compile_with, config, instance};

#[test]
fn a_plugin_in_c_loads_collects_and_is_destroyed() {
    let world = World::new();
    let library = world.load("pulse.c");
    let info = library.info();
    assert_eq!(
        (info.name.as_str(), info.abi),
        ("pulse", AbiVersion { major: 1, minor: plugin_abi::raw::ABI_MINOR })
    );
    assert_eq!(info.sources[0].mode, Mode::Async);
    let (instance, sink) = instance(&library, "a");
    collect(&world, &instance, &sink);
    let recorded = collect(&world, &instance, &sink);
    assert_eq!(recorded.series[0].value, Some(Value::U64(2)));
    assert_eq!(recorded.series[1].value, Some(Value::F64(0.2)));
    assert_eq!(recorded.series[0].labels, [("counter_instance".to_owned(), "left chamber".to_owned())]);
    assert_eq!(recorded.families.len(), 2, "families are registered once");
    assert!(recorded.completions.iter().all(|completion| completion.outcome == RecordedOutcome::Full));
    assert!(library.violations().iter().all(|(_, count)| count == 0));
    drop(instance);
    assert_eq!(world.host.wait_destroyed(std::time::Duration::from_secs(10)), 0);
}

#[test]
fn a_truncated_library_is_refused_before_anybody_maps_it() {
    let file = compile("pulse.c");
    let whole = std::fs::read(&file).expect("the plugin is a file");
    let host = Host::new(HostOptions::default());
    for bytes in [16, 1000, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&file, &whole[..bytes]).expect("the file is written");
        let error = host.load(&file).err().expect("it does not load").to_string();
        assert!(error.contains("the file is truncated"), "{error}");
        assert!(error.contains(&format!("the file has {bytes}; install it again")), "{error}");
    }
}

#[test]
fn writing_over_a_loaded_library_does_nothing_to_who_runs_it() {
    let world = World::new();
    let file = compile("pulse.c");
    let library = world.host.load(&file).expect("the plugin loads");
    let (instance, sink) = instance(&library, "a");
    collect(&world, &instance, &sink);
    // As `cp` does: the same file, other contents.
    let bytes = std::fs::metadata(&file).expect("the plugin is a file").len();
    let zeros = vec![0; usize::try_from(bytes).expect("a small file")];
    std::fs::write(&file, zeros).expect("the file is written");
    let recorded = collect(&world, &instance, &sink);
    assert_eq!(recorded.completions[1].outcome, RecordedOutcome::Full);
    assert_eq!(library.info().file.as_deref(), Some(file.as_path()), "it is called by its own path");
}

#[test]
fn a_library_that_looks_beside_itself_is_opened_where_it_lies() {
    let file = compile_with("pulse.c", &["-Wl,-rpath,$ORIGIN"]);
    World::new().host.load(&file).expect("the plugin loads");
    let maps = std::fs::read_to_string("/proc/self/maps").expect("a list of what is mapped");
    assert!(maps.contains(file.to_str().expect("a path in UTF-8")), "{maps}");
}

#[test]
fn a_missing_file_lists_what_is_in_the_folder() {
    let file = compile("pulse.c").with_file_name("libplugin_pcq.so");
    check_load(
        &file,
        &expect![
            "load plugin FOLDER/libplugin_pcq.so: no such file; FOLDER holds libplugin_pulse.so; install the plugin there or correct `plugins.load` or `plugins.path`"
        ],
    );
}

#[test]
fn what_is_no_file_is_called_by_its_name_and_not_waited_for() {
    let folder = compile("pulse.c").with_file_name("odd");
    std::fs::create_dir(&folder).expect("a folder");
    let at = |name: &str| folder.join(name);
    assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().expect("mkfifo").success());
    std::os::unix::fs::symlink("nowhere", at("link")).expect("a link");
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("a socket");
    for (file, kind) in [
        (folder.clone(), "a folder"),
        (at("pipe"), "a pipe"),
        (at("link"), "a link to nothing"),
        (at("socket"), "a socket"),
        ("/dev/null".into(), "a device"),
    ] {
        let error =
            Host::new(HostOptions::default()).load(&file).err().expect("it does not load").to_string();
        assert!(error.contains(&format!(": is {kind}, not a file; install the plugin there")), "{error}");
    }
}

#[test]
fn what_is_no_library_is_refused_in_the_linkers_words() {
    let file = compile("pulse.c").with_file_name("libplugin_text.so");
    std::fs::write(&file, "not a library at all, only some words").expect("the file is written");
    let error = Host::new(HostOptions::default()).load(&file).err().expect("it does not load").to_string();
    assert!(error.contains("the dynamic linker refuses it"), "{error}");
}

#[test]
fn a_library_without_the_symbol_is_no_plugin() {
    check_zoo(
        "missing_symbol",
        &expect![
            "load plugin FOLDER/libplugin_missing_symbol.so: expected the symbol `perfmon_plugin_entry_v1`, found none; it is not a plugin for this program, or was built without exporting its sources"
        ],
    );
}

#[test]
fn another_major_version_is_refused_with_both_versions() {
    check_zoo(
        "wrong_major",
        &expect![
            "load plugin FOLDER/libplugin_wrong_major.so: expected plugin ABI 1.0, found 2.0; install the plugin that was built for this version of the program"
        ],
    );
}

#[test]
fn the_symbol_of_another_major_version_is_recognised() {
    check_zoo(
        "other_symbol",
        &expect![
            "load plugin FOLDER/libplugin_other_symbol.so: expected plugin ABI 1.0, found 2.0; install the plugin that was built for this version of the program"
        ],
    );
}

#[test]
fn an_entry_that_fails_is_told_in_its_own_words() {
    check_zoo(
        "failing_entry",
        &expect![
            "load plugin FOLDER/libplugin_failing_entry.so: its entry function failed with status FAILED: no licence for this zoo; see what the plugin asks for"
        ],
    );
}

#[test]
fn a_table_that_is_too_short_is_refused() {
    check_zoo(
        "short_table",
        &expect![
            "load plugin FOLDER/libplugin_short_table.so: `size`: expected the size of a version 1.0 table or more, found 40; report it to the plugin's author"
        ],
    );
}

#[test]
fn a_name_without_memory_is_refused_with_its_field() {
    check_zoo(
        "null_names",
        &expect![
            "load plugin FOLDER/libplugin_null_names.so: `sources[0].name`: expected a name of [a-z][a-z0-9_-]* with at most 64 bytes, found a null pointer; report it to the plugin's author"
        ],
    );
}

#[test]
fn a_create_that_fails_costs_the_instance_alone() {
    let world = World::new();
    let library = world.load("zoo/failing_create.c");
    let sink = std::sync::Arc::new(plugin_host::testing::RecordingSink::default());
    let error = library.create("animal", &config("a"), sink).expect_err("it cannot be made");
    assert_eq!(error.to_string(), "zoo: create failed with status FAILED: the cage is locked");
    assert_eq!(library.instances(), 0);
    assert_eq!(world.load("zoo/well_behaved.c").info().sources.len(), 1, "others load as before");
}

#[test]
fn problems_with_settings_come_back_with_their_place_and_a_suggestion() {
    let world = World::new();
    let library = world.load("zoo/problems.c");
    let problems = library.validate("animal", &config("a")).expect("the source answers");
    assert_eq!(problems.len(), 1, "what is no JSON pointer is left out");
    assert_eq!(problems[0].pointer, "/modules/0/food");
    assert_eq!(
        (problems[0].message.as_str(), problems[0].suggestion.as_str()),
        ("unknown food", "did you mean `hay`?")
    );
    let sink = std::sync::Arc::new(plugin_host::testing::RecordingSink::default());
    let created = library.create("animal", &config("a"), sink);
    assert!(matches!(created, Err(ConfigureError::Problems(problems)) if problems.len() == 1));
}

#[test]
fn an_unknown_source_is_told_with_those_that_there_are() {
    let library = World::new().load("pulse.c");
    let error = library.validate("puls", &config("a")).expect_err("there is no such source");
    assert_eq!(error.to_string(), "plugin pulse has no source `puls`; it has pulse");
}

#[test]
fn a_plugin_of_a_later_minor_version_loads_and_collects() {
    let world = World::new();
    let library = world.load("zoo/newer_minor.c");
    assert_eq!(library.info().abi, AbiVersion { major: 1, minor: plugin_abi::raw::ABI_MINOR });
    let names: Vec<_> = library.info().sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(names, ["bear", "lynx"], "larger elements are stepped over whole");
    let (instance, sink) = instance(&library, "a");
    let recorded = collect(&world, &instance, &sink);
    let items: Vec<_> = recorded.families.iter().map(|family| family.item.as_str()).collect();
    assert_eq!(
        items,
        ["Number", "Other"],
        "an unknown kind is shown as it is, an unknown value type is dropped"
    );
    assert_eq!(crate::support::said(&recorded, "shape"), i64::from(plugin_abi::raw::DROPPED_UNSUPPORTED));
    assert!(library.violations().iter().all(|(_, count)| count == 0), "the future is no violation");
}

#[test]
fn a_plugin_of_an_earlier_minor_version_loads_in_a_later_host() {
    let world = World::with(|options| options.abi_minor = plugin_abi::raw::ABI_MINOR + 1);
    let library = world.load("pulse.c");
    assert_eq!(library.info().abi, AbiVersion { major: 1, minor: plugin_abi::raw::ABI_MINOR });
    let (instance, sink) = instance(&library, "a");
    assert_eq!(collect(&world, &instance, &sink).completions[0].outcome, RecordedOutcome::Full);
}

fn check_zoo(name: &str, expected: &Expect) {
    check_load(&compile(&format!("zoo/{name}.c")), expected);
}

#[track_caller]
fn check_load(file: &Path, expected: &Expect) {
    let error = Host::new(HostOptions::default()).load(file).err().expect("it does not load").to_string();
    let folder = file.parent().expect("a folder").display().to_string();
    expected.assert_eq(&error.replace(&folder, "FOLDER"));
}
