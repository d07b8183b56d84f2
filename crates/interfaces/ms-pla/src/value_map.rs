//! [MS-PLA] 3.2.4.18: [`IValueMap`] and the messages of its methods.

use com::oaut::{Bstr, IDispatch, IDispatchServer};
use wire::HResult;

use crate::types::{AnyVariant, Object, ValueMapType};

rpc::interface! {
    /// [MS-PLA] 3.2.4.18: values by index, and what is chosen of them: [`crate::ValueMap`].
    pub orpc interface IValueMap: IDispatch("03837534-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.18.1: how many there are.
        7 => get_Count() -> (#[ndr(name = "retVal")] count: i32);

        /// [MS-PLA] 3.2.4.18.2: the one at `index`, from zero, an [`IValueMapItem`](crate::IValueMapItem).
        8 => get_Item(index: AnyVariant<'stub>) -> (#[ndr(name = "value")] item: Object<'stub>);

        /// [MS-PLA] 3.2.4.18.3: all of them as they are now, an `IEnumVARIANT`.
        9 => get__NewEnum as get_new_enum() -> (#[ndr(name = "retVal")] enumerator: Object<'stub>);

        /// [MS-PLA] 3.2.4.18.4: a text.
        10 => get_Description() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.18.5: sets it.
        11 => put_Description(value: Bstr);

        /// [MS-PLA] 3.2.4.18.6: what the chosen items are together.
        12 => get_Value() -> (value: AnyVariant<'stub>);
        /// [MS-PLA] 3.2.4.18.7: sets it.
        13 => put_Value(value: AnyVariant<'stub>);

        /// [MS-PLA] 3.2.4.18.8: how that follows from the items.
        14 => get_ValueMapType() -> (value: ValueMapType);
        /// [MS-PLA] 3.2.4.18.9: sets it.
        15 => put_ValueMapType(value: ValueMapType);

        /// [MS-PLA] 3.2.4.18.10: adds an [`IValueMapItem`](crate::IValueMapItem), or a new one with this
        /// number. A text is a number, or the key of an item that is chosen then.
        16 => Add(value: AnyVariant<'stub>);

        /// [MS-PLA] 3.2.4.18.11: removes one, by its index or itself.
        17 => Remove(#[ndr(name = "value")] item: AnyVariant<'stub>);

        /// [MS-PLA] 3.2.4.18.12: removes all.
        18 => Clear();

        /// [MS-PLA] 3.2.4.18.13: adds those of another collection.
        19 => AddRange(#[ndr(name = "map")] items: Object<'stub>);

        /// [MS-PLA] 3.2.4.18.14: makes an [`IValueMapItem`](crate::IValueMapItem), which is not yet in the
        /// map.
        20 => CreateValueMapItem() -> (#[ndr(name = "Item")] item: Object<'stub>);
    }
}
