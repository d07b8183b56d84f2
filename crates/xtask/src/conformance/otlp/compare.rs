//! What a collector took of the host whose values stand still, beside the page.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use super::Owner;
use super::collector::Receiver;
use super::points::{Kind, Point};
use super::{POINTS_MIN, STILL, TIMEOUT};
use crate::Result;
use crate::http;
use crate::process::poll;
use crate::scraped::{Labels, Page};

const OPEN_METRICS: &str = "application/openmetrics-text;version=1.0.0";
/// Labels that a resource says for all points of its target.
const OF_RESOURCE: [&str; 3] = ["target", "env", "site"];
/// The units of the simulated host's counters, and what UCUM, which OTLP's units are of, calls them.
const UNITS: [(&str, &str); 7] = [
    ("seconds", "s"),
    ("bytes", "By"),
    ("bits", "bit"),
    ("ratio", "1"),
    ("hertz", "Hz"),
    ("celsius", "Cel"),
    ("kelvin", "K"),
];

/// What the simulated host's NTLM challenge says, which the exporter passes on.
const OS_VERSION: &str = "10.0.20348";

/// What one series is expected to be.
#[derive(Debug, PartialEq)]
struct Expected {
    kind: Kind,
    unit: String,
    start: Option<f64>,
    value: f64,
}

/// Compares what each receiver took with the page; answers how many values were compared.
pub(super) fn all(receivers: &[Receiver], exporter: SocketAddr, host: SocketAddr) -> Result<usize> {
    let mut compared = 0;
    for receiver in receivers {
        // The second round is the first one in which a delta endpoint says what did not grow.
        let last: Vec<Rc<Point>> = poll(&format!("{}: three rounds", receiver.name()), TIMEOUT, || {
            let points = receiver.points()?;
            let of_still = |point: &&Rc<Point>| point.target() == STILL;
            let times: BTreeSet<u64> = points.iter().filter(of_still).map(|point| point.time).collect();
            // Of the last but one: all of its requests have come.
            let Some(time) = times.iter().rev().nth(1).filter(|_| times.len() > 3) else { return Ok(None) };
            Ok(Some(points.iter().filter(of_still).filter(|point| point.time == *time).cloned().collect()))
        })?;
        compared += one(receiver, &last, &expected(exporter, receiver.is_delta())?, host)
            .map_err(|error| format!("{}: {error}", receiver.name()))?;
    }
    Ok(compared)
}

fn one(
    receiver: &Receiver,
    points: &[Rc<Point>],
    expected: &BTreeMap<(String, Labels), Expected>,
    host: SocketAddr,
) -> Result<usize> {
    let mut open: BTreeSet<_> = expected.keys().collect();
    for point in points {
        let key = (point.name.clone(), point.labels.clone());
        let Some(expected) = expected.get(&key) else {
            return Err(format!("not on the page: {point:?}").into());
        };
        if !open.remove(&key) {
            return Err(format!("twice in one round: {point:?}").into());
        }
        check(point, expected, receiver.is_delta())?;
        check_owner(&point.owner, STILL, host.ip(), "pcq")?;
    }
    if let Some(missing) = open.first() {
        return Err(format!("{} series did not come, such as {missing:?}", open.len()).into());
    }
    if points.len() < POINTS_MIN {
        return Err(format!("only {} points in a round", points.len()).into());
    }
    Ok(points.len())
}

fn check(point: &Point, expected: &Expected, is_delta: bool) -> Result<()> {
    let is_sum = point.kind != Kind::Gauge;
    let starts_right = match expected.start {
        // A delta begins where the one before ended.
        _ if is_delta && is_sum => point.start > 0 && point.start < point.time,
        #[expect(clippy::cast_precision_loss, reason = "the page's seconds are a double, too")]
        Some(start) => (point.start as f64 / 1e9 - start).abs() < 0.001,
        None => point.start == 0,
    };
    let same_value = point.value.is_some_and(|value| value.to_bits() == expected.value.to_bits());
    if point.kind == expected.kind && point.unit == expected.unit && starts_right && same_value {
        Ok(())
    } else {
        Err(format!("{point:?} is not {expected:?}").into())
    }
}

/// That something is of the target, whose host is this, and that the plugin says so.
pub(super) fn check_owner(owner: &Owner, target: &str, host: IpAddr, plugin: &str) -> Result<()> {
    let host = host.to_string();
    let wanted = [
        ("service.name", "perfmon-exporter"),
        ("service.instance.id", target),
        ("host.name", &host),
        ("env", "prod"),
        ("site", "a \"b\""),
    ];
    // The bell has seen no Windows.
    let system = [("os.type", "windows"), ("os.version", OS_VERSION)];
    let system = system.iter().filter(|_| plugin == "pcq");
    let lacks = |(name, value): &&(&str, &str)| owner.resource.get(*name).is_none_or(|is| is != value);
    let missing = wanted.iter().chain(system).find(lacks);
    match missing {
        Some((name, value)) => Err(format!("`{name}` is not `{value}` in {owner:?}").into()),
        None if owner.scope != plugin => Err(format!("the scope is not `{plugin}` in {owner:?}").into()),
        None => Ok(()),
    }
}

/// What the page says of the host, as OTLP is to say it.
fn expected(exporter: SocketAddr, is_delta: bool) -> Result<BTreeMap<(String, Labels), Expected>> {
    let page = Page::read(&http::get(exporter, "/metrics", OPEN_METRICS)?.body)?;
    let of_host = page
        .samples
        .iter()
        .filter(|sample| sample.label("target") == STILL && !sample.name.starts_with("perfmon_exporter_"));
    let mut expected = BTreeMap::new();
    let mut starts = BTreeMap::new();
    for sample in of_host {
        let mut labels = sample.labels.clone();
        labels.retain(|name, _| !OF_RESOURCE.contains(&name.as_str()));
        let is_counter = page.kind(sample) == "counter";
        if is_counter && sample.name.ends_with("_created") {
            starts.insert((sample.family.clone(), labels), sample.value);
            continue;
        }
        // A counter goes by its family's name, an info by that of its sample.
        let name = if is_counter { &sample.family } else { &sample.name };
        let kind = match (is_counter, is_delta) {
            (false, _) => Kind::Gauge,
            (true, false) => Kind::Cumulative,
            (true, true) => Kind::Delta,
        };
        let unit = page.units.get(&sample.family).map_or("", String::as_str);
        let ucum = UNITS.iter().find(|(ours, _)| *ours == unit);
        let unit = ucum.map_or_else(
            || if unit.is_empty() { String::new() } else { format!("{{{unit}}}") },
            |(_, code)| (*code).to_owned(),
        );
        // What stands still does not grow.
        let value = if kind == Kind::Delta { 0.0 } else { sample.value };
        expected.insert((name.clone(), labels), Expected { kind, unit, start: None, value });
    }
    for (key, start) in starts {
        if let Some(expected) = expected.get_mut(&key) {
            expected.start = Some(start);
        }
    }
    Ok(expected)
}
