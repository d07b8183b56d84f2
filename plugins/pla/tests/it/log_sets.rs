//! Exported sets that log, databases, tasks, and sets that alerts start.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::logging::{Place, cells, status, until, written};
use crate::steered::Mill;
use crate::world::{Ended, Plugin};

const LOAD: &str = r"\Wheels(*)\Load";
const LEVEL: &str = r"\Water\Level";

/// A set as a host exports it, with this collector of counters.
fn exported(place: &Place, collector: &str) -> PathBuf {
    let path = place.path().join("set.xml");
    let text = format!(
        "<DataCollectorSet><Name>Nightly</Name><SubdirectoryFormat>512</SubdirectoryFormat>\
         <Subdirectory>..\\out</Subdirectory><PerformanceCounterDataCollector><Name>Counters</Name>{collector}\
         </PerformanceCounterDataCollector></DataCollectorSet>"
    );
    fs::write(&path, text).expect("a file in a new folder");
    path
}

fn problem(ended: &Ended, kind: &str) -> f64 {
    let all = ended.of("Set", "Problems").into_iter();
    all.filter(|(labels, _)| labels.ends_with(&format!("|{kind}"))).map(|(_, value)| value).sum()
}

#[test]
fn an_exported_set_logs_as_it_says_with_wildcards_for_counters() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let path = exported(
        &place,
        r"<FileName>wheels</FileName><LogFileFormat>1</LogFileFormat><SampleInterval>30</SampleInterval>
          <Counter>\Wheels(*)\*</Counter><Counter>\\db7\Wheels(*)\Load</Counter><Counter>\Wheels(none)\Load</Counter>",
    );
    let watch = plugin.watch(&mill.sim, place.settings(&json!([{"file": path}])));
    let ended = watch.full();
    assert_eq!((problem(&ended, "collector"), problem(&ended, "other_host")), (0.0, 1.0));
    mill.pass(15);
    watch.full();
    mill.pass(15);
    watch.full();
    written(&watch, "Nightly", 2.0);
    plugin.end(watch);
    let files = place.files("Nightly");
    assert_eq!(files.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["%2E.%5Cout_000001/wheels.tsv"]);
    let lines: Vec<&str> = files[0].1.lines().collect();
    let columns: Vec<&str> = lines[0].split('\t').map(|cell| cell.trim_matches('"')).collect();
    // A text is no column; a counter of one instance is, although that is not there.
    let expected = [
        r"\\web1\Wheels(big)\Load",
        r"\\web1\Wheels(big)\Turns/sec",
        r"\\web1\Wheels(big)\Grain/Sack",
        r"\\web1\Wheels(none)\Load",
    ];
    assert_eq!(columns[1..5], expected);
    assert_eq!(lines.len(), 3, "one in 30 s");
}

#[test]
fn the_description_of_a_set_is_the_last_column_of_its_text_logs() {
    let header = "\"(PDH-CSV 4.0) (Coordinated Universal Time)(0)\",\"\\\\web1\\Water\\Level\"";
    for (description, in_header, in_rows) in [
        ("", "", ""),
        ("<Description> \n</Description>", "", ""),
        (
            "<Description>Levels, \"all\" of\n them: 水</Description>",
            ",\"Levels, \"\"all\"\" of them: 水\"",
            ",\"\"",
        ),
    ] {
        let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
        let path = exported(&place, r"<LogFileFormat>0</LogFileFormat><Counter>\Water\Level</Counter>");
        let text = fs::read_to_string(&path).expect("it is there");
        let text = text.replace("</Name><Sub", &format!("</Name>{description}<Sub"));
        fs::write(&path, text).expect("a file");
        let watch = plugin.watch(&mill.sim, place.settings(&json!([{"file": path}])));
        watch.full();
        written(&watch, "Nightly", 1.0);
        plugin.end(watch);
        let lines = place.lines("Nightly");
        assert_eq!(lines[0].trim_start_matches('\u{feff}'), format!("{header}{in_header}"));
        let (first, cells) = lines[1].split_once(',').expect("a time and a value");
        assert!(first.starts_with('"') && cells.ends_with(&format!("\"{in_rows}")), "{}", lines[1]);
        assert_eq!(cells.matches(',').count(), in_rows.matches(',').count(), "{}", lines[1]);
    }
}

#[test]
fn a_set_with_the_binary_format_logs_only_in_a_format_that_the_settings_say() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let path = exported(&place, r"<LogFileFormat>3</LogFileFormat><Counter>\Water\Level</Counter>");
    let watch = plugin.watch(&mill.sim, place.settings(&json!([{"file": path}])));
    let ended = watch.full();
    assert_eq!(problem(&ended, "log_format"), 1.0);
    assert_eq!(ended.of("Run", "Status"), []);
    let mut settings = place.settings(&json!([{"file": path}]));
    settings["log_format"] = json!("csv");
    watch.reconfigure(settings);
    mill.pass(15);
    assert_eq!(problem(&watch.full(), "log_format"), 0.0);
    written(&watch, "Nightly", 1.0);
    plugin.end(watch);
    assert_eq!(cells(&place.lines("Nightly")[0])[1], r"\\web1\Water\Level");
}

#[test]
fn a_set_without_a_directory_for_files_is_refused() {
    let plugin = Plugin::new();
    let settings = json!({"sets": [{"name": "Mill", "counters": [LEVEL]}]});
    let config = plugin_host::InstanceConfig { settings, ..plugin_host::InstanceConfig::default() };
    let found = plugin.library.validate("pla", &config).expect("it answers");
    let expected =
        "the set `Mill` logs to files: configure `storage: {directory: …}` in the exporter's configuration";
    assert_eq!(found[0].message, expected);
}

#[test]
fn records_go_to_tables_of_sqlite_with_their_raw_values() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let mut settings =
        place.settings(&json!([{"name": "Mill", "counters": [LOAD, LEVEL], "database": "archive"}]));
    settings["databases"] = json!({"archive": {"sqlite": "archive.db"}});
    let watch = plugin.watch(&mill.sim, settings);
    mill.wheel("big", |wheel| wheel.load = (2 << 32) | 9);
    watch.full();
    mill.pass(15);
    watch.full();
    written(&watch, "Mill", 2.0);
    plugin.end(watch);
    let database = Connection::open(place.directory().join("archive.db")).expect("the file is there");
    let sql = "SELECT d.InstanceName, c.RecordIndex, c.CounterValue, c.FirstValueA, c.FirstValueB, c.SecondValueA, \
               c.SecondValueB, c.MultiCount FROM CounterData c JOIN CounterDetails d ON d.CounterID = c.CounterID \
               JOIN DisplayToID i ON i.GUID = c.GUID WHERE i.DisplayString LIKE 'web1: Mill%' \
               AND d.MachineName = '\\\\web1' AND d.ObjectName = 'Wheels' AND d.CounterName = 'Load' \
               AND d.InstanceName = 'big' ORDER BY c.RecordIndex";
    let mut statement = database.prepare(sql).expect("PDH's tables are there");
    let rows = statement.query_map([], |row| {
        let raw = (row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?);
        Ok((row.get::<_, String>(0)?, row.get::<_, i32>(1)?, row.get::<_, f64>(2)?, raw))
    });
    let rows: Vec<_> =
        rows.expect("no parameters").map(|row| row.expect("the columns have their types")).collect();
    // A load is a number of 64 bits, in two halves. Nothing divides it.
    let raw: (i32, i32, i32, i32, i32) = (9, 2, 0, 0, 1);
    assert_eq!(rows, [("big".to_owned(), 1, LARGE_LOAD, raw), ("big".to_owned(), 2, LARGE_LOAD, raw)]);
}

#[test]
fn an_average_over_nothing_is_zero_in_files_and_in_tables() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let average = r"\Wheels(*)\Grain/Sack";
    let mut settings = place.settings(&json!([
        {"name": "Mill", "counters": [average]},
        {"name": "Tables", "counters": [average], "database": "archive"},
    ]));
    settings["databases"] = json!({"archive": {"sqlite": "archive.db"}});
    let watch = plugin.watch(&mill.sim, settings);
    for (grain, sacks) in [(100, 5), (100, 5), (130, 8)] {
        mill.wheel("big", |wheel| (wheel.grain, wheel.sacks) = (grain, sacks));
        watch.full();
        mill.pass(15);
    }
    for set in ["Mill", "Tables"] {
        written(&watch, set, 3.0);
    }
    plugin.end(watch);
    let lines = place.lines("Mill");
    let column: Vec<String> = lines[1..4].iter().map(|line| cells(line)[1].clone()).collect();
    assert_eq!(column, [" ", "0", "10"]);
    let database = Connection::open(place.directory().join("archive.db")).expect("the file is there");
    let sql = "SELECT CounterValue FROM CounterData WHERE RecordIndex IN (2, 3) ORDER BY RecordIndex";
    let mut statement = database.prepare(sql).expect("PDH's tables are there");
    let values = statement.query_map([], |row| row.get::<_, f64>(0)).expect("no parameters");
    assert_eq!(values.map(|value| value.expect("a number")).collect::<Vec<_>>(), [0.0, 10.0]);
}

#[test]
fn of_two_modules_with_a_log_of_one_name_in_a_database_one_writes_it() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let named = |set: &str, database: &str| {
        let path = place.path().join(format!("{set}.xml"));
        let text = format!(
            "<DataCollectorSet><Name>{set}</Name><PerformanceCounterDataCollector><LogFileFormat>2</LogFileFormat>\
             <DataSourceName>SQL:{database}!Levels</DataSourceName><Counter>\\Water\\Level</Counter>\
             </PerformanceCounterDataCollector></DataCollectorSet>"
        );
        fs::write(&path, text).expect("a file");
        let mut settings = place.settings(&json!([{"file": path}]));
        settings["databases"] = json!({database: {"sqlite": "archive.db"}});
        settings
    };
    let first = plugin.watch(&mill.sim, named("Mill", "archive"));
    first.full();
    written(&first, "Mill", 1.0);
    // The module calls the database otherwise.
    let second = plugin.watch(&mill.sim, named("Lock", "levels"));
    for _ in 0..20 {
        second.full();
        mill.pass(15);
        first.full();
    }
    written(&first, "Mill", 21.0);
    let ended = second.full();
    let of = |item: &str| ended.of("Log", item).iter().map(|(_, value)| *value).sum::<f64>();
    assert_eq!((of("Records"), of("Dropped Records")), (0.0, 0.0));
    assert_eq!(of("Waiting"), 20.0, "without the record of now");
    drop(first);
    plugin.end(second);
    let database = Connection::open(place.directory().join("archive.db")).expect("the file is there");
    let sql = "SELECT i.DisplayString, i.NumberOfRecords, count(*) FROM DisplayToID i JOIN CounterData c ON c.GUID = i.GUID";
    let row = database.query_row(sql, [], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, f64>(1)?, row.get::<_, f64>(2)?))
    });
    let (name, records, rows) = row.expect("there is one log");
    assert_eq!(name, "web1: Levels");
    assert_eq!(records, rows, "each record is there once");
    assert_eq!(rows, 21.0 + 21.0, "the second writes when the first has ended");
}

/// 2 times 2^32, and 9.
const LARGE_LOAD: f64 = 8_589_934_601.0;

#[test]
fn a_set_that_an_alert_starts_logs_for_its_duration_and_its_task_gets_the_files() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let told = place.path().join("told");
    let script = format!("printf '%s|' \"$@\" > {}", told.display());
    let mut settings = place.settings(&json!([
        {"name": "Watch", "alerts": [{"name": "load", "counter": LOAD, "above": 80, "start_set": "Mill"}]},
        {
            "name": "Mill", "start": "triggered", "duration": "30s", "counters": [LEVEL],
            "task": "Tell", "task_arguments": "{name} {state} {logs} {usertext}", "task_text": "a b",
        },
    ]));
    settings["tasks"] = json!({"Tell": {"command": ["/bin/sh", "-c", script, "tell"]}});
    let watch = plugin.watch(&mill.sim, settings);
    watch.full();
    assert_eq!(place.files("Mill"), []);
    mill.wheel("big", |wheel| wheel.load = 90);
    mill.pass(15);
    assert_eq!(status(&watch.full()), "Mill|running", "at once");
    mill.wheel("big", |wheel| wheel.load = 1);
    mill.pass(15);
    watch.full();
    mill.pass(15);
    watch.full();
    mill.pass(15);
    until(&watch, |ended| {
        let all = ended.of("Alert", "Actions");
        all.iter().any(|(labels, value)| labels == "Mill||task|done" && *value == 1.0)
    });
    plugin.end(watch);
    let files = place.files("Mill");
    let csv = files.iter().find(|(name, _)| name.ends_with(".csv")).expect("a log");
    assert_eq!(csv.1.lines().count(), 3, "two records: {csv:?}");
    let path = place.directory().join("Mill").join(&csv.0);
    let expected: Value = json!(format!("Mill|0|{}|a b|", path.display()));
    assert_eq!(json!(fs::read_to_string(&told).expect("it ran")), expected);
}

#[test]
fn folders_above_the_limit_are_removed_and_counted() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let set =
        json!([{"name": "Mill", "counters": [LEVEL], "segment": {"records": 1}, "keep": {"folders": 2}}]);
    let watch = plugin.watch(&mill.sim, place.settings(&set));
    mill.level(1);
    let ended = written(&watch, "Mill", 1.0);
    let none = ["folder_count", "free_disk", "size"].map(|limit| (format!("Mill|{limit}"), 0.0));
    assert_eq!(ended.of("Run", "Removed Folders"), none, "the first removal is an increase");
    for level in 2..=6_u32 {
        mill.pass(15);
        mill.level(level.into());
        // Folders are as old as their first records.
        written(&watch, "Mill", level.into());
    }
    let removed = |ended: &Ended| ended.of("Run", "Removed Folders");
    let ended = until(&watch, |ended| removed(ended).iter().map(|(_, folders)| folders).sum::<f64>() >= 4.0);
    assert_eq!(removed(&ended)[0], ("Mill|folder_count".to_owned(), 4.0));
    plugin.end(watch);
    // The data of the newest segments, of which each has one record, with their reports.
    let files = place.files("Mill");
    let found = files.iter().map(|(path, text)| {
        let (folder, name) = path.split_once('/').expect("it is in a folder");
        let number = folder.rsplit('-').next().unwrap_or_default();
        let values = text.lines().skip(1).filter_map(|line| Some(line.rsplit_once(',')?.1));
        let values = if name.ends_with(".csv") { values.collect() } else { Vec::new() };
        format!("{number}/{name} {}", values.join(" "))
    });
    let expected = |number: u32| {
        [
            format!("00000{number}/counters.csv \"{number}\""),
            format!("00000{number}/report.html "),
            format!("00000{number}/report.xml "),
        ]
    };
    assert_eq!(found.collect::<Vec<_>>(), [expected(5), expected(6)].concat());
}

#[test]
fn logs_of_exported_sets_without_names_of_their_own_are_told_apart_in_a_database() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let path = exported(&place, r"<Counter>\Water\Level</Counter>");
    let set = |name: &str| json!({"file": path, "name": name, "log_format": "sql", "database": "archive"});
    let mut settings = place.settings(&json!([set("Day"), set("Night")]));
    settings["databases"] = json!({"archive": {"sqlite": "archive.db"}});
    let watch = plugin.watch(&mill.sim, settings);
    watch.full();
    written(&watch, "Day", 1.0);
    written(&watch, "Night", 1.0);
    plugin.end(watch);
    let bytes = fs::read(place.directory().join("archive.db")).expect("the file is there");
    let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(has("web1: Day: Counters") && has("web1: Night: Counters"));
}

#[test]
fn a_hundred_logs_of_exported_sets_are_one_call() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let collector = |number: usize| {
        let (format, counter) = [(0, LOAD), (1, LEVEL), (0, r"\Wheels(big)\*")][number % 3];
        format!(
            "<PerformanceCounterDataCollector><FileName>log {number}</FileName><LogFileFormat>{format}</LogFileFormat>\
             <Counter>{counter}</Counter></PerformanceCounterDataCollector>"
        )
    };
    let collectors: String = (0..20).map(collector).collect();
    let sets: Vec<Value> = (0..5)
        .map(|number| {
            let path = place.path().join(format!("{number}.xml"));
            let text = format!(
                "<DataCollectorSet><Name>Set {number}</Name><SubdirectoryFormat>512</SubdirectoryFormat>{collectors}\
                 </DataCollectorSet>"
            );
            fs::write(&path, text).expect("a file in a new folder");
            json!({"file": path})
        })
        .collect();
    let watch = plugin.watch(&mill.sim, place.settings(&json!(sets)));
    watch.full();
    for _ in 0..2 {
        mill.pass(15);
        let calls = mill.sim.calls(6);
        watch.full();
        assert_eq!(mill.sim.calls(6) - calls, 1);
    }
    let ended = watch.full();
    assert_eq!(ended.of("Log", "Segments").iter().filter(|(_, files)| *files == 1.0).count(), 100);
    plugin.end(watch);
    for number in 0..5 {
        let files = place.files(&format!("Set {number}"));
        let lines: Vec<usize> = files.iter().map(|(_, text)| text.lines().count()).collect();
        assert_eq!(lines, [4; 20], "{files:?}");
    }
}
