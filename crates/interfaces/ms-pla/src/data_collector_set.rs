//! [MS-PLA] 3.2.4.1: [`IDataCollectorSet`] and the messages of its methods.

use com::oaut::{ArrayParameter, Bstr, IDispatch, IDispatchServer, VariantBool};
use wire::HResult;

use crate::types::{AutoPathFormat, CommitMode, DataCollectorSetStatus, Object, Password};

rpc::interface! {
    /// [MS-PLA] 3.2.4.1: a set of data collectors: what is collected, when, where it goes, and what happens
    /// to it then.
    pub orpc interface IDataCollectorSet: IDispatch("03837520-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.1.1: its data collectors, an
        /// [`IDataCollectorCollection`](crate::IDataCollectorCollection).
        7 => get_DataCollectors() -> (value: Object<'stub>);

        /// [MS-PLA] 3.2.4.1.2: how long it runs, in seconds; 0 is until it is stopped.
        8 => get_Duration() -> (value: u32);
        /// [MS-PLA] 3.2.4.1.3: sets it.
        9 => put_Duration(value: u32);

        /// [MS-PLA] 3.2.4.1.4: a text, or `@file,-id` of a resource with one.
        10 => get_Description() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.1.5: sets it.
        11 => put_Description(value: Bstr);

        /// [MS-PLA] 3.2.4.1.6: the description as it was set.
        12 => get_DescriptionUnresolved() -> (value: Bstr);

        /// [MS-PLA] 3.2.4.1.7: its name for people, or `@file,-id` of a resource with it.
        13 => get_DisplayName() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.1.8: sets it.
        14 => put_DisplayName(value: Bstr);

        /// [MS-PLA] 3.2.4.1.9: the name for people as it was set.
        15 => get_DisplayNameUnresolved() -> (value: Bstr);

        /// [MS-PLA] 3.2.4.1.10: words by which sets are found.
        16 => get_Keywords() -> (value: ArrayParameter<'stub>);
        /// [MS-PLA] 3.2.4.1.11: sets it.
        17 => put_Keywords(value: ArrayParameter<'stub>);

        /// [MS-PLA] 3.2.4.1.12: where the newest data are.
        18 => get_LatestOutputLocation() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.1.13: sets it.
        19 => put_LatestOutputLocation(value: Bstr);

        /// [MS-PLA] 3.2.4.1.14: the name by which it is queried and committed.
        20 => get_Name() -> (value: Bstr);

        /// [MS-PLA] 3.2.4.1.15: where the data of the next run go.
        21 => get_OutputLocation() -> (value: Bstr);

        /// [MS-PLA] 3.2.4.1.16: the folder below which data go.
        22 => get_RootPath() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.1.17: sets it.
        23 => put_RootPath(value: Bstr);

        /// [MS-PLA] 3.2.4.1.18: whether a new file or folder begins when a limit is reached.
        24 => get_Segment() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.1.19: sets it.
        25 => put_Segment(value: VariantBool);

        /// [MS-PLA] 3.2.4.1.20: the limit of one segment in seconds; 0 is none.
        26 => get_SegmentMaxDuration() -> (value: u32);
        /// [MS-PLA] 3.2.4.1.21: sets it.
        27 => put_SegmentMaxDuration(value: u32);

        /// [MS-PLA] 3.2.4.1.22: the limit of one segment in MB; 0 is none.
        28 => get_SegmentMaxSize() -> (value: u32);
        /// [MS-PLA] 3.2.4.1.23: sets it.
        29 => put_SegmentMaxSize(value: u32);

        /// [MS-PLA] 3.2.4.1.24: the number of the next folder or file.
        30 => get_SerialNumber() -> (value: u32);
        /// [MS-PLA] 3.2.4.1.25: sets it.
        31 => put_SerialNumber(value: u32);

        /// [MS-PLA] 3.2.4.1.26: the host that was named when the set was queried or committed.
        32 => get_Server() -> (value: Bstr);

        /// [MS-PLA] 3.2.4.1.27: whether it runs.
        33 => get_Status() -> (value: DataCollectorSetStatus);

        /// [MS-PLA] 3.2.4.1.28: the folder below the root.
        34 => get_Subdirectory() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.1.29: sets it.
        35 => put_Subdirectory(value: Bstr);

        /// [MS-PLA] 3.2.4.1.30: what is added to the folder's name.
        36 => get_SubdirectoryFormat() -> (value: AutoPathFormat);
        /// [MS-PLA] 3.2.4.1.31: sets it.
        37 => put_SubdirectoryFormat(value: AutoPathFormat);

        /// [MS-PLA] 3.2.4.1.32: the pattern that is added to it.
        38 => get_SubdirectoryFormatPattern() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.1.33: sets it.
        39 => put_SubdirectoryFormatPattern(value: Bstr);

        /// [MS-PLA] 3.2.4.1.34: the task that is started when data were collected.
        40 => get_Task() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.1.35: sets it.
        41 => put_Task(value: Bstr);

        /// [MS-PLA] 3.2.4.1.36: whether the task runs as the set does, and not as itself.
        42 => get_TaskRunAsSelf() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.1.37: sets it.
        43 => put_TaskRunAsSelf(value: VariantBool);

        /// [MS-PLA] 3.2.4.1.38: its arguments, with variables in braces.
        44 => get_TaskArguments() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.1.39: sets it.
        45 => put_TaskArguments(value: Bstr);

        /// [MS-PLA] 3.2.4.1.40: what replaces `{usertext}` in them.
        46 => get_TaskUserTextArguments() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.1.41: sets it.
        47 => put_TaskUserTextArguments(value: Bstr);

        /// [MS-PLA] 3.2.4.1.42: when it starts, an [`IScheduleCollection`](crate::IScheduleCollection).
        48 => get_Schedules() -> (value: Object<'stub>);

        /// [MS-PLA] 3.2.4.1.43: whether the schedules are in force.
        49 => get_SchedulesEnabled() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.1.44: sets it.
        50 => put_SchedulesEnabled(value: VariantBool);

        /// [MS-PLA] 3.2.4.1.45: the account that it runs as.
        51 => get_UserAccount() -> (value: Bstr);

        /// [MS-PLA] 3.2.4.1.46: the whole set as XML.
        52 => get_Xml() -> (value: Bstr);

        /// [MS-PLA] 3.2.4.1.47: the security descriptor, as SDDL.
        53 => get_Security() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.1.48: sets it.
        54 => put_Security(value: Bstr);

        /// [MS-PLA] 3.2.4.1.49: whether it stops when all its collectors have.
        55 => get_StopOnCompletion() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.1.50: sets it.
        56 => put_StopOnCompletion(value: VariantBool);

        /// [MS-PLA] 3.2.4.1.51: what happens to the data, an [`IDataManager`](crate::IDataManager).
        57 => get_DataManager() -> (value: Object<'stub>);

        /// [MS-PLA] 3.2.4.1.52: sets the account that it runs as. Two NULLs forget it.
        58 => SetCredentials(user: Bstr, password: Password);

        /// [MS-PLA] 3.2.4.1.53: reads the set of that name from the host's store into this object. `server`
        /// is not used: NULL.
        59 => Query(name: Bstr, server: Bstr);

        /// [MS-PLA] 3.2.4.1.54: stores, checks or flushes the set, as `mode` says. `validation` is an
        /// [`IValueMap`](crate::IValueMap) of a result for each property that is ignored or wrong.
        60 => Commit(name: Bstr, server: Bstr, mode: CommitMode) -> (validation: Object<'stub>);

        /// [MS-PLA] 3.2.4.1.55: removes the set from the host's store. A set that runs is not removed.
        61 => Delete();

        /// [MS-PLA] 3.2.4.1.56: starts it; answers before that is done unless `synchronous`.
        62 => Start(#[ndr(name = "Synchronous")] synchronous: VariantBool);

        /// [MS-PLA] 3.2.4.1.57: stops it; answers before that is done unless `synchronous`.
        63 => Stop(#[ndr(name = "Synchronous")] synchronous: VariantBool);

        /// [MS-PLA] 3.2.4.1.58: sets the properties that the XML has. `validation` is as that of
        /// [`CommitRequest`].
        64 => SetXml(xml: Bstr) -> (validation: Object<'stub>);

        /// [MS-PLA] 3.2.4.1.59: keeps a value under a name of the client's choice; arguments of tasks name it
        /// as `{key}`.
        65 => SetValue(key: Bstr, value: Bstr);

        /// [MS-PLA] 3.2.4.1.60: such a value.
        66 => GetValue(key: Bstr) -> (value: Bstr);
    }
}
