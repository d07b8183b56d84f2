//! The tracker of COM+ [MS-COMT]: an object that lists the host's COM+ applications and their components.

mod figures;

use std::sync::Arc;

use com::comt::{
    GetComponentDataByContainerAndClsidReply, GetComponentDataByContainerAndClsidRequest,
    GetComponentDataByContainerReply, GetComponentDataByContainerRequest, GetContainerDataReply,
    GetContainerDataRequest, IGetTrackingData, IGetTrackingDataServer, ids,
};
use dcerpc::FaultStatus;
use rpc::orpc::IUnknownServer;
use rpc::{Interface, ServerResult};
use wire::{Guid, HResult};

use super::Call;
use super::objects::{ComClass, ComInterface, ComObject, Program, Refusing};
use crate::host_state::HostState;
use crate::model::ComContainer;

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
        let listed = figures::listed(&self.containers(), &choices);
        Ok(GetContainerDataReply::new(listed).map_err(|_| HResult::E_OUTOFMEMORY)?)
    }

    fn get_component_data_by_container(
        &mut self,
        request: &GetComponentDataByContainerRequest,
    ) -> ServerResult<GetComponentDataByContainerReply, HResult> {
        let container = self.container(request.container)?;
        let components = figures::components(&container);
        Ok(GetComponentDataByContainerReply::new(components).map_err(|_| HResult::E_OUTOFMEMORY)?)
    }

    fn get_component_data_by_container_and_clsid(
        &mut self,
        request: &GetComponentDataByContainerAndClsidRequest,
    ) -> ServerResult<GetComponentDataByContainerAndClsidReply, HResult> {
        let container = self.container(request.container)?;
        let mut components = figures::components(&container).into_iter();
        let found = components.find(|component| component.clsid == request.clsid);
        let data = Some(Box::new(found.ok_or_else(|| self.failure())?));
        Ok(GetComponentDataByContainerAndClsidReply { data, status: HResult::S_OK })
    }
}

impl IGetTrackingDataServer for Refusing {}
