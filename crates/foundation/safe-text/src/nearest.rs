//! Suggestions for names that do not exist.

use strsim::osa_distance;

/// The name that is most similar to `wanted`; of several the first in the alphabet, and `None` if no name is similar enough.
///
/// Differences in case, in the order of words and in separators cost little. Otherwise each missing, wrong, extra
/// or swapped character counts, and at most a third of them may be so. Names may come from a hostile host: of long names only the
/// beginning is compared, and after some million comparisons the best name so far is returned.
#[must_use]
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted_form = Form::new(wanted);
    let farthest = (wanted_form.chars / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    let mut work_left = WORK_MAX;
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        if folded(wanted).eq(folded(name)) {
            return Some(name);
        }
        let form = Form::new(name);
        let work = 2 * (wanted_form.chars + 1) * (form.chars + 1);
        let Some(left) = work_left.checked_sub(work) else { break };
        work_left = left;
        let found = (wanted_form.distance(&form), name);
        if found.0 <= farthest && best.is_none_or(|best| found < best) {
            best = Some(found);
        }
    }
    best.map(|(_, name)| name)
}

/// "did you mean …", or the list of what there is when that is short, in alphabetical order.
#[must_use]
pub fn suggestion<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    hint(wanted, names, <[&str]>::sort_unstable)
}

/// The same with the list in the order of the names.
#[must_use]
pub fn suggestion_in_order(wanted: &str, names: &[&str]) -> Option<String> {
    hint(wanted, names.iter().copied(), |_| {})
}

fn hint<'a>(
    wanted: &str,
    names: impl IntoIterator<Item = &'a str> + Clone,
    sort: impl FnOnce(&mut [&'a str]),
) -> Option<String> {
    const LISTED_MAX: usize = 8;
    if let Some(name) = nearest(wanted, names.clone()) {
        return Some(format!("did you mean `{name}`?"));
    }
    let mut all: Vec<&str> = names.into_iter().take(LISTED_MAX + 1).collect();
    sort(&mut all);
    (1..=LISTED_MAX).contains(&all.len()).then(|| format!("there is `{}`", all.join("`, `")))
}

/// Characters of a name that are compared.
const COMPARED_CHARS_MAX: usize = 128;
/// Pairs of characters that one search may compare: well below a second, and some thousand names.
const WORK_MAX: usize = 1 << 25;

/// A name in the two forms that are compared.
struct Form {
    /// The name in one case.
    text: String,
    chars: usize,
    /// Its words only, in alphabetical order.
    words: String,
}

impl Form {
    fn new(name: &str) -> Self {
        let text: String = folded(name).take(COMPARED_CHARS_MAX).collect();
        // A slash is read as "per", and some people write it like that.
        let is_word = |word: &&str| !word.is_empty() && *word != "per";
        let mut split: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(is_word).collect();
        split.sort_unstable();
        let words = split.join(" ");
        Self { chars: text.chars().count(), words, text }
    }

    /// Inserted, removed, changed and swapped characters.
    fn distance(&self, other: &Self) -> usize {
        let as_written = osa_distance(&self.text, &other.text);
        if self.words.is_empty() {
            return as_written;
        }
        // Another order of words, or other separators, count as one mistake.
        as_written.min(1 + osa_distance(&self.words, &other.words))
    }
}

fn folded(name: &str) -> impl Iterator<Item = char> {
    name.chars().flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTERS: [&str; 6] = [
        "% Processor Time",
        "% Processor Utility",
        "% User Time",
        "Interrupts/sec",
        "Parking Status",
        "Avg. Disk sec/Read",
    ];

    fn check(wanted: &str, expected: Option<&str>) {
        assert_eq!(nearest(wanted, COUNTERS), expected, "{wanted}");
    }

    #[test]
    fn small_mistakes_find_the_name() {
        check("% processor time", Some("% Processor Time"));
        check("Processor Time", Some("% Processor Time"));
        check("% Procesor Tiem", Some("% Processor Time"));
        check("Interupts per sec", Some("Interrupts/sec"));
        check("avg disk sec read", Some("Avg. Disk sec/Read"));
        check("User Time %", Some("% User Time"));
        // Two swapped neighbours are one mistake, and a short name may have one.
        assert_eq!(nearest("ids", ["dis"]), Some("dis"));
        assert_eq!(nearest("ids", ["das"]), None);
    }

    #[test]
    fn words_may_be_in_another_order() {
        check("Time Processor", Some("% Processor Time"));
        check("Status Parking", Some("Parking Status"));
    }

    #[test]
    fn another_thing_is_not_suggested() {
        check("Working Set", None);
        check("", None);
        assert_eq!(nearest("abc", []), None);
    }

    // A host decides how many counters it has and how long their names are.
    #[test]
    fn a_flood_of_long_names_ends() {
        let long = "x".repeat(1 << 16);
        let flood = std::iter::repeat_n(long.as_str(), 1 << 20);
        assert_eq!(nearest(&"y".repeat(1 << 16), flood), None);
    }

    #[test]
    fn of_two_that_are_equally_near_the_first_in_the_alphabet_is_taken() {
        assert_eq!(nearest("disk 3", ["disk 2", "disk 1"]), Some("disk 1"));
    }

    #[test]
    fn what_there_is_is_listed_when_it_is_little() {
        let hint = |names: &[&'static str]| suggestion("zzz", names.iter().copied());
        assert_eq!(hint(&["corp", "admin"]).as_deref(), Some("there is `admin`, `corp`"));
        assert_eq!((hint(&[]), hint(&["corp"; 9])), (None, None));
        assert_eq!(
            suggestion_in_order("zzz", &["corp", "admin"]).as_deref(),
            Some("there is `corp`, `admin`")
        );
        assert_eq!(suggestion("crop", ["corp"]).as_deref(), Some("did you mean `corp`?"));
    }
}
