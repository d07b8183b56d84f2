//! [MS-COMEV] IEventSystem: subscriptions stored, queried and removed.

use crate::oaut::{Bstr, IDispatch, IDispatchServer};
use rpc::ndr::InterfacePointer;
use wire::HResult;

rpc::interface! {
    /// [MS-COMEV] 3.1.4.1: the store of event classes and subscriptions. `prog_id` names one of both: [`crate::comev::prog_id`];
    /// `criteria` selects what is in it: [`crate::comev::query`].
    pub orpc interface IEventSystem: IDispatch("4e14fb9f-2e22-11d1-9964-00c04fbbb345") -> HResult {
        /// [MS-COMEV] 3.1.4.1.1: a collection of what fits, an [`IEventObjectCollection`](crate::comev::IEventObjectCollection).
        /// `error_index` is a character of the criteria, from 0, if they are wrong.
        7 => Query(
            #[ndr(name = "progID")] prog_id: Bstr, #[ndr(name = "queryCriteria")] criteria: Bstr,
        ) -> (
            #[ndr(name = "errorIndex")] error_index: i32,
            #[ndr(name = "ppInterface")] collection: Option<Box<InterfacePointer<'stub>>>,
        );

        /// [MS-COMEV] 3.1.4.1.2: stores an object that the host created before.
        8 => Store(
            #[ndr(name = "ProgID")] prog_id: Bstr,
            #[ndr(name = "pInterface")] object: Option<Box<InterfacePointer<'stub>>>,
        );

        /// [MS-COMEV] 3.1.4.1.3: removes what fits.
        9 => Remove(
            #[ndr(name = "progID")] prog_id: Bstr, #[ndr(name = "queryCriteria")] criteria: Bstr,
        ) -> (#[ndr(name = "errorIndex")] error_index: i32);

        /// [MS-COMEV] 3.1.4.1.4: the event class of changes of the store, a GUID in braces.
        10 => get_EventObjectChangeEventClassID as get_event_object_change_event_class_id() -> (
            #[ndr(name = "pbstrEventClassID")] value: Bstr,
        );

        /// [MS-COMEV] 3.1.4.1.5: as `Query`, without a place in wrong criteria.
        11 => QueryS as query_s(
            #[ndr(name = "progID")] prog_id: Bstr, #[ndr(name = "queryCriteria")] criteria: Bstr,
        ) -> (#[ndr(name = "ppInterface")] collection: Option<Box<InterfacePointer<'stub>>>);

        /// [MS-COMEV] 3.1.4.1.6: as `Remove`, without a place in wrong criteria.
        12 => RemoveS as remove_s(
            #[ndr(name = "progID")] prog_id: Bstr, #[ndr(name = "queryCriteria")] criteria: Bstr,
        );
    }
}

rpc::interface! {
    /// See section 3.1.4.10 of [MS-COMEV].
    pub orpc interface IEventSystem2: IEventSystem("99cc098f-a48a-4e9c-8e58-965c0afc19d5") -> HResult {
        /// [MS-COMEV] 3.1.4.10.1: 1, or [`crate::comev::VERSION_WITH_PARTITIONS`].
        13 => GetVersion() -> (#[ndr(name = "pnVersion")] version: i32);

        /// [MS-COMEV] 3.1.4.10.2: calls all transient subscribers and removes those that do not answer.
        14 => VerifyTransientSubscribers();
    }
}
