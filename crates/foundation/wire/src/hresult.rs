use crate::{Win32Error, open_enum};

open_enum! {
    /// [MS-ERREF] 2.1: a COM result. Negative values are failures.
    pub struct HResult(u32) {
        S_OK = 0,
        /// Success, with `false` for an answer.
        S_FALSE = 1,
        /// Success of [MS-PLA]: the property is kept, and has no effect.
        PLA_S_PROPERTY_IGNORED = 0x0030_0100,
        E_NOTIMPL = 0x8000_4001,
        /// The object does not have the interface.
        E_NOINTERFACE = 0x8000_4002,
        /// A pointer is NULL that must not be.
        E_POINTER = 0x8000_4003,
        E_ABORT = 0x8000_4004,
        /// Failed without a reason.
        E_FAIL = 0x8000_4005,
        /// Failed in a way that was not expected.
        E_UNEXPECTED = 0x8000_ffff,
        /// The server of the object went away during the call.
        RPC_E_SERVER_DIED = 0x8001_0007,
        /// The server of the object went away before the call.
        RPC_E_SERVER_DIED_DNE = 0x8001_0012,
        /// The server of the object cannot take calls.
        RPC_E_SERVERFAULT = 0x8001_0105,
        /// The server does not have the object any more.
        RPC_E_DISCONNECTED = 0x8001_0108,
        /// The server is busy: try later.
        RPC_E_RETRY = 0x8001_0109,
        /// The call cannot be executed now.
        RPC_E_CALL_REJECTED = 0x8001_0001,
        /// The server does not speak this version of DCOM.
        RPC_E_VERSION_MISMATCH = 0x8001_0110,
        /// The header of a request to an object is wrong.
        RPC_E_INVALID_HEADER = 0x8001_0111,
        /// The object does not exist.
        RPC_E_INVALID_OBJECT = 0x8001_0114,
        /// The call was cancelled.
        RPC_E_CALL_CANCELED = 0x8001_0002,
        /// The caller may not do this.
        RPC_E_ACCESS_DENIED = 0x8001_011b,
        /// DCOM is disabled, or refuses calls from other machines.
        RPC_E_REMOTE_DISABLED = 0x8001_011c,
        /// What should name an object names none.
        RPC_E_INVALID_OBJREF = 0x8001_011d,
        /// The call took too long.
        RPC_E_TIMEOUT = 0x8001_011f,
        /// Failed in a way that was not expected.
        RPC_E_UNEXPECTED = 0x8001_ffff,
        /// No such member of an automation object.
        DISP_E_MEMBERNOTFOUND = 0x8002_0003,
        /// No such parameter of an automation object's member.
        DISP_E_PARAMNOTFOUND = 0x8002_0004,
        /// A value has another type.
        DISP_E_TYPEMISMATCH = 0x8002_0005,
        /// No such name in an automation object.
        DISP_E_UNKNOWNNAME = 0x8002_0006,
        /// The member of an automation object raised an exception.
        DISP_E_EXCEPTION = 0x8002_0009,
        /// A value does not fit.
        DISP_E_OVERFLOW = 0x8002_000a,
        /// An index is out of range.
        DISP_E_BADINDEX = 0x8002_000b,
        /// The number of parameters is wrong.
        DISP_E_BADPARAMCOUNT = 0x8002_000e,
        /// [MS-PLA]: no such data collector set.
        PLA_E_DCS_NOT_FOUND = 0x8030_0002,
        /// [MS-PLA]: there are more folders of data than the set's limit.
        PLA_E_TOO_MANY_FOLDERS = 0x8030_0045,
        /// [MS-PLA]: the disk has less space than the set needs.
        PLA_E_NO_MIN_DISK = 0x8030_0070,
        /// [MS-PLA]: the data collector set, or what it depends on, is in use.
        PLA_E_DCS_IN_USE = 0x8030_00aa,
        /// [MS-PLA]: the data collector set exists already.
        PLA_E_DCS_ALREADY_EXISTS = 0x8030_00b7,
        /// [MS-PLA]: two properties contradict each other.
        PLA_E_PROPERTY_CONFLICT = 0x8030_0101,
        /// [MS-PLA]: the data collector set has to be the only one of its kind.
        PLA_E_DCS_SINGLETON_REQUIRED = 0x8030_0102,
        /// [MS-PLA]: the data collector set needs an account to run as.
        PLA_E_CREDENTIALS_REQUIRED = 0x8030_0103,
        /// [MS-PLA]: the data collector set does not run.
        PLA_E_DCS_NOT_RUNNING = 0x8030_0104,
        /// [MS-PLA]: what is traced and what is not contradict each other.
        PLA_E_CONFLICT_INCL_EXCL_API = 0x8030_0105,
        /// [MS-PLA]: the program is on a network.
        PLA_E_NETWORK_EXE_NOT_VALID = 0x8030_0106,
        /// [MS-PLA]: the program has a data collector already.
        PLA_E_EXE_ALREADY_CONFIGURED = 0x8030_0107,
        /// [MS-PLA]: no such program.
        PLA_E_EXE_PATH_NOT_VALID = 0x8030_0108,
        /// [MS-PLA]: the data collector exists already.
        PLA_E_DC_ALREADY_EXISTS = 0x8030_0109,
        /// [MS-PLA]: the data collector set took too long to start.
        PLA_E_DCS_START_WAIT_TIMEOUT = 0x8030_010a,
        /// [MS-PLA]: the data collector took too long to start.
        PLA_E_DC_START_WAIT_TIMEOUT = 0x8030_010b,
        /// [MS-PLA]: the report took too long.
        PLA_E_REPORT_WAIT_TIMEOUT = 0x8030_010c,
        /// [MS-PLA]: something is named twice.
        PLA_E_NO_DUPLICATES = 0x8030_010d,
        /// [MS-PLA]: the program needs its full path.
        PLA_E_EXE_FULL_PATH_REQUIRED = 0x8030_010e,
        /// [MS-PLA]: the name of the trace session is not valid.
        PLA_E_INVALID_SESSION_NAME = 0x8030_010f,
        /// [MS-PLA]: the channel for events of PLA is disabled on the host.
        PLA_E_PLA_CHANNEL_NOT_ENABLED = 0x8030_0110,
        /// [MS-PLA]: the channel for events of the task scheduler is disabled on the host.
        PLA_E_TASKSCHED_CHANNEL_NOT_ENABLED = 0x8030_0111,
        /// [MS-PLA]: the rules could not be applied.
        PLA_E_RULES_MANAGER_FAILED = 0x8030_0112,
        /// [MS-PLA]: a cabinet file could not be made or unpacked.
        PLA_E_CABAPI_FAILURE = 0x8030_0113,
        /// The class is not registered on the host.
        REGDB_E_CLASSNOTREG = 0x8004_0154,
        /// The host does not know the interface.
        REGDB_E_IIDNOTREG = 0x8004_0155,
        CO_E_CLASSSTRING = 0x8004_01f3,
        /// The object is not registered.
        CO_E_OBJNOTREG = 0x8004_01fb,
        /// The program of the class did not start.
        CO_E_SERVER_EXEC_FAILURE = 0x8008_0005,
        /// The program of the class has no session to run in.
        CO_E_RUNAS_LOGON_FAILURE = 0x8000_401a,
        /// [MS-COMEV]: the query cannot be parsed.
        EVENT_E_QUERYSYNTAX = 0x8004_0203,
        /// [MS-COMEV]: the query names a field that there is not.
        EVENT_E_QUERYFIELD = 0x8004_0204,
        /// [MS-COMEV]: the owner's SID is not valid.
        EVENT_E_INVALID_PER_USER_SID = 0x8004_0207,
        /// [MS-COMEV]: not all objects could be removed.
        EVENT_E_NOT_ALL_REMOVED = 0x8004_020b,
        /// The caller may not do this.
        E_ACCESSDENIED = 0x8007_0005,
        /// The server has no memory.
        E_OUTOFMEMORY = 0x8007_000e,
        /// A parameter is wrong.
        E_INVALIDARG = 0x8007_0057,
    }
}

impl HResult {
    /// Whether the severity bit is clear.
    #[must_use]
    pub const fn is_success(self) -> bool {
        self.0 >> 31 == 0
    }

    /// `HRESULT_FROM_WIN32`: the Win32 error as a COM result.
    #[must_use]
    pub const fn from_win32(error: Win32Error) -> Self {
        match error.0 {
            0 => Self::S_OK,
            code if code >> 31 == 1 => Self(code),
            code => Self(0x8007_0000 | code & 0xffff),
        }
    }

    /// The Win32 error that [`HResult::from_win32`] was made of, if it was.
    #[must_use]
    pub const fn to_win32(self) -> Option<Win32Error> {
        match self.0 {
            0 => Some(Win32Error::ERROR_SUCCESS),
            code if code >> 16 == 0x8007 => Some(Win32Error(code & 0xffff)),
            _ => None,
        }
    }
}

impl std::error::Error for HResult {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_win32_error_is_a_com_result_and_back() {
        assert_eq!(HResult::from_win32(Win32Error::ERROR_ACCESS_DENIED), HResult::E_ACCESSDENIED);
        assert_eq!(HResult::from_win32(Win32Error::ERROR_SUCCESS), HResult::S_OK);
        assert_eq!(HResult::from_win32(Win32Error(0x8004_0154)), HResult::REGDB_E_CLASSNOTREG);
        assert_eq!(HResult::E_INVALIDARG.to_win32(), Some(Win32Error::ERROR_INVALID_PARAMETER));
        assert_eq!(HResult::REGDB_E_CLASSNOTREG.to_win32(), None);
        assert!(HResult::PLA_S_PROPERTY_IGNORED.is_success() && !HResult::E_FAIL.is_success());
    }
}
