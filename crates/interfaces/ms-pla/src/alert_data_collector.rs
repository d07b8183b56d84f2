//! [MS-PLA] 3.2.4.8: [`IAlertDataCollector`] and the messages of its methods.

use com::oaut::{ArrayParameter, Bstr, VariantBool};
use wire::HResult;

use crate::data_collector::{IDataCollector, IDataCollectorServer};

rpc::interface! {
    /// [MS-PLA] 3.2.4.8: acts when a counter is above or below a threshold.
    pub orpc interface IAlertDataCollector: IDataCollector("03837516-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.8.1: a counter's path, `<` or `>`, and a number, without spaces.
        32 => get_AlertThresholds() -> (value: ArrayParameter<'stub>);
        /// [MS-PLA] 3.2.4.8.2: sets it.
        33 => put_AlertThresholds(value: ArrayParameter<'stub>);

        /// [MS-PLA] 3.2.4.8.3: whether an alert is an event in the host's log.
        34 => get_EventLog() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.8.4: sets it.
        35 => put_EventLog(value: VariantBool);

        /// [MS-PLA] 3.2.4.8.5: seconds between two readings.
        36 => get_SampleInterval() -> (value: u32);
        /// [MS-PLA] 3.2.4.8.6: sets it.
        37 => put_SampleInterval(value: u32);

        /// [MS-PLA] 3.2.4.8.7: the task that an alert starts.
        38 => get_Task() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.8.8: sets it.
        39 => put_Task(value: Bstr);

        /// [MS-PLA] 3.2.4.8.9: whether the task runs as the set does, and not as itself.
        40 => get_TaskRunAsSelf() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.8.10: sets it.
        41 => put_TaskRunAsSelf(value: VariantBool);

        /// [MS-PLA] 3.2.4.8.11: its arguments, with variables in braces.
        42 => get_TaskArguments() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.8.12: sets it.
        43 => put_TaskArguments(value: Bstr);

        /// [MS-PLA] 3.2.4.8.13: what replaces `{usertext}` in them.
        44 => get_TaskUserTextArguments() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.8.14: sets it.
        45 => put_TaskUserTextArguments(value: Bstr);

        /// [MS-PLA] 3.2.4.8.15: the set that an alert starts.
        46 => get_TriggerDataCollectorSet() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.8.16: sets it.
        47 => put_TriggerDataCollectorSet(value: Bstr);
    }
}
