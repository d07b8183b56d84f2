//! The source `rpc_endpoints`: the RPC servers of a Windows host.
//!
//! Each collection reads the host's endpoint map, and asks the management interface at each TCP port in it. Connections are
//! kept from collection to collection.
//!
//! | module | job |
//! | --- | --- |
//! | `config` | a module's settings |
//! | `map` | the endpoint map, within limits |
//! | `servers`, `server` | all ports, a few at a time; one port and its connection |
//! | `series` | families, series and values for the exporter |

mod config;
mod map;
mod series;
mod server;
mod servers;

use std::ops::RangeInclusive;

use host_session::{Reason, Recovery, Target as HostTarget, TcpService};
use plugin_sdk::{
    Collection, Coverage, DeclaredReason, Failure, FamilyKey, GeneralReason, Problem, Selects, Setup, Source,
    Stage, Target, Transport,
};
use plugin_session::{
    AttemptError, DECLARED_REASONS, HostSource, InterfaceNames, KeptConnection as _, PortConnection,
    PortService, TCP_TRANSPORT,
};
use rpc::SyntaxId;
use rpc::endpoints::epm::ept::{EndpointMap, Ept, Lookup};
use rpc::endpoints::mgmt::management::Mgmt;
use serde::Deserialize;
use tokio::time::Instant;

use self::config::{Limits, SHOWN, Settings};
use self::map::{HostMap, Progress};
use self::series::{HostSeries, is_of_hosts};
use self::server::Round;
use self::servers::Servers;

/// The RPC servers of one host.
#[derive(Debug)]
pub(crate) struct RpcEndpointsSource {
    mapper: PortConnection,
    mapper_port: u16,
    filter: Filter,
    limits: Limits,
    servers: Servers,
    series: HostSeries,
    /// How far the map was read, over the connection of the mapper.
    lookup: Lookup,
    /// Whether that takes several collections, and the map that was read to its end the last time, if it did.
    takes_several: bool,
    whole: Option<HostMap>,
}

impl Source for RpcEndpointsSource {
    const NAME: &'static str = "rpc_endpoints";
    const HELP: &'static str =
        "The RPC servers of a Windows host: its endpoint map, and the statistics of each TCP endpoint";
    const REASONS: &'static [DeclaredReason] = &DECLARED_REASONS;
    const SHOWN: &'static [&'static str] = SHOWN;
    const TRANSPORTS: &'static [Transport] = &[TCP_TRANSPORT];
    type Settings = Settings;

    fn check(settings: &Settings, target: &Target) -> Vec<Problem> {
        let mut problems = settings.problems();
        // Without a host only the settings are checked.
        if target.identity.is_empty() && !target.host.is_empty() {
            problems.push(Problem::new(
                Problem::NO_IDENTITY,
                "calls of the host are sealed, which takes a logon",
            ));
        }
        problems
    }

    fn selects(_: &Settings, family: &FamilyKey) -> Selects {
        if is_of_hosts(family) { Selects::Yes } else { Selects::No(Vec::new()) }
    }

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        let Setup { settings, target, .. } = setup;
        let mapper_port = target.port.unwrap_or(rpc::endpoints::epm::PORT);
        let (filter, limits) = (settings.filter(), settings.limits());
        let mapper =
            PortConnection::new(HostTarget::new(target.host, mapper_port), MAPPER, settings.transport);
        let (servers, series) = (Servers::default(), HostSeries::default());
        Ok(Self {
            mapper,
            mapper_port,
            filter,
            limits,
            servers,
            series,
            lookup: Lookup::default(),
            takes_several: false,
            whole: None,
        })
    }

    fn reconfigure(&mut self, settings: Settings) {
        (self.filter, self.limits) = (settings.filter(), settings.limits());
        self.whole = None;
        if self.mapper.reconfigure(settings.transport) {
            self.servers.clear();
        } else {
            self.servers.cut_pauses_short();
        }
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        plugin_session::collect(self, collection).await
    }
}

impl RpcEndpointsSource {
    fn host_map(&self, map: &EndpointMap) -> HostMap {
        HostMap::new(map, self.mapper_port, &self.filter, &self.limits)
    }

    /// The map to show, and why that is not all of it. While it is read again, it is the one of the last time.
    fn shown(&mut self, progress: &Progress) -> (HostMap, Option<Failure>) {
        match progress {
            Progress::Ended => {
                let lookup = std::mem::take(&mut self.lookup);
                let map = self.host_map(lookup.map());
                // Only a map that takes several collections is shown again.
                self.whole = std::mem::take(&mut self.takes_several).then(|| map.clone());
                (map, None)
            }
            Progress::GoesOn => {
                self.takes_several = true;
                let map = self.lookup.map();
                match &self.whole {
                    Some(whole) => (whole.clone(), None),
                    None => {
                        let message = format!("{}; the next collection goes on there", words_of(map));
                        let failure = Failure::new(Stage::Query, GeneralReason::Timeout, message);
                        (self.host_map(map), Some(failure))
                    }
                }
            }
        }
    }
}

fn words_of(map: &EndpointMap) -> String {
    let read = map.entries.len();
    format!("the first {read} entries of the endpoint map were read in the time that there was")
}

impl HostSource for RpcEndpointsSource {
    type Connection = PortConnection;

    fn connection(&mut self) -> &mut PortConnection {
        &mut self.mapper
    }

    async fn attempt(
        &mut self,
        collection: &mut Collection,
        deadline: Instant,
    ) -> Result<Coverage, AttemptError> {
        if self.mapper.take_was_away() {
            self.servers.cut_pauses_short();
        }
        let is_new = self.mapper.missing() != Recovery::Nothing;
        let mut session = self.mapper.take(collection, deadline).await?;
        collection.enter(Stage::Query);
        let timer = session.start_stage(host_session::Stage::Query);
        if is_new {
            self.lookup = Lookup::default();
        }
        let before = self.lookup.map().entries.len();
        let read = map::read(&mut session, &mut self.lookup, self.limits.entries, deadline).await;
        let report = session.stop_stage(timer);
        collection.stages().add(report.calls, report.received_bytes, report.sent_bytes);
        let (map, unread) = match read {
            Ok(progress) => {
                self.mapper.put_back(session);
                self.shown(&progress)
            }
            Err(error) => {
                let AttemptError { mut failure, retry } = self.mapper.fail(session, &error);
                let lookup = std::mem::take(&mut self.lookup);
                let read = lookup.map().entries.len();
                // A connection that was lost in between is made again.
                if read == 0 || read == before && Instant::now() < deadline {
                    return Err(AttemptError { failure, retry });
                }
                // The next collection begins again: nobody knows any more where this one was.
                self.whole = None;
                failure.message = format!("{}; {}", words_of(lookup.map()), failure.message);
                (self.host_map(lookup.map()), Some(failure))
            }
        };
        let mut failure = unread;
        if let Some(host) = self.mapper.host().cloned() {
            let round = Round { host: &host, collection, time: self.limits.endpoint_time, deadline };
            let asked = self.servers.ask(&map, round).await;
            failure = failure.or(asked.failure);
            if asked.is_logon_refused {
                self.mapper.close(Recovery::Connection);
            }
        }
        self.series.send(&map, self.servers.answers(), collection.output());
        Ok(match failure {
            None => Coverage::Full,
            failure => Coverage::Partial { families: self.series.families(), failure },
        })
    }
}

const NAMES: &[InterfaceNames] = &[InterfaceNames::of::<Ept>(), InterfaceNames::of::<Mgmt>()];

const MAPPER_INTERFACES: &[SyntaxId] = &[rpc::endpoints::epm::SYNTAX_ID];
const MANAGEMENT_INTERFACES: &[SyntaxId] = &[rpc::endpoints::mgmt::SYNTAX_ID];

/// The endpoint mapper, which runs with the host.
const MAPPER: PortService = PortService {
    service: TcpService { class: "RPCSS", stopped: Reason::NotFound },
    interfaces: MAPPER_INTERFACES,
    names: NAMES,
};

/// The management interface, which is at each port of an RPC server. NTLM does not look at the class of the service.
const MANAGEMENT: PortService = PortService {
    service: TcpService { class: "host", stopped: Reason::NotFound },
    interfaces: MANAGEMENT_INTERFACES,
    names: NAMES,
};

// Which ports of a host are asked.

/// A port or a range of them, as `135` or `49152-65535`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "PortText", expecting = "a port or a range of ports such as `49152-65535`")]
struct Ports(RangeInclusive<u16>);

#[derive(Deserialize)]
#[serde(untagged, expecting = "a port or a range of ports such as `49152-65535`")]
enum PortText {
    Number(u16),
    Text(String),
}

impl TryFrom<PortText> for Ports {
    type Error = String;

    fn try_from(text: PortText) -> Result<Self, String> {
        let range = match text {
            PortText::Number(port) => Some(port..=port),
            PortText::Text(text) => {
                let (first, last) = text.split_once('-').unwrap_or((&text, &text));
                let port = |digits: &str| digits.trim().parse::<u16>().ok();
                port(first).zip(port(last)).map(|(first, last)| first..=last)
            }
        };
        let is_range = |range: &RangeInclusive<u16>| *range.start() > 0 && !range.is_empty();
        let wrong = || "write a port or a range of ports such as `49152-65535`".to_owned();
        range.filter(is_range).map(Self).ok_or_else(wrong)
    }
}

/// Which ports are asked. What is empty selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Filter {
    ports: Vec<Ports>,
    /// By the UUID of an interface that is registered there: patterns.
    interfaces: Vec<String>,
    /// By what a program says of itself: patterns.
    annotations: Vec<String>,
}

impl Filter {
    /// Whether a port is asked because of an interface that is registered there.
    fn selects(&self, port: u16, interface: &SyntaxId, annotation: &str) -> bool {
        let is_described = |patterns: &[String], text: &str| {
            patterns.is_empty() || patterns.iter().any(|pattern| matches(pattern, text))
        };
        self.selects_port(port)
            && is_described(&self.interfaces, &interface.uuid.to_string())
            && is_described(&self.annotations, annotation)
    }

    /// The same for the mapper's own port, which has nothing registered.
    fn selects_mapper(&self, port: u16) -> bool {
        self.selects_port(port) && self.interfaces.is_empty() && self.annotations.is_empty()
    }

    fn selects_port(&self, port: u16) -> bool {
        self.ports.is_empty() || self.ports.iter().any(|Ports(range)| range.contains(&port))
    }
}

/// Whether a pattern describes the whole text: `*` stands for any characters, `?` for one. Case does not matter.
fn matches(pattern: &str, text: &str) -> bool {
    let fold = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<_>>();
    let (pattern, text) = (fold(pattern), fold(text));
    let (mut at, mut read) = (0, 0);
    // The last `*`, and how far it reaches: it is enough to let that one grow.
    let mut star = None;
    while read < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(letter) if *letter == '?' || *letter == text[read] => (at, read) = (at + 1, read + 1),
            _ => {
                let Some((place, end)) = star else { return false };
                star = Some((place, end + 1));
                (at, read) = (place + 1, end + 1);
            }
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_describes_whole_texts() {
        for (pattern, text) in [
            ("*", ""),
            ("remote*", "RemoteRegistry Interface"),
            ("*interface", "RemoteRegistry Interface"),
            ("*a*b?", "xxaYYaZZabc"),
            ("338CD001-*", "338cd001-2244-31f1-aaaa-900038001003"),
            ("", ""),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("remote", "RemoteRegistry"), ("?", ""), ("*a*b?", "ab"), ("", "x"), ("a*b", "abc")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_longer_than_its_text_times_itself() {
        assert!(!matches(&"*a".repeat(500), &"a".repeat(499)));
        assert!(!matches(&format!("{}b", "*a".repeat(500)), &"a".repeat(20_000)));
    }
}
