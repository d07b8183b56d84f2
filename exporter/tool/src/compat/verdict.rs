//! What becomes of a metric that a dashboard or a rule reads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use config::{BUILT_IN_PROFILES, NotObtainable};
use safe_text::nearest::nearest;
use series::pipeline::{MappedSource, NameMap};

use super::promql::{self, Labelled, Reference};
use super::view::{Collects, NATIVE_PREFIX, View};

/// Whether a metric is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// A recording rule among the files makes it.
    Recorded,
    Present,
    /// It is, under another name.
    Renamed,
    /// It is with another configuration.
    Obtainable,
    /// No configuration makes it.
    NotObtainable,
    /// Only a host can tell.
    NotChecked,
    /// It comes from somebody else.
    NotOurs,
}

impl Verdict {
    /// The word in JSON.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Present => "there",
            Self::Recorded => "recorded",
            Self::Renamed => "renamed",
            Self::Obtainable => "obtainable",
            Self::NotObtainable => "not_obtainable",
            Self::NotChecked => "not_checked",
            Self::NotOurs => "not_ours",
        }
    }

    /// Whether what reads the metric shows nothing.
    pub(super) const fn is_failure(self) -> bool {
        matches!(self, Self::Renamed | Self::Obtainable | Self::NotObtainable)
    }
}

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) verdict: Verdict,
    /// A sentence, or empty.
    pub(super) reason: String,
    /// The metric to read instead, or what comes near; or empty.
    pub(super) instead: String,
    /// What to do, all of it.
    pub(super) next_steps: Vec<String>,
}

impl Judgement {
    fn new(verdict: Verdict) -> Self {
        Self { verdict, reason: String::new(), instead: String::new(), next_steps: Vec::new() }
    }

    fn because(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), ..Self::new(verdict) }
    }
}

/// Judges metrics by what there is.
#[derive(Debug)]
pub(super) struct Judge {
    views: Vec<View>,
    recorded: BTreeSet<String>,
    own: BTreeSet<String>,
    /// Those that have most of the metrics first.
    profiles: Vec<Known>,
}

/// A profile of ours.
#[derive(Debug)]
struct Known {
    name: &'static str,
    is_bug_compatible: bool,
    map: Arc<NameMap>,
}

impl Judge {
    /// `read` are the metrics that will be judged, and `recorded` those that recording rules make.
    pub(super) fn new(views: Vec<View>, recorded: BTreeSet<String>, read: &BTreeSet<&Reference>) -> Self {
        let known = BUILT_IN_PROFILES.iter().flat_map(|name| {
            [false, true].into_iter().filter_map(|is_bug_compatible| {
                let map = config::built_in_profile(name, is_bug_compatible)?;
                Some(Known { name, is_bug_compatible, map })
            })
        });
        let mut profiles: Vec<Known> = known.collect();
        profiles.sort_by_cached_key(|known| {
            let names: BTreeSet<&str> =
                known.map.sources().iter().map(|source| source.metric.as_str()).collect();
            let has = |reference: &&&Reference| {
                matches!(reference, Reference::Name(name) if names.contains(name.as_str()))
            };
            (known.is_bug_compatible, usize::MAX - read.iter().filter(has).count())
        });
        Self { views, recorded, own: own_names(), profiles }
    }

    /// What becomes of a metric.
    pub(super) fn judge(&self, reference: &Reference) -> Judgement {
        match reference {
            Reference::Name(name) => self.of_name(name),
            Reference::Matching(regex) => self.of_regex(regex),
            Reference::Variable(_) => {
                Judgement::because(Verdict::NotChecked, "The metric's name is the value of a variable.")
            }
            Reference::Labelled(labelled) => self.of_labelled(labelled),
        }
    }

    /// What becomes of the series of a metric with these labels; nothing is said where the metric itself is not there.
    fn of_labelled(&self, labelled: &Labelled) -> Judgement {
        let Labelled { metric, label, values } = labelled;
        let there = || Judgement::new(Verdict::Present);
        if self.recorded.contains(metric) || self.own.contains(metric) {
            return there();
        }
        let is_native = metric.starts_with(NATIVE_PREFIX);
        let is_there = |view: &&View| match view.has(metric) {
            Some(collects) => matches!(collects, Collects::Yes | Collects::Unknown),
            None => is_native,
        };
        let of_view = |view: &View| {
            values.iter().map(|value| view.has_with(metric, label, value)).min_by_key(Collects::rank)
        };
        // A module that lacks a native metric says nothing of the others.
        let of_views = self.views.iter().filter(is_there).filter_map(of_view);
        let found = of_views.filter(|found| !(is_native && *found == Collects::Never));
        let reason = format!("The metric is exported, but not with {labelled}.");
        match found.min_by_key(Collects::rank) {
            None | Some(Collects::Yes | Collects::Unknown) => there(),
            Some(Collects::After(next_steps)) => {
                Judgement { next_steps, ..Judgement::because(Verdict::Obtainable, reason) }
            }
            Some(Collects::Never) => Judgement::because(
                Verdict::NotObtainable,
                format!("{reason} The profile leaves it out: add up the others in PromQL."),
            ),
        }
    }

    fn of_name(&self, name: &str) -> Judgement {
        if self.recorded.contains(name) {
            return Judgement::new(Verdict::Recorded);
        }
        if self.own.contains(name) {
            return Judgement::new(Verdict::Present);
        }
        self.of_views(name)
            .or_else(|| self.renamed(name))
            .or_else(|| self.of_profiles(name))
            .or_else(|| config::not_obtainable(name).map(of_row))
            .unwrap_or_else(|| self.of_unknown(name))
    }

    fn of_views(&self, name: &str) -> Option<Judgement> {
        let found = self.views.iter().filter_map(|view| view.has(name)).min_by_key(Collects::rank)?;
        let none = "No module collects everything that it is made of.";
        Some(match found {
            Collects::Yes => Judgement::new(Verdict::Present),
            Collects::Unknown => Judgement::because(
                Verdict::NotChecked,
                "Only a host can tell whether the module collects what it is made of.",
            ),
            Collects::After(next_steps) => {
                Judgement { next_steps, ..Judgement::because(Verdict::Obtainable, none) }
            }
            Collects::Never => Judgement::because(Verdict::NotObtainable, none),
        })
    }

    /// Whether what has this name in another profile has another name here.
    fn renamed(&self, name: &str) -> Option<Judgement> {
        let others = self.profiles.iter().flat_map(|known| known.map.sources());
        let mut sources = others.filter(|source| source.metric == name);
        let new_name = sources.find_map(|source| self.views.iter().find_map(|view| view.name_of(source)))?;
        // Names of one exporter in its versions; another exporter's metrics have other labels, too.
        let (before, now) = (collector(name)?, collector(new_name)?);
        let reason = if before == now {
            String::new()
        } else {
            format!("It is under another collector: `{before}` became `{now}`.")
        };
        let next_steps = self.of_views(new_name).map(|judgement| judgement.next_steps).unwrap_or_default();
        Some(Judgement { verdict: Verdict::Renamed, reason, instead: new_name.to_owned(), next_steps })
    }

    /// Whether another profile has the name.
    fn of_profiles(&self, name: &str) -> Option<Judgement> {
        let has = |known: &&Known| known.map.sources().iter().any(|source| source.metric == name);
        let known = self.profiles.iter().find(has)?;
        let profile = known.name;
        let (reason, naming) = if known.is_bug_compatible {
            let naming = format!("{{profile: {profile}, bug_compatible: true}}");
            (format!("`{profile}` has it with `bug_compatible`."), naming)
        } else {
            (format!("`{profile}` has it."), profile.to_owned())
        };
        let mut next_steps = vec![format!("normalize.naming: {naming}")];
        let sources: Vec<MappedSource> =
            known.map.sources().iter().filter(|source| source.metric == name).cloned().collect();
        let collected = self.views.iter().map(|view| view.collects_all(&sources)).min_by_key(Collects::rank);
        if let Some(Collects::After(more)) = collected {
            next_steps.extend(more);
        }
        Some(Judgement { next_steps, ..Judgement::because(Verdict::Obtainable, reason) })
    }

    fn of_unknown(&self, name: &str) -> Judgement {
        if name.starts_with(OWN_PREFIX) {
            let near = self.own.iter().find(|other| is_near(name, other)).cloned().unwrap_or_default();
            let reason = "The exporter has no metric of its own with this name.";
            return Judgement { instead: near, ..Judgement::because(Verdict::NotObtainable, reason) };
        }
        if name.starts_with(NATIVE_PREFIX) {
            return Judgement::because(
                Verdict::NotChecked,
                "It is a native name, which the hosts' counters decide.",
            );
        }
        if !name.starts_with(WINDOWS_PREFIX) {
            return Judgement::new(Verdict::NotOurs);
        }
        let all: BTreeSet<&str> = self.views.iter().flat_map(View::names).collect();
        let of_profiles = self.profiles.iter().flat_map(|known| known.map.sources());
        let all: BTreeSet<&str> = of_profiles.map(|source| source.metric.as_str()).chain(all).collect();
        let near = all.into_iter().find(|other| is_near(name, other)).unwrap_or_default();
        let reason = "No naming profile of this program has it.";
        Judgement { instead: near.to_owned(), ..Judgement::because(Verdict::NotObtainable, reason) }
    }

    /// A pattern is there if a metric is that it matches.
    fn of_regex(&self, regex: &str) -> Judgement {
        let Some(matches) = promql::matcher(regex) else {
            return Judgement::because(Verdict::NotChecked, "The regular expression cannot be read.");
        };
        let names: BTreeSet<&str> = self.views.iter().flat_map(View::names).collect();
        let own = self.own.iter().chain(&self.recorded).map(String::as_str);
        let mut first = None;
        for name in names.into_iter().chain(own).filter(|name| matches(name)) {
            let judgement = self.of_name(name);
            if !judgement.verdict.is_failure() {
                return judgement;
            }
            first.get_or_insert((name, judgement));
        }
        match first {
            Some((name, judgement)) => {
                let reason = format!("It matches `{name}`, for example. {}", judgement.reason);
                Judgement { reason: reason.trim_end().to_owned(), ..judgement }
            }
            None if regex.starts_with(WINDOWS_PREFIX) => {
                Judgement::because(Verdict::NotObtainable, "No metric has a name that matches.")
            }
            None => Judgement::new(Verdict::NotOurs),
        }
    }

    /// What has to be collected for a metric: the counterset, or the namespace of facts.
    pub(super) fn needs(&self, reference: &Reference) -> BTreeMap<String, BTreeSet<String>> {
        let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        if let Reference::Name(name) = reference {
            for source in self.views.iter().flat_map(|view| view.sources(name)) {
                let object = source.objects.first().cloned().unwrap_or_default();
                needs.entry(source.namespace.clone()).or_default().insert(object);
            }
        }
        needs
    }
}

fn of_row(row: &NotObtainable) -> Judgement {
    Judgement {
        instead: row.instead.clone(),
        ..Judgement::because(Verdict::NotObtainable, row.reason.as_str())
    }
}

/// The `logon` of `windows_logon_sessions`.
fn collector(name: &str) -> Option<&str> {
    name.strip_prefix(WINDOWS_PREFIX)?.split('_').next()
}

/// Whether a name is probably another one, misspelt: one word of it is, or only one of both ends in `_total`.
fn is_near(name: &str, other: &str) -> bool {
    let stem = |name: &str| name.strip_suffix("_total").unwrap_or(name).to_owned();
    if stem(name) == stem(other) {
        return true;
    }
    let (words, others) = (name.split('_').collect::<Vec<_>>(), other.split('_').collect::<Vec<_>>());
    let mut different = words.iter().zip(&others).filter(|(word, other)| word != other);
    let (first, more) = (different.next(), different.next());
    words.len() == others.len()
        && more.is_none()
        && first.is_some_and(|(word, other)| nearest(word, [*other]).is_some())
}

/// The exporter's table of its own metrics, which its tests keep up to date.
const OWN_METRICS: &str = include_str!("../../../METRICS.md");

/// The names of the exporter's own metrics, those of each line of a histogram too.
fn own_names() -> BTreeSet<String> {
    let rows = OWN_METRICS.lines().filter_map(|row| {
        let mut cells = row.split('|').skip(1).map(str::trim);
        Some((cells.next()?.strip_prefix('`')?.strip_suffix('`')?, cells.next()?))
    });
    let names = rows.flat_map(|(name, kind)| {
        let lines: &[&str] = if kind == "histogram" { &["", "_bucket", "_sum", "_count"] } else { &[""] };
        lines.iter().map(move |line| format!("{name}{line}"))
    });
    names.filter(|name| name.starts_with(OWN_PREFIX)).collect()
}

const OWN_PREFIX: &str = "perfmon_exporter_";
const WINDOWS_PREFIX: &str = "windows_";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_metrics_are_those_of_the_table_with_each_line_of_a_histogram() {
        let own = own_names();
        let names = ["target_up", "failures_total", "scrape_duration_seconds_bucket", "build_info"];
        let missing = names.iter().find(|name| !own.contains(&format!("{OWN_PREFIX}{name}")));
        assert_eq!(missing, None, "{own:?}");
        assert!(!own.contains("perfmon_exporter_target_up_bucket"));
        assert!(own.len() > 100, "{}", own.len());
    }
}
