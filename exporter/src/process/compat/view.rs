//! What metrics there are: the names of one naming profile, and which of them are collected.

use std::collections::BTreeMap;
use std::fmt;

use series::pipeline::{MappedSource, NameMap};

/// The metrics of a profile, or of a module of the configuration.
pub(super) struct View {
    /// By the name on the samples.
    sources: BTreeMap<String, Vec<MappedSource>>,
    collects: Box<dyn Fn(&MappedSource) -> Collects>,
}

/// Whether a counter is collected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Collects {
    /// It is.
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
        Self::new(named, |_| Collects::Yes)
    }

    /// These metrics. `collects` is asked about each counter that an expression needs.
    pub(super) fn new(
        named: impl IntoIterator<Item = (String, MappedSource)>,
        collects: impl Fn(&MappedSource) -> Collects + 'static,
    ) -> Self {
        let mut sources: BTreeMap<String, Vec<MappedSource>> = BTreeMap::new();
        for (name, source) in named {
            sources.entry(name).or_default().push(source);
        }
        Self { sources, collects: Box::new(collects) }
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

    /// Whether everything that a metric is made of is collected, as far as one counterset has it: the other countersets
    /// may be those of other versions.
    pub(super) fn collects_all(&self, sources: &[MappedSource]) -> Collects {
        let mut by_objects: BTreeMap<&[String], Collects> = BTreeMap::new();
        for source in sources {
            let collected = (self.collects)(source);
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

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View of {} metrics", self.sources.len())
    }
}
