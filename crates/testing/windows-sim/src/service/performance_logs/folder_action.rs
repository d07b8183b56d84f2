//! What is done with folders: `IFolderAction`.

use ms_pla::folder_action::*;
use ms_pla::xml::FolderAction;
use ms_pla::{IFolderAction, IFolderActionServer};
use rpc::ServerResult;
use wire::{Guid, HResult};

use super::item::{Item, Methods, Part, Recorded, methods};
use super::property::{Property, properties};
use super::shared::Shared;
use super::{Calls, class};
use crate::service::objects::Refusing;

impl Part for FolderAction {
    type Owner = ();
    const INTERFACES: &'static [Methods<Item<Self>>] = methods![IFolderAction];

    fn class(_: &Shared<Self>) -> Guid {
        class::FOLDER_ACTION
    }
}

impl Recorded for FolderAction {
    type Record = Self;

    fn record_mut(&mut self) -> &mut Self {
        self
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
