//! What a task is started with.

use std::env;
use std::ffi::OsString;
use std::time::SystemTime;

use counter_types::{CounterPath, InstancePath};
use pla_engine::{TaskValues, Threshold};
use wire::FileTime;

use super::process::Program;
use crate::model::{Task, TaskCall};

/// An alert that began to fire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occasion<'a> {
    /// The name of the target.
    pub(super) target: &'a str,
    /// The host of the target.
    pub(super) host: &'a str,
    pub(super) set: &'a str,
    pub(super) alert: &'a str,
    pub(super) threshold: &'a Threshold,
    /// Of the counter; empty where there is only one.
    pub(super) instance: &'a str,
    pub(super) value: f64,
    pub(super) time: SystemTime,
}

/// A segment or a run of a set that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetOccasion<'a> {
    /// The name of the target.
    pub(super) target: &'a str,
    /// The host of the target.
    pub(super) host: &'a str,
    pub(super) set: &'a str,
    /// Whether the set goes on.
    pub(super) is_running: bool,
    /// The full paths of its files.
    pub(super) logs: &'a str,
    pub(super) time: SystemTime,
}

/// The program of a task. The text of a host, such as the name of an instance, is a part of one argument, whatever it contains.
///
/// # Errors
/// When an argument cannot be passed on.
pub(super) fn program(
    task: &Task,
    call: &TaskCall,
    occasion: &Occasion<'_>,
) -> Result<Program, &'static str> {
    let Occasion { target, host, set, alert, threshold, instance, value, time } = *occasion;
    let (counter, date) = (counter(&threshold.path, instance), date(time));
    let (limit, value) = (threshold.limit.to_string(), value.to_string());
    let words = call.arguments.words(&TaskValues {
        name: alert,
        counter: &counter,
        date: &date,
        threshold: &limit,
        value: &value,
        user_text: &call.user_text,
        ..TaskValues::default()
    });
    if counter.contains('\0') {
        return Err("an argument contains a NUL character");
    }
    with_words(task, words, [target, host, set])
}

/// The program of the task of a set.
///
/// # Errors
/// When an argument cannot be passed on.
pub(super) fn program_of_set(
    task: &Task,
    call: &TaskCall,
    occasion: &SetOccasion<'_>,
) -> Result<Program, &'static str> {
    let SetOccasion { target, host, set, is_running, logs, time } = *occasion;
    let date = date(time);
    let words = call.arguments.words(&TaskValues {
        name: set,
        date: &date,
        logs,
        state: if is_running { RUNNING } else { STOPPED },
        user_text: &call.user_text,
        ..TaskValues::default()
    });
    with_words(task, words, [target, host, set])
}

fn with_words(
    task: &Task,
    words: Vec<String>,
    [target, host, set]: [&str; 3],
) -> Result<Program, &'static str> {
    if words.len() > WORDS_MAX || words.iter().map(String::len).sum::<usize>() > BYTES_MAX {
        return Err("the arguments are too long");
    }
    if words.iter().any(|word| word.contains('\0')) {
        return Err("an argument contains a NUL character");
    }
    let inherited = INHERITED.into_iter().filter_map(|name| Some((name, env::var_os(name)?)));
    let path = || ("PATH", OsString::from(DEFAULT_PATH));
    let mut environment: Vec<(&'static str, OsString)> = inherited.collect();
    if environment.iter().all(|(name, _)| *name != "PATH") {
        environment.push(path());
    }
    let own = [("PERFMON_TARGET", target), ("PERFMON_HOST", host), ("PERFMON_SET", set)];
    environment.extend(own.map(|(name, value)| (name, OsString::from(value))));
    let words = task.command.iter().cloned().chain(words).collect();
    Ok(Program { words, environment, timeout: task.timeout })
}

/// The path of the counter with its instance. It begins with a backslash, so that no instance looks like an option.
fn counter(path: &CounterPath, instance: &str) -> String {
    let named = |name: &str| InstancePath { parent: None, name: name.to_owned(), index: None };
    let instance = Some(instance).filter(|instance| !instance.is_empty()).map(named);
    CounterPath { instance, ..path.clone() }.to_string()
}

/// A time as `2026-01-31T12:00:00Z`.
fn date(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let nanos = i128::try_from(since.as_nanos()).unwrap_or(i128::MAX);
    let wire::SystemTime { year, month, day, hour, minute, second, .. } =
        FileTime::from_unix_nanos(nanos).into();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Variables of the exporter's environment that a task gets, too.
const INHERITED: [&str; 4] = ["PATH", "LANG", "LC_ALL", "TZ"];
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// `{state}` of a set.
const RUNNING: &str = "1";
const STOPPED: &str = "0";
/// Words that follow the command.
const WORDS_MAX: usize = 256;
const BYTES_MAX: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn program_for(arguments: &str, user_text: &str, instance: &str) -> Result<Program, &'static str> {
        let threshold: Threshold = r"\Wheels(*)\Load>80".parse().expect("a threshold");
        let task = Task {
            command: vec!["/bin/tell".to_owned(), "--from".to_owned()],
            timeout: Duration::from_secs(9),
        };
        let arguments = arguments.parse().expect("arguments");
        let call = TaskCall { name: "Tell".to_owned(), arguments, user_text: user_text.to_owned() };
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_268_799);
        let (target, host, set, alert) = ("web1", "web1.corp", "Mill", "High");
        let threshold = &threshold;
        program(&task, &call, &Occasion { target, host, set, alert, threshold, instance, value: 81.5, time })
    }

    fn words(arguments: &str, user_text: &str, instance: &str) -> Vec<String> {
        program_for(arguments, user_text, instance).expect("it can be started").words
    }

    #[test]
    fn variables_become_parts_of_single_arguments() {
        let found = words("{name} {date} \"{value} > {threshold}\" {usertext} {counter}", "a {name}", "big");
        let expected = [
            "/bin/tell",
            "--from",
            "High",
            "2026-01-01T11:59:59Z",
            "81.5 > 80",
            "a {name}",
            r"\Wheels(big)\Load",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_hostile_instance_is_one_argument_that_is_no_option() {
        for instance in ["--delete", "a b\" 'c", "$(reboot); `x`", "{usertext}\n-x", "){date}(", "*"] {
            let found = words("{counter} end", "secret", instance);
            assert_eq!(found[2..], [format!(r"\Wheels({instance})\Load"), "end".to_owned()]);
        }
        assert_eq!(words("{counter}", "", "")[2..], [r"\Wheels\Load"]);
    }

    #[test]
    fn what_cannot_be_passed_on_is_refused() {
        let refused = |arguments: &str, text: &str, instance: &str| {
            program_for(arguments, text, instance).expect_err("it is refused")
        };
        assert_eq!(refused("{counter}", "", "a\0b"), "an argument contains a NUL character");
        assert_eq!(refused("{counter}", "", &"x".repeat(70_000)), "the arguments are too long");
        assert_eq!(refused(&"{usertext} ".repeat(100), &"x".repeat(4_000), ""), "the arguments are too long");
        assert_eq!(refused(&"a ".repeat(300), "", ""), "the arguments are too long");
    }

    #[test]
    fn a_task_gets_few_variables() {
        let environment = program_for("", "", "").expect("it can be started").environment;
        let names: Vec<&str> = environment.iter().map(|(name, _)| *name).collect();
        let allowed = [&INHERITED[..], &["PERFMON_TARGET", "PERFMON_HOST", "PERFMON_SET"]].concat();
        assert!(names.contains(&"PATH") && names.contains(&"PERFMON_TARGET"), "{names:?}");
        assert!(names.iter().all(|name| allowed.contains(name)), "{names:?}");
    }
}
