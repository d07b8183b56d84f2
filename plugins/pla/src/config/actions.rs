//! The settings of actions: tasks, and what an alert says about them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pla_engine::TaskArgumentsError;
use plugin_session::command::parse_duration;
use serde::Deserialize;

use super::check_name;
use crate::model::{Task, TaskCall, Tasks, USER_TEXT_CHARS_MAX};

/// A task that alerts may start.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a task such as `{command: [/usr/local/bin/tell], timeout: 30s}`")]
pub(super) struct TaskSettings {
    /// The program with its first arguments.
    command: Vec<String>,
    /// What runs longer is ended.
    #[serde(default)]
    timeout: Timeout,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String", expecting = "a time such as `30s`")]
struct Timeout(Duration);

impl Default for Timeout {
    fn default() -> Self {
        Self(Duration::from_secs(30))
    }
}

impl TryFrom<String> for Timeout {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        match parse_duration(&text)? {
            time if time < Duration::from_secs(1) || time > TIMEOUT_MAX => {
                Err("write a time from `1s` to `1h`")
            }
            time => Ok(Self(time)),
        }
    }
}

/// What is wrong with the tasks, each with its place.
pub(super) fn check(tasks: &BTreeMap<String, TaskSettings>) -> Vec<(String, String)> {
    let mut wrong = Vec::new();
    if tasks.len() > TASKS_MAX {
        wrong.push(("/tasks".to_owned(), format!("name at most {TASKS_MAX} tasks, not {}", tasks.len())));
    }
    for (name, TaskSettings { command, .. }) in tasks.iter().take(TASKS_MAX) {
        let place = format!("/tasks/{}", plugin_sdk::pointer_token(name));
        if let Err(message) = check_name(name) {
            wrong.push((place.clone(), message));
        }
        match command.first() {
            None => wrong.push((format!("{place}/command"), "write a program and its arguments".to_owned())),
            Some(program) if !program.starts_with('/') => {
                let message = "write the absolute path of a program".to_owned();
                wrong.push((format!("{place}/command/0"), message));
            }
            Some(_) if command.len() > WORDS_MAX => {
                let message = format!("write at most {WORDS_MAX} arguments, not {}", command.len());
                wrong.push((format!("{place}/command"), message));
            }
            Some(_) => {
                let is_wrong = |word: &String| word.contains('\0') || word.len() > WORD_BYTES_MAX;
                if let Some(index) = command.iter().position(is_wrong) {
                    let message = format!("write at most {WORD_BYTES_MAX} bytes, none of them 0");
                    wrong.push((format!("{place}/command/{index}"), message));
                }
            }
        }
    }
    wrong
}

/// The tasks of settings that were checked.
pub(super) fn tasks(settings: &BTreeMap<String, TaskSettings>) -> Tasks {
    let task = |(name, task): (&String, &TaskSettings)| {
        let TaskSettings { command, timeout } = task;
        (name.clone(), Arc::new(Task { command: command.clone(), timeout: timeout.0 }))
    };
    settings.iter().map(task).collect()
}

/// The task that an alert starts, or the key that is wrong and why.
pub(super) fn call(
    name: Option<&String>,
    arguments: Option<&String>,
    text: Option<&String>,
) -> Result<Option<TaskCall>, (&'static str, String)> {
    let Some(name) = name else {
        return match (arguments, text) {
            (Some(_), _) => Err(("/task_arguments", "`task` is missing".to_owned())),
            (None, Some(_)) => Err(("/task_text", "`task` is missing".to_owned())),
            (None, None) => Ok(None),
        };
    };
    let arguments = arguments.map(|text| text.parse()).transpose();
    let arguments = arguments.map_err(|error: TaskArgumentsError| ("/task_arguments", error.to_string()))?;
    let user_text = text.cloned().unwrap_or_default();
    if user_text.contains('\0') || user_text.chars().count() > USER_TEXT_CHARS_MAX {
        let message = format!("write at most {USER_TEXT_CHARS_MAX} characters, none of them NUL");
        return Err(("/task_text", message));
    }
    Ok(Some(TaskCall { name: name.clone(), arguments: arguments.unwrap_or_default(), user_text }))
}

const TASKS_MAX: usize = 64;
const TIMEOUT_MAX: Duration = Duration::from_secs(3_600);
const WORDS_MAX: usize = 64;
const WORD_BYTES_MAX: usize = 4_096;
