//! A source of the registry's interface, which knows no counterset: it keeps a key open and asks how many subkeys it has.

use counters::rrp::winreg::{Key, RegistryClient};
use host_session::{Endpoint, Reason, Session, SessionError, Stage, call_error};
use plugin_sdk::{Collection, Coverage, DeclaredReason, Failure, Problem, Setup, Source};
use plugin_session::{
    AttemptError, DECLARED_REASONS, HostConnection, HostSource, Retry, Service, TransportSettings, failure_of,
};
use serde::Deserialize;
use tokio::time::Instant;

const ENDPOINT: Endpoint = Endpoint::NamedPipe { name: "winreg", stopped: Reason::RemoteRegistryStopped };
const REGISTRY: Service = Service { endpoint: ENDPOINT, interfaces: &[counters::rrp::SYNTAX_ID], names: &[] };

/// Methods of the registry, by opnum.
pub(crate) const OPEN_LOCAL_MACHINE: u16 = 2;
pub(crate) const QUERY_INFO_KEY: u16 = 16;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    transport: TransportSettings,
    /// Attempts of each collection that end because the source wants to go another way.
    detours: u32,
    /// Whether it forgets its key after each collection.
    keeps_nothing: bool,
    /// Whether it reads over another association, too, which is one more logon.
    reads_beside: bool,
}

#[derive(Debug)]
pub(crate) struct RegistrySource {
    connection: HostConnection<Key>,
    settings: Settings,
    detours_left: u32,
}

impl Source for RegistrySource {
    const NAME: &'static str = "registry";
    const HELP: &'static str = "Counts the subkeys of a key";
    const REASONS: &'static [DeclaredReason] = &DECLARED_REASONS;
    type Settings = Settings;

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        let target = host_session::Target::new(setup.target.host, setup.target.port.unwrap_or(445));
        let connection = HostConnection::new(target, REGISTRY, setup.settings.transport.clone());
        Ok(Self { connection, settings: setup.settings, detours_left: 0 })
    }

    fn reconfigure(&mut self, settings: Settings) {
        self.connection.reconfigure(settings.transport.clone());
        self.settings = settings;
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        self.detours_left = self.settings.detours;
        plugin_session::collect(self, collection).await
    }
}

impl HostSource for RegistrySource {
    type Connection = HostConnection<Key>;

    fn connection(&mut self) -> &mut HostConnection<Key> {
        &mut self.connection
    }

    async fn attempt(
        &mut self,
        collection: &mut Collection,
        deadline: Instant,
    ) -> Result<Coverage, AttemptError> {
        let mut open = self.connection.take(collection, deadline).await?;
        let timer = open.begin_calls(collection);
        let (session, kept) = open.parts();
        let read = count_sub_keys(session, kept, deadline).await;
        open.end_calls(timer, collection);
        if let Err(error) = read {
            return Err(self.connection.fail(open, &error, collection, deadline).await);
        }
        if self.settings.reads_beside {
            let lease = open.lease(collection, deadline).await?;
            let beside =
                open.session().open_association(ENDPOINT, &[counters::rrp::SYNTAX_ID], deadline).await;
            lease.settle(&beside);
            beside.map_err(|error| failure_of(&error))?;
        }
        if self.settings.keeps_nothing {
            *open.handles() = None;
        }
        self.connection.put_back(open);
        if let Some(left) = self.detours_left.checked_sub(1) {
            self.detours_left = left;
            let failure = Failure::new(
                plugin_sdk::Stage::Query,
                plugin_sdk::GeneralReason::Other,
                "there is another way",
            );
            return Err(AttemptError { failure, retry: Retry::Always(host_session::Recovery::Pipe) });
        }
        Ok(Coverage::Full)
    }
}

/// Counts over the key that is kept, and opens it where there is none.
async fn count_sub_keys(
    session: &mut Session,
    kept: &mut Option<Key>,
    deadline: Instant,
) -> Result<u32, SessionError> {
    let target = session.target().clone();
    let mut client = RegistryClient::new(session.channel(0, deadline));
    let counted = async {
        let key = match kept.take() {
            Some(key) => key,
            None => client.open_local_machine().await?,
        };
        let info = client.query_info_key(kept.insert(key)).await?;
        Ok(info.sub_keys)
    };
    counted.await.map_err(|error: counters::rrp::Error<host_session::rpc_client::Error>| match &error {
        counters::rrp::Error::Rpc(error) => call_error(&target, ENDPOINT, error),
        _ => SessionError::of_answer(&target, Stage::Decode, Reason::MalformedReply, &error),
    })
}
