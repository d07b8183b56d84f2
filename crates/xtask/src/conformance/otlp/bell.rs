//! A plugin whose collections each send an event. The event's log record says which spans the collection must have.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::SystemTime;

use super::collector::Receiver;
use super::compare::check_owner;
use super::{Event, TIMEOUT};
use crate::Result;
use crate::process::poll;
use crate::scraped::Labels;
use crate::stage::Stage;

/// The target, and its host.
pub(super) const TARGET: &str = "tower";
pub(super) const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Each severity comes with and without a time of its own.
const RINGS_MIN: usize = 10;
const PCQ: &str = "libplugin_pcq.so";

/// Builds the plugin `bell` into a folder, with a way to `pcq` beside it; answers the folder.
pub(super) fn install(stage: &Stage<'_>) -> Result<PathBuf> {
    let folder = stage.plugin("bell")?;
    symlink(stage.workspace.program(PCQ), folder.join(PCQ))?;
    Ok(folder)
}

/// Every receiver has taken the log record of every ring, once, in order and as the bell says it. Answers how many.
pub(super) fn rings(receivers: &[Receiver], began_unix_ns: u64) -> Result<usize> {
    let mut compared = 0;
    for receiver in receivers {
        let name = receiver.name();
        let events = poll(&format!("{name}: events"), TIMEOUT, || {
            let events = of_bell(receiver)?;
            Ok((events.len() >= RINGS_MIN).then_some(events))
        })?;
        for (event, number) in events.iter().zip(1..) {
            check(event, number, began_unix_ns).map_err(|error| format!("{name}: {error}"))?;
        }
        compared += events.len();
    }
    Ok(compared)
}

/// At each receiver all rings up to the last one arrived, and the last one is later than those that were seen before.
/// A request may have arrived twice, if the collector ended before it answered. Call this when everything has ended.
pub(super) fn none_is_lost(receivers: &[Receiver], compared_before: usize) -> Result<()> {
    let mut all = 0;
    for receiver in receivers {
        let numbers: BTreeSet<u64> = of_bell(receiver)?.iter().map(|event| number(event)).collect();
        if let Some((number, _)) = (1..).zip(&numbers).find(|(expected, number)| expected != *number) {
            return Err(format!("{}: ring {number} is missing", receiver.name()).into());
        }
        all += numbers.len();
    }
    if all > compared_before { Ok(()) } else { Err("no events came after the collector's restart".into()) }
}

/// What the bell said of each of its rings: attributes of the log records, by number.
pub(super) fn said(receiver: &Receiver) -> Result<BTreeMap<u64, Labels>> {
    Ok(of_bell(receiver)?.iter().map(|event| (number(event), event.attributes.clone())).collect())
}

/// Whether this collection of the bell fails.
pub(super) const fn fails(number: u64) -> bool {
    number.is_multiple_of(3)
}

fn check(event: &Event, number: u64, began_unix_ns: u64) -> Result<()> {
    check_owner(&event.owner, TARGET, HOST, "bell")?;
    let is_timed = |name: &&String| name.ends_with("_ns");
    let timed: Vec<&str> = event.attributes.keys().filter(is_timed).map(String::as_str).collect();
    let mut others = event.attributes.clone();
    others.retain(|name, _| !is_timed(&name));
    let number_text = number.to_string();
    let expected =
        [("number", &*number_text), ("tower", "St. Mary's \"Big\" \\ Glöckchen\n"), ("nothing", "")];
    let expected: Labels = expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let severity = SEVERITIES[usize::try_from(number % 5)?];
    let is_right = event.name == "bell.rang"
        && event.body == format!("Rang {number}: \"döng\" \\ and\nagain")
        && (event.severity.0, event.severity.1.as_str()) == severity
        && event.time == if number % 2 == 1 { FIRST_RING_UNIX_NS + number } else { event.observed }
        && (began_unix_ns..=now_unix_ns()?).contains(&event.observed)
        && timed == ["decode_ns", "query_ns", "tcp_ns"]
        && others == expected;
    if is_right {
        Ok(())
    } else {
        Err(format!("this is not ring {number} of {severity:?}: {event:?}").into())
    }
}

fn of_bell(receiver: &Receiver) -> Result<Vec<Rc<Event>>> {
    let mut events = receiver.events()?;
    events.retain(|event| event.owner.target() == TARGET);
    Ok(events)
}

fn number(event: &Event) -> u64 {
    event.attributes.get("number").and_then(|number| number.parse().ok()).unwrap_or(0)
}

pub(super) fn now_unix_ns() -> Result<u64> {
    Ok(u64::try_from(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_nanos())?)
}

/// `SeverityNumber` and its word for each of the header's levels, from `PERFMON_LEVEL_ERROR` on.
const SEVERITIES: [(u64, &str); 5] = [(17, "ERROR"), (13, "WARN"), (9, "INFO"), (5, "DEBUG"), (1, "TRACE")];
const FIRST_RING_UNIX_NS: u64 = 1_700_000_000_000_000_000;
