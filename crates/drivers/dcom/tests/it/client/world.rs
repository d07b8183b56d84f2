//! A host on a network in memory: a resolver, and a program with one kind of object.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use com::dcom::activation::{Activation, ActivationRequest, ObjectExporter};
use com::dcom::activator::{
    IRemoteSCMActivator, IRemoteSCMActivatorServer, RemoteCreateInstanceReply, RemoteCreateInstanceRequest,
};
use com::dcom::remote_unknown::{
    IRemUnknown2, IRemUnknown2Server, IRemUnknownServer, RemAddRefReply, RemAddRefRequest,
    RemQueryInterfaceReply, RemQueryInterfaceRequest, RemReleaseReply, RemReleaseRequest,
};
use com::dcom::resolver::{
    ComplexPingReply, ComplexPingRequest, IObjectExporter, IObjectExporterServer, ResolveOxid2Reply,
    ResolveOxid2Request, ServerAlive2Reply, ServerAlive2Request, SimplePingReply, SimplePingRequest,
};
use com::dcom::types::{Oid, Oxid, ReferenceFlags, RemQiResult, SetId, StdObjref};
use com::dcom::wire::{DualStringArray, Objref};
use dcerpc::server::{IncomingCall, ServerAssociation, ServerConfig, ServerEvent};
use dcerpc::{AuthLevel, FaultStatus, SyntaxId};
use parking_lot::Mutex;
use rpc::ndr::{Conformant, Reserved};
use rpc::orpc::{ComVersion, IUnknown, IUnknownServer, ObjectInterface, OrpcThat};
use rpc::{CallInfo, Interface, ServerResult};
use ssp::{Credentials, Secret, Usage};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;
use transport::{BoxStream, MemoryListener, MemoryNetwork};
use wire::{Guid, HResult, Win32Error};

use crate::client::host::{Answer, Rules, USER, acceptor, mechanism};

rpc::interface! {
    pub orpc interface ILamp: IUnknown("0a74ef1c-41a4-4e06-83ae-dc74fb1cdd54") -> HResult {
        /// Says how bright it is.
        3 => GetBrightness() -> (brightness: u32);
    }
}
rpc::interface! {
    /// Something with a switch.
    pub orpc interface ISwitch: IUnknown("0a74ef1c-41a4-4e06-83ae-dc74fb1cdd55") -> HResult {
        3 => Toggle();
    }
}

pub(crate) const CLASS: Guid = Guid::from_u128(0x1a3b);
pub(crate) const PORT: u16 = 49_670;
/// Of another program, whose lamps are brighter.
pub(crate) const OTHER_PORT: u16 = 49_671;
pub(crate) const OTHER: Oxid = Oxid(2);
const LAMP: Guid = Guid::from_u128(0x10);
const SWITCH: Guid = Guid::from_u128(0x11);
const REM_UNKNOWN: Guid = Guid::from_u128(0x12);

/// How the host answers, and what it saw.
pub(crate) struct HostState {
    pub(crate) version: ComVersion,
    /// What the activation returns in place of an object.
    pub(crate) refusal: Option<HResult>,
    /// Where the host says that the program is.
    pub(crate) addresses: Vec<String>,
    /// What happened, in order.
    pub(crate) events: Vec<String>,
}

pub(crate) struct World {
    pub(crate) network: MemoryNetwork,
    pub(crate) state: Arc<Mutex<HostState>>,
    pub(crate) logons: Arc<Rules>,
    pub(crate) plain_binds: Arc<AtomicUsize>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_resolver(vec![IRemoteSCMActivator::SYNTAX_ID, IObjectExporter::SYNTAX_ID])
    }

    /// A host whose resolver has these interfaces.
    pub(crate) fn with_resolver(resolver: Vec<SyntaxId>) -> Self {
        let state = HostState {
            version: ComVersion::V5_7,
            refusal: None,
            addresses: vec![format!("198.18.0.1[{PORT}]")],
            events: Vec::new(),
        };
        let network = MemoryNetwork::new();
        let world = Self {
            state: Arc::new(Mutex::new(state)),
            logons: Arc::new(Rules::new(ILamp::SYNTAX_ID, |_| Answer::Silence)),
            plain_binds: Arc::default(),
            network,
        };
        world.serve(world.network.listen("web1", com::dcom::RESOLVER_PORT), resolver, 0);
        let program = vec![IRemUnknown2::SYNTAX_ID, ILamp::SYNTAX_ID, ISwitch::SYNTAX_ID];
        world.serve(world.network.listen("web1", PORT), program.clone(), 40);
        world.serve(world.network.listen("web1", OTHER_PORT), program, 70);
        world
    }

    pub(crate) fn events(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().events)
    }

    fn serve(&self, mut listener: MemoryListener, interfaces: Vec<SyntaxId>, brightness: u32) {
        let (state, logons) = (Arc::clone(&self.state), Arc::clone(&self.logons));
        let plain = Arc::clone(&self.plain_binds);
        tokio::spawn(async move {
            loop {
                let stream = listener.accept().await;
                let host = Host { state: Arc::clone(&state), plain: Arc::clone(&plain), brightness };
                tokio::spawn(answer(stream, Arc::clone(&logons), interfaces.clone(), host));
            }
        });
    }
}

pub(crate) fn credentials(password: &str) -> Credentials {
    Credentials::new("CORP", USER, Secret::new(password))
}

pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

async fn answer(mut stream: BoxStream, rules: Arc<Rules>, interfaces: Vec<SyntaxId>, mut host: Host) {
    let accept = move |service| mechanism(service).map(|mechanism| acceptor(&rules, mechanism, Usage::Rpc));
    let mut association = ServerAssociation::new(ServerConfig::new(interfaces), accept);
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(len @ 1..) = stream.read(&mut buffer).await {
        let broken = association.handle_bytes(&buffer[..len]).is_err();
        while let Some(event) = association.poll_event() {
            let ServerEvent::Request(call) = event else { continue };
            match host.dispatch(&call) {
                Ok(stub) => association.respond(call.call_id, &stub).unwrap(),
                Err(fault) => association.fault(call.call_id, fault).unwrap(),
            }
        }
        while let Some(pdu) = association.poll_transmit() {
            stream.write_all(&pdu).await.unwrap();
        }
        if broken {
            return;
        }
    }
}

struct Host {
    state: Arc<Mutex<HostState>>,
    plain: Arc<AtomicUsize>,
    brightness: u32,
}

impl Host {
    fn log(&self, event: impl Into<String>) {
        self.state.lock().events.push(event.into());
    }

    fn dispatch(&mut self, call: &IncomingCall) -> Result<Vec<u8>, FaultStatus> {
        if call.auth_level == AuthLevel::NONE {
            self.plain.fetch_add(1, Ordering::SeqCst);
        }
        let is_alive = (call.interface, call.opnum) == (IObjectExporter::SYNTAX_ID, 5);
        if call.auth_level != AuthLevel::PKT_PRIVACY && !is_alive {
            return Err(FaultStatus::NCA_S_FAULT_ACCESS_DENIED);
        }
        let info = CallInfo { auth_level: call.auth_level, object: call.object };
        let (opnum, stub) = (call.opnum, &call.stub[..]);
        match (call.interface, call.object) {
            (IObjectExporter::SYNTAX_ID, None) => IObjectExporterServer::dispatch(self, &info, opnum, stub),
            (IRemoteSCMActivator::SYNTAX_ID, None) => {
                IRemoteSCMActivatorServer::dispatch(self, &info, opnum, stub)
            }
            (IRemUnknown2::SYNTAX_ID, Some(REM_UNKNOWN)) => IRemUnknown2::dispatch(self, &info, opnum, stub),
            (ILamp::SYNTAX_ID, Some(LAMP)) => ILamp::dispatch(self, &info, opnum, stub),
            (ISwitch::SYNTAX_ID, Some(SWITCH)) => ISwitch::dispatch(self, &info, opnum, stub),
            _ => Err(FaultStatus::NCA_S_UNK_IF),
        }
    }
}

const fn interface(ipid: Guid) -> StdObjref {
    StdObjref { flags: ReferenceFlags::NONE, public_refs: 5, oxid: Oxid(1), oid: Oid(2), ipid }
}

fn bindings(state: &HostState) -> DualStringArray {
    DualStringArray::tcp(state.addresses.iter().cloned(), Vec::new())
}

impl IObjectExporterServer for Host {
    fn server_alive2(&mut self, _: &ServerAlive2Request) -> ServerResult<ServerAlive2Reply, Win32Error> {
        let state = self.state.lock();
        let bindings = Some(Box::new(DualStringArray::tcp(["198.18.0.1".to_owned()], Vec::new())));
        let status = Win32Error::ERROR_SUCCESS;
        Ok(ServerAlive2Reply { version: state.version, bindings, reserved: Reserved::NEW, status })
    }

    fn resolve_oxid2(
        &mut self,
        request: &ResolveOxid2Request,
    ) -> ServerResult<ResolveOxid2Reply, Win32Error> {
        self.log(format!("resolve {}", request.oxid.0));
        if request.oxid != OTHER {
            return Err(Win32Error::OR_INVALID_OXID.into());
        }
        let address = format!("198.18.0.1[{OTHER_PORT}]");
        Ok(ResolveOxid2Reply {
            bindings: Some(Box::new(DualStringArray::tcp([address], Vec::new()))),
            ipid_rem_unknown: REM_UNKNOWN,
            authn_hint: 6,
            version: ComVersion::V5_7,
            status: Win32Error::ERROR_SUCCESS,
        })
    }

    fn complex_ping(&mut self, request: &ComplexPingRequest) -> ServerResult<ComplexPingReply, Win32Error> {
        self.log(format!("ping set of {}", request.add_count));
        Ok(ComplexPingReply { set_id: SetId(7), backoff: 0, status: Win32Error::ERROR_SUCCESS })
    }

    fn simple_ping(&mut self, request: &SimplePingRequest) -> ServerResult<SimplePingReply, Win32Error> {
        self.log(format!("ping {}", request.set_id.0));
        Ok(SimplePingReply { status: Win32Error::ERROR_SUCCESS })
    }
}

/// A lamp of the other program.
pub(crate) fn other_lamp(public_refs: u32) -> Objref<'static> {
    let std = StdObjref { oxid: OTHER, oid: Oid(9), public_refs, ..interface(LAMP) };
    Objref::standard(ILamp::IID, std, DualStringArray::tcp(["198.18.0.1".to_owned()], Vec::new()))
}

impl IRemoteSCMActivatorServer for Host {
    fn remote_create_instance(
        &mut self,
        request: &RemoteCreateInstanceRequest<'_>,
    ) -> ServerResult<RemoteCreateInstanceReply<'static>, HResult> {
        let state = self.state.lock();
        if let Some(refusal) = state.refusal {
            return Err(refusal.into());
        }
        let wanted = ActivationRequest::from_pointer(request.properties.as_ref().unwrap()).unwrap();
        assert_eq!((wanted.class, wanted.version), (CLASS, request.this.version));
        assert!(wanted.context.is_some_and(|context| context != Guid::default()), "Windows wants one");
        let results = wanted.interfaces.iter().map(|&iid| {
            let objref = || Objref::standard(iid, interface(LAMP), bindings(&state));
            (iid, if iid == ILamp::IID { Ok(objref()) } else { Err(HResult::E_NOINTERFACE) })
        });
        let exporter = ObjectExporter {
            oxid: Oxid(1),
            bindings: bindings(&state),
            ipid_rem_unknown: REM_UNKNOWN,
            authn_hint: 6,
            version: state.version,
        };
        let activation = Activation { exporter, results: results.collect() };
        let activated = Some(Box::new(activation.to_pointer().unwrap()));
        Ok(RemoteCreateInstanceReply { that: OrpcThat::default(), activated, status: HResult::S_OK })
    }
}

impl IUnknownServer for Host {}

impl IRemUnknownServer for Host {
    fn rem_query_interface(
        &mut self,
        request: &RemQueryInterfaceRequest,
    ) -> ServerResult<RemQueryInterfaceReply, HResult> {
        self.log("query interface");
        assert_eq!(request.ipid, LAMP);
        let results = request.iids.0.iter().map(|&iid| match iid {
            ISwitch::IID => RemQiResult { result: HResult::S_OK, std: interface(SWITCH) },
            _ => RemQiResult { result: HResult::E_NOINTERFACE, std: StdObjref::default() },
        });
        let results = Some(Box::new(Conformant(results.collect())));
        Ok(RemQueryInterfaceReply { results, status: HResult::S_OK })
    }

    fn rem_add_ref(&mut self, request: &RemAddRefRequest) -> ServerResult<RemAddRefReply, HResult> {
        let refs: u32 = request.refs.0.iter().map(|one| one.public_refs).sum();
        self.log(format!("add {refs}"));
        let results = Conformant(vec![HResult::S_OK; request.refs.0.len()]);
        Ok(RemAddRefReply { results, status: HResult::S_OK })
    }

    fn rem_release(&mut self, request: &RemReleaseRequest) -> ServerResult<RemReleaseReply, HResult> {
        let refs: u32 = request.refs.0.iter().map(|one| one.public_refs).sum();
        self.log(format!("release {refs} of {}", request.count));
        Ok(RemReleaseReply { status: HResult::S_OK })
    }
}

impl IRemUnknown2Server for Host {}

impl ILampServer for Host {
    fn get_brightness(&mut self, _: &GetBrightnessRequest) -> ServerResult<GetBrightnessReply, HResult> {
        Ok(GetBrightnessReply { brightness: self.brightness, status: HResult::S_OK })
    }
}

impl ISwitchServer for Host {
    fn toggle(&mut self, _: &ToggleRequest) -> ServerResult<ToggleReply, HResult> {
        Ok(ToggleReply { status: HResult::S_OK })
    }
}
