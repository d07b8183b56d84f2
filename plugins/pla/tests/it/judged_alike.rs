//! What a set in a file loses: `validate`, the check of a configuration, the log and the metric say it in the same words.

use std::fs;
use std::sync::Arc;

use parking_lot::Mutex;
use plugin_abi::Level;
use plugin_harness::Collection;
use plugin_host::testing::RecordedLog;
use plugin_host::{CommandOutput, CommandRequest, InstanceConfig};
use serde_json::json;

use crate::logging::{Place, cells, written};
use crate::steered::Mill;
use crate::world::{Plugin, SimHost};

const COUNTER: &str = r"<Counter>\Water\Level</Counter>";
const NAMED_BY_DAY: &str =
    "<FileNameFormat>1</FileNameFormat><FileNameFormatPattern>yyyyMMdd</FileNameFormatPattern>";
const SCHEDULE: &str =
    "<SchedulesEnabled>-1</SchedulesEnabled><Schedule><StartTime>4:00:00 AM</StartTime><Days>127</Days>";

/// How many warnings of a collection have these words.
fn times_logged(ended: &Collection, words: &str) -> usize {
    let is_it = |log: &&RecordedLog| {
        log.level == Level::Warn
            && log.fields.iter().any(|(name, value)| {
                name == "problem" && (words.ends_with(value.as_str()) || value.contains(words))
            })
    };
    ended.recorded.logs.iter().filter(is_it).count()
}

#[derive(Default)]
struct Printed(Mutex<String>);

impl CommandOutput for Printed {
    fn out(&self, bytes: &[u8]) {
        *self.0.lock() += std::str::from_utf8(bytes).unwrap();
    }

    fn err(&self, bytes: &[u8]) {
        self.out(bytes);
    }

    fn progress(&self, _line: &str) {}
}

/// Exit code and output of `validate`.
fn validate(plugin: &Plugin, files: &[&str]) -> (i32, String) {
    validate_as(plugin, &["--log-format", "csv"], files)
}

fn validate_as(plugin: &Plugin, format: &[&str], files: &[&str]) -> (i32, String) {
    let args = format.iter().chain(files).map(|word| (*word).to_owned()).collect();
    let request = CommandRequest { command: "validate".to_owned(), args, ..CommandRequest::default() };
    let printed = Arc::new(Printed::default());
    let running = plugin.library.run(&request, Arc::clone(&printed) as Arc<dyn CommandOutput>).unwrap();
    let code = running.wait();
    let text = printed.0.lock().clone();
    (code, text)
}

fn xml(set: &str, counters: &str) -> String {
    format!(
        "<DataCollectorSet><Name>Nightly</Name><RootPath>C:\\PerfLogs</RootPath>{set}<PerformanceCounterDataCollector>\
         <Name>Counters</Name><LogCircular>0</LogCircular><LogFileFormat>0</LogFileFormat>{counters}\
         </PerformanceCounterDataCollector></DataCollectorSet>"
    )
}

#[test]
fn what_a_set_loses_is_said_in_the_same_words_wherever_somebody_looks() {
    let table = [
        (
            String::new(),
            format!(r"{COUNTER}<Counter>\Water</Counter>"),
            "counter",
            r"`Counters`: `\Water`: counter path: `\` and a counter are missing, at character 7",
            true,
        ),
        (
            "<Duration>long</Duration>".to_owned(),
            COUNTER.to_owned(),
            "value",
            "line 1, column 71: `DataCollectorSet/Duration` has `long`, which is no number of 32 bits: it counts as missing",
            true,
        ),
        (
            format!("{SCHEDULE}<StartDate>someday</StartDate></Schedule>"),
            COUNTER.to_owned(),
            "value",
            "which is no date as month/day/year: the schedule starts nothing",
            true,
        ),
        (
            "<SubdirectoryFormat>1</SubdirectoryFormat><SubdirectoryFormatPattern>\\</SubdirectoryFormatPattern>".to_owned(),
            COUNTER.to_owned(),
            "value",
            "no data are logged: the names of folders: ",
            true,
        ),
        (
            format!("{SCHEDULE}</Schedule>"),
            COUNTER.to_owned(),
            "time_zone",
            "the times of its schedules count as UTC: write `time_zone: Europe/Berlin`, for example, or `UTC` at the set",
            false,
        ),
        (
            String::new(),
            format!("{NAMED_BY_DAY}{COUNTER}"),
            "time_zone",
            "the times in the names of its folders and files are UTC: write `time_zone: Europe/Berlin`, for example, or `UTC` at the set",
            false,
        ),
        (
            format!("{SCHEDULE}</Schedule>"),
            format!("{NAMED_BY_DAY}{COUNTER}"),
            "time_zone",
            "the times of its schedules and of the names of its folders and files count as UTC: write `time_zone: ",
            false,
        ),
    ];
    for (set, counters, kind, words, is_mistake) in table {
        let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
        let path = place.path().join("set.xml");
        fs::write(&path, xml(&set, &counters)).unwrap();
        let (code, text) = validate(&plugin, &[path.to_str().unwrap()]);
        assert!(text.contains(words), "{words} is not in {text}");
        assert_eq!(code != 0, is_mistake, "{text}");
        let settings = place.settings(&json!([{"file": path}]));
        let config = InstanceConfig { settings: settings.clone(), ..InstanceConfig::default() };
        let found = plugin.library.validate("pla", &config).unwrap();
        let said = found.iter().find(|problem| problem.message.contains(words));
        assert!(said.is_some_and(|problem| problem.is_warning && problem.pointer == "/sets/0"), "{found:?}");
        let watch = plugin.watch(&mill.sim, settings);
        let ended = watch.full();
        assert_eq!(
            times_logged(&ended, words),
            0,
            "the exporter logs what the check said, once for all targets"
        );
        let problems = ended.of("Set", "Problems");
        assert!(
            problems.iter().any(|(labels, value)| labels.ends_with(kind) && *value > 0.0),
            "{problems:?}"
        );
        if kind == "value" && set.contains("Schedule") {
            assert!(
                ended.of("Run", "Status").contains(&("Nightly|stopped".to_owned(), 1.0)),
                "it does not run always"
            );
        }
        plugin.end(watch);
    }
}

#[test]
fn mistakes_of_each_kind_fail_and_have_the_names_of_their_codes() {
    let collector = |kind: &str, inner: &str| format!("<{kind}><Name>x</Name>{inner}</{kind}>");
    let alert = |inner: &str| {
        collector("AlertDataCollector", &format!(r"{inner}<Alert>\Water\Level&gt;80.5</Alert>"))
    };
    let table = [
        (alert(r"<Alert>\Water\Level&gt;80,5</Alert>"), "a comma"),
        (
            alert("<SampleInterval>0</SampleInterval>"),
            "AlertDataCollector[1]/SampleInterval  0x80070057 E_INVALIDARG",
        ),
        (
            collector("ApiTracingDataCollector", "<ExePath>prog.exe</ExePath>"),
            "ExePath  0x8030010e PLA_E_EXE_FULL_PATH_REQUIRED",
        ),
        (
            collector(
                "ApiTracingDataCollector",
                r"<ExePath>C:\a.exe</ExePath><IncludeApis>f</IncludeApis><ExcludeApis>F</ExcludeApis>",
            ),
            "0x80300105 PLA_E_CONFLICT_INCL_EXCL_API",
        ),
        (
            xml("", &format!(r"{COUNTER}<Counter>water\level</Counter>")),
            "Counter  0x8030010d PLA_E_NO_DUPLICATES",
        ),
    ];
    let (plugin, place) = (Plugin::new(), Place::new());
    let path = place.path().join("set.xml");
    for (inner, words) in table {
        let text = if inner.starts_with("<DataCollectorSet>") {
            inner
        } else {
            format!("<DataCollectorSet>{inner}</DataCollectorSet>")
        };
        fs::write(&path, text).unwrap();
        let (code, printed) = validate(&plugin, &[path.to_str().unwrap()]);
        assert!(code != 0 && printed.contains(words), "{words}: {code}: {printed}");
    }
    let good = alert("<TaskRunAsSelf>-1</TaskRunAsSelf><FileName>x</FileName><LogAppend>0</LogAppend>");
    fs::write(&path, format!("<DataCollectorSet>{SCHEDULE}</Schedule>{good}</DataCollectorSet>")).unwrap();
    let (code, printed) = validate(&plugin, &[path.to_str().unwrap()]);
    assert_eq!(code, 0, "{printed}");
    let lines: Vec<&str> = printed.lines().skip(1).map(str::trim).collect();
    let ignored = "0x00300100 PLA_S_PROPERTY_IGNORED";
    assert_eq!(
        lines,
        [
            format!("Schedule  {ignored}  schedules start logs: alerts are judged always"),
            format!("AlertDataCollector[1]/TaskRunAsSelf  {ignored}  tasks run as the exporter does"),
        ]
    );
}

#[test]
fn a_log_without_a_format_is_a_binary_one_wherever_somebody_looks() {
    let (plugin, place) = (Plugin::new(), Place::new());
    let path = place.path().join("set.xml");
    let said = |format_in_file: &str, format: Option<&str>| {
        let text = xml("", COUNTER).replace("<LogFileFormat>0</LogFileFormat>", format_in_file);
        fs::write(&path, text).unwrap();
        let words: Vec<&str> = format.into_iter().flat_map(|format| ["--log-format", format]).collect();
        let printed = validate_as(&plugin, &words, &[path.to_str().unwrap()]);
        let mut settings = place.settings(&json!([{"file": path}]));
        if let Some(format) = format {
            settings["log_format"] = json!(format);
        }
        let config = InstanceConfig { settings, ..InstanceConfig::default() };
        let problems = plugin.library.validate("pla", &config).unwrap();
        (printed, problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>())
    };
    let binary = "<LogFileFormat>3</LogFileFormat>";
    let ((code, printed), problems) = said("", None);
    assert!(code != 0 && printed.contains("LogFileFormat  0x80300101 PLA_E_PROPERTY_CONFLICT"), "{printed}");
    assert!(problems.iter().any(|said| said.contains("0x80300101 PLA_E_PROPERTY_CONFLICT")), "{problems:?}");
    assert_eq!(((code, printed), problems), said(binary, None));
    let ((code, printed), problems) = said("", Some("csv"));
    assert!(code == 0 && printed.contains("the set logs as `csv`"), "{printed}");
    assert!(!problems.iter().any(|said| said.contains("LogFileFormat")), "{problems:?}");
    assert_eq!(((code, printed), problems), said(binary, Some("csv")));
}

// Counters as in a template that Microsoft publishes for servers of mail, under other names.
#[test]
fn a_template_whose_counters_have_no_first_backslash_is_good_and_logged() {
    let (sim, plugin, place) = (SimHost::new(), Plugin::new(), Place::new());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/no_first_backslash.xml");
    let (code, printed) = validate(&plugin, &[path]);
    assert_eq!(code, 0, "{printed}");
    let settings = place.settings(&json!([{"file": path}]));
    let config = InstanceConfig { settings: settings.clone(), ..InstanceConfig::default() };
    assert_eq!(plugin.library.validate("pla", &config).unwrap(), []);
    let watch = plugin.watch(&sim, settings);
    watch.full();
    sim.pass(std::time::Duration::from_secs(5));
    watch.full();
    written(&watch, "Post office", 2.0);
    plugin.end(watch);
    let header = cells(&place.lines("Post office")[0]);
    let has = |begin: &str| header.iter().any(|column| column.starts_with(begin));
    for begin in
        [r"\\web1\Memory\Available ", r"\\web1\System\Context Switches/sec", r"\\web1\Process(svchost#1)\"]
    {
        assert!(has(begin), "{begin} is not in {header:?}");
    }
}

#[test]
fn what_is_ordinary_is_left_out_and_what_files_share_is_said_once() {
    let (plugin, place) = (Plugin::new(), Place::new());
    let mut files = Vec::new();
    for number in 0..50 {
        let path = place.path().join(format!("set{number}.xml"));
        let counters = if number == 7 { format!("{COUNTER}{COUNTER}") } else { COUNTER.to_owned() };
        fs::write(&path, xml("", &counters)).unwrap();
        files.push(path.display().to_string());
    }
    let (_, printed) = validate(&plugin, &files.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(printed.lines().count(), 4, "{printed}");
    assert!(printed.contains("and 47 more:\n  RootPath"), "{printed}");
}

#[test]
fn counters_without_a_first_backslash_are_logged_and_judged() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let path = place.path().join("set.xml");
    let alert = r"<AlertDataCollector><Name>Low</Name><Alert>Water\Level&lt;60</Alert></AlertDataCollector>";
    fs::write(&path, xml(alert, r"<Counter>Water\*</Counter><Counter>Wheels(*)\Load</Counter>")).unwrap();
    let watch = plugin.watch(&mill.sim, place.settings(&json!([{"file": path}])));
    assert_eq!(watch.full().states(), ["Low() firing"]);
    written(&watch, "Nightly", 1.0);
    plugin.end(watch);
    let header = place.lines("Nightly")[0].clone();
    assert_eq!(cells(&header)[1..3], [r"\\web1\Water\Level", r"\\web1\Wheels(big)\Load"]);
}

#[test]
fn a_file_that_is_read_again_has_the_log_say_what_is_not_done_any_more() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let path = place.path().join("set.xml");
    fs::write(&path, xml("", COUNTER)).unwrap();
    let watch = plugin.watch(&mill.sim, place.settings(&json!([{"file": path}])));
    let words = "it counts as missing";
    assert_eq!(times_logged(&watch.full(), words), 0);
    fs::write(&path, xml("<Duration>long</Duration>", COUNTER)).unwrap();
    assert_eq!(times_logged(&watch.full(), words), 1);
    fs::write(&path, xml("<Duration>long</Duration> ", COUNTER)).unwrap();
    assert_eq!(times_logged(&watch.full(), words), 1, "it was said");
    plugin.end(watch);
}

#[test]
fn actions_of_a_file_that_are_not_done_are_said_by_the_check_and_by_the_log_once_the_file_changes() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let path = place.path().join("set.xml");
    let alert = |task: &str| {
        let inner = format!(
            r"<Name>High</Name><Alert>\Water\Level&gt;80</Alert><Task>{task}</Task><TriggerDataCollectorSet>Other</TriggerDataCollectorSet>"
        );
        xml(&format!("<AlertDataCollector>{inner}</AlertDataCollector>"), COUNTER)
    };
    fs::write(&path, alert("Tell")).unwrap();
    let settings = place.settings(&json!([{"file": path}]));
    let config = InstanceConfig { settings: settings.clone(), ..InstanceConfig::default() };
    let found = plugin.library.validate("pla", &config).unwrap();
    let task = |name: &str| format!("the task `{name}` is not started: `tasks` does not name it");
    let other =
        "the set `Other` is not started: the module has no such set, and `control` names none of the host";
    for words in [&*task("Tell"), other] {
        let said = format!("the set `Nightly`: `High`: {words}");
        let it = found.iter().filter(|problem| problem.message == said).collect::<Vec<_>>();
        assert!(it.len() == 1 && it[0].is_warning && it[0].pointer == "/sets/0", "{said}: {found:?}");
    }
    let watch = plugin.watch(&mill.sim, settings);
    let ended = watch.full();
    assert_eq!((times_logged(&ended, &task("Tell")), times_logged(&ended, other)), (0, 0));
    let counted = ended.of("Set", "Problems");
    for kind in ["task", "triggered_set"] {
        assert!(counted.contains(&(format!("Nightly|{kind}"), 1.0)), "{kind}: {counted:?}");
    }
    fs::write(&path, alert("Ask")).unwrap();
    let ended = watch.full();
    assert_eq!(times_logged(&ended, &task("Ask")), 1, "{:?}", ended.recorded.logs);
    plugin.end(watch);
}

#[test]
fn a_set_that_samples_more_often_than_its_target_is_collected_is_said() {
    let (plugin, place) = (Plugin::new(), Place::new());
    for (interval_ms, is_said) in [(Some(15_000), true), (Some(5_000), false), (None, false)] {
        let set = json!([{"name": "Mill", "counters": [r"\Water\Level"], "sample_interval": "5s"}]);
        let mut settings = place.settings(&set);
        settings["storage"]["interval_ms"] = json!(interval_ms);
        let config = InstanceConfig { settings, ..InstanceConfig::default() };
        let found = plugin.library.validate("pla", &config).unwrap();
        let words = "the set `Mill`: it samples every 5 s, and its target is collected every 15 s only";
        assert_eq!(
            found.iter().any(|problem| problem.is_warning && problem.message.starts_with(words)),
            is_said
        );
    }
}
