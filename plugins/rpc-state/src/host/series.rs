//! The families, `perfmon_rpc_endpoint_map_…` and `perfmon_rpc_remote_endpoint_…`, and their series.

use plugin_sdk::{Display, DisplayRule, FamilyDef, FamilyId, FamilyKey, Kind, Output};

use super::map::{HostMap, Registered, SEQUENCES};
use super::server::{Answer, Refusal};
use crate::series::{Labels, Sample, SeriesTable, Value};

/// The namespace of all of them.
const NAMESPACE: &str = "rpc";
const MAP: &str = "Endpoint Map";
const ENDPOINT: &str = "Remote Endpoint";

const OF_MAP: FamilyDef<'static> = FamilyDef::gauge(NAMESPACE, MAP);

const OF_ENDPOINT: FamilyDef<'static> = FamilyDef { object: ENDPOINT, ..OF_MAP };
const COUNTED: FamilyDef<'static> = FamilyDef {
    kind: Kind::Counter,
    origin: "rpc__mgmt_inq_stats",
    display: Display::by(DisplayRule::Rate),
    ..OF_ENDPOINT
};

static FAMILIES: &[FamilyDef<'static>] = &[
    // By `protocol_sequence`.
    FamilyDef {
        item: "Entries",
        help: "Entries of the host's endpoint map, by protocol sequence. An interface has one for each endpoint where it is.",
        origin: "ept_lookup",
        ..OF_MAP
    },
    FamilyDef {
        item: "Complete",
        help: "1 if the host's endpoint map was read to its end; 0 if it has more entries than max_entries, or was read in part.",
        ..OF_MAP
    },
    // By `kind` and `reason`.
    FamilyDef {
        item: "Left Out",
        help: "Entries, interfaces and endpoints (kind) of the endpoint map that are not shown or not asked: above a limit \
           (limit), or no tower that can be read (unreadable).",
        ..OF_MAP
    },
    FamilyDef {
        item: "Interface Info",
        kind: Kind::Info,
        help: "1, with an interface of the host's endpoint map that other machines can reach: its UUID and version, what its \
           program says of itself, and the port or the pipe.",
        origin: "ept_lookup",
        ..OF_MAP
    },
    // By `port`.
    FamilyDef {
        item: "Up",
        help: "1 if the server at the TCP port answered a call of its management interface, or that it knows no way to log on \
               that is offered; else 0.",
        ..OF_ENDPOINT
    },
    FamilyDef {
        item: "Listening",
        help: "1 if the RPC server at the port says that it takes calls; else 0.",
        origin: "rpc__mgmt_is_server_listening",
        ..OF_ENDPOINT
    },
    FamilyDef {
        item: "Interfaces",
        help: "Interfaces that the RPC server at the port offers, on all of its endpoints.",
        origin: "rpc__mgmt_inq_if_ids",
        ..OF_ENDPOINT
    },
    FamilyDef {
        item: "Calls In",
        help: "Calls that the process at the port received, on all of its endpoints. Servers count with 32 bits; what wraps \
               over a kept connection goes on here.",
        ..COUNTED
    },
    FamilyDef {
        item: "Calls Out",
        help: "Calls that the process at the port made as a client. Servers count with 32 bits; what wraps over a kept \
               connection goes on here.",
        ..COUNTED
    },
    FamilyDef {
        item: "Packets In",
        help: "Packets that the process at the port received, on all of its endpoints. Servers count with 32 bits; what \
               wraps over a kept connection goes on here.",
        ..COUNTED
    },
    FamilyDef {
        item: "Packets Out",
        help: "Packets that the process at the port sent, on all of its endpoints. Servers count with 32 bits; what wraps \
               over a kept connection goes on here.",
        ..COUNTED
    },
    // By `port`, `call` and `reason`.
    FamilyDef {
        item: "Failure Info",
        kind: Kind::Info,
        help: "1, with what the RPC server at the port did not answer: the connection (connect) or a call of its management \
           interface, and the reason.",
        ..OF_ENDPOINT
    },
];

/// The indexes of the families.
const ENTRIES: usize = 0;
const COMPLETE: usize = 1;
const LEFT_OUT: usize = 2;
const INTERFACE: usize = 3;
const UP: usize = 4;
const LISTENING: usize = 5;
const INTERFACES: usize = 6;
/// The first of four.
const CALLS_IN: usize = 7;
const FAILURE: usize = 11;

/// All series of one host, kept from collection to collection.
#[derive(Debug)]
pub(super) struct HostSeries(SeriesTable);

impl Default for HostSeries {
    fn default() -> Self {
        Self(SeriesTable::new(FAMILIES))
    }
}

impl HostSeries {
    /// Sends what was read, and ends the series of what is gone.
    pub(super) fn send<'a>(
        &mut self,
        map: &HostMap,
        answers: impl Iterator<Item = (u16, &'a Answer)>,
        output: &mut Output,
    ) {
        let mut samples = of_map(map);
        for (port, answer) in answers {
            samples.extend(of_server(port, answer));
        }
        self.0.send(&samples, output);
    }

    /// The families that were registered.
    pub(super) fn families(&self) -> Vec<FamilyId> {
        self.0.families()
    }
}

fn of_map(map: &HostMap) -> Vec<Sample> {
    let mut samples = vec![count(COMPLETE, Vec::new(), map.is_whole.into())];
    for (sequence, number) in SEQUENCES.into_iter().zip(map.entries) {
        samples.push(count(ENTRIES, vec![("protocol_sequence", sequence.to_owned())], number));
    }
    for (kind, reason, number) in map.left_out() {
        let labels = vec![("kind", kind.to_owned()), ("reason", reason.to_owned())];
        samples.push(count(LEFT_OUT, labels, number));
    }
    samples.extend(map.interfaces.iter().map(|registered| {
        let Registered { interface, version: (major, minor), sequence, endpoint, annotation } = registered;
        let labels = vec![
            ("interface", interface.to_string()),
            ("version", format!("{major}.{minor}")),
            ("annotation", annotation.clone()),
            ("protocol_sequence", (*sequence).to_owned()),
            ("endpoint", endpoint.clone()),
        ];
        count(INTERFACE, labels, 1)
    }));
    samples
}

fn of_server(port: u16, answer: &Answer) -> Vec<Sample> {
    let labels = || vec![("port", port.to_string())];
    let mut samples = vec![count(UP, labels(), answer.is_up().into())];
    samples.extend(answer.is_listening.map(|flag| count(LISTENING, labels(), flag.into())));
    samples.extend(answer.interfaces.map(|number| count(INTERFACES, labels(), number)));
    let counted = (CALLS_IN..).zip(answer.statistics.into_iter().flatten());
    samples.extend(counted.map(|(family, number)| count(family, labels(), number)));
    samples.extend(answer.refusals.iter().map(|Refusal { step, reason }| {
        let labels = vec![
            ("port", port.to_string()),
            ("call", step.as_str().to_owned()),
            ("reason", (*reason).to_owned()),
        ];
        count(FAILURE, labels, 1)
    }));
    samples
}

const fn count(family: usize, labels: Labels, number: u64) -> Sample {
    Sample { family, labels, value: Value::Count(number) }
}

/// Whether hosts are asked for a family.
pub(super) fn is_of_hosts(family: &FamilyKey) -> bool {
    family.namespace == NAMESPACE && matches!(&*family.object, MAP | ENDPOINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_the_place_of_its_family() {
        let items: Vec<&str> = FAMILIES.iter().map(|family| family.item).collect();
        for (index, item) in [
            (ENTRIES, "Entries"),
            (COMPLETE, "Complete"),
            (LEFT_OUT, "Left Out"),
            (INTERFACE, "Interface Info"),
            (UP, "Up"),
            (LISTENING, "Listening"),
            (INTERFACES, "Interfaces"),
            (CALLS_IN, "Calls In"),
            (CALLS_IN + 3, "Packets Out"),
            (FAILURE, "Failure Info"),
        ] {
            assert_eq!(items[index], item);
        }
    }
}
