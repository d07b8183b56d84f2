//! [MS-PLA] 3.2.4.2: [`IDataManager`] and the messages of its methods.

use com::oaut::{Bstr, IDispatch, IDispatchServer, VariantBool};
use wire::HResult;

use crate::types::{DataManagerSteps, Object, ResourcePolicy};

rpc::interface! {
    /// [MS-PLA] 3.2.4.2: what happens to the data of a set: reports, rules, limits of disk space.
    pub orpc interface IDataManager: IDispatch("03837541-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.2.1: whether it does anything after a run.
        7 => get_Enabled() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.2.2: sets it.
        8 => put_Enabled(value: VariantBool);

        /// [MS-PLA] 3.2.4.2.3: whether the limits are checked before a run, too.
        9 => get_CheckBeforeRunning() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.2.4: sets it.
        10 => put_CheckBeforeRunning(value: VariantBool);

        /// [MS-PLA] 3.2.4.2.5: MB that have to be free on the disk; 0 is no limit.
        11 => get_MinFreeDisk() -> (value: u32);
        /// [MS-PLA] 3.2.4.2.6: sets it.
        12 => put_MinFreeDisk(value: u32);

        /// [MS-PLA] 3.2.4.2.7: MB that all folders may take; 0 is no limit.
        13 => get_MaxSize() -> (value: u32);
        /// [MS-PLA] 3.2.4.2.8: sets it.
        14 => put_MaxSize(value: u32);

        /// [MS-PLA] 3.2.4.2.9: folders that there may be; 0 is no limit.
        15 => get_MaxFolderCount() -> (value: u32);
        /// [MS-PLA] 3.2.4.2.10: sets it.
        16 => put_MaxFolderCount(value: u32);

        /// [MS-PLA] 3.2.4.2.11: which folders are deleted first.
        17 => get_ResourcePolicy() -> (value: ResourcePolicy);
        /// [MS-PLA] 3.2.4.2.12: sets it.
        18 => put_ResourcePolicy(value: ResourcePolicy);

        /// [MS-PLA] 3.2.4.2.13: what is done with old and large folders, an
        /// [`IFolderActionCollection`](crate::IFolderActionCollection).
        19 => get_FolderActions() -> (value: Object<'stub>);

        /// [MS-PLA] 3.2.4.2.14: the XML that says what reports contain.
        20 => get_ReportSchema() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.2.15: sets it.
        21 => put_ReportSchema(value: Bstr);

        /// [MS-PLA] 3.2.4.2.16: the file of the report in HTML.
        22 => get_ReportFileName() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.2.17: sets it.
        23 => put_ReportFileName(value: Bstr);

        /// [MS-PLA] 3.2.4.2.18: the file of the report in XML.
        24 => get_RuleTargetFileName() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.2.19: sets it.
        25 => put_RuleTargetFileName(value: Bstr);

        /// [MS-PLA] 3.2.4.2.20: the file for events of a trace.
        26 => get_EventsFileName() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.2.21: sets it.
        27 => put_EventsFileName(value: Bstr);

        /// [MS-PLA] 3.2.4.2.22: the XML of rules that are applied to reports.
        28 => get_Rules() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.2.23: sets it.
        29 => put_Rules(value: Bstr);

        /// [MS-PLA] 3.2.4.2.24: does these steps with the data of a folder. `errors` is an
        /// [`IValueMap`](crate::IValueMap) of results.
        30 => Run(
            #[ndr(name = "Steps")] steps: DataManagerSteps,
            #[ndr(name = "bstrFolder")] folder: Bstr,
        ) -> (#[ndr(name = "Errors")] errors: Object<'stub>);

        /// [MS-PLA] 3.2.4.2.25: unpacks a cabinet file of the host into a folder of the host.
        31 => Extract(
            #[ndr(name = "CabFilename")] cab_file: Bstr,
            #[ndr(name = "DestinationPath")] destination: Bstr,
        );
    }
}
