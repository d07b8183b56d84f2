//! What metrics there are: the names of one naming profile, and which of them are collected.

use std::collections::BTreeMap;
use std::fmt;

use series::pipeline::{INSTANCE_LABELS, MappedSource, NameMap};

/// The metrics of a profile, or of a module of the configuration.
pub(super) struct View {
    /// By the name on the samples.
    sources: BTreeMap<String, Vec<MappedSource>>,
    selection: Box<dyn ModuleSelection>,
}

/// What a module collects.
pub(super) trait ModuleSelection {
    /// Whether a counter is.
    fn collects(&self, source: &MappedSource) -> Collects;

    /// Whether an instance of a counterset is, as far as the counterset is.
    fn takes(&self, of: Counterset<'_>, instance: &str) -> Collects;
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Counterset<'a> {
    Named(&'a str),
    /// A metric of it that has its native name.
    OfMetric(&'a str),
}

/// Everything, by default settings.
struct Everything;

impl ModuleSelection for Everything {
    fn collects(&self, _: &MappedSource) -> Collects {
        Collects::Yes
    }

    fn takes(&self, of: Counterset<'_>, instance: &str) -> Collects {
        if !instance.to_ascii_lowercase().ends_with(TOTAL) {
            return Collects::Unknown;
        }
        let of = match of {
            Counterset::Named(name) => format!("`{name}`"),
            Counterset::OfMetric(metric) => format!("the counterset of `{metric}`"),
        };
        Collects::After(vec![format!("add `totals: keep` to {of}: by default totals are left out")])
    }
}

/// The names of instances that sum up others end like this.
const TOTAL: &str = "_total";

/// Whether a counter is collected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Collects {
    Yes,
    /// It is, once all of this is done.
    After(Vec<String>),
    /// Nothing can be done for it here.
    Never,
    /// Only a host can tell.
    Unknown,
}

impl Collects {
    /// The less, the better.
    pub(super) const fn rank(&self) -> u32 {
        match self {
            Self::Yes => 0,
            Self::Unknown => 1,
            Self::After(_) => 2,
            Self::Never => 3,
        }
    }
}

impl View {
    /// All metrics of a profile, as if all that they need were collected.
    pub(super) fn of_profile(map: &NameMap) -> Self {
        let named = map.sources().iter().map(|source| (source.metric.clone(), source.clone()));
        Self::new(named, Everything)
    }

    /// These metrics; what an expression needs is asked.
    pub(super) fn new(
        named: impl IntoIterator<Item = (String, MappedSource)>,
        selection: impl ModuleSelection + 'static,
    ) -> Self {
        let mut sources: BTreeMap<String, Vec<MappedSource>> = BTreeMap::new();
        for (name, source) in named {
            sources.entry(name).or_default().push(source);
        }
        Self { sources, selection: Box::new(selection) }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.sources.keys().map(String::as_str)
    }

    /// What a metric is made of.
    pub(super) fn sources(&self, name: &str) -> &[MappedSource] {
        self.sources.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The metric that is made of the same counter.
    pub(super) fn name_of(&self, source: &MappedSource) -> Option<&str> {
        let mut all = self.sources.iter();
        let found = all.find(|(_, own)| own.iter().any(|own| own.is_same_source(source)));
        found.map(|(name, _)| name.as_str())
    }

    /// Whether a metric is collected; nothing if the view does not have it.
    pub(super) fn has(&self, name: &str) -> Option<Collects> {
        self.sources.get(name).map(|sources| self.collects_all(sources))
    }

    /// Whether a metric that is collected is so with this value of a label: if all that has the value is an instance that is
    /// not collected, it is not.
    pub(super) fn has_with(&self, metric: &str, label: &str, value: &str) -> Collects {
        let Some(sources) = self.sources.get(metric) else {
            // Native names have the labels of the source.
            let is_of_instance = metric.starts_with(NATIVE_PREFIX) && is_whole(label, value);
            return match is_of_instance {
                true => self.selection.takes(Counterset::OfMetric(metric), value),
                false => Collects::Unknown,
            };
        };
        let of_source = |source: &MappedSource| {
            let mut answers = Vec::new();
            for own in INSTANCE_LABELS {
                match source.labels.has_as(own, label, value) {
                    // Another value may become this one.
                    Some(true) if is_whole(own, value) => {
                        let objects = source.objects.iter();
                        answers.extend(
                            objects.map(|object| self.selection.takes(Counterset::Named(object), value)),
                        );
                    }
                    Some(_) => {}
                    None => answers.push(Collects::Never),
                }
            }
            answers.into_iter().min_by_key(Collects::rank).unwrap_or(Collects::Unknown)
        };
        sources.iter().map(of_source).min_by_key(Collects::rank).unwrap_or(Collects::Unknown)
    }

    /// Whether everything that a metric is made of is collected, as far as one counterset has it: the other countersets
    /// may be those of other versions.
    pub(super) fn collects_all(&self, sources: &[MappedSource]) -> Collects {
        let mut by_objects: BTreeMap<&[String], Collects> = BTreeMap::new();
        for source in sources {
            let collected = self.selection.collects(source);
            let all = by_objects.entry(source.objects.as_slice()).or_insert(Collects::Yes);
            match (&mut *all, collected) {
                (Collects::After(steps), Collects::After(more)) => {
                    let new: Vec<String> = more.into_iter().filter(|step| !steps.contains(step)).collect();
                    steps.extend(new);
                }
                (all, collected) if all.rank() < collected.rank() => *all = collected,
                _ => {}
            }
        }
        by_objects.into_values().min_by_key(Collects::rank).unwrap_or(Collects::Never)
    }
}

/// Whether a label of the source has the whole name of an instance. `process` has a part of it, but for totals.
fn is_whole(label: &str, value: &str) -> bool {
    label == INSTANCE_LABELS[0] || label == INSTANCE_LABELS[1] && value.to_ascii_lowercase().ends_with(TOTAL)
}

/// Of the names that no profile makes.
pub(super) const NATIVE_PREFIX: &str = "perfmon_";

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View of {} metrics", self.sources.len())
    }
}
