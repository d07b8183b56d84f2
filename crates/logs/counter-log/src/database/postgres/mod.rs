//! Logs in a database of PostgreSQL.

mod connection;
mod guard;
mod store;
mod tables;

use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use ssp::Secret;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use self::store::Store;
use super::{Chunk, Outcome, another_writer, failure};
use crate::database::log::Log;
use crate::database::progress::{Counted, Progress};
use crate::{Batch, LogSink, SinkError, SinkErrorKind, Written};

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

/// Why a transaction failed.
#[derive(Debug)]
enum Failed {
    /// What was being done, and what tokio-postgres says.
    Request(&'static str, Error),
    /// What the log is to hear, as it is.
    Sink(SinkError),
}

impl From<(&'static str, Error)> for Failed {
    fn from((doing, error): (&'static str, Error)) -> Self {
        Self::Request(doing, error)
    }
}

/// What a failure of PostgreSQL means for a log, and what to do about it. Appendix A of its documentation lists the codes.
fn failed(settings: &PostgresSettings, doing: &str, error: &Error) -> SinkError {
    let name = settings.name();
    let Some(answer) = error.as_db_error() else {
        let text = shortened(&with_causes(error));
        if text.contains("password missing") {
            return failure(
                SinkErrorKind::Denied,
                format!("{name}: {doing}: {text}; give the user a password"),
            );
        }
        // What the guard refuses, TLS, and messages that are none.
        if is_misunderstanding(error) {
            let advice = "check what listens there, and its certificate";
            return failure(SinkErrorKind::Other, format!("{name}: {doing}: {text}; {advice}"));
        }
        return unavailable(settings, &format!("{doing}: {text}"));
    };
    let (kind, advice) = meaning(answer.code());
    let (code, message) = (answer.code().code(), shortened(answer.message()));
    failure(kind, format!("{name}: {doing}: {message} ({code}); {advice}"))
}

/// An error of tokio-postgres names its causes only as sources.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

fn is_misunderstanding(error: &Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(cause) = cause.downcast_ref::<io::Error>() {
            return matches!(cause.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput);
        }
        source = cause.source();
    }
    false
}

/// The server is not there, or does not answer as one.
fn unavailable(settings: &PostgresSettings, text: &str) -> SinkError {
    let advice = "check that the server runs, and its address";
    failure(SinkErrorKind::Unavailable, format!("{}: {}; {advice}", settings.name(), shortened(text)))
}

fn meaning(code: &SqlState) -> (SinkErrorKind, &'static str) {
    use SinkErrorKind::{Denied, Full, Other, Refused, Unavailable};
    let (class, _) = code.code().split_at_checked(2).unwrap_or_default();
    match class {
        "28" => (Denied, "check the user, its password, and pg_hba.conf"),
        "08" | "57" | "40" | "55" => (Unavailable, "the server is asked again with the next records"),
        _ if *code == SqlState::TOO_MANY_CONNECTIONS => (Unavailable, "allow more connections on the server"),
        _ if *code == SqlState::DISK_FULL => (Full, "free space on the server"),
        "53" => (Unavailable, "give the server more memory, or raise its limits"),
        _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
            (Denied, "let the user make and write the tables in its schema")
        }
        _ if *code == SqlState::READ_ONLY_SQL_TRANSACTION => (Denied, "name the primary server"),
        "3D" => (Denied, "create the database"),
        "22" | "23" | "42" => (Refused, "use another database or schema"),
        _ => (Other, "look into the server's log"),
    }
}

/// A server chooses these texts: one line of a moderate length.
fn shortened(text: &str) -> String {
    let printable = |character: char| if character.is_control() { ' ' } else { character };
    let mut short: String = text.chars().take(TEXT_CHARACTERS_MAX).map(printable).collect();
    if text.chars().nth(TEXT_CHARACTERS_MAX).is_some() {
        short.push('…');
    }
    short
}

const TEXT_CHARACTERS_MAX: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_of_a_server_is_one_short_line() {
        let text = shortened(&"line\n\u{1b}[31m".repeat(100_000));
        assert_eq!(text.chars().count(), TEXT_CHARACTERS_MAX + 1);
        assert!(!text.contains(char::is_control));
    }

    #[test]
    fn codes_have_the_kinds_that_say_what_to_do() {
        let kinds = [
            (SqlState::DISK_FULL, SinkErrorKind::Full),
            (SqlState::OUT_OF_MEMORY, SinkErrorKind::Unavailable),
            (SqlState::TOO_MANY_CONNECTIONS, SinkErrorKind::Unavailable),
            (SqlState::INVALID_PASSWORD, SinkErrorKind::Denied),
            (SqlState::ADMIN_SHUTDOWN, SinkErrorKind::Unavailable),
            (SqlState::INSUFFICIENT_PRIVILEGE, SinkErrorKind::Denied),
            (SqlState::UNDEFINED_COLUMN, SinkErrorKind::Refused),
            (SqlState::from_code(""), SinkErrorKind::Other),
            (SqlState::from_code("ä"), SinkErrorKind::Other),
        ];
        for (code, kind) in kinds {
            assert_eq!(meaning(&code).0, kind, "{code:?}");
        }
    }
}
