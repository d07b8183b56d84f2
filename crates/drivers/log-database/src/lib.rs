//! Logs of performance counters in databases, [MS-PLA] 2.2.2.7: SQLite and PostgreSQL.

mod chunk;
mod error;
mod guid;
mod log;
mod postgres;
mod progress;
mod record;
mod sqlite;
mod tables;

pub use self::error::Error;
pub use self::log::{COLUMNS_MAX, Log};
pub use self::postgres::{PostgresSettings, PostgresSink, Tls};
pub use self::sqlite::{SqliteFile, SqliteSink};
