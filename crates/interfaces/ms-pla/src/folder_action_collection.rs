//! [MS-PLA] 3.2.4.4: [`IFolderActionCollection`] and the messages of its methods.

use com::oaut::{IDispatch, IDispatchServer};
use wire::HResult;

use crate::types::{AnyVariant, Object};

rpc::interface! {
    /// [MS-PLA] 3.2.4.4: actions by index.
    pub orpc interface IFolderActionCollection: IDispatch("03837544-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.4.1: how many there are.
        7 => get_Count() -> (#[ndr(name = "Count")] count: u32);

        /// [MS-PLA] 3.2.4.4.2: the one at `index`, from zero, an [`IFolderAction`](crate::IFolderAction).
        8 => get_Item(#[ndr(name = "Index")] index: AnyVariant<'stub>) -> (
            #[ndr(name = "Action")] item: Object<'stub>,
        );

        /// [MS-PLA] 3.2.4.4.3: all of them as they are now, an `IEnumVARIANT`.
        9 => get__NewEnum as get_new_enum() -> (#[ndr(name = "Enum")] enumerator: Object<'stub>);

        /// [MS-PLA] 3.2.4.4.4: adds one.
        10 => Add(#[ndr(name = "Action")] item: Object<'stub>);

        /// [MS-PLA] 3.2.4.4.5: removes one, by its index or itself.
        11 => Remove(#[ndr(name = "Index")] item: AnyVariant<'stub>);

        /// [MS-PLA] 3.2.4.4.6: removes all.
        12 => Clear();

        /// [MS-PLA] 3.2.4.4.7: adds those of another collection.
        13 => AddRange(#[ndr(name = "Actions")] items: Object<'stub>);

        /// [MS-PLA] 3.2.4.4.8: makes an [`IFolderAction`](crate::IFolderAction), which is not yet in the
        /// collection.
        14 => CreateFolderAction() -> (#[ndr(name = "FolderAction")] action: Object<'stub>);
    }
}
