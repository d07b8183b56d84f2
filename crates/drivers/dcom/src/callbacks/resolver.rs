//! `IObjectExporter` [MS-DCOM] 3.1.2.5.1: where the program of an object is. Callers learn nothing of objects that are not
//! theirs.

use std::net::IpAddr;
use std::sync::Arc;

use crate::rpc_server::{Call, Interface as ServedInterface};
use com::dcom::resolver::{
    ComplexPingReply, ComplexPingRequest, IObjectExporter, IObjectExporterServer, ResolveOxid2Reply,
    ResolveOxid2Request, ResolveOxidReply, ResolveOxidRequest, ServerAlive2Reply, ServerAlive2Request,
    ServerAliveReply, ServerAliveRequest, SimplePingReply, SimplePingRequest,
};
use com::dcom::types::{Oxid, SetId};
use dcerpc::{FaultStatus, SyntaxId};
use rpc::ndr::Reserved;
use rpc::orpc::ComVersion;
use rpc::{Interface, ServerResult};
use wire::Win32Error;

use crate::callbacks::table::{Entry, Table};

/// `RPC_C_AUTHN_LEVEL_NONE`: objects take calls at any level.
const AUTHN_HINT: u32 = 1;

pub(crate) struct Resolver {
    table: Arc<Table>,
}

impl Resolver {
    pub(crate) const fn new(table: Arc<Table>) -> Self {
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
