//! The object resolver of a host [MS-DCOM] 3.1.2: `IObjectExporter`, which finds programs with objects and takes pings, and
//! `IRemoteSCMActivator`, which makes objects.

mod activator;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use com::dcom::resolver::{
    ComplexPingReply, ComplexPingRequest, IObjectExporter, IObjectExporterServer, ResolveOxid2Reply,
    ResolveOxid2Request, ResolveOxidReply, ResolveOxidRequest, ServerAlive2Reply, ServerAlive2Request,
    ServerAliveReply, ServerAliveRequest, SimplePingReply, SimplePingRequest,
};
use com::dcom::types::{Oid, SetId};
use dcerpc::{FaultStatus, SyntaxId};
use parking_lot::Mutex;
use rpc::ndr::Reserved;
use rpc::orpc::ComVersion;
use rpc::{FromStub, Interface, Message, Request, ServerResult};
use wire::{FileTime, Win32Error};

use super::objects::{ObjectTable, is_overdue};
use super::refused::refused;
use super::{Call, Endpoint, Handler, Service, TcpPort, exporter_bindings, resolver_bindings};
use crate::host_state::HostState;
use crate::rule::Action;

/// The interfaces of the resolver of this program: one service each.
pub(super) fn services(objects: &Arc<ObjectTable>) -> Vec<Arc<dyn Service>> {
    vec![
        Arc::new(Resolver::new(Arc::clone(objects))),
        Arc::new(activator::Activator::new(Arc::clone(objects))),
    ]
}

/// Sets of objects that clients of one host ping at a time.
pub const SETS_MAX: usize = 1024;

/// [MS-DCOM] 3.1.2.1: the table of sets of objects that are pinged as one. Its objects are in an [`ObjectTable`], which
/// forgets those that are not pinged.
#[derive(Default)]
struct PingSets(BTreeMap<SetId, PingSet>);

struct PingSet {
    /// At most as many as the program had objects.
    oids: BTreeSet<Oid>,
    sequence: u16,
    pinged: FileTime,
}

impl PingSets {
    //= [MS-DCOM] 3.1.2.5.1.2
    //# If the entry is not found, it returns OR_INVALID_SET
    fn simple_ping(&mut self, id: SetId, objects: &ObjectTable, now: FileTime) -> Result<(), Win32Error> {
        self.sweep(now);
        let set = self.0.get_mut(&id).ok_or(Win32Error::OR_INVALID_SET)?;
        set.ping(objects, now);
        Ok(())
    }

    /// [MS-DCOM] 3.1.2.5.1.3: changes a set, or makes one if the request names none, and pings it. An unknown object that is
    /// added is an error in a set that there is, and is passed over in a new one.
    fn complex_ping(
        &mut self,
        request: &ComplexPingRequest,
        objects: &ObjectTable,
        now: FileTime,
    ) -> Result<SetId, Win32Error> {
        self.sweep(now);
        let sequence = request.sequence;
        let add = request.add.iter().flat_map(|oids| &oids.0).copied();
        if request.set_id == SetId::default() {
            if self.0.len() >= SETS_MAX {
                return Err(Win32Error::ERROR_OUTOFMEMORY);
            }
            let id = SetId(u64::from_le_bytes(crate::random_bytes()).max(1));
            let oids = add.filter(|&oid| objects.ping(oid, now)).collect();
            self.0.insert(id, PingSet { oids, sequence, pinged: now });
            return Ok(id);
        }
        let set = self.0.get_mut(&request.set_id).ok_or(Win32Error::OR_INVALID_SET)?;
        if set.sequence > sequence {
            return Ok(request.set_id);
        }
        for oid in add {
            if !objects.ping(oid, now) {
                return Err(Win32Error::OR_INVALID_OID);
            }
            set.oids.insert(oid);
        }
        request.delete.iter().flat_map(|oids| &oids.0).for_each(|oid| {
            set.oids.remove(oid);
        });
        set.sequence = sequence;
        set.ping(objects, now);
        Ok(request.set_id)
    }

    /// Drops sets that nobody has pinged.
    fn sweep(&mut self, now: FileTime) {
        self.0.retain(|_, set| !is_overdue(set.pinged, now));
    }
}

impl PingSet {
    fn ping(&mut self, objects: &ObjectTable, now: FileTime) {
        self.pinged = now;
        self.oids.retain(|&oid| objects.ping(oid, now));
    }
}

/// `RPC_C_AUTHN_LEVEL_PKT_PRIVACY`: the least level at which the host's objects take calls.
const AUTHN_HINT: u32 = 6;

/// `IObjectExporter` of a host.
struct Resolver {
    objects: Arc<ObjectTable>,
    sets: Arc<Mutex<PingSets>>,
}

impl Resolver {
    fn new(objects: Arc<ObjectTable>) -> Self {
        Self { objects, sets: Arc::default() }
    }
}

impl Service for Resolver {
    fn name(&self) -> &'static str {
        "resolver"
    }

    fn syntax_id(&self) -> SyntaxId {
        IObjectExporter::SYNTAX_ID
    }

    fn endpoints(&self) -> &[Endpoint] {
        &[Endpoint::Tcp(TcpPort::Resolver)]
    }

    fn handler(&self, host: &Arc<HostState>) -> Box<dyn Handler> {
        let (objects, sets) = (Arc::clone(&self.objects), Arc::clone(&self.sets));
        Box::new(Calls { host: Arc::clone(host), objects, sets })
    }
}

struct Calls {
    host: Arc<HostState>,
    objects: Arc<ObjectTable>,
    sets: Arc<Mutex<PingSets>>,
}

impl Calls {
    fn now(&self) -> FileTime {
        self.host.source().moment().time
    }

    fn resolve(&self, request: &ResolveOxid2Request) -> Result<ResolveOxid2Reply, Win32Error> {
        if request.oxid != self.objects.oxid() {
            return Err(Win32Error::OR_INVALID_OXID);
        }
        let bindings = exporter_bindings(&self.host).ok_or(Win32Error::OR_INVALID_OXID)?;
        Ok(ResolveOxid2Reply {
            bindings: Some(Box::new(bindings)),
            ipid_rem_unknown: self.objects.ipid_rem_unknown(),
            authn_hint: AUTHN_HINT,
            version: ComVersion::V5_7,
            status: SUCCESS,
        })
    }
}

impl Handler for Calls {
    /// Two methods are called before a client knows how to prove who it is; the others need privacy. Windows is content
    /// with integrity.
    fn call(&mut self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        if ![ServerAliveRequest::METHOD.opnum, ServerAlive2Request::METHOD.opnum].contains(&call.opnum) {
            call.require_privacy()?;
        }
        self.dispatch(&call.info(), call.opnum, call.stub)
    }

    fn apply(&mut self, action: &Action, call: &Call<'_>, response: &mut Vec<u8>) {
        if let Action::Status(status) = action {
            *response = refused(call, *status).unwrap_or_default();
        }
    }
}

fn refused(call: &Call<'_>, status: Win32Error) -> Option<Vec<u8>> {
    refused!(call.opnum, call.stub, status, [
        ResolveOxidRequest SimplePingRequest ComplexPingRequest ServerAliveRequest ResolveOxid2Request
        ServerAlive2Request
    ])
}

const SUCCESS: Win32Error = Win32Error::ERROR_SUCCESS;

impl IObjectExporterServer for Calls {
    fn resolve_oxid(&mut self, request: &ResolveOxidRequest) -> ServerResult<ResolveOxidReply, Win32Error> {
        let ResolveOxidRequest { oxid, protocol_count, protocols } = request.clone();
        let request = ResolveOxid2Request { oxid, protocol_count, protocols };
        let ResolveOxid2Reply { bindings, ipid_rem_unknown, authn_hint, status, .. } =
            self.resolve(&request)?;
        Ok(ResolveOxidReply { bindings, ipid_rem_unknown, authn_hint, status })
    }

    fn simple_ping(&mut self, request: &SimplePingRequest) -> ServerResult<SimplePingReply, Win32Error> {
        self.sets.lock().simple_ping(request.set_id, &self.objects, self.now())?;
        Ok(SimplePingReply { status: SUCCESS })
    }

    fn complex_ping(&mut self, request: &ComplexPingRequest) -> ServerResult<ComplexPingReply, Win32Error> {
        let set_id = self.sets.lock().complex_ping(request, &self.objects, self.now())?;
        Ok(ComplexPingReply { set_id, backoff: 0, status: SUCCESS })
    }

    fn server_alive(&mut self, _: &ServerAliveRequest) -> ServerResult<ServerAliveReply, Win32Error> {
        Ok(ServerAliveReply { status: SUCCESS })
    }

    fn resolve_oxid2(
        &mut self,
        request: &ResolveOxid2Request,
    ) -> ServerResult<ResolveOxid2Reply, Win32Error> {
        Ok(self.resolve(request)?)
    }

    fn server_alive2(&mut self, _: &ServerAlive2Request) -> ServerResult<ServerAlive2Reply, Win32Error> {
        let bindings = Some(Box::new(resolver_bindings(&self.host)));
        let (version, reserved) = (ComVersion::V5_7, Reserved::NEW);
        Ok(ServerAlive2Reply { version, bindings, reserved, status: SUCCESS })
    }
}
