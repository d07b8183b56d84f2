//! Where the records of a log go.

use std::sync::Arc;

use counter_log::database::{Log, PostgresSettings, PostgresSink, SqliteSink, Tls};
use counter_log::writer::FileLog;
use counter_log::{Batch, LogSink, SinkError, SinkErrorKind, Written};
use ssp::Secret;

use super::turns::Turn;
use crate::config::{Postgresql, password};
use crate::threads::{PASSWORDS, Place};

/// A file or tables.
pub(super) enum AnySink {
    File(Box<FileLog>),
    Sqlite(Box<SqliteSink>, Turn),
    Postgresql(Box<Server>, Turn),
    /// One that cannot be written to.
    Refused(SinkError),
}

/// A server, with whose password is read with the first records.
pub(super) struct Server {
    settings: Arc<Postgresql>,
    log: Log,
    sink: Option<PostgresSink>,
}

impl Server {
    pub(super) const fn new(settings: Arc<Postgresql>, log: Log) -> Self {
        Self { settings, log, sink: None }
    }

    async fn sink(&mut self) -> Result<&mut PostgresSink, SinkError> {
        if self.sink.is_none() {
            let settings = Arc::new(connection(&self.settings).await?);
            self.sink = Some(PostgresSink::new(settings, self.log.clone()));
        }
        let missing = || SinkError { kind: SinkErrorKind::Other, message: "no connection".to_owned() };
        self.sink.as_mut().ok_or_else(missing)
    }
}

async fn connection(settings: &Postgresql) -> Result<PostgresSettings, SinkError> {
    let Postgresql { host, port, database, user, password_file, tls, ca_file } = settings.clone();
    let mut made = PostgresSettings::new(&host, &database, &user);
    made.port = port;
    made.tls = match tls {
        Some(false) => Tls::Off,
        Some(true) => Tls::Require { ca_file },
        None if ca_file.is_some() => Tls::Require { ca_file },
        None => made.tls,
    };
    if let Some(path) = password_file {
        let read = PASSWORDS.run(vec![Place::of_file(&path)], move || password(&path).map(Secret::new)).await;
        let failed = |message: String| SinkError { kind: SinkErrorKind::Denied, message };
        made.password = Some(read.flatten().map_err(failed)?);
    }
    Ok(made)
}

impl LogSink for AnySink {
    async fn write(&mut self, batch: &Batch) -> Written {
        let failure = |failure| Written { failure: Some(failure), ..Written::default() };
        match self {
            Self::File(sink) => sink.write(batch).await,
            Self::Sqlite(sink, turn) => match turn.wait().await {
                Ok(()) => sink.write(batch).await,
                Err(error) => failure(error),
            },
            Self::Postgresql(server, turn) => match turn.wait().await {
                Ok(()) => match server.sink().await {
                    Ok(sink) => sink.write(batch).await,
                    Err(error) => failure(error),
                },
                Err(error) => failure(error),
            },
            Self::Refused(error) => failure(error.clone()),
        }
    }

    async fn finish(&mut self) -> Result<u64, SinkError> {
        match self {
            Self::File(sink) => sink.finish().await,
            Self::Sqlite(sink, _) => sink.finish().await,
            Self::Postgresql(server, _) => match &mut server.sink {
                Some(sink) => sink.finish().await,
                None => Ok(0),
            },
            Self::Refused(_) => Ok(0),
        }
    }
}
