//! For plugins that read Windows hosts over RPC: a connection that is kept between collections, logons with leased
//! credentials, and the failures that all of them report alike.
//!
//! It knows no interface. A plugin says which [`Service`] of a host it asks, and what it keeps open there: handles, such
//! as that of a query, are the type parameter of [`HostConnection`].
//!
//! ```no_run
//! # use dcerpc::SyntaxId;
//! # use plugin_sdk::{Collection, Coverage, Failure, Stage};
//! # use tokio::time::Instant;
//! use host_session::{Endpoint, Reason};
//! use plugin_session::{AttemptError, HostConnection, HostSource, Service};
//!
//! # const INTERFACES: &[SyntaxId] = &[];
//! const SERVICE: Service = Service {
//!     endpoint: Endpoint::NamedPipe { name: "winreg", stopped: Reason::RemoteRegistryStopped },
//!     interfaces: INTERFACES,
//! };
//!
//! /// A key of the host that stays open from collection to collection.
//! struct OpenKey;
//! struct Registry { connection: HostConnection<OpenKey> }
//!
//! impl HostSource for Registry {
//!     type Handles = OpenKey;
//!
//!     fn connection(&mut self) -> &mut HostConnection<OpenKey> {
//!         &mut self.connection
//!     }
//!
//!     async fn attempt(&mut self, collection: &mut Collection, deadline: Instant) -> Result<Coverage, AttemptError> {
//!         let mut open = self.connection.take(collection, deadline).await?;
//!         let timer = open.begin_calls(collection);
//!         // Calls over `open.session()`; an error goes to `self.connection.fail(open, …)`.
//!         open.end_calls(timer, collection);
//!         self.connection.put_back(open);
//!         Ok(Coverage::Full)
//!     }
//! }
//!
//! // In `plugin_sdk::Source::collect`:
//! # async fn collect(registry: &mut Registry, collection: &mut Collection) -> Result<Coverage, Failure> {
//! plugin_session::collect(registry, collection).await
//! # }
//! ```
//!
//! | module | job |
//! | --- | --- |
//! | `collect` | attempts until one succeeds or nothing lost can be opened again |
//! | `connection` | connects, logs on, opens again what was lost |
//! | `open` | a connection in use |
//! | `lease` | credentials, lent by the exporter for one logon |
//! | `call` | what errors of methods are called |
//! | `failure` | what a session's errors are called on the plugin's side |
//! | `settings` | how a host is reached, as the exporter hands it over |
//! | [`command`] | the same for commands: arguments, a session, what is printed when there is none |

mod attempt;
mod call;
mod collect;
pub mod command;
mod connection;
mod connector;
mod failure;
mod lease;
mod open;
mod settings;

pub use self::attempt::{AttemptError, Retry};
pub use self::call::call_error;
pub use self::collect::{HostSource, collect};
pub use self::connection::{HostConnection, Service};
pub use self::failure::{DECLARED_REASONS, failure_of};
pub use self::lease::SessionLease;
pub use self::open::OpenSession;
pub use self::settings::{Encryption, SMB_TRANSPORT, SmbSettings, TransportSettings};
