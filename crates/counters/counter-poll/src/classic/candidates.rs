//! Which indexes of a host's table of names may be objects that are wanted.

use std::collections::HashMap;

use counter_types::same_name;
use counters::perflib_v1::NameTable;

use super::{Search, Unmet};
use crate::Which;

/// An index whose name is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) index: u32,
    /// Its name, as the host writes it.
    pub(super) name: String,
    /// Which of the wanted ones it is.
    pub(super) wanted: usize,
    /// Of a choice, the place of its name among the names.
    pub(super) rank: usize,
    /// Whether the host has one that comes before it.
    pub(super) is_beaten: bool,
}

/// All indexes whose names are wanted, in the order in which they are wanted.
pub(super) fn candidates(search: Search<'_>, names: &NameTable) -> Vec<Candidate> {
    let mut found = Vec::new();
    for &Unmet { wanted, names_max } in search.unmet {
        let Some(settings) = search.wanted.get(wanted) else { continue };
        let rank_of = |name: &str| match &settings.which {
            Which::Name(wanted) => same_name(name, wanted).then_some(0),
            Which::FirstOf(names) => names.iter().take(names_max).position(|wanted| same_name(name, wanted)),
            Which::Matching(pattern) => {
                let is_watched = || search.watched_names.iter().any(|other| same_name(other, name));
                (pattern.matches(name) && !is_watched()).then_some(0)
            }
            Which::Guid(_) => None,
        };
        let matching = names.iter().filter_map(|(index, name)| Some((index, name, rank_of(name)?)));
        let mut of_this: Vec<Candidate> = matching
            .map(|(index, name, rank)| Candidate {
                index,
                name: name.to_owned(),
                wanted,
                rank,
                is_beaten: false,
            })
            .collect();
        of_this.sort_unstable_by_key(|candidate| (candidate.rank, candidate.index));
        of_this.truncate(CANDIDATES_MAX);
        found.append(&mut of_this);
    }
    found
}

/// Of a choice the first object that `is_there` counts, and the others do not.
pub(super) fn choose(candidates: &mut [Candidate], is_there: impl Fn(u32) -> bool) {
    let mut best: HashMap<usize, usize> = HashMap::new();
    for one in candidates.iter().filter(|one| is_there(one.index)) {
        let rank = best.entry(one.wanted).or_insert(one.rank);
        *rank = one.rank.min(*rank);
    }
    for one in candidates {
        one.is_beaten = best.get(&one.wanted).is_some_and(|best| one.rank > *best);
    }
}

/// Names that one entry may match. A pattern that matches counters, too, would ask for hundreds of indexes that are no
/// objects, and Windows calls providers for each that it does not know.
pub(super) const CANDIDATES_MAX: usize = 64;
