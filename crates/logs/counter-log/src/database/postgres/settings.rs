use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use ssp::Secret;

/// How a database of PostgreSQL is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresSettings {
    /// The name or address of the server.
    pub host: String,
    /// Its TCP port.
    pub port: u16,
    /// The database.
    pub database: String,
    /// The account.
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
    pub(super) fn name(&self) -> String {
        format!("PostgreSQL database {} of {}:{}", self.database, self.host, self.port)
    }

    /// The default of `connect_timeout`.
    pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
    /// The default of `statement_timeout`.
    pub const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);
}
