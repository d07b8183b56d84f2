//! [MS-PLA] 3.2.4.10: [`IApiTracingDataCollector`] and the messages of its methods.

use com::oaut::{ArrayParameter, Bstr, VariantBool};
use wire::HResult;

use crate::data_collector::{IDataCollector, IDataCollectorServer};

rpc::interface! {
    /// [MS-PLA] 3.2.4.10: records which functions a program calls.
    pub orpc interface IApiTracingDataCollector: IDataCollector("0383751a-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.10.1: whether arguments are left out.
        32 => get_LogApiNamesOnly() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.10.2: sets it.
        33 => put_LogApiNamesOnly(value: VariantBool);

        /// [MS-PLA] 3.2.4.10.3: whether functions that are called by functions are recorded, too.
        34 => get_LogApisRecursively() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.10.4: sets it.
        35 => put_LogApisRecursively(value: VariantBool);

        /// [MS-PLA] 3.2.4.10.5: the program, by its full path.
        36 => get_ExePath() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.10.6: sets it.
        37 => put_ExePath(value: Bstr);

        /// [MS-PLA] 3.2.4.10.7: the file.
        38 => get_LogFilePath() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.10.8: sets it.
        39 => put_LogFilePath(value: Bstr);

        /// [MS-PLA] 3.2.4.10.9: the modules that are recorded.
        40 => get_IncludeModules() -> (value: ArrayParameter<'stub>);
        /// [MS-PLA] 3.2.4.10.10: sets it.
        41 => put_IncludeModules(value: ArrayParameter<'stub>);

        /// [MS-PLA] 3.2.4.10.11: the functions that are recorded, as `module!function`.
        42 => get_IncludeApis() -> (value: ArrayParameter<'stub>);
        /// [MS-PLA] 3.2.4.10.12: sets it.
        43 => put_IncludeApis(value: ArrayParameter<'stub>);

        /// [MS-PLA] 3.2.4.10.13: the functions that are not.
        44 => get_ExcludeApis() -> (value: ArrayParameter<'stub>);
        /// [MS-PLA] 3.2.4.10.14: sets it.
        45 => put_ExcludeApis(value: ArrayParameter<'stub>);
    }
}
