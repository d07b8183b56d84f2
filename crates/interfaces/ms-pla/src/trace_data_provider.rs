//! [MS-PLA] 3.2.4.11: [`ITraceDataProvider`] and the messages of its methods.

use com::oaut::{ArrayParameter, Bstr, IDispatch, IDispatchServer, VariantBool};
use wire::{Guid, HResult};

use crate::types::Object;

rpc::interface! {
    /// [MS-PLA] 3.2.4.11: who writes events into a trace, and which of them are wanted.
    pub orpc interface ITraceDataProvider: IDispatch("03837512-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.11.1: the provider's name.
        7 => get_DisplayName() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.11.2: sets it.
        8 => put_DisplayName(value: Bstr);

        /// [MS-PLA] 3.2.4.11.3: its GUID.
        9 => get_Guid() -> (value: Guid);
        /// [MS-PLA] 3.2.4.11.4: sets it.
        10 => put_Guid(value: Guid);

        /// [MS-PLA] 3.2.4.11.5: the level up to which events are wanted, an [`IValueMap`](crate::IValueMap).
        11 => get_Level() -> (value: Object<'stub>);

        /// [MS-PLA] 3.2.4.11.6: keywords of which an event needs one, an [`IValueMap`](crate::IValueMap).
        12 => get_KeywordsAny() -> (value: Object<'stub>);

        /// [MS-PLA] 3.2.4.11.7: keywords of which an event needs all, an [`IValueMap`](crate::IValueMap).
        13 => get_KeywordsAll() -> (value: Object<'stub>);

        /// [MS-PLA] 3.2.4.11.8: what is added to each event, an [`IValueMap`](crate::IValueMap).
        14 => get_Properties() -> (value: Object<'stub>);

        /// [MS-PLA] 3.2.4.11.9: whether the filter is in force.
        15 => get_FilterEnabled() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.11.10: sets it.
        16 => put_FilterEnabled(value: VariantBool);

        /// [MS-PLA] 3.2.4.11.11: the kind of the filter, which nobody uses.
        17 => get_FilterType() -> (value: u32);
        /// [MS-PLA] 3.2.4.11.12: sets it.
        18 => put_FilterType(value: u32);

        /// [MS-PLA] 3.2.4.11.13: the filter, whose meaning is the provider's.
        19 => get_FilterData() -> (value: ArrayParameter<'stub>);
        /// [MS-PLA] 3.2.4.11.14: sets it.
        20 => put_FilterData(value: ArrayParameter<'stub>);

        /// [MS-PLA] 3.2.4.11.15: reads what the host knows of the provider of that name or GUID into this
        /// object. `server` is not used: NULL.
        21 => Query(#[ndr(name = "bstrName")] name: Bstr, #[ndr(name = "bstrServer")] server: Bstr);

        /// [MS-PLA] 3.2.4.11.16: takes what is missing from another provider, or from the one of a collection
        /// that has the same GUID.
        22 => Resolve(#[ndr(name = "pFrom")] from: Object<'stub>);

        /// [MS-PLA] 3.2.4.11.17: sets who may use the provider on the host.
        23 => SetSecurity(#[ndr(name = "Sddl")] sddl: Bstr);

        /// [MS-PLA] 3.2.4.11.18: who may use the provider on the host, as far as `security_info` asks for it.
        24 => GetSecurity(#[ndr(name = "SecurityInfo")] security_info: u32) -> (
            #[ndr(name = "Sddl")] sddl: Bstr,
        );

        /// [MS-PLA] 3.2.4.11.19: the processes that are this provider, an [`IValueMap`](crate::IValueMap).
        25 => GetRegisteredProcesses() -> (#[ndr(name = "Processes")] processes: Object<'stub>);
    }
}
