//! Figures for programs: a list of `{"name", "unit", "ours", "peers": {…}, "note"}`, lower is better.
#![allow(dead_code, reason = "each user takes what it needs")]

use serde_json::{Map, Value, json};
use test_support::race::Results;

/// One figure and those that it is compared with.
pub(crate) fn row(name: &str, unit: &str, ours: f64, peers: &[(&str, f64)], note: &str) -> Value {
    let peers: Map<String, Value> =
        peers.iter().map(|&(peer, figure)| (peer.to_owned(), json!(figure))).collect();
    json!({ "name": name, "unit": unit, "ours": ours, "peers": peers, "note": note })
}

/// One contestant against others, each given as the name of the peer and that of the contestant; who did not run
/// is left out.
pub(crate) fn race(
    results: &Results,
    name: &str,
    unit: &str,
    ours: &str,
    peers: &[(&str, &str)],
    note: &str,
) -> Value {
    let nanos = |contestant: &str| results.nanos_a_unit(contestant);
    let peers: Vec<(&str, f64)> =
        peers.iter().filter_map(|&(peer, contestant)| Some((peer, nanos(contestant)?))).collect();
    row(name, unit, nanos(ours).unwrap_or(f64::NAN), &peers, note)
}

/// Writes them where `--json FILE` says, if it does.
pub(crate) fn write(rows: Vec<Value>) {
    if let Some(file) = argument("--json") {
        let rows = Value::Array(rows);
        std::fs::write(&file, format!("{rows:#}\n")).expect("the figures can be written");
    }
}

/// How many rounds a race has: nine, unless `--rounds N` says otherwise for a quick look.
pub(crate) fn rounds() -> usize {
    argument("--rounds").map_or(9, |rounds| rounds.parse().expect("--rounds takes a number"))
}

/// What comes after an option of the command line.
pub(crate) fn argument(option: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != option).nth(1)
}
