//! Collections of schedules: `IScheduleCollection`.

use dcerpc::FaultStatus;
use ms_dtyp::{Guid, HResult};
use ms_oaut::IDispatch;
use ms_pla::schedule_collection::*;
use ms_pla::xml::Schedule;
use ms_pla::{IScheduleCollection, IScheduleCollectionServer};
use rpc_stub::orpc::ObjectInterface;
use rpc_stub::{CallInfo, ServerResult};

use super::class;
use super::collection::{adding_methods, collection_methods};
use super::context::Calls;
use super::item::{Collection, Listed};
use super::shared::shared;
use crate::service::Call;
use crate::service::objects::Refusing;

impl Listed for Schedule {
    const COLLECTION_IID: Guid = IScheduleCollection::IID;
    const COLLECTION_CLASS: Guid = class::SCHEDULE_COLLECTION;

    fn dispatch_collection(
        calls: &mut Calls<'_, Collection<Self>>,
        iid: Guid,
        info: &CallInfo,
        call: &Call<'_>,
    ) -> Result<Vec<u8>, FaultStatus> {
        match iid {
            Self::COLLECTION_IID => IScheduleCollection::dispatch(calls, info, call.opnum, call.stub),
            _ => IDispatch::dispatch(calls, info, call.opnum, call.stub),
        }
    }
}

impl IScheduleCollectionServer for Calls<'_, Collection<Schedule>> {
    collection_methods!();
    adding_methods!();

    fn create_schedule(
        &mut self,
        _: &CreateScheduleRequest,
    ) -> ServerResult<CreateScheduleReply<'static>, HResult> {
        let schedule = self.created(shared(Schedule::default()))?;
        Ok(CreateScheduleReply { schedule, status: HResult::S_OK })
    }
}

impl IScheduleCollectionServer for Refusing {}
