//! Which objects hosts may call back, and the server that takes the calls.

use core::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use dcerpc::{AuthService, FaultStatus, Observers, SyntaxId};
use ssp::{Mechanism, SecurityContext, ServerOptions, Usage};
use tracing::debug;

use crate::callbacks::remote_unknown::RemUnknown;
use crate::callbacks::table::{Role, Table, UnknownPeers};
use crate::callbacks::{AdvertisedAddress, Export, ExportedObject, NoRandomness, Resolver};
use crate::rpc_server::{Call, Deadlines, Interface, Limits, Options, RefusalObserver, Server};

/// A program with objects, and the resolver that finds it. Clones are the same one.
#[derive(Clone)]
pub struct Exporter {
    table: Arc<Table>,
    interfaces: Vec<SyntaxId>,
}

impl Exporter {
    /// A program without objects yet; those that it gets have these interfaces.
    #[must_use]
    pub fn new(interfaces: &[SyntaxId]) -> Self {
        Self { table: Arc::default(), interfaces: interfaces.to_vec() }
    }

    /// Adds an object that is called from these addresses, and tells its callers that it is there.
    ///
    /// # Errors
    /// When its identifiers could be guessed.
    pub fn export(
        &self,
        object: Arc<dyn ExportedObject>,
        addresses: impl IntoIterator<Item = IpAddr>,
        address: AdvertisedAddress,
    ) -> Result<Export, NoRandomness> {
        let addresses = addresses.into_iter().map(|address| address.to_canonical()).collect();
        let entry = self.table.insert(object, addresses, address)?;
        Ok(Export::new(Arc::clone(&self.table), entry))
    }

    /// What hosts bind: the resolver, `IRemUnknown` and `IRemUnknown2`, and the interfaces of the objects.
    #[must_use]
    pub fn interfaces(&self) -> Vec<Arc<dyn Interface>> {
        let table = || Arc::clone(&self.table);
        let mut all: Vec<Arc<dyn Interface>> = vec![
            Arc::new(Resolver::new(table())),
            Arc::new(RemUnknown::first(table())),
            Arc::new(RemUnknown::second(table())),
        ];
        for &syntax_id in &self.interfaces {
            all.push(Arc::new(Objects { table: table(), syntax_id }));
        }
        all
    }

    /// A server of these interfaces for connections from the addresses of all objects; nothing observes it.
    #[must_use]
    pub fn server(&self, limits: Limits, deadlines: Deadlines) -> Server {
        self.server_observed(limits, deadlines, Arc::new(()))
    }

    /// The same with observers of its associations.
    #[must_use]
    pub fn server_observed(
        &self,
        limits: Limits,
        deadlines: Deadlines,
        observers: Arc<dyn Observers>,
    ) -> Server {
        let table = Arc::clone(&self.table);
        let is_allowed = Arc::new(move |peer| table.knows(peer));
        let table = Arc::clone(&self.table);
        let on_refusal: RefusalObserver =
            Arc::new(move |peer, reason, error| table.refused(peer, reason, error));
        let acceptor = Arc::new(accept_anybody);
        let options = Options { is_allowed, acceptor, on_refusal, observers, limits, deadlines };
        Server::new(options, self.interfaces())
    }

    /// Connections from addresses that are the target of no object.
    #[must_use]
    pub fn unknown_peers(&self) -> UnknownPeers {
        self.table.unknown_peers()
    }
}

/// NTLM, by itself or in SPNEGO, whoever it is: nobody here knows the passwords of hosts.
fn accept_anybody(service: AuthService) -> Option<Box<dyn SecurityContext>> {
    let mechanism = match service {
        AuthService::WINNT => Mechanism::Ntlm,
        AuthService::GSS_NEGOTIATE => Mechanism::Negotiate,
        _ => return None,
    };
    ssp::server_of_anybody(ServerOptions::new(mechanism, Usage::Rpc)).ok()
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exporter").field("interfaces", &self.interfaces).finish_non_exhaustive()
    }
}

/// An interface of objects: calls name the object by an IPID.
struct Objects {
    table: Arc<Table>,
    syntax_id: SyntaxId,
}

impl Interface for Objects {
    fn syntax_id(&self) -> SyntaxId {
        self.syntax_id
    }

    //= [MS-DCOM] 3.1.1.5.4
    //# If the IPID entry is not found, the object exporter MUST return RPC_E_DISCONNECTED
    fn call(&self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        let found = self.table.interface(call.info.object.unwrap_or_default());
        let found =
            found.filter(|(entry, role)| *role == Role::Object && entry.object.iid() == self.syntax_id.uuid);
        let (entry, _) = found.ok_or(FaultStatus::RPC_E_DISCONNECTED)?;
        if entry.is_called_from(call.peer) {
            return entry.object.call(call);
        }
        debug!(peer = %call.peer, "Call of another target's object refused");
        entry.object.refused(call.peer);
        Err(FaultStatus::NCA_S_FAULT_ACCESS_DENIED)
    }
}
