//! [MS-PLA] 3.2.4.6: [`IPerformanceCounterDataCollector`] and the messages of its methods.

use com::oaut::{ArrayParameter, Bstr};
use wire::HResult;

use crate::data_collector::{IDataCollector, IDataCollectorServer};
use crate::types::FileFormat;

rpc::interface! {
    /// [MS-PLA] 3.2.4.6: reads performance counters into a file or a database.
    pub orpc interface IPerformanceCounterDataCollector: IDataCollector("03837506-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.6.1: the data source, if the format is SQL.
        32 => get_DataSourceName() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.6.2: sets it.
        33 => put_DataSourceName(value: Bstr);

        /// [MS-PLA] 3.2.4.6.3: the counters, as paths.
        34 => get_PerformanceCounters() -> (value: ArrayParameter<'stub>);
        /// [MS-PLA] 3.2.4.6.4: sets it.
        35 => put_PerformanceCounters(value: ArrayParameter<'stub>);

        /// [MS-PLA] 3.2.4.6.5: the format of the file.
        36 => get_LogFileFormat() -> (value: FileFormat);
        /// [MS-PLA] 3.2.4.6.6: sets it.
        37 => put_LogFileFormat(value: FileFormat);

        /// [MS-PLA] 3.2.4.6.7: seconds between two readings.
        38 => get_SampleInterval() -> (value: u32);
        /// [MS-PLA] 3.2.4.6.8: sets it.
        39 => put_SampleInterval(value: u32);

        /// [MS-PLA] 3.2.4.6.9: readings in one file; 0 is no limit.
        40 => get_SegmentMaxRecords() -> (value: u32);
        /// [MS-PLA] 3.2.4.6.10: sets it.
        41 => put_SegmentMaxRecords(value: u32);
    }
}
