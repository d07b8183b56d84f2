//! Checked settings with compiled patterns.

use counter_poll::{TopN, Wanted, Which};
use counter_types::{NamePattern, PatternText, Selection, SelectionRules, Totals, same_name};
use ms_pcq::types::Lcid;
use plugin_sdk::Problem;

use super::names::NameSettings;
use super::{CountersetSettings, DetailSettings, Settings, TopNSettings, TotalsSettings};
use crate::host_info::WantedFacts;

/// Compiles all countersets, or returns all problems.
pub(crate) fn compile(settings: &Settings) -> Result<Vec<Wanted>, Vec<Problem>> {
    let mut problems = Vec::new();
    if settings.countersets.is_empty() {
        problems.push(
            Problem::new("/countersets", "no counterset is named").suggest("- {name: Processor Information}"),
        );
    }
    if settings.max_services > SERVICES_MAX {
        let message = format!("more than {SERVICES_MAX} services cannot be shown");
        problems.push(Problem::new("/max_services", message).suggest("1000"));
    }
    let mut wanted: Vec<Wanted> = Vec::with_capacity(settings.countersets.len());
    for (index, counterset) in settings.countersets.iter().enumerate() {
        let pointer = format!("/countersets/{index}");
        match counterset.compile(&pointer, settings.detail) {
            Ok(compiled) => {
                if wanted.iter().any(|earlier| same_name(&earlier.label, &compiled.label)) {
                    let message = format!("counterset `{}` is named twice", compiled.label);
                    problems.push(Problem::new(format!("{pointer}/name"), message));
                }
                wanted.push(compiled);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(wanted) } else { Err(problems) }
}

/// The language in which names are shown beside the English ones.
pub(crate) fn language(settings: &Settings) -> Option<Lcid> {
    settings.language.map(Lcid)
}

/// Which facts of the host are shown beside its counters.
pub(crate) fn facts(settings: &Settings) -> WantedFacts {
    WantedFacts { host_info: settings.host_info, max_services: settings.max_services }
}

/// Limit of `max_services`.
const SERVICES_MAX: u32 = 5_000;

impl CountersetSettings {
    /// Compiles the patterns, or returns the first problem.
    fn compile(&self, pointer: &str, detail: Option<DetailSettings>) -> Result<Wanted, Problem> {
        let (label, which) = self.which(pointer)?;
        if let Some(TopNSettings { counter, n }) = &self.top_n
            && (*n == 0 || counter.is_empty())
        {
            let problem =
                Problem::new(format!("{pointer}/top_n"), "a counter and how many instances are needed");
            return Err(problem.suggest("{counter: 'Working Set', n: 20}"));
        }
        let rules = SelectionRules {
            counters: self.counters.rules(),
            instances: self.instances.rules(),
            totals: match self.totals {
                None if self.instances.names_totals() => Totals::Keep,
                None => Totals::DropBesideParts,
                Some(TotalsSettings::Keep) => Totals::Keep,
                Some(TotalsSettings::Drop) => Totals::Drop,
                Some(TotalsSettings::Separate) => Totals::Separate,
            },
            detail: detail.map(DetailSettings::level),
        };
        let selection = Selection::new(&rules).map_err(|error| {
            let suggestion = error.error.suggestion;
            Problem::new(format!("{pointer}{}", error.place.pointer()), error.error.reason).suggest(
                suggestion.unwrap_or_else(|| {
                    "write a regular expression for the whole name, such as `.*,_Total`".to_owned()
                }),
            )
        })?;
        let top_n =
            self.top_n.as_ref().map(|TopNSettings { counter, n }| TopN { counter: counter.clone(), n: *n });
        let (instance_id, aggregate) = (self.instance_id, self.aggregate);
        Ok(Wanted { label, which, selection, instance_id, aggregate, top_n })
    }

    fn which(&self, pointer: &str) -> Result<(String, Which), Problem> {
        if let Some(guid) = &self.guid {
            let parsed = guid.trim_matches(['{', '}']).parse().map_err(|_| {
                Problem::new(format!("{pointer}/guid"), format!("`{guid}` is no GUID"))
                    .suggest("b4fc721a-0378-476f-89ba-a5a79f810b36")
            })?;
            let name = self.name.as_ref().map(NameSettings::text);
            return Ok((name.unwrap_or(guid).to_owned(), Which::Guid(parsed)));
        }
        let place = format!("{pointer}/name");
        let Some(name) = &self.name else {
            return Err(Problem::new(pointer, "neither name nor guid is given").suggest("name: Process V2"));
        };
        let text = name.text().to_owned();
        if text.is_empty() {
            return Err(Problem::new(place, "the name is empty"));
        }
        let pattern = match name {
            NameSettings::Plain(_) | NameSettings::Exact(_) => return Ok((text.clone(), Which::Name(text))),
            NameSettings::Wildcard(_) => PatternText::Wildcard(text.clone()),
            NameSettings::Regex(_) => PatternText::Regex(text.clone()),
        };
        let pattern = NamePattern::new(&pattern).map_err(|error| {
            let problem = Problem::new(place, error.reason.clone());
            error.suggestion.into_iter().fold(problem, Problem::suggest)
        })?;
        Ok((text, Which::Matching(pattern)))
    }
}
