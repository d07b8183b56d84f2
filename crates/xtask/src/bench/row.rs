//! Figures as everybody gets them: a table for people, a JSON list for programs.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::Result;

/// One figure. Lower is better.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    pub(crate) ours: f64,
    /// What it may be at most.
    pub(crate) goal: Option<f64>,
    pub(crate) note: String,
}

impl Row {
    /// Whether the goal is met; a figure without one has nothing to miss. A figure that is no number met nothing.
    pub(crate) fn is_met(&self) -> bool {
        self.goal.is_none_or(|goal| self.ours <= goal)
    }

    fn verdict(&self) -> String {
        match self.goal {
            None => String::new(),
            Some(goal) if self.is_met() => format!("goal {goal}: met"),
            Some(goal) => format!("goal {goal}: MISSED"),
        }
    }

    fn to_json(&self) -> Value {
        let peers = self.goal.map_or_else(|| json!({}), |goal| json!({ "goal": goal }));
        json!({"name": self.name, "unit": self.unit, "ours": self.ours, "peers": peers, "note": self.note})
    }
}

pub(crate) fn print(rows: &[Row]) {
    for row in rows {
        let (name, unit, verdict, note) = (&row.name, row.unit, row.verdict(), &row.note);
        let line = format!("{name:<44} {:>12.3} {unit:<12} {verdict:<18} {note}", row.ours);
        println!("{}", line.trim_end());
    }
}

pub(crate) fn write(rows: &[Row], file: &Path) -> Result<()> {
    let list: Vec<Value> = rows.iter().map(Row::to_json).collect();
    Ok(fs::write(file, format!("{:#}\n", Value::from(list)))?)
}

/// The rows that miss their goal, by name.
pub(crate) fn missed(rows: &[Row]) -> Vec<&str> {
    rows.iter().filter(|row| !row.is_met()).map(|row| row.name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ours: f64, goal: Option<f64>) -> Row {
        Row { name: "p99".into(), unit: "ms", ours, goal, note: String::new() }
    }

    #[test]
    fn a_figure_at_its_goal_is_met_and_one_that_was_not_measured_is_not() {
        assert!(row(100.0, Some(100.0)).is_met());
        assert!(row(7.0, None).is_met());
        assert_eq!(missed(&[row(f64::NAN, Some(100.0)), row(100.1, Some(100.0))]), ["p99", "p99"]);
    }

    #[test]
    fn the_goal_stands_where_others_have_their_peers() {
        let expected =
            json!({"name": "p99", "unit": "ms", "ours": 7.0, "peers": {"goal": 100.0}, "note": ""});
        assert_eq!(row(7.0, Some(100.0)).to_json(), expected);
    }
}
