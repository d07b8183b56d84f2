//! From the reference in a subscription to calls of the subscriber.

use com::comt::{IComTrackingInfoEvents, OnNewTrackingInfoReply, OnNewTrackingInfoRequest};
use com::dcom::remote_unknown::{IRemUnknown, RemQueryInterfaceReply, RemQueryInterfaceRequest};
use com::dcom::resolver::{
    IObjectExporter, ResolveOxid2Reply, ResolveOxid2Request, ServerAlive2Reply, ServerAlive2Request,
};
use com::dcom::types::{Oxid, ProtocolSequence};
use com::dcom::wire::{DualStringArray, Objref};
use dcerpc::ContextId;
use rpc::orpc::{ComVersion, ObjectInterface, OrpcThis, read_reply, request_stub};
use rpc::{FromStub, Interface, Message, Reply, Request};
use wire::{Guid, Win32Error, decode};

use super::caller::{CallError, Caller, RunTime};
use crate::host;

/// A subscriber that can be called.
pub(super) struct Connected {
    caller: Caller,
    context: ContextId,
    ipid: Guid,
    version: ComVersion,
}

/// The program with the subscriber, as its resolver says.
struct Program {
    bindings: DualStringArray,
    ipid_rem_unknown: Guid,
    version: ComVersion,
}

impl Connected {
    /// Follows a reference: its resolver, the program, the interface of events.
    pub(super) async fn new(
        reference: &[u8],
        resolver_port: u16,
        run_time: &RunTime,
    ) -> Result<Self, CallError> {
        let objref: Objref<'_> = decode(reference)?;
        let std = *objref.std().ok_or(CallError::Reference("it is no standard reference"))?;
        let resolver = objref.resolver().ok_or(CallError::Reference("it names no resolver"))?;
        let program = resolve(resolver, resolver_port, std.oxid, run_time).await?;
        let (host, port) = tcp(&program.bindings)?;
        let port = port.ok_or(CallError::Reference("the program has no port"))?;
        let mut caller = Caller::connect(host, port, IRemUnknown::SYNTAX_ID, run_time).await?;
        let ipid = if objref.iid == IComTrackingInfoEvents::IID {
            std.ipid
        } else {
            query_interface(&mut caller, &program, std.ipid).await?
        };
        let context = caller.add(IComTrackingInfoEvents::SYNTAX_ID).await?;
        Ok(Self { caller, context, ipid, version: program.version })
    }

    /// Tells the subscriber an event.
    pub(super) async fn tell(&mut self, event: &[u8]) -> Result<(), CallError> {
        let request = OnNewTrackingInfoRequest::new(event)?;
        let stub = object_stub(self.version, &request)?;
        let opnum = OnNewTrackingInfoRequest::METHOD.opnum;
        let stub = self.caller.call(self.context, opnum, Some(self.ipid), &stub).await?;
        let (_, reply) = read_reply::<OnNewTrackingInfoReply>(&stub)?;
        if reply.status.is_success() { Ok(()) } else { Err(CallError::Object(reply.status)) }
    }
}

/// [MS-DCOM] 3.2.4.1.2.1: asks the resolver of a reference where the program is. `ServerAlive2` says its version first.
async fn resolve(
    resolver: &DualStringArray,
    port: u16,
    oxid: Oxid,
    run_time: &RunTime,
) -> Result<Program, CallError> {
    let (host, _) = tcp(resolver)?;
    let mut caller = Caller::connect(host, port, IObjectExporter::SYNTAX_ID, run_time).await?;
    let alive: ServerAlive2Reply = plain(&mut caller, &ServerAlive2Request {}).await?;
    let reply: ResolveOxid2Reply = plain(&mut caller, &ResolveOxid2Request::tcp(oxid)).await?;
    let bindings = *reply.bindings.ok_or(CallError::Reference("the resolver gives no bindings"))?;
    let version = ComVersion::V5_7.negotiate(alive.version.min(reply.version));
    let version = version.ok_or(CallError::Reference("the subscriber speaks another version of DCOM"))?;
    Ok(Program { bindings, ipid_rem_unknown: reply.ipid_rem_unknown, version })
}

/// Where bindings lead that want no security: the address, and the port after it in brackets.
fn tcp(bindings: &DualStringArray) -> Result<(&str, Option<u16>), CallError> {
    if !bindings.security.is_empty() {
        return Err(CallError::Reference("the subscriber wants security, which is not simulated"));
    }
    let mut strings = bindings.strings.iter();
    let tcp = strings.find(|binding| binding.protocol == ProtocolSequence::TCP);
    let address = tcp.ok_or(CallError::Reference("no binding is for TCP"))?.address.as_str();
    match address.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        Some((host, port)) => match port.parse() {
            Ok(port) => Ok((host, Some(port))),
            Err(_) => Err(CallError::Reference("the port is no number")),
        },
        None => Ok((address, None)),
    }
}

/// Calls a method of the resolver.
async fn plain<R: Request, T>(caller: &mut Caller, request: &R) -> Result<T, CallError>
where
    T: for<'stub> FromStub<'stub> + Reply<Status = Win32Error>,
{
    let stub = caller.call(0, R::METHOD.opnum, None, &request.to_stub()?).await?;
    let reply = T::from_stub(&stub)?;
    match reply.status() {
        Win32Error::ERROR_SUCCESS => Ok(reply),
        status => Err(CallError::Resolver(status)),
    }
}

/// [MS-DCOM] 3.2.4.4.3: asks for the interface of events.
async fn query_interface(caller: &mut Caller, program: &Program, ipid: Guid) -> Result<Guid, CallError> {
    let request = RemQueryInterfaceRequest::new(ipid, 1, vec![IComTrackingInfoEvents::IID])
        .ok_or(CallError::Reference("one interface cannot be counted"))?;
    let stub = object_stub(program.version, &request)?;
    let opnum = RemQueryInterfaceRequest::METHOD.opnum;
    let stub = caller.call(0, opnum, Some(program.ipid_rem_unknown), &stub).await?;
    let (_, reply) = read_reply::<RemQueryInterfaceReply>(&stub)?;
    if !reply.status.is_success() {
        return Err(CallError::Object(reply.status));
    }
    let results = request.results(&reply)?;
    let result = results.into_iter().next().ok_or(CallError::Reference("no interface is answered"))?;
    result.map(|std| std.ipid).map_err(CallError::Object)
}

fn object_stub<R: Request>(version: ComVersion, request: &R) -> Result<Vec<u8>, CallError> {
    Ok(request_stub(&OrpcThis::new(version, host::random_guid()), request)?)
}
