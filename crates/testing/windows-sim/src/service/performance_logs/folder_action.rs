//! What is done with folders: `IFolderAction`.

use dcerpc::FaultStatus;
use ms_dtyp::{Guid, HResult};
use ms_oaut::IDispatch;
use ms_pla::folder_action::*;
use ms_pla::xml::FolderAction;
use ms_pla::{IFolderAction, IFolderActionServer};
use rpc_stub::orpc::ObjectInterface;
use rpc_stub::{CallInfo, ServerResult};

use super::class;
use super::context::Calls;
use super::item::{Item, Part};
use super::property::{Property, properties};
use super::shared::Shared;
use crate::service::objects::Refusing;
use crate::service::{Call, lock};

impl Part for FolderAction {
    type Owner = ();
    const IID: Guid = IFolderAction::IID;

    fn class(_: &Shared<Self>) -> Guid {
        class::FOLDER_ACTION
    }

    fn dispatch(
        calls: &mut Calls<'_, Item<Self>>,
        iid: Guid,
        info: &CallInfo,
        call: &Call<'_>,
    ) -> Result<Vec<u8>, FaultStatus> {
        match iid {
            IFolderAction::IID => IFolderAction::dispatch(calls, info, call.opnum, call.stub),
            _ => IDispatch::dispatch(calls, info, call.opnum, call.stub),
        }
    }
}

impl Calls<'_, Item<FolderAction>> {
    fn record<R>(&self, read: impl FnOnce(&mut FolderAction) -> R) -> Result<R, HResult> {
        Ok(read(&mut lock(&self.object.part)))
    }
}

#[rustfmt::skip]
impl IFolderActionServer for Calls<'_, Item<FolderAction>> {
    properties! {
        record {
            age_days: get_age(GetAgeRequest) GetAgeReply, put_age(PutAgeRequest) PutAgeReply;
            size_mb: get_size(GetSizeRequest) GetSizeReply, put_size(PutSizeRequest) PutSizeReply;
            actions: get_actions(GetActionsRequest) GetActionsReply, put_actions(PutActionsRequest) PutActionsReply;
            send_cab_to: get_send_cab_to(GetSendCabToRequest) GetSendCabToReply, put_send_cab_to(PutSendCabToRequest) PutSendCabToReply;
        }
    }
}

impl IFolderActionServer for Refusing {}
