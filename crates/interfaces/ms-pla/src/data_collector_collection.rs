//! [MS-PLA] 3.2.4.15: [`IDataCollectorCollection`] and the messages of its methods.

use com::oaut::{Bstr, IDispatch, IDispatchServer};
use wire::HResult;

use crate::types::{AnyVariant, DataCollectorType, Object};

rpc::interface! {
    /// [MS-PLA] 3.2.4.15: the collectors of a set by index. Windows answers `AddRange` with an error.
    pub orpc interface IDataCollectorCollection: IDispatch("03837502-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.15.1: how many there are.
        7 => get_Count() -> (#[ndr(name = "retVal")] count: i32);

        /// [MS-PLA] 3.2.4.15.2: the one at `index`, from zero, an [`IDataCollector`](crate::IDataCollector).
        8 => get_Item(index: AnyVariant<'stub>) -> (#[ndr(name = "collector")] item: Object<'stub>);

        /// [MS-PLA] 3.2.4.15.3: all of them as they are now, an `IEnumVARIANT`.
        9 => get__NewEnum as get_new_enum() -> (#[ndr(name = "retVal")] enumerator: Object<'stub>);

        /// [MS-PLA] 3.2.4.15.4: adds one.
        10 => Add(#[ndr(name = "collector")] item: Object<'stub>);

        /// [MS-PLA] 3.2.4.15.5: removes one, by its index or itself.
        11 => Remove(#[ndr(name = "collector")] item: AnyVariant<'stub>);

        /// [MS-PLA] 3.2.4.15.6: removes all.
        12 => Clear();

        /// [MS-PLA] 3.2.4.15.7: adds those of another collection.
        13 => AddRange(#[ndr(name = "collectors")] items: Object<'stub>);

        /// [MS-PLA] 3.2.4.15.8: makes a collector of XML, which is not yet in the collection. `validation` is
        /// an [`IValueMap`](crate::IValueMap) of a result for each property that is ignored or wrong.
        14 => CreateDataCollectorFromXml(#[ndr(name = "bstrXml")] xml: Bstr) -> (
            #[ndr(name = "pValidation")] validation: Object<'stub>,
            #[ndr(name = "pCollector")] collector: Object<'stub>,
        );

        /// [MS-PLA] 3.2.4.15.9: makes an [`IDataCollector`](crate::IDataCollector) of that kind, which is not
        /// yet in the collection.
        15 => CreateDataCollector(#[ndr(name = "Type")] kind: DataCollectorType) -> (
            #[ndr(name = "Collector")] collector: Object<'stub>,
        );
    }
}
