//! [MS-PLA] 3.2.4.16: [`IDataCollectorSetCollection`] and the messages of its methods.

use com::oaut::{Bstr, IDispatch, IDispatchServer};
use wire::HResult;

use crate::types::{AnyVariant, Object};

rpc::interface! {
    /// [MS-PLA] 3.2.4.16: the sets of a category by index.
    pub orpc interface IDataCollectorSetCollection: IDispatch("03837524-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.16.1: how many there are.
        7 => get_Count() -> (#[ndr(name = "retVal")] count: i32);

        /// [MS-PLA] 3.2.4.16.2: the one at `index`, from zero, an
        /// [`IDataCollectorSet`](crate::IDataCollectorSet).
        8 => get_Item(index: AnyVariant<'stub>) -> (#[ndr(name = "set")] item: Object<'stub>);

        /// [MS-PLA] 3.2.4.16.3: all of them as they are now, an `IEnumVARIANT`.
        9 => get__NewEnum as get_new_enum() -> (#[ndr(name = "retVal")] enumerator: Object<'stub>);

        /// [MS-PLA] 3.2.4.16.4: adds one.
        10 => Add(#[ndr(name = "set")] item: Object<'stub>);

        /// [MS-PLA] 3.2.4.16.5: removes one, by its index or itself.
        11 => Remove(#[ndr(name = "set")] item: AnyVariant<'stub>);

        /// [MS-PLA] 3.2.4.16.6: removes all.
        12 => Clear();

        /// [MS-PLA] 3.2.4.16.7: adds those of another collection.
        13 => AddRange(#[ndr(name = "sets")] items: Object<'stub>);

        /// [MS-PLA] 3.2.4.16.8: fills the collection with the sets that run or are stored. Neither parameter
        /// is used: NULL.
        14 => GetDataCollectorSets(server: Bstr, filter: Bstr);
    }
}
