//! For commands of plugins that read one host: connecting, and error messages.

mod arguments;
mod audit;
mod connect;
mod error;
mod user;

pub use self::arguments::{HostArguments, ObjectTransportArguments, TransportArguments, parse_duration};
pub use self::audit::{AuditRecord, AuditedAttempt, audit_field};
pub use self::connect::{ConnectError, HostAccess};
pub use self::error::CommandError;
pub use self::user::user;
