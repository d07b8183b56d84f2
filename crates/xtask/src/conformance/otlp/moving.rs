//! The host whose counters move: deltas are what counters grew by, without gap or overlap, and what vanishes says so.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::collector::Receiver;
use super::points::{Kind, Point, Series};
use super::{MOVING, POINTS_MIN, TIMEOUT};
use crate::Result;
use crate::process::poll;

/// Waits until two more rounds of the host have come at every receiver.
pub(super) fn wait_for_rounds(receivers: &[Receiver]) -> Result<()> {
    let rounds = |receiver: &Receiver| -> Result<usize> {
        Ok(of_host(receiver)?.iter().map(|point| point.time).collect::<BTreeSet<u64>>().len())
    };
    let before = receivers.iter().map(rounds).collect::<Result<Vec<_>>>()?;
    for (receiver, before) in receivers.iter().zip(before) {
        poll(&format!("{}: more rounds", receiver.name()), TIMEOUT, || {
            Ok((rounds(receiver)? >= before + 3).then_some(()))
        })?;
    }
    Ok(())
}

/// Every delta, at every delta endpoint, is what the counter grew by between two times as a cumulative endpoint says
/// it, and begins where the last one ended. Answers how many were compared.
pub(super) fn growth_is_whole(receivers: &[Receiver]) -> Result<usize> {
    // All endpoints push the same snapshots under the same times; together they missed none.
    let mut counters: BTreeMap<Series, BTreeMap<u64, f64>> = BTreeMap::new();
    for receiver in receivers.iter().filter(|receiver| !receiver.is_delta()) {
        for point in of_host(receiver)?.iter().filter(|point| point.kind == Kind::Cumulative) {
            let Some(value) = point.value else { continue };
            let known = counters.entry(point.series()).or_default().entry(point.time).or_insert(value);
            if known.to_bits() != value.to_bits() {
                return Err(format!("{} elsewhere and at once {known}: {point:?}", receiver.name()).into());
            }
        }
    }
    let mut compared = 0;
    for receiver in receivers.iter().filter(|receiver| receiver.is_delta()) {
        compared += deltas(&of_host(receiver)?, &counters)
            .map_err(|error| format!("{}: {error}", receiver.name()))?;
    }
    if compared < POINTS_MIN { Err(format!("only {compared} deltas").into()) } else { Ok(compared) }
}

fn deltas(points: &[Rc<Point>], counters: &BTreeMap<Series, BTreeMap<u64, f64>>) -> Result<usize> {
    let mut ends: BTreeMap<Series, u64> = BTreeMap::new();
    let (mut compared, mut grown) = (0, 0);
    for point in points.iter().filter(|point| point.kind == Kind::Delta) {
        let series = point.series();
        let Some(value) = point.value else { return Err(format!("a delta of nothing: {point:?}").into()) };
        if ends.get(&series).is_some_and(|end| *end != point.start) {
            return Err(format!("does not begin where the one before ended: {point:?}").into());
        }
        let at = |time: u64| counters.get(&series).and_then(|values| values.get(&time)).copied();
        if let (Some(before), Some(now)) = (at(point.start), at(point.time)) {
            if (value - (now - before)).abs() > f64::EPSILON * now {
                return Err(format!("from {before} to {now}: {point:?}").into());
            }
            compared += 1;
            grown += usize::from(value > 0.0);
        }
        ends.insert(series, point.time);
    }
    if grown * 10 < compared {
        return Err(format!("of {compared} deltas only {grown} are more than 0").into());
    }
    Ok(compared)
}

/// The host has gone: each of its series, as they were last, gets one point without a value; not so the sums of delta
/// endpoints, where silence says as much. Answers how many ended.
pub(super) fn vanishes(receivers: &[Receiver]) -> Result<usize> {
    let mut ended = 0;
    for receiver in receivers {
        ended += poll(&format!("{}: the host's series end", receiver.name()), TIMEOUT, || {
            let points = of_host(receiver)?;
            let Some(last) =
                points.iter().filter(|point| point.value.is_some()).map(|point| point.time).max()
            else {
                return Ok(None);
            };
            let is_told = |point: &&Rc<Point>| !receiver.is_delta() || point.kind == Kind::Gauge;
            let alive = points.iter().filter(|point| point.time == last && point.value.is_some());
            let alive: BTreeSet<Series> = alive.filter(is_told).map(|point| point.series()).collect();
            let gone = points.iter().filter(|point| point.time > last && point.value.is_none());
            let gone: BTreeSet<Series> = gone.map(|point| point.series()).collect();
            Ok((!alive.is_empty() && alive == gone).then_some(alive.len()))
        })?;
    }
    Ok(ended)
}

fn of_host(receiver: &Receiver) -> Result<Vec<Rc<Point>>> {
    let mut points = receiver.points()?;
    // That says whether the host is there, also when it is not.
    points.retain(|point| point.target() == MOVING && point.name != "perfmon_target_up");
    Ok(points)
}
