//! What a real Prometheus answers to the queries of a dashboard.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;

use super::panels::{self, Chosen, Query};
use crate::Result;
use crate::conformance::prometheus::percent_encoded;
use crate::http;
use crate::process::poll;

pub(super) const TIMEOUT: Duration = Duration::from_secs(90);

/// Every list that a variable offers has an entry.
pub(super) fn choices_are_there(
    dashboard: &Value,
    prometheus: SocketAddr,
    chosen: &Chosen<'_>,
) -> Result<()> {
    for panels::Choices { selector, label } in panels::choices(dashboard) {
        let matched = percent_encoded(&panels::filled(&selector, chosen)?);
        let path = format!("/api/v1/label/{label}/values?match[]={matched}");
        poll(&format!("values of {label} by {selector}"), TIMEOUT, || {
            let answer = ask(prometheus, &path)?;
            Ok(answer["data"].as_array().is_some_and(|values| !values.is_empty()).then_some(()))
        })?;
    }
    Ok(())
}

/// Asks until every query has a number for what was chosen, and does `meanwhile` each time.
pub(super) fn all_have_numbers(
    queries: &[(&Query, &Chosen<'_>)],
    prometheus: SocketAddr,
    meanwhile: impl Fn() -> Result<()>,
) -> Result<()> {
    let (mut left, mut missing) = (queries.to_vec(), String::new());
    let all = poll("data for every query", TIMEOUT, || {
        meanwhile()?;
        let mut still = Vec::new();
        for (query, chosen) in left.drain(..) {
            if number(query, prometheus, chosen)?.is_none() {
                still.push((query, chosen));
            }
        }
        left = still;
        missing = left.iter().map(|(query, _)| format!("\n{}: {}", query.panel, query.expression)).collect();
        Ok(left.is_empty().then_some(()))
    });
    all.map_err(|error| format!("{error}; empty are:{missing}").into())
}

/// Each column of a table that shows a label shows one that a series has, for one of the choices.
pub(super) fn columns_are_there(
    dashboard: &Value,
    prometheus: SocketAddr,
    choices: &[&Chosen<'_>],
) -> Result<()> {
    for panels::Columns { panel, expressions, labels } in panels::columns(dashboard) {
        let mut found = BTreeSet::new();
        for (expression, chosen) in
            expressions.iter().flat_map(|one| choices.iter().map(move |two| (one, two)))
        {
            for series in series(&panels::filled(expression, chosen)?, prometheus)? {
                found
                    .extend(series["metric"].as_object().into_iter().flatten().map(|(name, _)| name.clone()));
            }
        }
        if let Some(label) = labels.iter().find(|label| !found.contains(*label)) {
            return Err(format!("{panel}: a column shows `{label}`, there are {found:?}").into());
        }
    }
    Ok(())
}

/// The first series of the answer that is a number. Labels that the legend shows and no series has are an error, and so
/// are warnings.
pub(super) fn number(query: &Query, prometheus: SocketAddr, chosen: &Chosen<'_>) -> Result<Option<Value>> {
    let expression = panels::filled(&query.expression, chosen)?;
    let series = series(&expression, prometheus).map_err(|error| format!("{}: {error}", query.panel))?;
    for one in &series {
        if let Some(label) = query.labels.iter().find(|label| one["metric"][label].is_null()) {
            return Err(
                format!("{}: the legend shows `{label}`, there is {}", query.panel, one["metric"]).into()
            );
        }
    }
    let is_number = |one: &&Value| one["value"][1].as_str().is_some_and(|value| value != "NaN");
    Ok(series.iter().find(is_number).cloned())
}

/// What Prometheus answers, without a warning.
pub(super) fn series(expression: &str, prometheus: SocketAddr) -> Result<Vec<Value>> {
    let answer = ask(prometheus, &format!("/api/v1/query?query={}", percent_encoded(expression)))?;
    for remark in ["warnings", "infos"] {
        if !answer[remark].is_null() {
            return Err(format!("{expression}: {}", answer[remark]).into());
        }
    }
    Ok(answer["data"]["result"].as_array().ok_or_else(|| format!("{expression}: {answer}"))?.clone())
}

pub(super) fn ask(prometheus: SocketAddr, path: &str) -> Result<Value> {
    let answer: Value = serde_json::from_str(&http::get(prometheus, path, "application/json")?.body)?;
    if answer["status"] == "success" { Ok(answer) } else { Err(format!("{path}: {answer}").into()) }
}
