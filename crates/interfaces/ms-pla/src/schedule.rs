//! [MS-PLA] 3.2.4.12: [`ISchedule`] and the messages of its methods.

use com::oaut::{IDispatch, IDispatchServer};
use wire::HResult;

use crate::types::{AnyVariant, WeekDays};

rpc::interface! {
    /// [MS-PLA] 3.2.4.12: when a set starts. Dates and times are VT_DATE, or VT_EMPTY for none.
    pub orpc interface ISchedule: IDispatch("0383753a-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.12.1: the first day.
        7 => get_StartDate() -> (value: AnyVariant<'stub>);
        /// [MS-PLA] 3.2.4.12.2: sets it.
        8 => put_StartDate(value: AnyVariant<'stub>);

        /// [MS-PLA] 3.2.4.12.3: the last day.
        9 => get_EndDate() -> (value: AnyVariant<'stub>);
        /// [MS-PLA] 3.2.4.12.4: sets it.
        10 => put_EndDate(value: AnyVariant<'stub>);

        /// [MS-PLA] 3.2.4.12.5: the time of day.
        11 => get_StartTime() -> (value: AnyVariant<'stub>);
        /// [MS-PLA] 3.2.4.12.6: sets it.
        12 => put_StartTime(value: AnyVariant<'stub>);

        /// [MS-PLA] 3.2.4.12.7: the days of the week.
        13 => get_Days() -> (value: WeekDays);
        /// [MS-PLA] 3.2.4.12.8: sets it.
        14 => put_Days(value: WeekDays);
    }
}
