//! A plugin for Windows hosts in one file: polls a made-up RPC interface over a named pipe, and shows one metric of it.
//!
//! `cargo build -p plugin-session --example tank` makes `libtank.so` of it. The server is there for its test.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use host_session::{Endpoint, Reason, call_error};
use plugin_sdk::{
    Collection, Coverage, DeclaredReason, Display, DisplayRule, Failure, FamilyDef, Kind, Problem, SeriesDef,
    SeriesId, Setup, Source, SourceEntry, ValueKind,
};
use plugin_session::{
    AttemptError, DECLARED_REASONS, HostConnection, HostSource, InterfaceNames, Service, TransportSettings,
};
use rpc::{Client, Interface, ServerResult};
use tokio::time::Instant;
use wire::Win32Error;

rpc::interface! {
    /// Water tanks of nobody's.
    pub interface Tank("7a4e8f00-0000-4000-8000-000000000001", 1.0) -> Win32Error {
        /// How much is in the tank with this number.
        0 => TankLevel as level(tank: u32) -> (liters: u32);
    }
}

/// The server's side, with what is in each tank.
pub struct Tanks(pub Arc<[AtomicU32]>);

impl TankServer for Tanks {
    fn level(&mut self, request: &LevelRequest) -> ServerResult<LevelReply, Win32Error> {
        let tank = usize::try_from(request.tank).ok().and_then(|tank| self.0.get(tank));
        let liters = tank.ok_or(Win32Error::ERROR_NOT_FOUND)?.load(Ordering::Relaxed);
        Ok(LevelReply { liters, status: Win32Error::ERROR_SUCCESS })
    }
}

/// Where hosts offer it.
const TANKS: Service = Service {
    endpoint: Endpoint::NamedPipe { name: "tanks", stopped: Reason::NotFound },
    interfaces: &[Tank::SYNTAX_ID],
    names: &[InterfaceNames::of::<Tank>()],
};

const LEVEL: FamilyDef<'static> = FamilyDef {
    namespace: "tanks",
    object: "Tank",
    item: "Level",
    part: "",
    kind: Kind::Gauge,
    unit: "liters",
    help: "What is in the tank.",
    origin: "TankLevel",
    value: ValueKind::U64,
    bounds: &[],
    display: Display::by(DisplayRule::Value),
};

/// What a module says.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    tanks: u32,
    #[serde(default)]
    transport: TransportSettings,
}

/// The tanks of one host.
pub struct TankSource {
    connection: HostConnection,
    tanks: u32,
    series: Vec<Option<SeriesId>>,
}

impl Source for TankSource {
    const NAME: &'static str = "tank";
    const HELP: &'static str = "How full the tanks of a host are";
    const REASONS: &'static [DeclaredReason] = &DECLARED_REASONS;
    type Settings = Settings;

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        let Setup { target, settings, .. } = setup;
        let target = host_session::Target::new(target.host, target.port.unwrap_or(445));
        let connection = HostConnection::new(target, TANKS, settings.transport);
        Ok(Self { connection, tanks: settings.tanks, series: Vec::new() })
    }

    fn reconfigure(&mut self, settings: Settings) {
        self.tanks = settings.tanks;
        self.connection.reconfigure(settings.transport);
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        plugin_session::collect(self, collection).await
    }
}

impl HostSource for TankSource {
    type Connection = HostConnection;

    fn connection(&mut self) -> &mut HostConnection {
        &mut self.connection
    }

    async fn attempt(
        &mut self,
        collection: &mut Collection,
        deadline: Instant,
    ) -> Result<Coverage, AttemptError> {
        let mut open = self.connection.take(collection, deadline).await?;
        let timer = open.begin_calls(collection);
        let mut levels = Vec::new();
        for tank in 0..self.tanks {
            let mut client: Client<_, Tank> = Client::new(open.session().channel(0, deadline));
            match client.call(&LevelRequest { tank }).await {
                Ok(reply) => levels.push(reply.liters),
                Err(error) => {
                    let error = call_error(open.session().target(), TANKS.endpoint, &error);
                    return Err(self.connection.fail(open, &error, collection, deadline).await);
                }
            }
        }
        open.end_calls(timer, collection);
        self.connection.put_back(open);
        let output = collection.output();
        if self.series.len() < levels.len()
            && let Some(family) = output.register_families(&[LEVEL])[0]
        {
            let numbers: Vec<String> = (self.series.len()..levels.len()).map(|n| n.to_string()).collect();
            let labels: Vec<_> = numbers.iter().map(|number| [("tank", number.as_str())]).collect();
            let series = labels.iter().map(|labels| SeriesDef { family, labels, start: None });
            self.series.extend(output.register_series(&series.collect::<Vec<_>>()));
        }
        for (series, liters) in self.series.iter().zip(levels) {
            series.iter().for_each(|series| output.push_u64(*series, liters.into()));
        }
        Ok(Coverage::Full)
    }
}

plugin_sdk::export_plugin! {
    name: "tank",
    version: env!("CARGO_PKG_VERSION"),
    description: "An example for Windows hosts",
    sources: [SourceEntry::of::<TankSource>()],
    commands: [],
}
