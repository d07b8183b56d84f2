//! `probe:` who may be asked for by URL, and how much of it there may be.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::hosts::AllowHosts;
use super::item::Item;
use super::scrape::DEADLINES;

const CACHES: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(300);
const OFFSETS: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(30);
const IDLE: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(24 * 3600);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// `enabled`: whether `/probe` is served. Default true.
    pub enabled: bool,
    /// `allow_targets`: hosts that may be asked for besides those of the configured targets. Default none.
    pub allow_targets: AllowHosts,
    /// `deadline`: of one probe, where Prometheus does not say less. Default 10 s.
    pub deadline: Duration,
    /// `timeout_offset`: how long before Prometheus' timeout it answers. Default 500 ms.
    pub timeout_offset: Duration,
    /// `cache`: an answer that is younger is given again. Default 0, never.
    pub cache: Duration,
    /// `max_concurrent`: collections for probes at a time; more are answered 503. Default 64.
    pub max_concurrent: u32,
    /// `max_targets`: hosts that are not configured and kept connected; more are answered 503. Default 1000.
    pub max_targets: u32,
    /// `idle`: hosts without requests for this time are dropped. Default 5 min.
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

pub(super) fn probe(item: &Item<'_>) -> Probe {
    let default = Probe::default();
    let Some(mut section) = item.section(&[]) else { return default };
    let allow_targets = section.get("allow_targets").map(|item| AllowHosts::read(&item)).unwrap_or_default();
    let probe = Probe {
        enabled: section.flag("enabled").unwrap_or(default.enabled),
        allow_targets,
        deadline: section.duration("deadline", DEADLINES).unwrap_or(default.deadline),
        timeout_offset: section.duration("timeout_offset", OFFSETS).unwrap_or(default.timeout_offset),
        cache: section.duration("cache", CACHES).unwrap_or(default.cache),
        max_concurrent: section.count("max_concurrent", 1..=65_536).unwrap_or(default.max_concurrent),
        max_targets: section.count("max_targets", 1..=65_536).unwrap_or(default.max_targets),
        idle: section.duration("idle", IDLE).unwrap_or(default.idle),
    };
    section.finish();
    probe
}
