//! For plugins that read Windows hosts over RPC: a connection that is kept between collections, logons with leased
//! credentials, and common failures.
//!
//! It knows no interface. A plugin names the [`Service`] of a host that it uses, and the handles that it keeps open
//! there: they are the type parameter of [`HostConnection`].
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
//!     names: &[],
//! };
//!
//! /// A key of the host that stays open from collection to collection.
//! struct OpenKey;
//! struct Registry { connection: HostConnection<OpenKey> }
//!
//! impl HostSource for Registry {
//!     type Connection = HostConnection<OpenKey>;
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
//! For a TCP port without SMB, [`PortConnection`] takes the place of [`HostConnection`], and a [`PortService`] that of the
//! [`Service`]. Its [`ReachedHost`] connects to more ports of the same host.
//!
//! For an object of DCOM, [`ObjectConnection`] takes the place of [`HostConnection`], and an [`ObjectService`] that of the
//! [`Service`]. What it takes is a `dcom::client::Object`, whose `proxy` has the calls.
//!
//! | module | job |
//! | --- | --- |
//! | `collect` | attempts until one succeeds or nothing lost can be reopened |
//! | `connection` | connects, logs on, reopens what was lost |
//! | `object_connection` | the same for an object of DCOM |
//! | `port_connection` | the same for a TCP port |
//! | `connector` | more ports of a host that accepted the credentials at one |
//! | `open` | a connection in use |
//! | `lease` | credentials that the exporter leases for one logon |
//! | `attempt` | why an attempt of a collection failed, and whether it is made again |
//! | `backoff` | pauses between attempts while they fail |
//! | `failure` | conversion of a session's errors to failures of the plugin |
//! | `settings` | the transport settings that the exporter passes, and the writer of the RPC run time's state |
//! | [`command`] | the same for commands: arguments, a session, errors if there is none |

mod attempt;
mod backoff;
mod collect;
pub mod command;
mod connection;
mod connector;
mod failure;
mod lease;
mod object_connection;
mod open;
mod port_connection;
mod settings;

pub use self::attempt::{AttemptError, Retry};
pub use self::backoff::Backoff;
pub use self::collect::{HostSource, KeptConnection, collect, collect_until};
pub use self::connection::HostConnection;
pub use self::connector::{PortError, ReachedHost};
pub use self::failure::{DECLARED_REASONS, failure_of};
pub use self::lease::SessionLease;
pub use self::object_connection::{Explanation, ObjectConnection, ObjectService, ObjectStep};
pub use self::open::{OpenSession, SidePipe};
pub use self::port_connection::PortConnection;
pub use self::settings::{
    DCOM_TRANSPORT, DcomSettings, Encryption, SMB_TRANSPORT, SmbSettings, TCP_TRANSPORT, TcpSettings,
    TransportSettings, cells, recorder,
};
use dcerpc::SyntaxId;
use host_session::{Endpoint, TcpService};
pub use rpc::Pause;
pub use rpc_recorder::InterfaceNames;

/// The service of a host that a plugin uses.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    pub endpoint: Endpoint,
    /// The interfaces to bind.
    pub interfaces: &'static [SyntaxId],
    /// All interfaces that the plugin calls, of all its services, with the names that the state of its calls has.
    pub names: &'static [InterfaceNames],
}

/// What a plugin uses at a TCP port of a host.
#[derive(Clone, Copy, Debug)]
pub struct PortService {
    pub service: TcpService,
    /// The interfaces to bind.
    pub interfaces: &'static [SyntaxId],
    /// All interfaces that the plugin calls, of all its services, with the names that the state of its calls has.
    pub names: &'static [InterfaceNames],
}
