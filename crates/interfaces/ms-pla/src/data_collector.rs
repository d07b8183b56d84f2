//! [MS-PLA] 3.2.4.5: [`IDataCollector`] and the messages of its methods.

use com::oaut::{Bstr, IDispatch, IDispatchServer, VariantBool};
use wire::HResult;

use crate::types::{AutoPathFormat, DataCollectorType, Object};

rpc::interface! {
    /// [MS-PLA] 3.2.4.5: what all kinds of collectors have. Opnums 8, 28 and 31 never go over a wire.
    pub orpc interface IDataCollector: IDispatch("038374ff-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.5.1: the set, an [`IDataCollectorSet`](crate::IDataCollectorSet).
        7 => get_DataCollectorSet() -> (value: Object<'stub>);

        /// [MS-PLA] 3.2.4.5.2: the kind, which says which interface the object has beside this one.
        9 => get_DataCollectorType() -> (value: DataCollectorType);

        /// [MS-PLA] 3.2.4.5.3: the file's name, without what is added to it.
        10 => get_FileName() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.5.4: sets it.
        11 => put_FileName(value: Bstr);

        /// [MS-PLA] 3.2.4.5.5: what is added to the name.
        12 => get_FileNameFormat() -> (value: AutoPathFormat);
        /// [MS-PLA] 3.2.4.5.6: sets it.
        13 => put_FileNameFormat(value: AutoPathFormat);

        /// [MS-PLA] 3.2.4.5.7: the pattern that is added to it.
        14 => get_FileNameFormatPattern() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.5.8: sets it.
        15 => put_FileNameFormatPattern(value: Bstr);

        /// [MS-PLA] 3.2.4.5.9: where the newest data are.
        16 => get_LatestOutputLocation() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.5.10: sets it.
        17 => put_LatestOutputLocation(value: Bstr);

        /// [MS-PLA] 3.2.4.5.11: whether a file that exists is continued.
        18 => get_LogAppend() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.5.12: sets it.
        19 => put_LogAppend(value: VariantBool);

        /// [MS-PLA] 3.2.4.5.13: whether the oldest records of a full file are overwritten.
        20 => get_LogCircular() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.5.14: sets it.
        21 => put_LogCircular(value: VariantBool);

        /// [MS-PLA] 3.2.4.5.15: whether a file that exists is replaced.
        22 => get_LogOverwrite() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.5.16: sets it.
        23 => put_LogOverwrite(value: VariantBool);

        /// [MS-PLA] 3.2.4.5.17: the collector's name within the set.
        24 => get_Name() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.5.18: sets it.
        25 => put_Name(value: Bstr);

        /// [MS-PLA] 3.2.4.5.19: where the data of the next run go.
        26 => get_OutputLocation() -> (value: Bstr);

        /// [MS-PLA] 3.2.4.5.20: its place among the collectors of its kind.
        27 => get_Index() -> (value: i32);

        /// [MS-PLA] 3.2.4.5.21: the collector as XML.
        29 => get_Xml() -> (value: Bstr);

        /// [MS-PLA] 3.2.4.5.22: sets the properties that the XML has. `validation` is an
        /// [`IValueMap`](crate::IValueMap) of a result for each property that is ignored or wrong.
        30 => SetXml(#[ndr(name = "Xml")] xml: Bstr) -> (
            #[ndr(name = "Validation")] validation: Object<'stub>,
        );
    }
}
