//! Calls the subscribers of the COM+ tracker, as the event system of a Windows host does: at port 135 of the address that a
//! subscription names, with the security that the host chooses.

mod caller;
mod security;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use com::comt::ids::EVENT_CLASS;
use com::comt::tracking::{ApplicationType, write};
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
use tokio::time::timeout;
use tracing::debug;
use wire::{Guid, Win32Error, decode};

pub use self::caller::CallError;

use self::caller::{Caller, RunTime};
use crate::choices::EventList;
use crate::events::{Column, Criteria, Subscription};
use crate::host::WindowsHost;
use crate::host_state::HostState;
use crate::model::{ComComponent, ComContainer, ComProcess};
use crate::service::TcpPort;

/// The longest time that one subscriber may take.
const SUBSCRIBER_MAX: Duration = Duration::from_secs(10);

/// The event system of a host, as far as it calls subscribers.
pub struct EventPublisher {
    host: Arc<WindowsHost>,
    resolver_port: u16,
    /// That of the program with the host's objects, which is the one that calls.
    run_time: RunTime,
    /// By the id of the subscription; of those that answered the last event.
    connected: BTreeMap<Guid, (Vec<u8>, Connected)>,
}

/// An event at one subscriber.
#[derive(Debug)]
pub struct Delivery {
    /// The id of the subscription.
    pub subscription: Guid,
    /// Whether the subscriber took it.
    pub outcome: Result<(), CallError>,
}

impl EventPublisher {
    /// Asks resolvers of subscribers at this port: 135 on Windows.
    #[must_use]
    pub fn new(host: Arc<WindowsHost>, resolver_port: u16) -> Self {
        let program = host.tcp_endpoint(TcpPort::Exporter);
        let counts = program.map(|endpoint| Arc::clone(endpoint.counts())).unwrap_or_default();
        let run_time =
            RunTime { host: Arc::clone(&host), from: None, counts, observers: Arc::clone(host.observers()) };
        Self { host, resolver_port, run_time, connected: BTreeMap::new() }
    }

    /// Calls come from this address, as those of a host behind a router do.
    pub const fn call_from(&mut self, address: IpAddr) {
        self.run_time.from = Some(address);
    }

    /// Tells all subscribers of the tracker the state of now, one after another.
    pub async fn publish(&mut self) -> Vec<Delivery> {
        let state = self.host.state();
        let event = event(state);
        let found = state.events().query(&Criteria::All);
        let mut deliveries = Vec::new();
        for subscription in found.iter().filter(|subscription| wants_tracker_events(subscription)) {
            let Some(id) = subscription.guid(Column::SubscriptionId) else { continue };
            let Some(reference) = &subscription.subscriber else { continue };
            let answer = timeout(SUBSCRIBER_MAX, self.tell(id, reference, &event)).await;
            let outcome = answer.unwrap_or(Err(CallError::Timeout));
            if let Err(error) = &outcome {
                debug!(host = self.host.name(), subscription = %id, %error, "Subscriber not called");
                self.connected.remove(&id);
            }
            self.host.state().events().set_reachable(id, outcome.is_ok());
            deliveries.push(Delivery { subscription: id, outcome });
        }
        self.connected.retain(|id, _| deliveries.iter().any(|delivery| delivery.subscription == *id));
        deliveries
    }

    async fn tell(&mut self, id: Guid, reference: &[u8], event: &[u8]) -> Result<(), CallError> {
        let kept = self.connected.remove(&id).filter(|(known, _)| known == reference);
        let mut connected = match kept {
            Some((_, connected)) => connected,
            None => Connected::new(reference, self.resolver_port, &self.run_time).await?,
        };
        connected.tell(event).await?;
        self.connected.insert(id, (reference.to_vec(), connected));
        Ok(())
    }
}

/// [MS-COMEV] 3.1.1.2: enabled, and of the tracker's event class or interface, and for all methods or the only one.
fn wants_tracker_events(subscription: &Subscription) -> bool {
    let is_or_unset = |column, value| subscription.guid(column).is_none_or(|own| own == value);
    let is_set = |column| subscription.guid(column).is_some();
    subscription.enabled.unwrap_or(true)
        && (is_set(Column::EventClassId) || is_set(Column::InterfaceId))
        && is_or_unset(Column::EventClassId, EVENT_CLASS)
        && is_or_unset(Column::InterfaceId, IComTrackingInfoEvents::IID)
        && subscription.text(Column::MethodName).is_none_or(|name| matches!(name, "" | "OnNewTrackingInfo"))
}

/// The OBJREF_CUSTOM of an event with the state of now.
fn event(host: &HostState) -> Vec<u8> {
    let source = host.source();
    let processes: Vec<_> = source.com_processes(&source.moment()).iter().map(process).collect();
    let choices = host.behaviour().choices.tracker_events.clone();
    let layout = choices.layout();
    let encoded = match choices.event_list {
        EventList::Processes => write::encode(&processes, &layout),
        EventList::Containers => {
            let containers: Vec<_> = processes.into_iter().flat_map(|one| one.containers).collect();
            write::encode_containers(&containers, &layout)
        }
    };
    // Counts and lengths of the model are far below 32 bits.
    encoded.unwrap_or_default()
}

fn process(process: &ComProcess) -> write::Process {
    write::Process {
        process_id: Some(process.process_id),
        exe_name: process.exe_name.to_owned(),
        is_paused: process.is_paused,
        is_recycling: process.is_recycling,
        is_service: process.is_service,
        containers: process.containers.iter().map(container).collect(),
    }
}

fn container(container: &ComContainer) -> write::Container {
    let components = container.components.iter();
    write::Container {
        application_id: container.application_id,
        container_id: container.container_id,
        application_type: ApplicationType::SERVER,
        partition_id: container.partition_id,
        name: container.name.to_owned(),
        components: components.map(|one| component(one, container.is_tracked)).collect(),
    }
}

fn component(component: &ComComponent, is_tracked: bool) -> write::Component {
    let tracked = |figure: u32| is_tracked.then_some(figure);
    write::Component {
        clsid: component.clsid,
        name: component.name.to_owned(),
        objects: tracked(component.instances()),
        activated: tracked(component.activated),
        pooled: tracked(component.pooled),
        in_call: tracked(component.in_call),
        call_time_ms: tracked(component.recent.response_time_ms),
    }
}

// From the reference in a subscription to calls of the subscriber.

/// A subscriber that can be called.
struct Connected {
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
    async fn new(reference: &[u8], resolver_port: u16, run_time: &RunTime) -> Result<Self, CallError> {
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
    async fn tell(&mut self, event: &[u8]) -> Result<(), CallError> {
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
    Ok(request_stub(&OrpcThis::new(version, crate::random_guid()), request)?)
}
