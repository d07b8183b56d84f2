//! [MS-PLA] 3.2.4.13: [`ITraceDataProviderCollection`] and the messages of its methods.

use com::oaut::{Bstr, IDispatch, IDispatchServer};
use wire::HResult;

use crate::types::{AnyVariant, Object};

rpc::interface! {
    /// [MS-PLA] 3.2.4.13: providers by index.
    pub orpc interface ITraceDataProviderCollection: IDispatch("03837510-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.13.1: how many there are.
        7 => get_Count() -> (#[ndr(name = "retVal")] count: i32);

        /// [MS-PLA] 3.2.4.13.2: the one at `index`, from zero, an
        /// [`ITraceDataProvider`](crate::ITraceDataProvider).
        8 => get_Item(index: AnyVariant<'stub>) -> (#[ndr(name = "ppProvider")] item: Object<'stub>);

        /// [MS-PLA] 3.2.4.13.3: all of them as they are now, an `IEnumVARIANT`.
        9 => get__NewEnum as get_new_enum() -> (#[ndr(name = "retVal")] enumerator: Object<'stub>);

        /// [MS-PLA] 3.2.4.13.4: adds one.
        10 => Add(#[ndr(name = "pProvider")] item: Object<'stub>);

        /// [MS-PLA] 3.2.4.13.5: removes one, by its index or itself.
        11 => Remove(#[ndr(name = "vProvider")] item: AnyVariant<'stub>);

        /// [MS-PLA] 3.2.4.13.6: removes all.
        12 => Clear();

        /// [MS-PLA] 3.2.4.13.7: adds those of another collection.
        13 => AddRange(#[ndr(name = "providers")] items: Object<'stub>);

        /// [MS-PLA] 3.2.4.13.8: makes an [`ITraceDataProvider`](crate::ITraceDataProvider), which is not yet
        /// in the collection.
        14 => CreateTraceDataProvider() -> (#[ndr(name = "Provider")] provider: Object<'stub>);

        /// [MS-PLA] 3.2.4.13.9: fills the collection with all providers of the host. `server` is not used:
        /// NULL.
        15 => GetTraceDataProviders(server: Bstr);

        /// [MS-PLA] 3.2.4.13.10: fills the collection with the providers of one process. `server` is not
        /// used: NULL.
        16 => GetTraceDataProvidersByProcess(
            #[ndr(name = "Server")] server: Bstr,
            #[ndr(name = "Pid")] pid: u32,
        );
    }
}
