//! [MS-PLA] 3.2.4.14: [`IScheduleCollection`] and the messages of its methods.

use com::oaut::{IDispatch, IDispatchServer};
use wire::HResult;

use crate::types::{AnyVariant, Object};

rpc::interface! {
    /// [MS-PLA] 3.2.4.14: schedules by index.
    pub orpc interface IScheduleCollection: IDispatch("0383753d-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.14.1: how many there are.
        7 => get_Count() -> (#[ndr(name = "retVal")] count: i32);

        /// [MS-PLA] 3.2.4.14.2: the one at `index`, from zero, an [`ISchedule`](crate::ISchedule).
        8 => get_Item(index: AnyVariant<'stub>) -> (#[ndr(name = "ppSchedule")] item: Object<'stub>);

        /// [MS-PLA] 3.2.4.14.3: all of them as they are now, an `IEnumVARIANT`.
        9 => get__NewEnum as get_new_enum() -> (#[ndr(name = "retVal")] enumerator: Object<'stub>);

        /// [MS-PLA] 3.2.4.14.4: adds one.
        10 => Add(#[ndr(name = "pSchedule")] item: Object<'stub>);

        /// [MS-PLA] 3.2.4.14.5: removes one, by its index or itself.
        11 => Remove(#[ndr(name = "vSchedule")] item: AnyVariant<'stub>);

        /// [MS-PLA] 3.2.4.14.6: removes all.
        12 => Clear();

        /// [MS-PLA] 3.2.4.14.7: adds those of another collection.
        13 => AddRange(#[ndr(name = "pSchedules")] items: Object<'stub>);

        /// [MS-PLA] 3.2.4.14.8: makes an [`ISchedule`](crate::ISchedule), which is not yet in the collection.
        14 => CreateSchedule() -> (#[ndr(name = "Schedule")] schedule: Object<'stub>);
    }
}
