//! Logs of performance counters in databases, [MS-PLA] 2.2.2.7: SQLite and PostgreSQL.

mod error;
mod log;
mod postgres;
mod sqlite;

pub use self::error::Error;
pub use self::log::{COLUMNS_MAX, Log};
pub use self::postgres::{PostgresSettings, PostgresSink, Tls};
pub use self::sqlite::{SqliteFile, SqliteSink};
