//! Checked settings with compiled patterns.

use counter_poll::{TopN, Wanted, Which};
use counter_types::{NamePattern, PatternText, Selection, SelectionRules, Totals, same_name};
use counters::pcq::types::Lcid;
use plugin_sdk::Problem;

use super::{CountersetSettings, DetailSettings, NameSettings, Settings, TopNSettings, TotalsSettings};
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
                if let Some(twice) = named_twice(&wanted, &compiled) {
                    let message = format!("counterset `{twice}` is named twice");
                    let key = if counterset.first_of.is_empty() { "name" } else { "first_of" };
                    problems.push(Problem::new(format!("{pointer}/{key}"), message));
                }
                wanted.push(compiled);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(wanted) } else { Err(problems) }
}

/// A name that is in the names of this one and of an earlier one, or twice in its own.
fn named_twice(earlier: &[Wanted], one: &Wanted) -> Option<String> {
    let names = names_of(one);
    let is_twice = |place: usize, name: &&str| {
        let known = earlier.iter().flat_map(names_of).chain(names[..place].iter().copied());
        known.into_iter().any(|known| same_name(known, name))
    };
    names.iter().enumerate().find(|(place, name)| is_twice(*place, name)).map(|(_, name)| (*name).to_owned())
}

/// The names by which countersets are wanted, or the pattern.
fn names_of(wanted: &Wanted) -> Vec<&str> {
    match &wanted.which {
        Which::FirstOf(names) => names.iter().map(String::as_str).collect(),
        Which::Name(_) | Which::Matching(_) | Which::Guid(_) => vec![&wanted.label],
    }
}

/// The language in which names are shown beside the English ones.
pub(crate) fn language(settings: &Settings) -> Option<Lcid> {
    settings.language.map(Lcid)
}

/// Which facts of the host are shown beside its counters.
pub(crate) fn facts(settings: &Settings) -> WantedFacts {
    WantedFacts { host_info: settings.host_info, max_services: settings.max_services }
}

const FIRST_OF_EXAMPLE: &str = "first_of: [Process V2, Process]";
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
        let is_optional = self.optional.unwrap_or_else(|| which.is_pattern());
        Ok(Wanted { label, which, selection, instance_id, aggregate, top_n, is_optional })
    }

    fn which(&self, pointer: &str) -> Result<(String, Which), Problem> {
        if !self.first_of.is_empty() {
            return self.first_of(pointer);
        }
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

    fn first_of(&self, pointer: &str) -> Result<(String, Which), Problem> {
        if self.name.is_some() || self.guid.is_some() {
            let message = "`first_of` takes the place of `name` and `guid`";
            return Err(Problem::new(format!("{pointer}/first_of"), message).suggest(FIRST_OF_EXAMPLE));
        }
        let mut names = Vec::with_capacity(self.first_of.len());
        for (place, name) in self.first_of.iter().enumerate() {
            let (NameSettings::Plain(text) | NameSettings::Exact(text)) = name else {
                let message =
                    "patterns cannot be in `first_of`: write names, in the order in which they are tried";
                let place = format!("{pointer}/first_of/{place}");
                return Err(Problem::new(place, message).suggest(FIRST_OF_EXAMPLE));
            };
            if text.is_empty() {
                return Err(Problem::new(format!("{pointer}/first_of/{place}"), "the name is empty"));
            }
            names.push(text.clone());
        }
        Ok((names.join(", "), Which::FirstOf(names)))
    }
}
