//! Which indexes of a host's table of names may be objects that are wanted.

use counter_types::same_name;
use perflib_v1::NameTable;

use super::search::Search;
use crate::Which;

/// An index whose name is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) index: u32,
    /// Its name, as the host writes it.
    pub(super) name: String,
    /// Which of the wanted ones it is.
    pub(super) wanted: usize,
}

/// All indexes whose names are wanted, in the order in which they are wanted.
pub(super) fn candidates(search: Search<'_>, names: &NameTable) -> Vec<Candidate> {
    let mut found = Vec::new();
    for &wanted in search.unmet {
        let Some(settings) = search.wanted.get(wanted) else { continue };
        let is_meant = |name: &str| match &settings.which {
            Which::Name(wanted) => same_name(name, wanted),
            Which::Matching(pattern) => {
                pattern.matches(name) && !search.watched_names.iter().any(|other| same_name(other, name))
            }
            Which::Guid(_) => false,
        };
        let matching = names.iter().filter(|(_, name)| is_meant(name));
        let mut of_this: Vec<Candidate> =
            matching.map(|(index, name)| Candidate { index, name: name.to_owned(), wanted }).collect();
        of_this.sort_unstable_by_key(|candidate| candidate.index);
        of_this.truncate(CANDIDATES_MAX);
        found.append(&mut of_this);
    }
    found
}

/// Names that one entry may match. A pattern that matches counters, too, would ask for hundreds of indexes that are no
/// objects, and Windows calls providers for each that it does not know.
pub(super) const CANDIDATES_MAX: usize = 64;
