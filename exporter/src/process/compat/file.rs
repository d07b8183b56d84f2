//! Dashboards and rule files, whichever a file is.

use std::path::Path;

use config::Node;
use input::file;

use super::found::Found;
use super::{dashboards, rules};

/// Maximum bytes of a file.
const FILE_BYTES_MAX: usize = config::CONFIG_BYTES_MAX;

/// Reads a file.
///
/// # Errors
/// Why it cannot be read, or that it is neither. Composable: it stands behind the file's name.
pub(super) fn read(path: &Path) -> Result<Found, String> {
    let bytes = file::read(path, FILE_BYTES_MAX).map_err(|error| error.to_string())?;
    parse(&bytes)
}

/// Reads what a file holds.
///
/// # Errors
/// That it is neither.
pub(super) fn parse(bytes: &[u8]) -> Result<Found, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())?;
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('{')
        && let Some(root) = json(text)?
    {
        return dashboards::dashboard(&root);
    }
    let root = Node::parse(text).map_err(|error| match error.position {
        Some(position) => format!("{position}: {}", error.message),
        None => error.message,
    })?;
    rules::rules(&root)
}

/// The document, unless it is one of rules, which the reader of YAML reads with their lines.
fn json(text: &str) -> Result<Option<serde_json::Value>, String> {
    let root: serde_json::Value =
        serde_json::from_str(text).map_err(|error| format!("is no JSON: {error}"))?;
    let has_groups = |value: &serde_json::Value| value.get("groups").is_some_and(serde_json::Value::is_array);
    Ok((!has_groups(&root) && !root.get("spec").is_some_and(has_groups)).then_some(root))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{ProptestConfig, Strategy, any, proptest};
    use proptest::sample::select;

    use super::*;
    use crate::process::compat::report::Report;
    use crate::process::compat::{print, view::View};

    /// What files and expressions are made of.
    const PARTS: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "\"",
        "'",
        ":",
        ",",
        " ",
        "\n",
        "- ",
        "$",
        "${",
        "[[",
        "]]",
        "\\",
        "+",
        "=~",
        "!=",
        "panels",
        "expr",
        "targets",
        "title",
        "groups",
        "rules",
        "record",
        "alert",
        "templating",
        "list",
        "query",
        "type",
        "label_values",
        "rate",
        "sum by",
        "offset",
        "5m",
        "1e9",
        "__name__",
        "windows_cpu_time_total",
        "|",
        ".*",
        "\u{202e}",
        "\u{1b}",
    ];

    fn check(bytes: &[u8]) {
        let read = vec![("a".to_owned(), parse(bytes))];
        let map = config::built_in_profile("windows_exporter@0.30", false).unwrap();
        let report = Report::new("a test".to_owned(), true, vec![View::of_profile(&map)], &read);
        let text = print::text(&report);
        assert!(!text.contains(|char: char| char.is_control() && char != '\n'), "{text:?}");
        assert_eq!(print::json(&report)["ok"], report.is_ok());
    }

    fn quoted(text: &str) -> String {
        serde_json::Value::from(text).to_string()
    }

    proptest! {
        // Each case reads all profiles.
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_file_makes_the_program_panic(bytes in vec(any::<u8>(), 0..200)) {
            check(&bytes);
        }

        #[test]
        fn no_dashboard_and_no_rules_make_the_program_panic(
            text in vec(select(PARTS), 0..60).prop_map(|parts| parts.concat()),
        ) {
            check(text.as_bytes());
            let quoted = quoted(&text);
            check(format!("{{\"panels\": [{{\"type\": \"a\", \"title\": {quoted}, \"expr\": {quoted}}}]}}").as_bytes());
            check(format!("{{\"templating\": {{\"list\": [{{\"type\": \"query\", \"query\": {quoted}}}]}}}}").as_bytes());
            check(format!("groups: [{{rules: [{{record: {quoted}, expr: {quoted}}}]}}]").as_bytes());
        }
    }
}
