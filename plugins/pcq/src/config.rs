//! The settings of a module, as the exporter hands them over.

use std::time::Duration;

use counters::{Filter, Pattern, Selection, SelectionRules};
use plugin_sdk::Problem;
use serde::Deserialize;

/// What is fetched, and how the host is spoken to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// At least one.
    pub(crate) countersets: Vec<CountersetSettings>,
    /// The target's transport; the exporter fills it in.
    #[serde(default)]
    pub(crate) transport: TransportSettings,
}

/// One counterset.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct CountersetSettings {
    /// The English name; case does not matter.
    pub(crate) name: String,
    /// Which instances, by regular expressions over whole names; all where nothing is said.
    #[serde(default)]
    pub(crate) instances: FilterSettings,
    /// Which counters, by English name; all where nothing is said.
    #[serde(default)]
    pub(crate) counters: FilterSettings,
    /// Whether series carry the instance's number as label `instance_id`, for countersets whose instances
    /// share names.
    #[serde(default)]
    pub(crate) instance_id: bool,
}

/// What is in and what is out.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct FilterSettings {
    /// What is wanted; everything where nothing is said.
    #[serde(default)]
    pub(crate) include: Vec<String>,
    /// What is not, even when it is included.
    #[serde(default)]
    pub(crate) exclude: Vec<String>,
}

/// How the host is spoken to.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TransportSettings {
    /// What each of the stages dns and tcp may take, in milliseconds.
    pub(crate) connect_timeout_ms: u64,
    /// SMB.
    pub(crate) smb: SmbSettings,
}

/// How SMB is spoken.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SmbSettings {
    /// Whether SMB itself is encrypted. The calls within it always are.
    pub(crate) encryption: Encryption,
}

/// Whether SMB itself is encrypted.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Encryption {
    /// Only where the server insists.
    Disabled,
    /// Where the server can.
    #[default]
    Preferred,
    /// Or not at all.
    Required,
}

impl Default for TransportSettings {
    fn default() -> Self {
        Self { connect_timeout_ms: 3_000, smb: SmbSettings::default() }
    }
}

impl TransportSettings {
    /// What each of the stages dns and tcp may take.
    #[must_use]
    pub(crate) const fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms)
    }
}

impl CountersetSettings {
    /// Compiles the expressions, or says which one is none.
    fn compile(&self, pointer: &str) -> Result<Selection, Problem> {
        let filter = |settings: &FilterSettings| Filter {
            include: settings.include.clone(),
            exclude: settings.exclude.clone(),
        };
        let rules = SelectionRules {
            counters: filter(&self.counters),
            instances: filter(&self.instances),
            without_totals: false,
        };
        Selection::new(rules).map_err(|error| {
            let place = match error.pattern {
                Pattern::Include(index) => format!("{pointer}/instances/include/{index}"),
                Pattern::Exclude(index) => format!("{pointer}/instances/exclude/{index}"),
            };
            Problem::new(place, error.reason)
                .suggest("a regular expression for the whole name, such as `.*,_Total`")
        })
    }
}

/// One counterset with its expressions compiled.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// The English name.
    pub(crate) name: String,
    /// Which instances and counters.
    pub(crate) selection: Selection,
    /// Whether series carry the instance's number.
    pub(crate) instance_id: bool,
}

/// Compiles all countersets, or says everything that is wrong with them.
pub(crate) fn compile(settings: &Settings) -> Result<Vec<Wanted>, Vec<Problem>> {
    let mut problems = Vec::new();
    if settings.countersets.is_empty() {
        problems.push(
            Problem::new("/countersets", "no counterset is named").suggest("- {name: Processor Information}"),
        );
    }
    let mut wanted: Vec<Wanted> = Vec::with_capacity(settings.countersets.len());
    for (index, counterset) in settings.countersets.iter().enumerate() {
        let pointer = format!("/countersets/{index}");
        if counterset.name.is_empty() {
            problems.push(Problem::new(format!("{pointer}/name"), "the name is empty"));
        }
        if wanted.iter().any(|earlier| same_name(&earlier.name, &counterset.name)) {
            let message = format!("counterset `{}` is named twice", counterset.name);
            problems.push(Problem::new(format!("{pointer}/name"), message));
        }
        match counterset.compile(&pointer) {
            Ok(selection) => {
                let (name, instance_id) = (counterset.name.clone(), counterset.instance_id);
                wanted.push(Wanted { name, selection, instance_id });
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(wanted) } else { Err(problems) }
}

/// Whether two names are one to Windows.
#[must_use]
pub(crate) fn same_name(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}
