//! Collections of what is done with folders: `IFolderActionCollection`.

use ms_pla::folder_action_collection::*;
use ms_pla::xml::FolderAction;
use ms_pla::{IFolderActionCollection, IFolderActionCollectionServer};
use rpc::ServerResult;
use wire::{Guid, HResult};

use super::collection::{adding_methods, collection_methods};
use super::item::{Collection, Listed, Methods, methods};
use super::shared::shared;
use super::{Calls, class};
use crate::service::objects::Refusing;

impl Listed for FolderAction {
    const COLLECTION: &'static [Methods<Collection<Self>>] = methods![IFolderActionCollection];
    const COLLECTION_CLASS: Guid = class::FOLDER_ACTION_COLLECTION;
}

impl IFolderActionCollectionServer for Calls<'_, Collection<FolderAction>> {
    collection_methods!();
    adding_methods!();

    fn create_folder_action(
        &mut self,
        _: &CreateFolderActionRequest,
    ) -> ServerResult<CreateFolderActionReply<'static>, HResult> {
        let action = self.created(shared(FolderAction::default()))?;
        Ok(CreateFolderActionReply { action, status: HResult::S_OK })
    }
}

impl IFolderActionCollectionServer for Refusing {}
