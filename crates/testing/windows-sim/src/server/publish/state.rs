//! The model's state as a tracker event, [MS-COMT] 2.2.5.

use com::comt::tracking::ApplicationType;
use com::comt::tracking::write;

use crate::choices::EventList;
use crate::host_state::HostState;
use crate::model::{ComComponent, ComContainer, ComProcess};

/// The OBJREF_CUSTOM of an event with the state of now.
pub(super) fn event(host: &HostState) -> Vec<u8> {
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
