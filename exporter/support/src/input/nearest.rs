//! Suggestions for names that do not exist.

/// The candidate that `word` was probably meant to be: fewest edits, at most a third of its letters.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let chars = word.chars().count();
    let edits_max = (chars / 3).max(1);
    // To compare two texts takes as long as their lengths multiplied: only what a person may have mistyped is.
    let is_near = |candidate: &&str| {
        let other = candidate.chars().count();
        chars.max(other) <= WORD_CHARS_MAX && chars.abs_diff(other) <= edits_max
    };
    candidates
        .into_iter()
        .take(CANDIDATES_MAX)
        .filter(is_near)
        .map(|candidate| (edits(word, candidate), candidate))
        .filter(|(edits, candidate)| *edits <= edits_max && !candidate.is_empty())
        .min()
        .map(|(_, candidate)| candidate)
}

/// Among more of them nothing is searched.
const CANDIDATES_MAX: usize = 1_000;
/// A longer word is not mistyped.
const WORD_CHARS_MAX: usize = 256;

/// "did you mean …", or the list of what there is when that is short.
#[must_use]
pub fn suggestion<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    const LISTED_MAX: usize = 8;
    if let Some(candidate) = nearest(word, candidates.clone()) {
        return Some(format!("did you mean `{candidate}`?"));
    }
    let mut all: Vec<&str> = candidates.into_iter().take(LISTED_MAX + 1).collect();
    all.sort_unstable();
    if all.is_empty() || all.len() > LISTED_MAX {
        return None;
    }
    let listed: Vec<String> = all.iter().map(|name| format!("`{name}`")).collect();
    Some(format!("there is {}", listed.join(", ")))
}

/// Insertions, deletions, replacements and swaps of neighbours, without regard to case.
fn edits(a: &str, b: &str) -> usize {
    strsim::osa_distance(&a.to_lowercase(), &b.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swapped_letter_is_one_edit() {
        assert_eq!(nearest("tragets", ["targets", "transports"]), Some("targets"));
    }

    #[test]
    fn nothing_is_suggested_for_a_word_that_is_far_from_all() {
        assert_eq!(nearest("prometheus", ["targets", "web"]), None);
    }

    #[test]
    fn words_beyond_any_name_are_compared_with_nothing() {
        let (one, other) = ("a".repeat(1 << 20), "b".repeat(1 << 20));
        assert_eq!(nearest(&one, [other.as_str()]), None);
        assert_eq!(nearest("abc", [one.as_str(), "abd"]), Some("abd"));
    }

    #[test]
    fn what_there_is_is_listed_when_it_is_little() {
        let hint = suggestion("zzz", ["corp", "admin"]);
        assert_eq!(hint.as_deref(), Some("there is `admin`, `corp`"));
    }
}
