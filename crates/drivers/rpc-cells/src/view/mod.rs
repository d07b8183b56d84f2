//! What is made of cells: the tables that Windows' tool `dbgrpc` prints, the same as JSON, one cell in full, and the way of
//! a call from process to process.
//!
//! All of it works on [`Snapshot`](crate::Snapshot)s, one for each file; a process may have several. The options are
//! those of `dbgrpc`:
//!
//! | option | here |
//! | --- | --- |
//! | `-e` | [`endpoints`] |
//! | `-t` | [`threads`] |
//! | `-c` | [`server_calls`] |
//! | `-a` | [`client_calls`] |
//! | `-l` | [`cell`] |
//!
//! `dbgrpc` has no list of connections; [`connections`] is ours.
//!
//! Rows are sorted as the files and their cells are. `Display` of a [`Table`] is the text for people; rows are `Serialize`.
//! The names of a method and its interface, where its process knows them, follow the columns that `dbgrpc` has.
//! Names come from other processes, so control characters in them are escaped.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod detail;
mod filter;
mod follow;
mod names;
mod operation;
mod rows;
mod table;

pub use self::detail::{CellText, cell};
pub use self::filter::{CallFilter, client_calls, connections, endpoints, server_calls, threads};
pub use self::follow::{Hop, Place, Trail, TrailEnd, follow};
pub use self::names::{label, short};
pub use self::operation::{CallNames, OperationName, operation_name};
pub use self::rows::{ClientCallRow, ConnectionRow, EndpointRow, Found, ServerCallRow, ThreadRow};
pub use self::table::{Row, Table};
