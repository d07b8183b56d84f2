//! What a target has, as Windows calls it: countersets, their counters, and the instances of these.

use std::sync::Arc;
use std::time::Instant;

use super::Entry;
use super::watched::Moment;
use crate::model::{Family, FamilyPoints, Point, Snapshot};
use crate::pipeline::Store;
use crate::telemetry::TargetEntry;

/// The counterset of families that do not say which one they come from.
pub(super) const OTHER: &str = "Other";

/// The last collections of all modules of a target.
pub(super) struct Taken(Vec<Module>);

struct Module {
    snapshot: Arc<Snapshot>,
    collected: Option<Instant>,
}

impl Taken {
    pub(super) fn from(entry: &Entry) -> Self {
        let ended: Vec<Option<Instant>> =
            entry.read(|status| status.jobs.iter().map(|job| job.ended).collect());
        let modules = ended.into_iter().enumerate().filter_map(|(module, collected)| {
            Some(Module { snapshot: Store::snapshot(entry.store(module)?), collected })
        });
        Self(modules.collect())
    }

    /// Every counter that has series, in the order of registration.
    pub(super) fn counters(&self) -> impl Iterator<Item = Counter<'_>> {
        self.0.iter().flat_map(|module| {
            let blocks = module.snapshot.layout().blocks();
            module.snapshot.families().zip(blocks).filter_map(|(points, block)| {
                let series = block.chunks().iter().map(|chunk| chunk.len()).sum();
                let origin = Origin::of(points.family());
                (series > 0).then_some(Counter { points, series, origin, collected: module.collected })
            })
        })
    }
}

/// One family of one module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter<'a> {
    points: FamilyPoints<'a>,
    pub(super) series: usize,
    pub(super) origin: Origin<'a>,
    collected: Option<Instant>,
}

impl<'a> Counter<'a> {
    pub(super) fn family(&self) -> &'a Family {
        self.points.family()
    }

    /// Its series that have a value.
    pub(super) fn points(self) -> impl Iterator<Item = Point<'a>> {
        self.points.points()
    }

    /// When its values were collected.
    pub(super) fn moment(&self, entry: &TargetEntry, now: Instant) -> Moment {
        Moment { collected: self.collected.unwrap_or(now), interval: entry.interval }
    }
}

/// Where a family comes from, as its help says: `Sentences. \Object(*)\Item [type] …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin<'a> {
    /// The counterset.
    pub(super) object: &'a str,
    /// The counter.
    pub(super) item: &'a str,
    /// What it is, in sentences.
    pub(super) help: &'a str,
}

impl<'a> Origin<'a> {
    pub(super) fn of(family: &'a Family) -> Self {
        let (help, path) = match family.help.find(" \\") {
            _ if family.help.starts_with('\\') => ("", family.help.as_str()),
            Some(at) => (&family.help[..at], &family.help[at + 1..]),
            None => (family.help.as_str(), ""),
        };
        let path = path.strip_prefix('\\').unwrap_or_default();
        let path = path.find(" [").map_or(path, |end| &path[..end]);
        match path.split_once("(*)\\").or_else(|| path.split_once('\\')) {
            Some((object, item)) if !object.is_empty() && !item.is_empty() => Self { object, item, help },
            _ => Self { object: OTHER, item: &family.name, help: &family.help },
        }
    }
}

/// Which series of a counter: its labels without those that all series of the target have.
pub(super) fn instance(point: &Point<'_>, entry: &TargetEntry) -> String {
    let mut text = String::new();
    let is_common = |name: &str| name == "target" || entry.labels.iter().any(|(common, _)| common == name);
    for (name, value) in point.labels().filter(|(name, _)| !is_common(name)) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        if name != "counter_instance" {
            text.push_str(name);
            text.push('=');
        }
        text.push_str(&value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Kind;

    #[test]
    fn the_help_says_where_a_family_comes_from() {
        let check = |help: &str, object: &str, item: &str, rest: &str| {
            let family =
                Family { name: "m".into(), kind: Kind::Gauge, unit: String::new(), help: help.into() };
            assert_eq!(Origin::of(&family), Origin { object, item, help: rest }, "{help}");
        };
        check(
            r"Time, in user mode. \Processor Information(*)\% User Time [PERF_100NSEC_TIMER] = \X(*)\% Y",
            "Processor Information",
            "% User Time",
            "Time, in user mode.",
        );
        check(r"\Memory\Available Bytes [PERF_COUNTER_LARGE_RAWCOUNT]", "Memory", "Available Bytes", "");
        check(
            r"\.NET CLR Jit(*)\# of IL Bytes Jitted / sec",
            ".NET CLR Jit",
            "# of IL Bytes Jitted / sec",
            "",
        );
        check(
            "Instances left out. the last collection",
            OTHER,
            "m",
            "Instances left out. the last collection",
        );
        check("", OTHER, "m", "");
        check(r"cut off \Process V2(*)\", OTHER, "m", r"cut off \Process V2(*)\");
    }
}
