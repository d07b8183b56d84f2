//! What a host's endpoint map says, within limits.

use std::collections::{BTreeMap, BTreeSet};

use host_session::{SessionError, Stage, TcpSession};
use rpc::endpoints::epm::ept::{EndpointMap, EndpointMapper, Inquiry, Limits as MapLimits, Lookup};
use rpc::endpoints::epm::types::Entry;
use rpc::endpoints::epm::wire::Binding;
use rpc::{Guid, SyntaxId};
use safe_text::one_line;
use tokio::time::Instant;

use super::Filter;
use super::config::Limits;

/// The protocol sequences that are told apart.
pub(super) const SEQUENCES: [&str; 5] = ["ncacn_ip_tcp", "ncacn_np", "ncacn_http", "ncalrpc", "other"];
/// That of endpoints within the host.
const LOCAL: usize = 3;

/// What is shown of a map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HostMap {
    /// Entries of each of the [`SEQUENCES`].
    pub(super) entries: [u64; SEQUENCES.len()],
    /// Entries that cannot be read.
    pub(super) unreadable: u64,
    /// Whether these are all entries of the host.
    pub(super) is_whole: bool,
    /// Interfaces that other machines can reach, in an order that is the same each time.
    pub(super) interfaces: Vec<Registered>,
    /// Interfaces above the limit.
    pub(super) interfaces_left_out: u64,
    /// The TCP ports to ask, in their order.
    pub(super) ports: Vec<u16>,
    /// Ports above the limit.
    pub(super) ports_left_out: u64,
}

/// An interface of the map, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Registered {
    pub(super) interface: Guid,
    pub(super) version: (u16, u16),
    pub(super) sequence: &'static str,
    /// The port or the pipe.
    pub(super) endpoint: String,
    pub(super) annotation: String,
}

/// How much of the map was read in one go.
#[derive(Debug)]
pub(super) enum Progress {
    /// All of it, or as much as is read of one.
    Ended,
    /// The rest is read in the next collection, over the same connection.
    GoesOn,
}

/// Goes on with `lookup` over `session`, which is bound to the mapper. The servers of the host need time, too: no page is begun
/// in the second half of that until `deadline`.
///
/// # Errors
/// If a call failed, with which the lookup ends. That there are more entries than the limit is no error.
pub(super) async fn read(
    session: &mut TcpSession,
    lookup: &mut Lookup,
    entries_max: u32,
    deadline: Instant,
) -> Result<Progress, SessionError> {
    // A host that answers with less than half of what it is asked for is read as far as that goes.
    let defaults = MapLimits::default();
    let pages_max = entries_max.div_ceil(defaults.page_entries) * 2 + PAGES_MIN;
    let limits = MapLimits { entries_max, pages_max, ..defaults };
    let mut mapper = EndpointMapper::new(session.channel(0, deadline)).with_limits(limits);
    let began = Instant::now();
    let half = began + deadline.saturating_duration_since(began) / 2;
    let failed = loop {
        match mapper.lookup_page(Inquiry::All, lookup).await {
            Ok(false) => return Ok(Progress::Ended),
            Ok(true) if Instant::now() >= half => return Ok(Progress::GoesOn),
            Ok(true) => {}
            Err(error) => break error,
        }
    };
    Err(match failed {
        rpc::endpoints::epm::Error::Rpc(error) => session.error_of_method(Stage::Decode, &error),
        error => {
            SessionError::of_answer(session.target(), Stage::Query, host_session::Reason::Internal, &error)
        }
    })
}

const PAGES_MIN: u32 = 8;

impl HostMap {
    /// What is shown of `map`, and which ports are asked: that of the mapper itself, then those of the map.
    ///
    /// Of a tower only the port is taken. The address in it may be any other host's; all ports are asked at the address of
    /// the mapper.
    pub(super) fn new(map: &EndpointMap, mapper_port: u16, filter: &Filter, limits: &Limits) -> Self {
        let mut host = Self { unreadable: map.unreadable.into(), is_whole: map.is_whole, ..Self::default() };
        let mut interfaces = BTreeSet::new();
        let mut ports = BTreeSet::new();
        for entry in &map.entries {
            let (sequence, endpoint) = place(&entry.tower.binding);
            host.entries[sequence] += 1;
            if sequence < LOCAL {
                interfaces.insert(registered(entry, SEQUENCES[sequence], endpoint));
            }
            if let Binding::Tcp { port: port @ 1.., .. } = entry.tower.binding
                && port != mapper_port
                && filter.selects(port, &entry.tower.interface, &entry.annotation)
            {
                ports.insert(port);
            }
        }
        let above =
            |count: usize, limit: usize| u64::try_from(count.saturating_sub(limit)).unwrap_or(u64::MAX);
        host.interfaces_left_out = above(interfaces.len(), limits.interfaces);
        host.interfaces = interfaces.into_iter().take(limits.interfaces).collect();
        let own = filter.selects_mapper(mapper_port).then_some(mapper_port);
        let asked: Vec<u16> = own.into_iter().chain(ports).collect();
        host.ports_left_out = above(asked.len(), limits.endpoints);
        host.ports = asked.into_iter().take(limits.endpoints).collect();
        host
    }

    /// What is not shown: kind, reason and number.
    pub(super) const fn left_out(&self) -> [(&'static str, &'static str, u64); 3] {
        [
            ("entry", "unreadable", self.unreadable),
            ("interface", "limit", self.interfaces_left_out),
            ("endpoint", "limit", self.ports_left_out),
        ]
    }
}

/// Which of the [`SEQUENCES`], and the endpoint without the host.
fn place(binding: &Binding) -> (usize, String) {
    match binding {
        Binding::Tcp { port, .. } => (0, port.to_string()),
        Binding::NamedPipe { pipe, .. } => (1, printable(pipe)),
        Binding::Http { port, .. } => (2, port.to_string()),
        Binding::Local { endpoint } => (LOCAL, printable(endpoint)),
        Binding::Other(_) => (LOCAL + 1, String::new()),
    }
}

fn registered(entry: &Entry, sequence: &'static str, endpoint: String) -> Registered {
    let SyntaxId { uuid: interface, version_major, version_minor } = entry.tower.interface;
    let annotation = printable(&entry.annotation);
    Registered { interface, version: (version_major, version_minor), sequence, endpoint, annotation }
}

/// Any program of the host can register: what does not print is escaped, and what is too long is cut.
fn printable(text: &str) -> String {
    one_line(text).chars().take(TEXT_LETTERS_MAX).collect()
}

/// An annotation has 63, and a pipe is hardly longer.
const TEXT_LETTERS_MAX: usize = 128;

/// Ports by the annotations of what is registered there, for messages.
pub(super) fn names(map: &HostMap) -> BTreeMap<u16, &str> {
    let named =
        map.interfaces.iter().filter(|one| one.sequence == SEQUENCES[0] && !one.annotation.is_empty());
    named.filter_map(|one| Some((one.endpoint.parse().ok()?, one.annotation.as_str()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_print_is_escaped_and_what_is_long_is_cut() {
        assert_eq!(printable("Remote\u{7}Registry\n"), r"Remote\u{7}Registry\n");
        assert_eq!(printable("Night\u{202e}gpj.exe\u{2066}"), r"Night\u{202e}gpj.exe\u{2066}");
        assert_eq!(printable(&"ü".repeat(500)).chars().count(), TEXT_LETTERS_MAX);
    }
}
