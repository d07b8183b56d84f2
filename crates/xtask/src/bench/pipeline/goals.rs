//! What the figures ought to be, and how they stand.

use serde_json::Value;

/// The maximum of a figure: as a multiple of a peer's, or as a number if there is no peer.
struct Goal {
    row: &'static str,
    peer: Option<&'static str>,
    at_most: f64,
}

const fn times(row: &'static str, peer: &'static str, at_most: f64) -> Goal {
    Goal { row, peer: Some(peer), at_most }
}

const fn at_most(row: &'static str, at_most: f64) -> Goal {
    Goal { row, peer: None, at_most }
}

const GOALS: [Goal; 15] = [
    times("text", "memcpy", 3.0),
    times("text", "prometheus-client", 1.0 / 5.0),
    times("text", "metrics-exporter-prometheus", 1.0 / 50.0),
    times("text", "client_golang", 1.0 / 50.0),
    times("openmetrics", "memcpy", 3.0),
    times("openmetrics", "prometheus-client", 1.0 / 5.0),
    times("protobuf", "memcpy", 6.0),
    times("protobuf", "prometheus-client", 1.0 / 5.0),
    times("otlp", "memcpy", 2.0),
    times("push in gzip", "otelcol", 1.0),
    times("ingest", "memcpy", 2.0),
    times("ingest, shuffled", "memcpy", 5.0),
    at_most("register", 2.0),
    at_most("resident memory", 350.0),
    at_most("first byte", 20.0),
];

/// Whether one goal is met.
#[derive(Debug, PartialEq)]
pub(super) struct GoalResult {
    row: &'static str,
    peer: Option<&'static str>,
    at_most: f64,
    /// The ratio, or the figure itself; `None` where the peer did not run.
    found: Option<f64>,
}

impl GoalResult {
    /// A figure that is no number misses every goal; where the peer did not run nothing is known.
    pub(super) fn is_missed(&self) -> bool {
        self.found.is_some_and(|found| found.is_nan() || found > self.at_most)
    }

    /// The figure, and what it is held against.
    pub(super) fn title(&self) -> String {
        self.peer.map_or_else(|| self.row.to_owned(), |peer| format!("{} to {peer}", self.row))
    }

    fn verdict(&self) -> String {
        let of = if self.peer.is_some() { " ×" } else { "" };
        let word = if self.is_missed() { "MISSED" } else { "met" };
        match self.found {
            Some(_) => format!("goal {:.3}{of}: {word}", self.at_most),
            None => format!("goal {:.3}{of}: skipped", self.at_most),
        }
    }
}

/// Holds the figures against the goals. A row that is missing misses its goals.
pub(super) fn check(rows: &[Value]) -> Vec<GoalResult> {
    let results = GOALS.iter().map(|&Goal { row, peer, at_most }| {
        let figures = rows.iter().find(|figures| figures["name"] == row);
        let ours = figures.and_then(|figures| figures["ours"].as_f64()).unwrap_or(f64::NAN);
        let found = match peer {
            None => Some(ours),
            Some(_) if figures.is_none() => Some(f64::NAN),
            Some(peer) => {
                figures.and_then(|figures| figures["peers"][peer].as_f64()).map(|theirs| ours / theirs)
            }
        };
        GoalResult { row, peer, at_most, found }
    });
    results.collect()
}

/// Prints the table: each figure, and below it each peer's.
pub(super) fn print(rows: &[Value], results: &[GoalResult]) {
    for row in rows {
        let name = row["name"].as_str().unwrap_or_default();
        let (unit, note) =
            (row["unit"].as_str().unwrap_or_default(), row["note"].as_str().unwrap_or_default());
        let ours = row["ours"].as_f64().unwrap_or(f64::NAN);
        let of = |peer: Option<&str>| results.iter().find(|one| one.row == name && one.peer == peer);
        let verdict = of(None).map(GoalResult::verdict).unwrap_or_default();
        println!("{}", format!("{name:<34} {ours:>10.3} {unit:<10} {verdict:<24} {note}").trim_end());
        for (peer, figure) in row["peers"].as_object().into_iter().flatten() {
            let theirs = figure.as_f64().unwrap_or(f64::NAN);
            let verdict = of(Some(peer)).map(GoalResult::verdict).unwrap_or_default();
            let line = format!("  {peer:<32} {theirs:>10.3} {unit:<10} {:>8.3} × {verdict}", ours / theirs);
            println!("{}", line.trim_end());
        }
        for skipped in results.iter().filter(|one| one.row == name && one.found.is_none()) {
            println!(
                "  {:<32} {:>10} {unit:<10} {:>10} {}",
                skipped.peer.unwrap_or(""),
                "-",
                "",
                skipped.verdict()
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(rows: &Value, row: &str, peer: Option<&str>) -> (Option<f64>, bool) {
        let results = check(rows.as_array().unwrap());
        let one = results.iter().find(|one| one.row == row && one.peer == peer).unwrap();
        (one.found, one.is_missed())
    }

    #[test]
    fn a_ratio_is_met_or_missed_and_a_peer_that_did_not_run_is_neither() {
        let rows =
            json!([{"name": "text", "ours": 30.0, "peers": {"memcpy": 10.0, "prometheus-client": 100.0}}]);
        assert_eq!(found(&rows, "text", Some("memcpy")), (Some(3.0), false));
        assert_eq!(found(&rows, "text", Some("prometheus-client")), (Some(0.3), true));
        assert_eq!(found(&rows, "text", Some("client_golang")), (None, false));
    }

    #[test]
    fn a_figure_without_a_peer_has_a_limit_and_one_that_is_missing_misses_it() {
        let rows = json!([{"name": "register", "ours": 2.5, "peers": {}}]);
        assert_eq!(found(&rows, "register", None), (Some(2.5), true));
        assert!(found(&rows, "resident memory", None).1);
        assert!(found(&rows, "otlp", Some("memcpy")).1);
    }
}
