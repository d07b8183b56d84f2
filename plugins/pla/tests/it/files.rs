//! Sets that were exported to files.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::steered::Mill;
use crate::world::Plugin;

/// A set as a host exports it: UTF-16 with a byte order mark.
fn write(path: &PathBuf, alerts: &str) {
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\r\n<DataCollectorSet><Name>Nightly</Name>\
         <AlertDataCollector><Name>High</Name>{alerts}</AlertDataCollector></DataCollectorSet>"
    );
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    fs::write(path, units.flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
        .expect("a file in a new directory");
}

fn settings(path: &PathBuf) -> Value {
    json!({"sets": [{"file": path}]})
}

#[test]
fn a_set_of_a_file_is_judged_and_read_again_when_it_changes() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("set.xml");
    write(&path, r"<SampleInterval>15</SampleInterval><Alert>\Wheels(*)\Load&gt;80</Alert><Task>Tell</Task>");
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let watch = plugin.watch(&mill.sim, settings(&path));
    mill.wheel("big", |wheel| wheel.load = 90);
    let ended = watch.full();
    assert_eq!(ended.states(), ["High(big) firing"]);
    assert_eq!(ended.of("Set", "Info"), [(format!("Nightly|file|{}", path.display()), 1.0)]);
    assert!(ended.of("Set", "Problems").contains(&("Nightly|task".to_owned(), 1.0)));

    write(&path, r"<Alert>\Wheels(*)\Load&gt;80</Alert><Alert>\Water\Level&lt;60</Alert>");
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(ended.states(), ["High() firing", "High(big) firing"]);
    assert_eq!(watch.alerts().len(), 2, "what fired goes on");

    fs::write(&path, "no set").expect("a file");
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(ended.states(), ["High() firing", "High(big) firing"], "its earlier content holds");
    assert!(ended.of("Set", "Problems").contains(&("Nightly|file".to_owned(), 1.0)));

    fs::remove_file(&path).expect("it is there");
    mill.pass(15);
    assert!(watch.full().of("Set", "Problems").contains(&("Nightly|file".to_owned(), 1.0)));
    write(&path, r"<Alert>\Water\Level&lt;60</Alert>");
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(ended.states(), ["High() firing"]);
    assert!(ended.of("Set", "Problems").contains(&("Nightly|file".to_owned(), 0.0)));
}

#[test]
fn a_file_that_has_too_many_alerts_beside_other_sets_is_not_taken_when_it_changes() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("set.xml");
    write(&path, r"<Alert>\Water\Level&lt;60</Alert>");
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let mut settings = settings(&path);
    let own = json!({"name": "Own", "alerts": [{"counter": r"\Wheels(*)\Load", "above": 80}]});
    settings["sets"].as_array_mut().expect("a list").push(own);
    // It has no series of the alerts.
    let watch = plugin.watch_on_demand(&mill.sim, settings);
    for (alerts, expected) in [(10_000, (1.0, 1.0)), (9_999, (0.0, 9_999.0))] {
        write(&path, &r"<Alert>\Water\Level&lt;60</Alert>".repeat(alerts));
        mill.pass(15);
        let ended = watch.full();
        let problems = ended.of("Set", "Problems");
        assert!(problems.contains(&("Nightly|file".to_owned(), expected.0)), "{problems:?}");
        assert!(ended.of("Set", "Alerts").contains(&("Nightly".to_owned(), expected.1)));
    }
}

#[test]
fn a_file_that_is_no_set_is_refused_with_its_place() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("set.xml");
    let plugin = Plugin::new();
    let check = || {
        let settings = settings(&path);
        let config = plugin_host::InstanceConfig { settings, ..plugin_host::InstanceConfig::default() };
        let found = plugin.library.validate("pla", &config).expect("it answers");
        found
            .into_iter()
            .map(|problem| format!("{}: {}", problem.pointer, problem.message))
            .collect::<Vec<_>>()
    };
    fs::write(&path, "<DataCollectorSet><Name>x</DataCollectorSet>").expect("a file");
    let [found] = &check()[..] else { panic!("it is refused once") };
    assert!(found.starts_with(&format!("/sets/0/file: `{}`: line 1, column ", path.display())), "{found}");
    write(&path, r"<Alert>\Wheels(*)\Load&gt;8,5</Alert>");
    let [found] = &check()[..] else { panic!("it is refused once") };
    assert!(found.ends_with("thousands without a separator, at character 18"), "{found}");
    assert!(found.contains(r"`High`: `\Wheels(*)\Load>8,5`: threshold: a comma"), "{found}");
}
