//! Laws of `pla-engine`: what it reads of texts that people and files write.

use pla_engine::{TaskArguments, TaskValues, Threshold};

use crate::input::Input;

/// A threshold: it is written as it is read again; its limit is a number that values can be compared with; a mistake is in the
/// text.
pub fn thresholds(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(Input::new(bytes).rest()) else { return };
    match text.parse::<Threshold>() {
        Ok(threshold) => {
            assert_eq!(threshold.to_string().parse().as_ref(), Ok(&threshold), "it is read as it is written");
            let is_across = |value| threshold.comparison.is_across(value, threshold.limit);
            assert!(threshold.limit.is_finite() && !is_across(threshold.limit) && !is_across(f64::NAN));
            assert!(is_across(f64::INFINITY) != is_across(f64::NEG_INFINITY), "one side is across");
            assert!(text.contains(&threshold.path.to_string()), "the path is the text's");
        }
        Err(error) => {
            assert!(error.position <= text.chars().count() && !error.reason.is_empty(), "{error}");
        }
    }
}

/// Arguments of a task: no value makes a word, ends one or is read as a variable; a mistake is where it is said to be.
pub fn arguments(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(Input::new(bytes).rest()) else { return };
    let arguments = match text.parse::<TaskArguments>() {
        Ok(arguments) => arguments,
        Err(error) => {
            let at = text.chars().nth(error.position);
            assert!(
                at.is_none_or(|at| at == '"' || at.is_control()) || error.position >= 8192,
                "{error}: {at:?}"
            );
            return;
        }
    };
    // The whole text is the value of each variable, and of none.
    let all = TaskValues {
        name: text,
        counter: text,
        date: text,
        threshold: text,
        value: text,
        logs: text,
        state: text,
        user_text: text,
    };
    let (filled, empty) = (arguments.words(&all), arguments.words(&TaskValues::default()));
    assert_eq!(filled.len(), empty.len(), "no value adds a word");
    for (filled, empty) in filled.iter().zip(&empty) {
        let inserted = filled.len() - empty.len();
        assert!(text.is_empty() || inserted % text.len() == 0, "values are inserted whole, and once");
    }
    // Where values have no braces, what is a variable and what is not can be told apart.
    let marked = TaskValues {
        name: "1",
        counter: "2",
        date: "3",
        threshold: "4",
        value: "5",
        logs: "7",
        state: "8",
        user_text: "6",
    };
    for (marked, empty) in arguments.words(&marked).iter().zip(&empty) {
        assert!(marked.len() >= empty.len());
        let names =
            ["{name}", "{counter}", "{date}", "{threshold}", "{value}", "{logs}", "{state}", "{usertext}"];
        let low = marked.to_ascii_lowercase();
        assert!(names.iter().all(|name| !low.contains(name)), "{marked}: each variable has its value");
    }
}
