//! Collections of what is done with folders: `IFolderActionCollection`.

use dcerpc::FaultStatus;
use ms_dtyp::{Guid, HResult};
use ms_oaut::IDispatch;
use ms_pla::folder_action_collection::*;
use ms_pla::xml::FolderAction;
use ms_pla::{IFolderActionCollection, IFolderActionCollectionServer};
use rpc_stub::orpc::ObjectInterface;
use rpc_stub::{CallInfo, ServerResult};

use super::class;
use super::collection::{adding_methods, collection_methods};
use super::context::Calls;
use super::item::{Collection, Listed};
use super::shared::shared;
use crate::service::Call;
use crate::service::objects::Refusing;

impl Listed for FolderAction {
    const COLLECTION_IID: Guid = IFolderActionCollection::IID;
    const COLLECTION_CLASS: Guid = class::FOLDER_ACTION_COLLECTION;

    fn dispatch_collection(
        calls: &mut Calls<'_, Collection<Self>>,
        iid: Guid,
        info: &CallInfo,
        call: &Call<'_>,
    ) -> Result<Vec<u8>, FaultStatus> {
        match iid {
            Self::COLLECTION_IID => IFolderActionCollection::dispatch(calls, info, call.opnum, call.stub),
            _ => IDispatch::dispatch(calls, info, call.opnum, call.stub),
        }
    }
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
