//! Collections of the COM+ event system.

use crate::oaut::{Bstr, IDispatch, IDispatchServer, Variant};
use rpc::ndr::{ConformantVarying, InterfacePointer};
use rpc::orpc::{IUnknown, IUnknownServer};
use wire::HResult;

rpc::interface! {
    /// [MS-COMEV] 3.1.4.6: event classes, subscriptions, or properties.
    pub orpc interface IEventObjectCollection: IDispatch("f89ac270-d4eb-11d1-b682-00805fc79216") -> HResult {
        /// [MS-COMEV] 3.1.4.6.1: an enumerator of variants.
        7 => get__NewEnum as get_new_enum_variant() -> (
            #[ndr(name = "ppUnkEnum")] enumerator: Option<Box<InterfacePointer<'stub>>>,
        );

        /// [MS-COMEV] 3.1.4.6.2: an item by its id.
        8 => get_Item as get_item(#[ndr(name = "objectID")] id: Bstr) -> (
            #[ndr(name = "pItem")] item: Option<Box<Variant<'stub>>>,
        );

        /// [MS-COMEV] 3.1.4.6.3: an enumerator, an [`IEnumEventObject`].
        9 => get_NewEnum as get_new_enum() -> (
            #[ndr(name = "ppEnum")] enumerator: Option<Box<InterfacePointer<'stub>>>,
        );

        /// [MS-COMEV] 3.1.4.6.4: how many items there are.
        10 => get_Count as get_count() -> (#[ndr(name = "pCount")] count: i32);

        /// [MS-COMEV] 3.1.4.6.5: adds an item.
        11 => Add as add_item(item: Option<Box<Variant<'stub>>>, #[ndr(name = "objectID")] id: Bstr);

        /// [MS-COMEV] 3.1.4.6.6: removes an item.
        12 => Remove as remove_item(#[ndr(name = "objectID")] id: Bstr);
    }
}

rpc::interface! {
    /// [MS-COMEV] 3.1.4.5: a position in a collection.
    pub orpc interface IEnumEventObject: IUnknown("f4a07d63-2e25-11d1-9964-00c04fbbb345") -> HResult {
        /// [MS-COMEV] 3.1.4.5.1: another enumerator at the same position.
        3 => Clone as clone_enumerator() -> (
            #[ndr(name = "ppInterface")] enumerator: Option<Box<InterfacePointer<'stub>>>,
        );

        /// [MS-COMEV] 3.1.4.5.2: the next items; S_FALSE if there are fewer than `requested`.
        4 => Next as next_items(#[ndr(name = "cReqElem")] requested: u32) -> (
            #[ndr(name = "ppInterface", length_is = count)]
            items: ConformantVarying<Option<Box<InterfacePointer<'stub>>>>,
            #[ndr(name = "cRetElem")] count: u32,
        );

        /// [MS-COMEV] 3.1.4.5.3: back to the first item.
        5 => Reset as reset_items();

        /// [MS-COMEV] 3.1.4.5.4: passes over items.
        6 => Skip as skip_items(#[ndr(name = "cSkipElem")] count: u32);
    }
}
