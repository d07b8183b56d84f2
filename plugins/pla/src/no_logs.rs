//! Sets that log counters, in a plugin without the feature `logs`: none of them runs, and the check of settings, the log and
//! `perfmon_pla_set_problems` say so.

use std::time::Duration;

use counter_poll::paths::Frame;
use pla_engine::Moment;
use plugin_sdk::{LibrarySettings, Problem};
use serde::Deserialize;
use tokio::time::Instant;

use crate::actions::RunEnded;
use crate::config::StorageSettings;
use crate::counters::{Found, Kinds, Paths};
use crate::model::{Logs, Set};

/// The settings of the whole plugin, all of which are about logs.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "nothing: this plugin is built without the feature `logs`")]
pub(crate) struct LibraryOptions {}

impl LibrarySettings for LibraryOptions {
    fn configure(self) -> Result<(), Vec<Problem>> {
        Ok(())
    }
}

/// Stands for the sets of a target that log counters.
#[derive(Debug)]
pub(crate) struct Runs;

impl Runs {
    pub(crate) fn new(_machine: String, _storage: StorageSettings) -> Self {
        Self
    }

    pub(crate) fn reconfigure(&mut self, _storage: StorageSettings) {}

    pub(crate) const fn has_place(&self, _logs: &Logs) -> bool {
        false
    }

    pub(crate) fn select<'a>(
        &mut self,
        _sets: impl Iterator<Item = &'a Set>,
        _paths: &mut Paths,
        _is_own: impl Fn(&str) -> bool,
    ) {
    }

    pub(crate) async fn step(
        &mut self,
        _is_triggered: impl Fn(&str) -> bool,
        _moment: Moment,
        _patience: Instant,
    ) {
    }

    pub(crate) fn due(&self, _found: &Found, _now: Duration) -> Kinds {
        Kinds::default()
    }

    pub(crate) async fn sample(
        &mut self,
        _values: (&Found, &Frame, Kinds),
        _is_triggered: impl Fn(&str) -> bool,
        _now: Duration,
        _moment: Moment,
    ) {
    }

    pub(crate) fn store(&mut self, _moment: Moment) {}

    pub(crate) const fn take_ended(&mut self) -> Vec<RunEnded> {
        Vec::new()
    }

    pub(crate) const fn counters_elsewhere(&self, _set: &str) -> usize {
        0
    }

    pub(crate) async fn end(self, _deadline: Instant) {}
}
