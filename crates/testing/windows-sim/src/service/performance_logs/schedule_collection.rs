//! Collections of schedules: `IScheduleCollection`.

use ms_pla::schedule_collection::*;
use ms_pla::xml::Schedule;
use ms_pla::{IScheduleCollection, IScheduleCollectionServer};
use rpc::ServerResult;
use wire::{Guid, HResult};

use super::collection::{adding_methods, collection_methods};
use super::item::{Collection, Listed, Methods, methods};
use super::shared::shared;
use super::{Calls, class};
use crate::service::objects::Refusing;

impl Listed for Schedule {
    const COLLECTION: &'static [Methods<Collection<Self>>] = methods![IScheduleCollection];
    const COLLECTION_CLASS: Guid = class::SCHEDULE_COLLECTION;
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
