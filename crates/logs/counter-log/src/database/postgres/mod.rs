//! Logs in a database of PostgreSQL.

mod connection;
mod failure;
mod guard;
mod store;
mod tables;

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use ssp::Secret;

use self::store::Store;
use super::{Chunk, Outcome, another_writer};
use crate::database::log::Log;
use crate::database::progress::{Counted, Progress};
use crate::{Batch, LogSink, SinkError, Written};

/// Writes one log into a database of PostgreSQL, over a connection of its own, which is opened when the first records come,
/// and again after a failure.
///
/// A record counts as written when the server has committed its transaction: it survives what the server's setting
/// `synchronous_commit` promises. If a connection breaks while the server commits, the records count as not written. Before
/// they are written again, the number of records in `DisplayToID` says whether they are there, so that they are neither lost
/// nor doubled.
///
/// All that is asked of a server has a timeout. Its messages are limited to 1 MiB, its answer to one request to 16 MiB, and
/// tokio-postgres keeps one message at a time. If a future is dropped, the connection is closed.
#[derive(Debug)]
pub struct PostgresSink {
    settings: Arc<PostgresSettings>,
    log: Log,
    progress: Progress,
    store: Option<Store>,
}

impl PostgresSink {
    /// A sink that writes `log` by these settings. Connects to nothing yet. Its futures need a runtime of tokio with time
    /// and input and output.
    #[must_use]
    pub fn new(settings: Arc<PostgresSettings>, log: Log) -> Self {
        Self { settings, log, progress: Progress::default(), store: None }
    }

    async fn open(&mut self, first: Timestamp) -> Result<Store, SinkError> {
        if let Some(store) = self.store.take() {
            return Ok(store);
        }
        let store = Store::open(&self.settings, &self.log, first).await?;
        self.settle(&store.found)?;
        Ok(store)
    }

    fn settle(&mut self, found: &Counted) -> Result<(), SinkError> {
        let settled = self.progress.settle(found);
        settled.map_err(|found| another_writer(&self.settings.name(), &self.log, &found))
    }

    /// After a failure there is no store, so that the next call connects again.
    async fn write_all(&mut self, batch: &Batch, written: &mut Written) -> Result<(), SinkError> {
        let Some(first) = batch.rows().next() else { return Ok(()) };
        let mut store = self.open(first.time).await?;
        written.records = self.progress.written_before(batch, 0);
        let mut has_moved = false;
        while written.records < batch.len() {
            let chunk = Chunk::next(&mut self.progress, batch, written.records, self.log.counters.len());
            let (kept, outcome) = store.add(&self.log, batch, &chunk).await?;
            store = kept;
            match outcome {
                Outcome::Done { records, bytes } => {
                    self.progress.done(records);
                    written.records = chunk.records.end;
                    written.bytes += bytes;
                }
                // The server went on with a transaction of a broken connection, and has committed it now.
                Outcome::Moved(found) if !has_moved => {
                    has_moved = true;
                    self.progress.not_done();
                    self.settle(&found)?;
                    written.records += self.progress.written_before(batch, written.records);
                }
                Outcome::Moved(found) => return Err(self.moved_twice(&found)),
            }
        }
        self.store = Some(store);
        Ok(())
    }

    fn moved_twice(&self, found: &Counted) -> SinkError {
        another_writer(&self.settings.name(), &self.log, &self.progress.differs(found.records))
    }
}

impl LogSink for PostgresSink {
    async fn write(&mut self, batch: &Batch) -> Written {
        let mut written = Written::default();
        written.failure = self.write_all(batch, &mut written).await.err();
        written
    }

    async fn finish(&mut self) -> Result<u64, SinkError> {
        if let Some(store) = self.store.take() {
            store.close().await;
        }
        Ok(0)
    }
}

/// How a database of PostgreSQL is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresSettings {
    /// The name or address of the server.
    pub host: String,
    pub port: u16,
    pub database: String,
    pub user: String,
    /// Its password. It is sent by SCRAM only. Without one, the server has to trust the account.
    pub password: Option<Secret>,
    /// How the connection is protected.
    pub tls: Tls,
    /// Maximum time until a connection is ready.
    pub connect_timeout: Duration,
    /// Maximum time of anything else that is asked of the server, a batch of records among it.
    pub statement_timeout: Duration,
}

/// How a connection is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tls {
    /// Not at all: whoever sees the packets reads and changes the log.
    Off,
    /// By TLS, with the server's certificate and name checked.
    Require {
        /// The certificates of the authorities, in PEM; nothing for those of the system. Read again for each connection.
        ca_file: Option<PathBuf>,
    },
}

impl Tls {
    /// What counts where nothing is configured: TLS, except for a server of this machine.
    #[must_use]
    pub fn default_for(host: &str) -> Self {
        let is_loopback = host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        if is_loopback || host == "localhost" { Self::Off } else { Self::Require { ca_file: None } }
    }
}

impl PostgresSettings {
    /// Port 5432, no password, [`Tls::default_for`] the host, and the default timeouts.
    #[must_use]
    pub fn new(host: &str, database: &str, user: &str) -> Self {
        Self {
            host: host.to_owned(),
            port: 5432,
            database: database.to_owned(),
            user: user.to_owned(),
            password: None,
            tls: Tls::default_for(host),
            connect_timeout: Self::CONNECT_TIMEOUT,
            statement_timeout: Self::STATEMENT_TIMEOUT,
        }
    }

    /// How errors name the database.
    fn name(&self) -> String {
        format!("PostgreSQL database {} of {}:{}", self.database, self.host, self.port)
    }

    /// The default of `connect_timeout`.
    pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
    /// The default of `statement_timeout`.
    pub const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);
}
