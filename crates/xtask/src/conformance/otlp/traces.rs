//! Collections as traces: a span for each, one below it for each stage, and the times of the inner ones within the
//! outer one's.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::bell::{self, now_unix_ns};
use super::collector::Receiver;
use super::compare::check_owner;
use super::{MOVING, STILL, Span};
use crate::Result;
use crate::scraped::Labels;

/// What the first collection of a host goes through.
const FIRST_STAGES: [&str; 7] = ["tcp", "smb", "auth", "pipe", "bind", "query", "decode"];
/// The bell's stages, and where its events say how long they took.
const BELL_STAGES: [(&str, &str); 3] = [("tcp", "tcp_ns"), ("query", "query_ns"), ("decode", "decode_ns")];
const INTERNAL: u64 = 1;
const CLIENT: u64 = 3;
const UNSET: u64 = 0;
const ERROR: u64 = 2;

/// A collection and its stages.
struct Trace {
    root: Rc<Span>,
    stages: Vec<Rc<Span>>,
}

/// A receiver that wants each collection has taken each, whole. Answers how many. To be called when everything has
/// ended.
pub(super) fn are_whole(receiver: &Receiver, began_unix_ns: u64) -> Result<usize> {
    let traces = traces(receiver, began_unix_ns)?;
    for target in [STILL, MOVING] {
        connects(&traces, target).map_err(|error| format!("{target}: {error}"))?;
    }
    let is_loss = |trace: &&Trace| trace.root.owner.target() == MOVING && trace.root.status.0 == ERROR;
    let loss = traces.iter().find(is_loss).ok_or("no collection failed when its host went away")?;
    if loss.root.attribute("error.type").is_empty() || loss.root.attribute("perfmon.stage").is_empty() {
        return Err(format!("failed without saying why: {:?}", loss.root).into());
    }
    let rung = of_bell(&traces)?;
    let said = bell::said(receiver)?;
    for (number, of_ring) in &said {
        match rung.get(number) {
            Some(trace) => {
                is_of_ring(trace, *number, of_ring).map_err(|error| format!("ring {number}: {error}"))?;
            }
            None if said_last(*number, &said) => {}
            None => return Err(format!("ring {number} has no trace").into()),
        }
    }
    Ok(traces.len())
}

/// A receiver that wants those collections of the bell that failed has taken them, and no others.
pub(super) fn are_failed_rings(receiver: &Receiver, began_unix_ns: u64) -> Result<()> {
    let traces = traces(receiver, began_unix_ns)?;
    let rung = of_bell(&traces)?;
    let said = bell::said(receiver)?;
    let failed = said.keys().copied().filter(|number| bell::fails(*number));
    let missing = failed.filter(|number| !rung.contains_key(number) && !said_last(*number, &said)).count();
    let others = rung.keys().filter(|number| !bell::fails(**number)).count() + traces.len() - rung.len();
    if missing == 0 && others == 0 && !rung.is_empty() {
        Ok(())
    } else {
        let found = rung.len();
        Err(format!("{found} traces of failed collections, {missing} missing, and {others} unexpected")
            .into())
    }
}

/// The exporter may have ended before the collection did.
fn said_last(number: u64, said: &BTreeMap<u64, Labels>) -> bool {
    said.last_key_value().is_some_and(|(last, _)| *last == number)
}

/// What was taken, by trace. A span may have come twice, since the collector went down before it answered.
fn traces(receiver: &Receiver, began_unix_ns: u64) -> Result<Vec<Trace>> {
    let mut by_trace: BTreeMap<String, BTreeMap<String, Rc<Span>>> = BTreeMap::new();
    for span in receiver.spans()? {
        let spans = by_trace.entry(span.trace.clone()).or_default();
        let known = spans.entry(span.id.clone()).or_insert_with(|| Rc::clone(&span));
        if *known != span {
            return Err(format!("{span:?} and {known:?} have one id").into());
        }
    }
    let mut traces = Vec::new();
    for spans in by_trace.into_values() {
        let (mut roots, stages): (Vec<_>, Vec<_>) = spans.into_values().partition(|span| span.is_root());
        let (Some(root), true) = (roots.pop(), roots.is_empty()) else {
            return Err(format!("a trace has one root; this one has others: {stages:?}").into());
        };
        let trace = Trace { root, stages };
        nests(&trace, began_unix_ns)?;
        traces.push(trace);
    }
    traces.sort_by_key(|trace| trace.root.start);
    Ok(traces)
}

/// The stages are the root's, each is there once, and none begins before or ends after it.
fn nests(trace: &Trace, began_unix_ns: u64) -> Result<()> {
    let Trace { root, stages } = trace;
    let (trace_digits, span_digits) = (root.trace.len(), root.id.len());
    let is_now = began_unix_ns <= root.start && root.start <= root.end && root.end <= now_unix_ns()?;
    if (trace_digits, span_digits, root.kind) != (32, 16, INTERNAL) || !is_now {
        return Err(format!("not the span of a collection: {root:?}").into());
    }
    let names: BTreeSet<&str> = stages.iter().map(|stage| stage.name.as_str()).collect();
    if names.len() != stages.len() {
        return Err(format!("a stage is there twice: {stages:?}").into());
    }
    let is_inside = |stage: &&Rc<Span>| {
        stage.parent == root.id
            && stage.kind == CLIENT
            && stage.owner == root.owner
            && root.start <= stage.start
            && stage.start <= stage.end
            && stage.end <= root.end
    };
    match stages.iter().find(|stage| !is_inside(stage)) {
        Some(stage) => Err(format!("{stage:?} is not inside of {root:?}").into()),
        None => Ok(()),
    }
}

/// The first collection of a host has all stages, the last that was well some of them.
fn connects(traces: &[Trace], target: &str) -> Result<()> {
    let well =
        traces.iter().filter(|trace| trace.root.owner.target() == target && trace.root.status.0 == UNSET);
    let well: Vec<&Trace> = well.collect();
    let (Some(first), Some(last)) = (well.first(), well.last().filter(|_| well.len() > 2)) else {
        return Err(format!("only {} collections that went well", well.len()).into());
    };
    let has = |trace: &Trace, name: &str| trace.stages.iter().any(|stage| stage.name == name);
    let missing = FIRST_STAGES.iter().find(|name| !has(first, name));
    if let Some(missing) = missing {
        return Err(format!("the first collection has no `{missing}`: {:?}", first.stages).into());
    }
    let is_kept = !has(last, "tcp") && has(last, "query");
    let attributes =
        ["perfmon.plugin", "perfmon.module", "perfmon.outcome"].map(|name| last.root.attribute(name));
    if is_kept && attributes == ["pcq", "all", "full"] && last.root.name == "collect all" {
        Ok(())
    } else {
        Err(format!("not a collection over a kept connection: {:?} {:?}", last.root, last.stages).into())
    }
}

/// The traces of the bell, by the number of the ring, which its stages have as the number of their calls.
fn of_bell(traces: &[Trace]) -> Result<BTreeMap<u64, &Trace>> {
    let mut rings = BTreeMap::new();
    for trace in traces.iter().filter(|trace| trace.root.owner.target() == bell::TARGET) {
        let number = trace.stages.first().map_or("", |stage| stage.attribute("perfmon.calls")).parse()?;
        if rings.insert(number, trace).is_some() {
            return Err(format!("ring {number} has two traces").into());
        }
    }
    Ok(rings)
}

/// Each span of a ring is what the bell said of it, to the nanosecond.
fn is_of_ring(trace: &Trace, number: u64, said: &Labels) -> Result<()> {
    let Trace { root, stages } = trace;
    check_owner(&root.owner, bell::TARGET, bell::HOST, "bell")?;
    let status = |is_bad: bool| if is_bad { (ERROR, WHY.to_owned()) } else { (UNSET, String::new()) };
    let fails = bell::fails(number);
    let mut expected = vec![
        ("perfmon.module", "rings"),
        ("perfmon.plugin", "bell"),
        ("perfmon.trigger", "schedule"),
        ("perfmon.outcome", if fails { "failed" } else { "full" }),
        ("perfmon.series", "0"),
    ];
    if fails {
        expected.extend([("perfmon.stage", "query"), ("error.type", "access_denied")]);
    }
    if root.name != "collect rings" || root.attributes != labels(&expected) || root.status != status(fails) {
        return Err(format!("not the span of the ring: {root:?}").into());
    }
    for (name, field) in BELL_STAGES {
        let stage = stages.iter().find(|stage| stage.name == name).ok_or_else(|| format!("no `{name}`"))?;
        let (received, sent, calls) =
            ((1000 * number).to_string(), (number + 7).to_string(), number.to_string());
        let mut expected = vec![
            ("perfmon.calls", &*calls),
            ("perfmon.received_bytes", &received),
            ("perfmon.sent_bytes", &sent),
        ];
        let is_bad = fails && name == "query";
        if is_bad {
            expected.push(("error.type", "access_denied"));
        }
        let took = (stage.end - stage.start).to_string();
        if stage.attributes != labels(&expected)
            || said.get(field) != Some(&took)
            || stage.status != status(is_bad)
        {
            return Err(format!("`{name}` is not what {said:?} says: {stage:?}").into());
        }
    }
    if stages.len() == BELL_STAGES.len() { Ok(()) } else { Err(format!("more stages: {stages:?}").into()) }
}

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Stage, reason and what the bell adds.
const WHY: &str = "query: access_denied: the ringer sleeps";
