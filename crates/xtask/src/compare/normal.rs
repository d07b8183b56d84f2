//! What two runs of one program cannot have equal, and what is written in its place.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The time of a run. Only times within it are the machine's; those of simulated hosts stand still, and are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) from_ns: i128,
    pub(super) to_ns: i128,
    /// The port of the host's objects, which the system chooses.
    pub(super) objects: u16,
}

/// In the place of [`Window::objects`].
pub(super) const PORT: &str = "<port of objects>";

impl Window {
    pub(super) const fn holds(self, unix_ns: i128) -> bool {
        self.from_ns <= unix_ns && unix_ns <= self.to_ns
    }
}

/// A kind of difference that means nothing.
pub(super) struct Normalisation {
    /// What is normalised, and why it cannot be equal.
    pub(super) what: &'static str,
    pattern: &'static str,
    replacement: Replacement,
}

enum Replacement {
    Text(&'static str),
    /// Where the match is a time of the run.
    TimeOfRun(fn(&Captures<'_>) -> Option<i128>),
}

/// All that is normalised, in this order. Ports and folders need nothing: both exporters get the same ones.
pub(super) const TABLE: [Normalisation; 4] = [
    Normalisation {
        what: "times of the run as dates: the wall clock",
        pattern: r"\b(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:Z|\+00:00)?",
        replacement: Replacement::TimeOfRun(|found| date(found, [1, 2, 3, 4, 5, 6])),
    },
    Normalisation {
        what: "times of the run as PDH writes them",
        pattern: r"\b(\d\d)/(\d\d)/(\d{4}) (\d\d):(\d\d):(\d\d)(?:\.\d+)?",
        replacement: Replacement::TimeOfRun(|found| date(found, [3, 1, 2, 4, 5, 6])),
    },
    Normalisation {
        what: "times of the run as seconds, milliseconds or nanoseconds since 1970",
        pattern: r"\b(\d{19}|\d{13}|\d{10})(\.\d+)?\b",
        replacement: Replacement::TimeOfRun(|found| {
            let digits = found[1].len();
            let unit = 10_i128.pow(u32::try_from(19 - digits).ok()?);
            Some(found[1].parse::<i128>().ok()? * unit)
        }),
    },
    Normalisation {
        what: "ids of processes",
        pattern: r#"\b((?:process_)?pid|process_id)(="?|: )\d+"#,
        replacement: Replacement::Text("$1$2<pid>"),
    },
];

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let patterns = TABLE.iter().map(|normalisation| Regex::new(normalisation.pattern));
    patterns.map(|pattern| pattern.expect("a pattern of the table, which a test compiles")).collect()
});

/// A text of a recording as it is compared.
pub(super) fn normalised(text: &str, window: Window) -> String {
    let objects = Regex::new(&format!(r#"([:="]){}\b"#, window.objects)).expect("a valid pattern");
    let mut text = objects.replace_all(text, format!("$1{PORT}")).into_owned();
    for (normalisation, pattern) in TABLE.iter().zip(PATTERNS.iter()) {
        text = normalisation.replacement.apply(pattern, &text, window);
    }
    text
}

impl Replacement {
    fn apply(&self, pattern: &Regex, text: &str, window: Window) -> String {
        match self {
            Self::Text(replacement) => pattern.replace_all(text, *replacement).into_owned(),
            Self::TimeOfRun(read) => {
                let replaced = pattern.replace_all(text, |found: &Captures<'_>| match read(found) {
                    Some(time) if window.holds(time) => "<time>".to_owned(),
                    _ => found[0].to_owned(),
                });
                replaced.into_owned()
            }
        }
    }
}

/// The time of a match whose groups are year, month, day, hour, minute and second.
fn date(found: &Captures<'_>, groups: [usize; 6]) -> Option<i128> {
    let [year, month, day, hour, minute, second] =
        groups.map(|group| found.get(group).and_then(|found| found.as_str().parse::<i128>().ok()));
    let (year, month, day) = (year?, month?, day?);
    // Years begin in March, so that a leap day is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some((((days * 24 + hour?) * 60 + minute?) * 60 + second?) * 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Saturday 2026-11-28 10:40:00 to 10:41:40 UTC.
    const RUN: Window =
        Window { from_ns: 1_795_862_400_000_000_000, to_ns: 1_795_862_500_000_000_000, objects: 49_152 };

    fn check(text: &str, expected: &str) {
        assert_eq!(normalised(text, RUN), expected);
    }

    #[test]
    fn times_of_the_run_are_equal_in_any_form_and_others_stay() {
        check("2026-11-28T10:40:01.123456Z  INFO", "<time>  INFO");
        check("\"11/28/2026 10:41:00.250\",\"1\"", "\"<time>\",\"1\"");
        check("x 1795862401.5\ny 1795862401500 1795862401500000000", "x <time>\ny <time> <time>");
        let others = "2026-06-01T12:00:00Z 1780315200 06/01/2026 12:00:00.000 1795862399 17958624010";
        check(others, others);
        check("2024-02-29 00:00:00", "2024-02-29 00:00:00");
    }

    #[test]
    fn processes_builds_and_the_chosen_port_are_named_alike() {
        check(
            "port=49152 \"49152\" a:49152 =491521 49152",
            "port=<port of objects> \"<port of objects>\" a:<port of objects> =491521 49152",
        );
        check("a{process_id=\"17\",x=\"17\"} 17", "a{process_id=\"<pid>\",x=\"17\"} 17");
    }
}
