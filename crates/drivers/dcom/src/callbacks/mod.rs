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
//! random bits that only that target got, and only to leave data behind.
//!
//! Objects live as long as their [`Export`], whatever callers say of references and pings: the reference says that no pings
//! are wanted.

mod exporter;
mod remote_unknown;
mod subscriber;
mod table;

use core::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use com::dcom::resolver::{
    ComplexPingReply, ComplexPingRequest, IObjectExporter, IObjectExporterServer, ResolveOxid2Reply,
    ResolveOxid2Request, ResolveOxidReply, ResolveOxidRequest, ServerAlive2Reply, ServerAlive2Request,
    ServerAliveReply, ServerAliveRequest, SimplePingReply, SimplePingRequest,
};
use com::dcom::types::{Oxid, ReferenceFlags, SetId};
use com::dcom::wire::{DualStringArray, Objref};
use dcerpc::{FaultStatus, SyntaxId};
use rpc::ndr::Reserved;
use rpc::orpc::ComVersion;
use rpc::{Interface, ServerResult};
use wire::{Guid, Win32Error};

pub use self::exporter::Exporter;
pub use self::subscriber::{Event, EventCounts, EventRefusal, Subscriber, SubscriberLimits, Subscribers};
pub use self::table::UnknownPeers;

use super::rpc_server::Interface as ServedInterface;
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

/// The system has no random bytes, so that an object could be called by everybody who guesses its identifiers.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("make identifiers of an object: the system has no random bytes: {0}")]
pub struct NoRandomness(getrandom::Error);

/// A number that is not zero.
fn random_number() -> Result<u64, NoRandomness> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(NoRandomness)?;
    Ok(u64::from_le_bytes(bytes).max(1))
}

/// A GUID of version 4.
fn random_guid() -> Result<Guid, NoRandomness> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(NoRandomness)?;
    let random = u128::from_le_bytes(bytes);
    Ok(Guid::from_u128(random & !(0xf << 76) & !(3 << 62) | 4 << 76 | 2 << 62))
}

/// Where hosts are told to call: an address that they can reach, which need not be one of this machine (containers, address
/// translation).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvertisedAddress {
    /// A name or an address. INVARIANT: printable ASCII without brackets, and not empty.
    host: String,
    port: u16,
}

/// The longest name of a host.
const HOST_MAX: usize = 255;

/// An address that cannot be advertised.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("call-back address {host:?}: {reason}")]
pub struct InvalidAdvertisedAddress {
    host: String,
    reason: &'static str,
}

impl AdvertisedAddress {
    /// Where objects are called. References are resolved at the same address: Windows asks port 135 there, whatever `port`
    /// is.
    ///
    /// # Errors
    /// When `host` is no name and no address.
    pub fn new(host: impl Into<String>, port: u16) -> Result<Self, InvalidAdvertisedAddress> {
        let host = host.into();
        let reason = if host.is_empty() {
            "is empty"
        } else if host.len() > HOST_MAX {
            "is longer than a name can be"
        } else if host.bytes().any(|byte| !byte.is_ascii_graphic() || b"[]".contains(&byte)) {
            "is no name and no address; write an address of IPv6 without brackets"
        } else {
            return Ok(Self { host, port });
        };
        Err(InvalidAdvertisedAddress { host, reason })
    }

    /// The name or address.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// [MS-DCOM] 2.2.19.3: bindings of a resolver have no port.
    pub(crate) fn resolver(&self) -> DualStringArray {
        DualStringArray::tcp([self.host.clone()], Vec::new())
    }

    /// The bindings of the program that has the objects.
    pub(crate) fn exporter(&self) -> DualStringArray {
        DualStringArray::tcp([format!("{}[{}]", self.host, self.port)], Vec::new())
    }
}

// `IObjectExporter` [MS-DCOM] 3.1.2.5.1: where the program of an object is. Callers learn nothing of objects that are not
// theirs.

/// `RPC_C_AUTHN_LEVEL_NONE`: objects take calls at any level.
const AUTHN_HINT: u32 = 1;

struct Resolver {
    table: Arc<Table>,
}

impl Resolver {
    const fn new(table: Arc<Table>) -> Self {
        Self { table }
    }
}

impl ServedInterface for Resolver {
    fn syntax_id(&self) -> SyntaxId {
        IObjectExporter::SYNTAX_ID
    }

    fn call(&self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        Calls { table: &self.table, peer: call.peer }.dispatch(&call.info, call.opnum, call.stub)
    }
}

/// The calls of one peer.
struct Calls<'a> {
    table: &'a Table,
    peer: IpAddr,
}

const SUCCESS: Win32Error = Win32Error::ERROR_SUCCESS;

impl Calls<'_> {
    fn program(&self, oxid: Oxid) -> Result<Arc<Entry>, Win32Error> {
        self.table.program(oxid, self.peer).ok_or(Win32Error::OR_INVALID_OXID)
    }

    /// Pings change nothing: objects do not need them. A set that a caller makes has a fixed name, so that it costs nothing.
    fn ping(&self, set_id: SetId) -> Result<(), Win32Error> {
        let is_set = |entry: &Arc<Entry>| entry.set_id == set_id;
        let found = self.table.objects_of(self.peer).iter().any(is_set);
        if found { Ok(()) } else { Err(Win32Error::OR_INVALID_SET) }
    }
}

impl IObjectExporterServer for Calls<'_> {
    fn resolve_oxid(&mut self, request: &ResolveOxidRequest) -> ServerResult<ResolveOxidReply, Win32Error> {
        let program = self.program(request.oxid)?;
        Ok(ResolveOxidReply {
            bindings: Some(Box::new(program.address.exporter())),
            ipid_rem_unknown: program.ipid_rem_unknown,
            authn_hint: AUTHN_HINT,
            status: SUCCESS,
        })
    }

    fn simple_ping(&mut self, request: &SimplePingRequest) -> ServerResult<SimplePingReply, Win32Error> {
        self.ping(request.set_id)?;
        Ok(SimplePingReply { status: SUCCESS })
    }

    fn complex_ping(&mut self, request: &ComplexPingRequest) -> ServerResult<ComplexPingReply, Win32Error> {
        let own = self.table.objects_of(self.peer);
        // An unknown object is passed over in a new set.
        if request.set_id != SetId::default() {
            self.ping(request.set_id)?;
            let mut added = request.add.iter().flat_map(|oids| &oids.0);
            if !added.all(|oid| own.iter().any(|entry| entry.oid == *oid)) {
                return Err(Win32Error::OR_INVALID_OID.into());
            }
        }
        let set_id = own.first().ok_or(Win32Error::OR_INVALID_SET)?.set_id;
        Ok(ComplexPingReply { set_id, backoff: 0, status: SUCCESS })
    }

    fn server_alive(&mut self, _: &ServerAliveRequest) -> ServerResult<ServerAliveReply, Win32Error> {
        Ok(ServerAliveReply { status: SUCCESS })
    }

    fn resolve_oxid2(
        &mut self,
        request: &ResolveOxid2Request,
    ) -> ServerResult<ResolveOxid2Reply, Win32Error> {
        let program = self.program(request.oxid)?;
        Ok(ResolveOxid2Reply {
            bindings: Some(Box::new(program.address.exporter())),
            ipid_rem_unknown: program.ipid_rem_unknown,
            authn_hint: AUTHN_HINT,
            version: ComVersion::V5_7,
            status: SUCCESS,
        })
    }

    fn server_alive2(&mut self, _: &ServerAlive2Request) -> ServerResult<ServerAlive2Reply, Win32Error> {
        let own = self.table.objects_of(self.peer);
        let bindings = own.first().map(|entry| entry.address.resolver()).unwrap_or_default();
        let (version, reserved) = (ComVersion::V5_7, Reserved::NEW);
        Ok(ServerAlive2Reply { version, bindings: Some(Box::new(bindings)), reserved, status: SUCCESS })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guid_says_that_it_is_random() {
        let text = random_guid().unwrap().to_string();
        assert_eq!(&text[14..15], "4", "{text}");
        assert!("89ab".contains(&text[19..20]), "{text}");
    }

    #[test]
    fn an_address_is_told_with_its_port_only_where_objects_are_called() {
        let address = AdvertisedAddress::new("2001:db8::7", 5135).unwrap();
        assert_eq!(address.resolver().strings[0].address, "2001:db8::7");
        assert_eq!(address.exporter().strings[0].address, "2001:db8::7[5135]");
        assert!(address.exporter().security.is_empty(), "callers use no security");
    }

    #[test]
    fn what_is_no_address_is_refused_with_a_hint() {
        for host in ["", "web 1", "[::1]", "10.0.0.1[135]", "web\0", &"a".repeat(256)] {
            assert!(AdvertisedAddress::new(host, 135).is_err(), "{host:?}");
        }
        let error = AdvertisedAddress::new("[::1]", 135).unwrap_err();
        assert_eq!(
            error.to_string(),
            "call-back address \"[::1]\": is no name and no address; write an address of IPv6 without brackets"
        );
    }
}
