//! Expressions in rules.

use regex::Regex;
use series::pipeline::{RelabelConfig, Rule, Rules};

use crate::exporter::Input;
use crate::exporter::store::{accepts, plain_store};

/// What `keep` and `drop` make of a value by an expression: it is compiled, or refused for a reason; one of the two
/// actions takes a series and the other one does not; the whole value is compared; and where an expression means the
/// same to everybody, it means what it means to `regex`.
pub fn pattern(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let Ok(pattern) = str::from_utf8(input.chunk().unwrap_or_default()) else { return };
    let Ok(value) = str::from_utf8(input.take(VALUE_BYTES_MAX)) else { return };
    let rule = |action: &str| rule(action, pattern).map(|rule| Rules::from_iter([rule]));
    let (keep, drop) = match (rule("keep"), rule("drop")) {
        (Ok(keep), Ok(drop)) => (keep, drop),
        (Err(keep), Err(drop)) => {
            assert_eq!(keep, drop);
            return;
        }
        (keep, drop) => panic!("{keep:?} and {drop:?} of `{pattern}`"),
    };
    assert_eq!(rule("keep").as_ref(), Ok(&keep), "an expression is the same each time");
    let is_match = accepts(&plain_store(keep), &[("v", value)]);
    assert_ne!(is_match, accepts(&plain_store(drop), &[("v", value)]), "`{pattern}` and {value:?}");
    if pattern.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        assert_eq!(is_match, value == pattern, "`{pattern}` and {value:?}");
    }
    if is_plain(pattern) {
        let theirs = Regex::new(&format!("^(?s:{pattern})$")).expect("what we read, `regex` reads");
        assert_eq!(is_match, theirs.is_match(value), "`{pattern}` and {value:?}");
    }
}

fn rule(action: &str, pattern: &str) -> Result<Rule, String> {
    let config = RelabelConfig {
        source_labels: Some(vec!["v".to_owned()]),
        regex: Some(pattern.to_owned()),
        action: Some(action.to_owned()),
        ..RelabelConfig::default()
    };
    let of = |utf8| config.compile(utf8).map_err(|bad| bad.to_string());
    assert_eq!(of(false), of(true), "names have nothing to do with it");
    of(false).inspect_err(|message| assert!(!message.is_empty() && !message.contains('\n'), "{message}"))
}

/// Whether Prometheus and `regex` agree on every part of it.
fn is_plain(pattern: &str) -> bool {
    let is_common = |char: char| char.is_alphanumeric() || " .*+?|()_:;,^$".contains(char);
    pattern.chars().all(is_common)
        && !pattern.contains("(?")
        && !pattern.contains(|char: char| char.is_alphanumeric() && !char.is_ascii())
}

/// As long as a label's value may be.
const VALUE_BYTES_MAX: usize = 1_024;
