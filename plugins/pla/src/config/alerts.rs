//! The alerts of a set that is written in the configuration.

use std::collections::HashMap;

use counter_types::PathError;
use pla_engine::{Comparison, Threshold};

use super::compile::Compiled;
use super::settings::{AlertSettings, Limit};
use super::{actions, check_name};
use crate::model::{self, Alert, NAME_CHARS_MAX};

impl Compiled {
    pub(super) fn alerts(
        &mut self,
        place: &str,
        settings: &[AlertSettings],
        is_optional: bool,
    ) -> Vec<Alert> {
        if settings.is_empty() {
            self.refuse(format!("{place}/alerts"), "list at least one alert".to_owned());
        }
        let mut seen: HashMap<(String, String), usize> = HashMap::new();
        let mut alerts = Vec::new();
        for (index, one) in settings.iter().enumerate() {
            let place = format!("{place}/alerts/{index}");
            let alert = match alert(one, is_optional) {
                Ok(alert) => alert,
                Err((key, message)) => {
                    self.refuse(format!("{place}{key}"), message);
                    continue;
                }
            };
            let key = (alert.name.clone(), alert.threshold.path.to_string());
            if let Some(earlier) = seen.insert(key, index) {
                let message = format!(
                    "alert {earlier} of the set has the same counter and name: give this one a `name` of its own"
                );
                self.refuse(place, message);
            }
            alerts.push(alert);
        }
        alerts
    }
}

/// The alert, or the key below it and what is wrong there. `of_set` is whether its set is optional.
fn alert(settings: &AlertSettings, of_set: bool) -> Result<Alert, (&'static str, String)> {
    let AlertSettings { name, threshold, counter, above, below, .. } = settings;
    let AlertSettings {
        hold,
        sample_interval,
        event,
        task,
        task_arguments,
        task_text,
        start_set,
        optional,
        ..
    } = settings;
    let (threshold, key) = match (threshold, counter, above, below) {
        (Some(text), None, None, None) => {
            let read: Result<Threshold, _> = text.parse();
            (read.map_err(|error| ("/threshold", error.to_string()))?, "/threshold")
        }
        (None, Some(text), Some(limit), None) => (crossed(text, Comparison::Above, *limit)?, "/counter"),
        (None, Some(text), None, Some(limit)) => (crossed(text, Comparison::Below, *limit)?, "/counter"),
        _ => {
            let message = "write `counter` with `above` or `below`, or `threshold` alone";
            return Err(("", message.to_owned()));
        }
    };
    model::check(&threshold).map_err(|reason| (key, reason.to_owned()))?;
    if let Some(name) = name {
        check_name(name).map_err(|reason| ("/name", reason))?;
    }
    let own_name = || threshold.path.counter.chars().take(NAME_CHARS_MAX).collect();
    Ok(Alert {
        name: name.clone().unwrap_or_else(own_name),
        threshold,
        interval: sample_interval.0,
        hold: hold.0,
        logs_events: *event,
        task: actions::call(task.as_ref(), task_arguments.as_ref(), task_text.as_ref())?,
        start_set: start_set.clone(),
        is_optional: optional.unwrap_or(of_set),
    })
}

fn crossed(
    counter: &str,
    comparison: Comparison,
    Limit(limit): Limit,
) -> Result<Threshold, (&'static str, String)> {
    let path = counter.trim().parse().map_err(|error: PathError| ("/counter", error.to_string()))?;
    Ok(Threshold { path, comparison, limit })
}
