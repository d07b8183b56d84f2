//! `probe:` who may be asked for by URL, and how much of it there may be.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::hosts::AllowHosts;
use super::parse::DEADLINES;
use super::section::Item;

const CACHES: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(300);
const OFFSETS: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(30);
const IDLE: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(24 * 3600);

/// `probe:`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// `enabled`: whether `/probe` answers at all. Default true.
    pub enabled: bool,
    /// `allow_targets`: hosts that may be asked for besides those of the configured targets. Default none.
    pub allow_targets: AllowHosts,
    /// `deadline`: of one probe, where Prometheus does not say less. Default 10 s.
    pub deadline: Duration,
    /// `timeout_offset`: so much earlier than Prometheus gives up there is an answer. Default 500 ms.
    pub timeout_offset: Duration,
    /// `cache`: an answer that is younger is given again. Default 0, never.
    pub cache: Duration,
    /// `max_concurrent`: collections for probes at a time; more are answered 503. Default 64.
    pub max_concurrent: u32,
    /// `max_targets`: hosts that are not configured and kept connected; more are answered 503. Default 1000.
    pub max_targets: u32,
    /// `idle`: hosts that nobody asked for so long are let go of. Default 5 min.
    pub idle: Duration,
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            enabled: true,
            allow_targets: AllowHosts::default(),
            deadline: Duration::from_secs(10),
            timeout_offset: Duration::from_millis(500),
            cache: Duration::ZERO,
            max_concurrent: 64,
            max_targets: 1000,
            idle: Duration::from_secs(300),
        }
    }
}

/// Reads `probe:`.
pub(super) fn probe(item: &Item<'_>) -> Probe {
    let default = Probe::default();
    let Some(mut section) = item.section(&[]) else { return default };
    let allow = section.get("allow_targets").map(|item| item.list()).unwrap_or_default();
    let probe = Probe {
        enabled: section.get("enabled").and_then(|item| item.flag()).unwrap_or(default.enabled),
        allow_targets: allow_targets(&allow),
        deadline: section
            .get("deadline")
            .and_then(|item| item.duration(DEADLINES))
            .unwrap_or(default.deadline),
        timeout_offset: section
            .get("timeout_offset")
            .and_then(|item| item.duration(OFFSETS))
            .unwrap_or(default.timeout_offset),
        cache: section.get("cache").and_then(|item| item.duration(CACHES)).unwrap_or(default.cache),
        max_concurrent: section
            .get("max_concurrent")
            .and_then(|item| item.count(1..=65_536))
            .unwrap_or(default.max_concurrent),
        max_targets: section
            .get("max_targets")
            .and_then(|item| item.count(1..=65_536))
            .unwrap_or(default.max_targets),
        idle: section.get("idle").and_then(|item| item.duration(IDLE)).unwrap_or(default.idle),
    };
    section.finish();
    probe
}

fn allow_targets(items: &[Item<'_>]) -> AllowHosts {
    let mut allowed = AllowHosts::default();
    for item in items {
        let Some(text) = item.text() else { continue };
        if allowed.add(text).is_err() {
            let hint = "write '*.corp.example.com', 10.0.0.0/8 or one address".to_owned();
            item.problem(format!("`{text}` is neither a host name pattern nor a network"), Some(hint));
        }
    }
    allowed
}
