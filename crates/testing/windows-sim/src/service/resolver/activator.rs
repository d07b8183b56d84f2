use std::sync::Arc;

use com::dcom::activation::{Activation, ActivationRequest, ObjectExporter};
use com::dcom::activator::{
    IRemoteSCMActivator, IRemoteSCMActivatorServer, RemoteCreateInstanceReply, RemoteCreateInstanceRequest,
    RemoteGetClassObjectRequest,
};
use com::dcom::types::Oid;
use com::dcom::wire::Objref;
use dcerpc::{AuthLevel, FaultStatus, SyntaxId};
use rpc::orpc::{ComVersion, OrpcThat};
use rpc::{FromStub, Interface, Message, Request, ServerResult};
use wire::{HResult, Win32Error};

use super::AUTHN_HINT;
use crate::behaviour::ActivationMode;
use crate::host_state::HostState;
use crate::rule::Action;
use crate::service::objects::ObjectTable;
use crate::service::{Call, Endpoint, Handler, Service, TcpPort, exporter_bindings, resolver_bindings};

/// `IRemoteSCMActivator` of a host.
pub(super) struct Activator {
    objects: Arc<ObjectTable>,
}

impl Activator {
    pub(super) const fn new(objects: Arc<ObjectTable>) -> Self {
        Self { objects }
    }
}

impl Service for Activator {
    fn name(&self) -> &'static str {
        "activator"
    }

    fn syntax_id(&self) -> SyntaxId {
        IRemoteSCMActivator::SYNTAX_ID
    }

    fn endpoints(&self) -> &[Endpoint] {
        &[Endpoint::Tcp(TcpPort::Resolver)]
    }

    fn handler(&self, host: &Arc<HostState>) -> Box<dyn Handler> {
        let objects = Arc::clone(&self.objects);
        Box::new(Calls { host: Arc::clone(host), objects, is_granted: false, made: None })
    }
}

/// Interfaces that one activation may ask for.
const INTERFACES_MAX: usize = 64;

struct Calls {
    host: Arc<HostState>,
    objects: Arc<ObjectTable>,
    /// Whether the caller may activate anything.
    is_granted: bool,
    /// The object of the last call.
    made: Option<Oid>,
}

impl Calls {
    fn may_activate(&self) -> Result<(), HResult> {
        match self.host.behaviour().activation {
            ActivationMode::Open if self.is_granted => Ok(()),
            ActivationMode::Open | ActivationMode::AccessDenied => Err(HResult::E_ACCESSDENIED),
            ActivationMode::NotRegistered => Err(HResult::REGDB_E_CLASSNOTREG),
            ActivationMode::ServerFailure => Err(HResult::CO_E_SERVER_EXEC_FAILURE),
        }
    }

    fn activate(&mut self, wanted: &ActivationRequest) -> Result<Activation, HResult> {
        if !(1..=INTERFACES_MAX).contains(&wanted.interfaces.len()) {
            return Err(HResult::E_INVALIDARG);
        }
        let bindings = exporter_bindings(&self.host).ok_or(HResult::CO_E_SERVER_EXEC_FAILURE)?;
        let now = self.host.source().moment().time;
        let found = self.objects.activate(&self.host, wanted.class, &wanted.interfaces, now)?;
        self.made = found.iter().flatten().map(|std| std.oid).next();
        let resolver = resolver_bindings(&self.host);
        let objref = |(&iid, found): (_, Result<_, _>)| {
            (iid, found.map(|std| Objref::standard(iid, std, resolver.clone())))
        };
        let exporter = ObjectExporter {
            oxid: self.objects.oxid(),
            bindings,
            ipid_rem_unknown: self.objects.ipid_rem_unknown(),
            authn_hint: AUTHN_HINT,
            version: ComVersion::V5_7,
        };
        Ok(Activation { exporter, results: wanted.interfaces.iter().zip(found).map(objref).collect() })
    }
}

impl Handler for Calls {
    /// As Windows since KB5004442: an activation without protection is refused by a fault; a caller without rights gets a status.
    fn call(&mut self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        if call.auth_level < AuthLevel::PKT_PRIVACY {
            return Err(FaultStatus::NCA_S_FAULT_ACCESS_DENIED);
        }
        self.made = None;
        self.is_granted = call.require_privacy().is_ok();
        self.dispatch(&call.info(), call.opnum, call.stub)
    }

    fn apply(&mut self, action: &Action, call: &Call<'_>, response: &mut Vec<u8>) {
        if let Action::Status(status) = action {
            // Nobody hears of the object that was made.
            if let Some(oid) = self.made.take() {
                self.objects.remove(oid);
            }
            *response = refused(call, *status).unwrap_or_default();
        }
    }
}

/// Statuses of this interface are HRESULTs, which a rule writes in the same way.
fn refused(call: &Call<'_>, status: Win32Error) -> Option<Vec<u8>> {
    let status = HResult(status.0);
    if call.opnum == RemoteGetClassObjectRequest::METHOD.opnum {
        return RemoteGetClassObjectRequest::from_stub(call.stub).ok()?.refused(status).to_stub().ok();
    }
    RemoteCreateInstanceRequest::from_stub(call.stub).ok()?.refused(status).to_stub().ok()
}

impl IRemoteSCMActivatorServer for Calls {
    fn remote_create_instance(
        &mut self,
        request: &RemoteCreateInstanceRequest<'_>,
    ) -> ServerResult<RemoteCreateInstanceReply<'static>, HResult> {
        self.may_activate()?;
        if !ComVersion::V5_7.accepts(request.this.version) {
            return Err(HResult::RPC_E_VERSION_MISMATCH.into());
        }
        let properties = request.properties.as_ref().ok_or(HResult::E_INVALIDARG)?;
        let wanted = ActivationRequest::from_pointer(properties).map_err(|_| HResult::E_INVALIDARG)?;
        let activation = self.activate(&wanted)?;
        let activated = activation.to_pointer().map_err(|_| HResult::E_OUTOFMEMORY)?;
        let activated = Some(Box::new(activated));
        Ok(RemoteCreateInstanceReply { that: OrpcThat::default(), activated, status: HResult::S_OK })
    }
}
