//! The source `rpc_endpoints`: the RPC servers of a Windows host.
//!
//! Each collection reads the host's endpoint map, and asks the management interface at each TCP port in it. Connections are
//! kept from collection to collection.
//!
//! | module | job |
//! | --- | --- |
//! | `config`, `filter` | a module's settings; which ports are asked |
//! | `services` | what is bound at the host |
//! | `map` | the endpoint map, within limits |
//! | `servers`, `server` | all ports, a few at a time; one port and its connection |
//! | `counters` | counters of 32 bits that wrap |
//! | `bounded` | several futures at a time |
//! | `series` | families, series and values for the exporter |

mod bounded;
mod config;
mod counters;
mod filter;
mod map;
mod series;
mod server;
mod servers;
mod services;

use host_session::{Recovery, Target as HostTarget};
use plugin_sdk::{
    Collection, Coverage, DeclaredReason, Failure, FamilyKey, Problem, Selects, Setup, Source, Stage, Target,
    Transport,
};
use plugin_session::{
    AttemptError, DECLARED_REASONS, HostSource, KeptConnection as _, PortConnection, TCP_TRANSPORT,
};
use tokio::time::Instant;

use self::config::{Limits, SHOWN, Settings};
use self::filter::Filter;
use self::map::HostMap;
use self::series::{HostSeries, is_of_hosts};
use self::server::Round;
use self::servers::Servers;
use self::services::MAPPER;

/// The RPC servers of one host.
#[derive(Debug)]
pub(crate) struct RpcEndpointsSource {
    mapper: PortConnection,
    mapper_port: u16,
    filter: Filter,
    limits: Limits,
    servers: Servers,
    series: HostSeries,
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
        let mapper_port = target.port.unwrap_or(epm::PORT);
        let (filter, limits) = (settings.filter(), settings.limits());
        let mapper =
            PortConnection::new(HostTarget::new(target.host, mapper_port), MAPPER, settings.transport);
        let (servers, series) = (Servers::default(), HostSeries::default());
        Ok(Self { mapper, mapper_port, filter, limits, servers, series })
    }

    fn reconfigure(&mut self, settings: Settings) {
        (self.filter, self.limits) = (settings.filter(), settings.limits());
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
        let mut session = self.mapper.take(collection, deadline).await?;
        collection.enter(Stage::Query);
        let timer = session.start_stage(host_session::Stage::Query);
        let read = map::read(&mut session, self.limits.entries, deadline).await;
        let report = session.stop_stage(timer);
        collection.stages().add(report.calls, report.received_bytes, report.sent_bytes);
        let map = match read {
            Ok(map) => HostMap::new(&map, self.mapper_port, &self.filter, &self.limits),
            Err(error) => return Err(self.mapper.fail(session, &error)),
        };
        self.mapper.put_back(session);
        let mut failure = None;
        if let Some(host) = self.mapper.host().cloned() {
            let round = Round { host: &host, collection, time: self.limits.endpoint_time, deadline };
            let asked = self.servers.ask(&map, round).await;
            failure = asked.failure;
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
