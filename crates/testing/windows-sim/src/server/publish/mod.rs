//! Calls the subscribers of the COM+ tracker, as the event system of a Windows host does: at port 135 of the address that a
//! subscription names, with the security that the host chooses.

mod caller;
mod security;
mod subscriber;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use com::comt::IComTrackingInfoEvents;
use com::comt::ids::EVENT_CLASS;
use com::comt::tracking::{ApplicationType, write};
use rpc::orpc::ObjectInterface;
use tokio::time::timeout;
use tracing::debug;
use wire::Guid;

use self::caller::RunTime;
use self::subscriber::Connected;
use crate::choices::EventList;
use crate::events::{Column, Criteria, Subscription};
use crate::host::WindowsHost;
use crate::host_state::HostState;
use crate::model::{ComComponent, ComContainer, ComProcess};
use crate::service::TcpPort;

pub use self::caller::CallError;

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
            let told = timeout(SUBSCRIBER_MAX, self.tell(id, reference, &event)).await;
            let outcome = told.unwrap_or(Err(CallError::Timeout));
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
