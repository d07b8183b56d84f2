//! Objects that Windows hosts call back, over DCOM: the side of [MS-DCOM] that has the objects.
//!
//! One [`Exporter`] serves all targets on one port or two. Each target has an object of its own, with random identifiers, and
//! gets a reference to it that says where it is. The host resolves that reference at port 135, asks for the interface, and
//! calls it:
//!
//! | the host calls | where | what for |
//! | --- | --- | --- |
//! | `IObjectExporter`: `ServerAlive2`, `ResolveOxid2` | the advertised address, port 135 | where the object's program is |
//! | `IRemUnknown`, `IRemUnknown2` | the advertised address and port | the object's interfaces, references to it |
//! | the object | the same | the event |
//!
//! [`Subscribers`] has objects for the events of the COM+ tracker, and keeps the newest state of each target:
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use dcom::callbacks::{Exporter, SubscriberLimits, Subscribers, AdvertisedAddress};
//! use dcom::rpc_server::{Deadlines, Limits, TcpListeners};
//! use tokio::net::TcpListener;
//!
//! let exporter = Exporter::new(Subscribers::INTERFACES);
//! let subscribers = Subscribers::new(exporter.clone(), SubscriberLimits::default());
//! let listener = TcpListener::bind("192.0.2.7:135").await?;
//! let server = exporter.server(Limits::default(), Deadlines::default());
//! let listening = TcpListeners::start(&server, vec![listener])?;
//!
//! let address = AdvertisedAddress::new("192.0.2.7", 135)?;
//! let subscriber = subscribers.subscribe(["198.51.100.1".parse()?], address)?;
//! let reference = subscriber.objref().to_pointer();
//! // … the reference is stored as the SubscriberInterface of a subscription at the host
//! subscriber.arrived().await;
//! let event = subscriber.take();
//! # let _ = (reference, event);
//! listening.stop().await;
//! # Ok(()) }
//! ```
//!
//! # Security
//!
//! References have no security bindings, so callers need no security ([MS-DCOM] 3.2.4.2). A resolver may authenticate all the
//! same ([MS-DCOM] 3.2.4.1.2.2, 3.2.6.1), and the tracker as the machine ([MS-COMT] <16>). What that proves is not looked at:
//!
//! | a caller with | is taken at |
//! | --- | --- |
//! | nothing | no protection |
//! | anonymous NTLM, by itself or in SPNEGO | all levels: its keys are known |
//! | NTLM of an account | the level CONNECT: only its domain knows the keys of others |
//! | Kerberos | none |
//!
//! What comes in is untrusted in each case. An object is called only from the addresses of its target, by a number of 122
//! random bits that only that target was told, and only to leave data behind.
//!
//! Objects live as long as their [`Export`], whatever callers say of references and pings: the reference says that no pings
//! are wanted.

mod advertised_address;
mod exporter;
mod random;
mod remote_unknown;
mod resolver;
mod subscriber;
mod table;

pub use self::advertised_address::{AdvertisedAddress, InvalidAdvertisedAddress};
pub use self::exporter::Exporter;
pub use self::random::NoRandomness;
pub use self::subscriber::{Event, EventCounts, EventRefusal, Subscriber, SubscriberLimits, Subscribers};
pub use self::table::UnknownPeers;
use core::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use com::dcom::types::ReferenceFlags;
use com::dcom::wire::Objref;
use dcerpc::FaultStatus;
use wire::Guid;

use crate::callbacks::table::{Entry, Table};
use crate::rpc_server::{Call, Refusal};

/// An object that hosts call.
pub trait ExportedObject: Send + Sync {
    /// Its interface beside `IUnknown`.
    fn iid(&self) -> Guid;

    /// Executes a call of that interface from one of the target's addresses, and returns the stub of the response. It returns
    /// at once.
    ///
    /// # Errors
    /// The fault to answer.
    fn call(&self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus>;

    /// A call from another address was refused.
    fn refused(&self, peer: IpAddr) {
        let _ = peer;
    }

    /// A connection from one of the target's addresses was refused or ended.
    fn connection_refused(&self, reason: Refusal, error: Option<&dcerpc::Error>) {
        let _ = (reason, error);
    }
}

/// An object that can be called. It is gone when this is dropped.
pub struct Export {
    table: Arc<Table>,
    entry: Arc<Entry>,
}

impl Export {
    pub(crate) const fn new(table: Arc<Table>, entry: Arc<Entry>) -> Self {
        Self { table, entry }
    }

    /// A reference to one of its interfaces: `IUnknown`, or its own. `None` for others. It asks not to be pinged.
    #[must_use]
    pub fn objref(&self, iid: Guid) -> Option<Objref<'static>> {
        self.entry.objref(iid, ReferenceFlags::SORF_NOPING)
    }

    /// Changes from which addresses it is called.
    pub fn set_addresses(&self, addresses: impl IntoIterator<Item = IpAddr>) {
        self.entry.set_addresses(addresses.into_iter().map(|address| address.to_canonical()).collect());
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        self.table.remove(&self.entry);
    }
}

/// Identifiers are not printed: who knows them can call the object.
impl fmt::Debug for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Export").field("address", &self.entry.address).finish_non_exhaustive()
    }
}
