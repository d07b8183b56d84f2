//! Dashboards and rule files of other people.

use perfmon_tool::parsers::compat_file;
use serde_json::Value;

use crate::exporter::INPUT_BYTES_MAX;

/// Whatever a file holds, something is said of it, in lines that a terminal can show, and the same to programs.
pub fn files(bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(INPUT_BYTES_MAX)];
    let (text, json) = compat_file(bytes);
    assert!(!text.contains(|char: char| char.is_control() && char != '\n'), "{text:?}");
    let rows = |key: &str| json[key].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_failure =
        |verdict: &Value| ["renamed", "obtainable", "not_obtainable"].iter().any(|own| verdict == own);
    let fails = rows("metrics").iter().any(|metric| is_failure(&metric["verdict"]));
    assert_eq!(json["ok"], !fails && rows("unreadable").is_empty());
    for metric in rows("metrics") {
        assert!(metric["read_by"].as_array().is_some_and(|places| !places.is_empty()), "{metric}");
        // What fails says why, or what to read instead.
        let says = ["reason", "instead"].iter().any(|key| metric[*key] != "");
        assert!(says || !is_failure(&metric["verdict"]), "{metric}");
    }
}
