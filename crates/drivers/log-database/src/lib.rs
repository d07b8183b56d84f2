//! Logs of performance counters in databases, [MS-PLA] 2.2.2.7: SQLite and PostgreSQL.
