//! [MS-PLA] 3.2.4.7: [`IConfigurationDataCollector`] and the messages of its methods.

use com::oaut::{ArrayParameter, Bstr, VariantBool};
use wire::HResult;

use crate::data_collector::{IDataCollector, IDataCollectorServer};

rpc::interface! {
    /// [MS-PLA] 3.2.4.7: keeps files, registry keys and answers of WMI.
    pub orpc interface IConfigurationDataCollector: IDataCollector("03837514-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.7.1: files that are kept.
        32 => get_FileMaxCount() -> (value: u32);
        /// [MS-PLA] 3.2.4.7.2: sets it.
        33 => put_FileMaxCount(value: u32);

        /// [MS-PLA] 3.2.4.7.3: folders below folders that are looked at.
        34 => get_FileMaxRecursiveDepth() -> (value: u32);
        /// [MS-PLA] 3.2.4.7.4: sets it.
        35 => put_FileMaxRecursiveDepth(value: u32);

        /// [MS-PLA] 3.2.4.7.5: bytes of all files that are kept.
        36 => get_FileMaxTotalSize() -> (value: u32);
        /// [MS-PLA] 3.2.4.7.6: sets it.
        37 => put_FileMaxTotalSize(value: u32);

        /// [MS-PLA] 3.2.4.7.7: the files, perhaps with wildcards.
        38 => get_Files() -> (value: ArrayParameter<'stub>);
        /// [MS-PLA] 3.2.4.7.8: sets it.
        39 => put_Files(value: ArrayParameter<'stub>);

        /// [MS-PLA] 3.2.4.7.9: queries of WMI, each after its namespace.
        40 => get_ManagementQueries() -> (value: ArrayParameter<'stub>);
        /// [MS-PLA] 3.2.4.7.10: sets it.
        41 => put_ManagementQueries(value: ArrayParameter<'stub>);

        /// [MS-PLA] 3.2.4.7.11: whether the state of network adapters is kept.
        42 => get_QueryNetworkAdapters() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.7.12: sets it.
        43 => put_QueryNetworkAdapters(value: VariantBool);

        /// [MS-PLA] 3.2.4.7.13: keys of the registry, perhaps with wildcards.
        44 => get_RegistryKeys() -> (value: ArrayParameter<'stub>);
        /// [MS-PLA] 3.2.4.7.14: sets it.
        45 => put_RegistryKeys(value: ArrayParameter<'stub>);

        /// [MS-PLA] 3.2.4.7.15: keys below keys that are looked at.
        46 => get_RegistryMaxRecursiveDepth() -> (value: u32);
        /// [MS-PLA] 3.2.4.7.16: sets it.
        47 => put_RegistryMaxRecursiveDepth(value: u32);

        /// [MS-PLA] 3.2.4.7.17: the file for the state of the system.
        48 => get_SystemStateFile() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.7.18: sets it.
        49 => put_SystemStateFile(value: Bstr);
    }
}
