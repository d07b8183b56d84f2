use std::time::Duration;

use super::*;
use crate::host::CategoryWord;
use crate::model::SampleInterval;

fn problems(settings: &str) -> Vec<String> {
    let said = |it: Problem| format!("{}: {}", it.pointer, it.message);
    match plugin_sdk::parse_settings::<Settings>(settings) {
        Ok(settings) => compile(&settings).err().unwrap_or_default().into_iter().map(said).collect(),
        Err(problem) => vec![said(problem)],
    }
}

fn of_alert(alert: &str) -> Vec<String> {
    problems(&format!(r#"{{"sets": [{{"name": "a", "alerts": [{alert}]}}]}}"#))
}

#[test]
fn an_alert_is_written_in_two_ways() {
    let text = r#"{"sets": [{"name": "Office", "alerts": [
        {"counter": "\\Processor(*)\\% Processor Time", "above": 90, "for": "5m", "sample_interval": "1m"},
        {"name": "Full", "threshold": "\\Memory\\Available MBytes < 100", "sample_interval": "once", "event": false}
    ]}]}"#;
    let settings = plugin_sdk::parse_settings::<Settings>(text).unwrap();
    let sets = compile(&settings).unwrap().sets;
    let [first, second] = &sets[0].set().alerts[..] else { panic!("{sets:?}") };
    assert_eq!(first.threshold.to_string(), r"\Processor(*)\% Processor Time>90");
    assert_eq!((&*first.name, first.hold), ("% Processor Time", Duration::from_secs(300)));
    assert_eq!(first.interval, SampleInterval::Every(Duration::from_secs(60)));
    assert_eq!(second.threshold.to_string(), r"\Memory\Available MBytes<100");
    let rest = (&*second.name, second.hold, second.interval, first.logs_events, second.logs_events);
    assert_eq!(rest, ("Full", Duration::ZERO, SampleInterval::Once, true, false));
}

#[test]
fn a_threshold_that_cannot_be_read_is_refused_where_it_is_wrong() {
    let table = [
        (
            r#"{"threshold": "\\Memory\\Pages/sec > 10,5"}"#,
            "/threshold: threshold: a comma: write decimals with a point, and thousands without a separator, at character 23",
        ),
        (
            r#"{"threshold": "\\A\\B > 1; \\A\\C > 2"}"#,
            "/threshold: threshold: a semicolon: write each threshold as an entry of its own, at character 9",
        ),
        (
            r#"{"counter": "Memory", "above": 1}"#,
            "/counter: counter path: `\\` and a counter are missing, at character 7",
        ),
        (
            r#"{"counter": "\\A\\B", "above": "1,5"}"#,
            "/above: write a number such as 90.5, with a point and without quotation marks",
        ),
        (
            r#"{"counter": "\\A\\*", "above": 1}"#,
            "/counter: name one counterset and one counter: only instances may have `*` and `?`",
        ),
        (
            r#"{"counter": "\\A\\B", "above": 1, "sample_interval": "500ms"}"#,
            "/sample_interval: write at least `1s`, as on Windows",
        ),
        (
            r#"{"counter": "\\A\\B", "above": 1, "below": 2}"#,
            ": write `counter` with `above` or `below`, or `threshold` alone",
        ),
        (r#"{"counter": "\\A\\B"}"#, ": write `counter` with `above` or `below`, or `threshold` alone"),
    ];
    for (settings, problem) in table {
        assert_eq!(of_alert(settings), [format!("/sets/0/alerts/0{problem}")], "{settings}");
    }
}

#[test]
fn the_words_of_commands_may_be_secret_and_are_not_shown() {
    for key in ["command", "task_arguments", "task_text", "tasks"] {
        assert!(!SHOWN.contains(&key), "{key}");
    }
}

#[test]
fn names_tell_alerts_and_sets_apart() {
    let twice = r#"{"counter": "\\A\\B", "above": 1}, {"counter": "\\A\\B", "below": 0}"#;
    let expected = "/sets/0/alerts/1: alert 0 of the set has the same counter and name: give this one a `name` of its own";
    assert_eq!(of_alert(twice), [expected]);
    let set = r#"{"name": "a", "alerts": [{"counter": "\\A\\B", "above": 1}]}"#;
    let found = problems(&format!(r#"{{"sets": [{set}, {set}]}}"#));
    assert_eq!(found, ["/sets/1: /sets/0 is a set `a`, too: give this one another `name`"]);
}

#[test]
fn a_set_is_a_file_or_has_alerts() {
    assert_eq!(problems(r#"{"sets": []}"#), ["/sets: list at least one set"]);
    assert_eq!(
        problems(r#"{"sets": [{"name": "a"}]}"#),
        ["/sets/0: `file`, `alerts`, `counters` or `host` is missing"]
    );
    assert_eq!(
        problems(r#"{"sets": [{"file": "set.xml"}]}"#),
        ["/sets/0/file: write an absolute path, not `set.xml`"]
    );
    assert_eq!(
        problems(r#"{"sets": [{"file": "/nowhere/set.xml"}]}"#),
        ["/sets/0/file: `/nowhere/set.xml` cannot be read: No such file or directory (os error 2)"]
    );
}

#[test]
fn sets_of_the_host_are_named_by_patterns() {
    let text = r#"{"sets": [{"host": ["Office*", "Nightly"]}, {"host": ["*"], "category": "system", "refresh": "0s"}],
        "control": ["Night?y"]}"#;
    let settings = plugin_sdk::parse_settings::<Settings>(text).unwrap();
    let wanted = compile(&settings).unwrap().wanted;
    let [first, second] = &wanted[..] else { panic!("{wanted:?}") };
    assert!(first.names[0].matches("office hours") && !first.names[1].matches("Nightly 2"));
    assert_eq!((first.category, first.refresh), (CategoryWord::UserDefined, Duration::from_secs(300)));
    assert_eq!((second.category, second.refresh), (CategoryWord::System, Duration::ZERO));
    assert!(settings.allows_control("NIGHTLY") && !settings.allows_control("Office hours"));
    let none = plugin_sdk::parse_settings::<Settings>(r#"{"sets": [{"host": ["*"]}]}"#).unwrap();
    assert!(!none.allows_control("Nightly"), "nothing may be controlled by default");
    for (set, expected) in [
        (r#"{"host": []}"#, "/sets/0/host: name at least one set, such as `'Office*'`"),
        (
            r#"{"host": ["a", " b"]}"#,
            "/sets/0/host/1: write a name without blanks at its ends and without control characters",
        ),
        (
            r#"{"host": ["a"], "name": "b"}"#,
            "/sets/0: sets of the host have their names, alerts and counters there: write `host` with `category` and `refresh` alone",
        ),
        (
            r#"{"name": "b", "alerts": [], "refresh": "1m"}"#,
            "/sets/0: `category` and `refresh` belong to sets of the host: write `host`, too",
        ),
        (
            r#"{"host": ["a"], "refresh": "soon"}"#,
            "/sets/0/refresh: write a time such as `500ms`, `1s` or `1m`",
        ),
    ] {
        assert_eq!(problems(&format!(r#"{{"sets": [{set}]}}"#)), [expected]);
    }
    assert_eq!(problems(r#"{"sets": [{"host": ["a"], "category": "users"}]}"#).len(), 1);
}

#[test]
fn what_a_set_logs_is_refused_where_it_is_wrong() {
    let table = [
        (r#""counters": []"#, "/counters: list 1 to 10000 counters"),
        (
            r#""counters": ["\\A\\B", "\\*\\B"]"#,
            "/counters/1: name one counterset: only instances and counters may have `*` and `?`",
        ),
        (r#""counters": ["\\A\\B", "\\A\\B"]"#, "/counters/1: this counter is in the list already"),
        (r#""counters": ["\\A\\B"], "database": "x""#, "/database: `databases` of the module names no `x`"),
        (r#""counters": ["\\A\\B"], "log_format": "sql""#, ": `database` is missing, the name of a database"),
        (
            r#""counters": ["\\A\\B"], "time_zone": "Europe/Nowhere""#,
            "/time_zone: there is no time zone `Europe/Nowhere`: write one such as `Europe/Berlin` or `UTC`",
        ),
        (
            r#""counters": ["\\A\\B"], "schedules": [{"at": "25:00"}]"#,
            "/schedules/0/at: write a time of day such as `'22:00'`",
        ),
        (
            r#""counters": ["\\A\\B"], "start": "triggered", "schedules": [{"at": "22:00"}]"#,
            "/schedules: a set with `start: triggered` has no schedules",
        ),
        (
            r#""counters": ["\\A\\B"], "task": "Tell""#,
            "/task: the task `Tell` is not started: `tasks` does not name it",
        ),
        (
            r#""counters": ["\\A\\B"], "keep": {"size": "10"}"#,
            "/keep/size: write a size such as `100MB`, `2GB` or `1TB`",
        ),
        (
            r#""counters": ["\\A\\B"], "keep": {"actions": [{"age": "1w", "do": ["create_cab"]}]}"#,
            "/keep/actions/0/age: write 1 to 3660 days, such as `7d`",
        ),
        (
            r#""counters": ["\\A\\B"], "keep": {"actions": [{"do": []}]}"#,
            "/keep/actions/0/do: name at least one step, such as `create_cab`",
        ),
        (
            r#""counters": ["\\A\\B"], "keep": {"actions": [{"do": ["create_cab", "send_cab"]}]}"#,
            "/keep/actions/0/do: write where cabinet files are sent, `cabinets` at the module",
        ),
        (
            r#""alerts": [{"counter": "\\A\\B", "above": 1}], "keep": {"folders": 1}"#,
            "/keep: only a set with `counters` has `keep`",
        ),
    ];
    for (set, expected) in table {
        let found = problems(&format!(r#"{{"sets": [{{"name": "a", {set}}}]}}"#));
        assert_eq!(found, [format!("/sets/0{expected}")], "{set}");
    }
    let databases =
        r#"{"sets": [{"name": "a", "counters": ["\\A\\B"]}], "databases": {"d": {"sqlite": "../a.db"}}}"#;
    let expected = "/databases/d/sqlite: write the name of a file without a folder, such as `archive.db`";
    assert_eq!(problems(databases), [expected]);
    let cabinets = r#"{"sets": [{"name": "a", "counters": ["\\A\\B"]}], "cabinets": "cabs"}"#;
    assert_eq!(problems(cabinets), ["/cabinets: write an absolute path, such as `/mnt/cabinets`"]);
}

#[test]
fn actions_of_a_set_of_the_configuration_are_those_of_windows() {
    let text = r#"{"sets": [{"name": "a", "counters": ["\\A\\B"], "keep": {"actions": [
        {"age": "7d", "size": "1GB", "do": ["delete_cab", "create_cab", "send_cab"]}, {"do": ["delete_data", "delete_report"]}
    ]}}], "cabinets": "/mnt/cabs"}"#;
    let settings = plugin_sdk::parse_settings::<Settings>(text).unwrap();
    let module = compile(&settings).unwrap();
    let manager = &module.sets[0].set().logs.as_ref().unwrap().manager;
    let actions = manager.folder_actions.iter().map(|it| (it.age_days, it.size_mb, it.actions.unwrap().0));
    assert_eq!(actions.collect::<Vec<_>>(), [(Some(7), Some(1024), 0x0D), (None, None, 0x12)]);
}

#[test]
fn a_set_of_the_configuration_says_when_it_runs() {
    let text = r#"{"sets": [{"name": "Nightly", "counters": ["\\A(*)\\*"], "time_zone": "Europe/Berlin", "duration": "2d",
        "schedules": [{"days": ["mon", "sun"], "at": "22:00", "from": "2026-12-01"}],
        "segment": {"every": "1h", "size": "2GB", "records": 5}, "keep": {"free": "1GB", "delete": "largest"}}]}"#;
    let settings = plugin_sdk::parse_settings::<Settings>(text).unwrap();
    let module = compile(&settings).unwrap();
    assert_eq!(check_storage(&settings, &module).len(), 1, "it has no directory");
    let definition = module.sets[0].set().logs.as_ref().unwrap().definition();
    assert_eq!(definition.duration, Some(Duration::from_secs(2 * 86_400)));
    assert_eq!((definition.is_segmented, definition.segment_bytes_max), (true, Some(2 << 30)));
    // 2026-12-06 is the first Sunday of that month.
    let next = definition.next_start("2026-11-30T12:00:00Z".parse().unwrap());
    assert_eq!(next, Some("2026-12-06T21:00:00Z".parse().unwrap()));
}

#[test]
fn problems_above_those_that_are_shown_are_counted() {
    let text = (0..101).map(|_| r#"{"name": "High"}"#).collect::<Vec<_>>().join(", ");
    let found = problems(&format!(r#"{{"sets": [{{"name": "a", "alerts": [{text}]}}]}}"#));
    assert_eq!((found.len(), &*found[100]), (101, "/sets: and 1 more: mend those before first"));
}

#[test]
fn without_the_feature_logs_it_is_said_that_nothing_is_logged() {
    let text = r#"{"sets": [{"name": "a", "counters": ["\\Memory\\Pages/sec"]},
                            {"name": "b", "alerts": [{"counter": "\\Memory\\Pages/sec", "above": 1}]}]}"#;
    let settings = plugin_sdk::parse_settings::<Settings>(text).unwrap();
    let module = compile(&settings).unwrap();
    let [a, b] = [0, 1].map(|set| not_logged(module.sets[set].set(), false));
    assert!(a.is_some_and(|says| says.contains("install the one that has it")));
    assert_eq!(b, None);
    assert_eq!(not_logged(module.sets[0].set(), true), None);
}

#[cfg(feature = "logs")]
#[test]
fn a_password_of_a_database_is_read_as_those_of_identities_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pw");
    let settings = || {
        let text = serde_json::json!({
            "sets": [{"name": "a", "alerts": [{"counter": r"\Memory\Pages/sec", "above": 1}]}],
            "databases": {"db": {"postgresql": {"host": "h", "database": "d", "user": "u", "password_file": path}}},
        });
        plugin_sdk::parse_settings::<Settings>(&text.to_string()).unwrap()
    };
    for (written, expected, odd) in [
        (&b"hunter2"[..], Ok("hunter2"), None),
        (b"\xef\xbb\xbfhunter2\r\n", Ok("hunter2"), None),
        (b"hunter2 \n", Ok("hunter2 "), Some("begins or ends with white space")),
        (b"hunter2\n\n", Ok("hunter2\n"), Some("has more than one line end")),
        (b"\xff\xfeh\0u\0", Err("is UTF-16; save it as UTF-8"), None),
        (b"\xef\xbb\xbf\n", Err("is empty"), None),
    ] {
        std::fs::write(&path, written).unwrap();
        let file = format!("password file {}", path.display());
        let expected = expected.map(str::to_owned).map_err(|reason| format!("{file} {reason}"));
        assert_eq!(password(&path), expected, "{written:?}");
        let settings = settings();
        let said = warnings(&settings, &compile(&settings).unwrap());
        match odd {
            None => assert_eq!(said, [], "{written:?}"),
            Some(odd) => {
                let [Problem { pointer, message, .. }] = &said[..] else { panic!("{said:?}") };
                assert_eq!(pointer, "/databases/db/postgresql/password_file");
                assert!(message.starts_with(&format!("database `db`: {file} {odd}")), "{message}");
                assert!(!message.contains("hunter"), "{message}");
            }
        }
    }
    assert!(password(folder.path()).unwrap_err().ends_with(" is not a file"));
}
