//! The tracker of COM+ [MS-COMT]: an object that lists the host's COM+ applications and their components.

use std::sync::Arc;

use com::comt::{
    ApplicationIdentifier, ComponentData, ContainerData, ContainerStatistics,
    GetComponentDataByContainerAndClsidReply, GetComponentDataByContainerAndClsidRequest,
    GetComponentDataByContainerReply, GetComponentDataByContainerRequest, GetContainerDataReply,
    GetContainerDataRequest, IGetTrackingData, IGetTrackingDataServer, Tracked, ids,
};
use dcerpc::FaultStatus;
use rpc::orpc::IUnknownServer;
use rpc::{Interface, ServerResult};
use wire::{Guid, HResult};

use super::Call;
use super::objects::{ComClass, ComInterface, ComObject, Program, Refusing};
use crate::choices::{CallRate, ComPlusChoices, ContainerList};
use crate::host_state::HostState;
use crate::model::{CALL_SECONDS, ComComponent, ComContainer};

/// The name of the tracker in rules, counts and recordings.
pub const NAME: &str = "tracker";

/// The class of the tracker.
pub struct Tracker;

impl ComClass for Tracker {
    fn clsid(&self) -> Guid {
        ids::TRACKER_SERVICE_CLASS
    }

    fn interfaces(&self) -> &[ComInterface] {
        const INTERFACES: &[ComInterface] = &[ComInterface {
            name: NAME,
            syntax_id: IGetTrackingData::SYNTAX_ID,
            refuse: IGetTrackingData::dispatch,
        }];
        INTERFACES
    }

    fn annotation(&self) -> Option<&'static str> {
        Some("COM+ Tracker")
    }

    fn create(&self, host: &Arc<HostState>) -> Result<Box<dyn ComObject>, HResult> {
        Ok(Box::new(TrackerObject { host: Arc::clone(host) }))
    }
}

/// It has no state: each call is about the instant at which it comes.
struct TrackerObject {
    host: Arc<HostState>,
}

impl TrackerObject {
    fn containers(&self) -> Vec<(u32, ComContainer)> {
        let source = self.host.source();
        let processes = source.com_processes(&source.moment());
        let of_process = |process: crate::model::ComProcess| {
            let process_id = process.process_id;
            process.containers.into_iter().map(move |container| (process_id, container))
        };
        processes.into_iter().flat_map(of_process).collect()
    }

    /// What the text calls "fail the call".
    fn failure(&self) -> HResult {
        self.host.behaviour().choices.com_plus.ended_container.status()
    }

    //= [MS-COMT] 3.1.4.1.2
    //# the server MUST verify that the idContainer parameter identifies a tracked instance container and fail the call if not
    fn container(&self, legacy_id: u32) -> Result<ComContainer, HResult> {
        let mut containers = self.containers().into_iter();
        let found = containers.find(|(_, container)| container.legacy_id == legacy_id);
        found.map(|(_, container)| container).ok_or_else(|| self.failure())
    }
}

impl ComObject for TrackerObject {
    fn call(&mut self, _: Guid, call: &Call<'_>, _: &dyn Program) -> Result<Vec<u8>, FaultStatus> {
        IGetTrackingData::dispatch(self, &call.info(), call.opnum, call.stub)
    }
}

impl IUnknownServer for TrackerObject {}

impl IGetTrackingDataServer for TrackerObject {
    fn get_container_data(
        &mut self,
        _: &GetContainerDataRequest,
    ) -> ServerResult<GetContainerDataReply, HResult> {
        let choices = self.host.behaviour().choices.com_plus.clone();
        let listed = listed(&self.containers(), &choices);
        Ok(GetContainerDataReply::new(listed).map_err(|_| HResult::E_OUTOFMEMORY)?)
    }

    fn get_component_data_by_container(
        &mut self,
        request: &GetComponentDataByContainerRequest,
    ) -> ServerResult<GetComponentDataByContainerReply, HResult> {
        let container = self.container(request.container)?;
        let components = components(&container);
        Ok(GetComponentDataByContainerReply::new(components).map_err(|_| HResult::E_OUTOFMEMORY)?)
    }

    fn get_component_data_by_container_and_clsid(
        &mut self,
        request: &GetComponentDataByContainerAndClsidRequest,
    ) -> ServerResult<GetComponentDataByContainerAndClsidReply, HResult> {
        let container = self.container(request.container)?;
        let mut components = components(&container).into_iter();
        let found = components.find(|component| component.clsid == request.clsid);
        let data = Some(Box::new(found.ok_or_else(|| self.failure())?));
        Ok(GetComponentDataByContainerAndClsidReply { data, status: HResult::S_OK })
    }
}

impl IGetTrackingDataServer for Refusing {}

/// What the tracker lists of these containers, each with its process.
fn listed(containers: &[(u32, ComContainer)], choices: &ComPlusChoices) -> Vec<ContainerData> {
    let all: Vec<ContainerData> =
        containers.iter().map(|(process_id, one)| container(*process_id, one, choices.call_rate)).collect();
    match choices.container_list {
        ContainerList::Containers => all,
        ContainerList::Applications => averaged(&all),
    }
}

/// The components of a container.
fn components(container: &ComContainer) -> Vec<ComponentData> {
    container.components.iter().map(|one| component(one, container.is_tracked)).collect()
}

fn container(process_id: u32, container: &ComContainer, call_rate: CallRate) -> ContainerData {
    let components = &container.components;
    let sum = |figure: fn(&ComComponent) -> u32| components.iter().map(figure).fold(0, u32::saturating_add);
    let calls_per_second = match call_rate {
        CallRate::Averaged => {
            sum(|one| one.recent.completed.saturating_add(one.recent.failed)) / CALL_SECONDS
        }
        CallRate::Zero => 0,
    };
    ContainerData {
        legacy_id: container.legacy_id,
        application: ApplicationIdentifier::new(container.application_id),
        process_id,
        statistics: ContainerStatistics {
            calls: sum(|one| one.in_call),
            instances: sum(ComComponent::instances),
            components: sum(|_| 1),
            calls_per_second,
        },
    }
}

/// Each application once, by its first container.
fn averaged(containers: &[ContainerData]) -> Vec<ContainerData> {
    let mut applications: Vec<ContainerData> = Vec::new();
    for container in containers {
        if applications.iter().any(|known| known.application == container.application) {
            continue;
        }
        let of_application = || containers.iter().filter(|one| one.application == container.application);
        let count = of_application().fold(0, |count, _| count + 1);
        let average = |figure: fn(&ContainerStatistics) -> u32| {
            of_application().map(|one| figure(&one.statistics)).fold(0, u32::saturating_add) / count
        };
        let statistics = ContainerStatistics {
            calls: average(|one| one.calls),
            instances: average(|one| one.instances),
            components: average(|one| one.components),
            calls_per_second: average(|one| one.calls_per_second),
        };
        applications.push(ContainerData { statistics, ..container.clone() });
    }
    applications
}

fn component(component: &ComComponent, is_tracked: bool) -> ComponentData {
    let tracked = |figure: u32| Tracked::from(is_tracked.then_some(figure));
    ComponentData {
        clsid: component.clsid,
        total_references: tracked(component.bound_references.saturating_add(component.pooled)),
        bound_references: tracked(component.bound_references),
        pooled_instances: tracked(component.pooled),
        instances_in_call: tracked(component.in_call),
        response_time_ms: tracked(component.recent.response_time_ms),
        calls_completed: tracked(component.recent.completed),
        calls_failed: tracked(component.recent.failed),
    }
}
