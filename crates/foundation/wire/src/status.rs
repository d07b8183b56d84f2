use crate::open_enum;

open_enum! {
    /// [MS-ERREF] 2.2: a Win32 error code, the return value of most RPC methods here.
    #[doc(alias = "error_status_t")]
    pub struct Win32Error(u32) {
        ERROR_SUCCESS = 0,
        /// The file, or the registry key, does not exist.
        ERROR_FILE_NOT_FOUND = 2,
        /// The path does not exist.
        ERROR_PATH_NOT_FOUND = 3,
        /// The caller may not do this.
        ERROR_ACCESS_DENIED = 5,
        /// The handle is not known, or not any more.
        ERROR_INVALID_HANDLE = 6,
        /// The caller's buffer is too small (that is how [MS-PCQ] uses it).
        ERROR_NOT_ENOUGH_MEMORY = 8,
        /// The server has no memory.
        ERROR_OUTOFMEMORY = 14,
        /// The network path was not found.
        ERROR_BAD_NETPATH = 53,
        /// A parameter is wrong.
        ERROR_INVALID_PARAMETER = 87,
        /// The buffer is too small.
        ERROR_INSUFFICIENT_BUFFER = 122,
        /// The name of a file or directory cannot be one.
        ERROR_INVALID_NAME = 123,
        /// The resource is busy.
        ERROR_BUSY = 170,
        /// The object exists already.
        ERROR_ALREADY_EXISTS = 183,
        /// There is no data (an instance that is not there now).
        ERROR_NO_DATA = 232,
        /// More data is there than fits.
        ERROR_MORE_DATA = 234,
        /// An enumeration is at its end.
        ERROR_NO_MORE_ITEMS = 259,
        /// The registry key was deleted after it was opened.
        ERROR_KEY_DELETED = 1018,
        /// The element was not found.
        ERROR_NOT_FOUND = 1168,
        /// The client does not permit the server to act as it.
        ERROR_BAD_IMPERSONATION_LEVEL = 1346,
        /// The server lacks a resource other than memory.
        ERROR_NO_SYSTEM_RESOURCES = 1450,
        /// A resolver of DCOM objects does not know the program.
        OR_INVALID_OXID = 1910,
        /// A resolver of DCOM objects does not know the object.
        OR_INVALID_OID = 1911,
        /// A resolver of DCOM objects does not know the set of objects.
        OR_INVALID_SET = 1912,
        /// No such counterset, or its provider is not running.
        ERROR_WMI_GUID_NOT_FOUND = 4200,
        /// No active instance of the counterset.
        ERROR_WMI_INSTANCE_NOT_FOUND = 4201,
        /// No such counter in the counterset.
        ERROR_WMI_ITEMID_NOT_FOUND = 4202,
        /// A provider's data do not match its registration.
        ERROR_WMI_INVALID_REGINFO = 4211,
    }
}

impl Win32Error {
    /// Whether this is [`Win32Error::ERROR_SUCCESS`].
    #[must_use]
    pub const fn is_success(self) -> bool {
        self.0 == 0
    }
}

impl std::error::Error for Win32Error {}

open_enum! {
    /// [MS-ERREF] 2.3: an NTSTATUS, the result of every SMB command.
    pub struct NtStatus(u32) {
        STATUS_SUCCESS = 0,
        /// The answer comes later.
        STATUS_PENDING = 0x0000_0103,
        /// More data is there than fits; what did fit is valid.
        STATUS_BUFFER_OVERFLOW = 0x8000_0005,
        /// The server does not do this.
        STATUS_NOT_IMPLEMENTED = 0xC000_0002,
        /// The information class is wrong.
        STATUS_INVALID_INFO_CLASS = 0xC000_0003,
        /// The size given is not the one of the information class.
        STATUS_INFO_LENGTH_MISMATCH = 0xC000_0004,
        /// The handle is wrong.
        STATUS_INVALID_HANDLE = 0xC000_0008,
        /// A parameter is wrong.
        STATUS_INVALID_PARAMETER = 0xC000_000D,
        /// The server cannot do this with this device.
        STATUS_INVALID_DEVICE_REQUEST = 0xC000_0010,
        /// The end of the file was reached.
        STATUS_END_OF_FILE = 0xC000_0011,
        /// The exchange of security tokens goes on.
        STATUS_MORE_PROCESSING_REQUIRED = 0xC000_0016,
        /// The caller may not do this.
        STATUS_ACCESS_DENIED = 0xC000_0022,
        /// The caller's buffer is too small.
        STATUS_BUFFER_TOO_SMALL = 0xC000_0023,
        /// No such object; for the `winreg` pipe: the service is stopped, or is being started.
        STATUS_OBJECT_NAME_NOT_FOUND = 0xC000_0034,
        /// The path does not exist.
        STATUS_OBJECT_PATH_NOT_FOUND = 0xC000_003A,
        /// No domain controller answers.
        STATUS_NO_LOGON_SERVERS = 0xC000_005E,
        STATUS_NO_SUCH_USER = 0xC000_0064,
        /// The password is wrong.
        STATUS_WRONG_PASSWORD = 0xC000_006A,
        /// The user name or the password is wrong.
        STATUS_LOGON_FAILURE = 0xC000_006D,
        /// The account has a restriction, such as an empty password.
        STATUS_ACCOUNT_RESTRICTION = 0xC000_006E,
        /// The account may not log on now.
        STATUS_INVALID_LOGON_HOURS = 0xC000_006F,
        /// The account may not log on from here.
        STATUS_INVALID_WORKSTATION = 0xC000_0070,
        /// The password has expired.
        STATUS_PASSWORD_EXPIRED = 0xC000_0071,
        /// The account is disabled.
        STATUS_ACCOUNT_DISABLED = 0xC000_0072,
        /// The server lacks a resource.
        STATUS_INSUFFICIENT_RESOURCES = 0xC000_009A,
        /// No instance of the pipe is there; for `winreg`: the service is being started.
        STATUS_PIPE_NOT_AVAILABLE = 0xC000_00AC,
        /// All instances of the pipe are busy.
        STATUS_PIPE_BUSY = 0xC000_00AE,
        /// The other end of the pipe has gone.
        STATUS_PIPE_DISCONNECTED = 0xC000_00B0,
        /// The pipe is being closed.
        STATUS_PIPE_CLOSING = 0xC000_00B1,
        /// The server does not support the request.
        STATUS_NOT_SUPPORTED = 0xC000_00BB,
        /// The tree is gone.
        STATUS_NETWORK_NAME_DELETED = 0xC000_00C9,
        /// The name of the share is wrong.
        STATUS_BAD_NETWORK_NAME = 0xC000_00CC,
        /// The server takes no more sessions.
        STATUS_REQUEST_NOT_ACCEPTED = 0xC000_00D0,
        /// The operation was cancelled.
        STATUS_CANCELLED = 0xC000_0120,
        /// The file was closed.
        STATUS_FILE_CLOSED = 0xC000_0128,
        /// The clocks of the client and of the domain, or the server, differ too much.
        STATUS_TIME_DIFFERENCE_AT_DC = 0xC000_0133,
        /// The pipe is broken.
        STATUS_PIPE_BROKEN = 0xC000_014B,
        /// The logon type was not granted to the account.
        STATUS_LOGON_TYPE_NOT_GRANTED = 0xC000_015B,
        /// The secure channel to the domain controller is broken.
        STATUS_TRUSTED_RELATIONSHIP_FAILURE = 0xC000_018D,
        /// The account has expired.
        STATUS_ACCOUNT_EXPIRED = 0xC000_0193,
        /// The server is not part of a distributed file system.
        STATUS_FS_DRIVER_REQUIRED = 0xC000_019C,
        /// The session was deleted.
        STATUS_USER_SESSION_DELETED = 0xC000_0203,
        /// The password must be changed first.
        STATUS_PASSWORD_MUST_CHANGE = 0xC000_0224,
        /// The account is locked.
        STATUS_ACCOUNT_LOCKED_OUT = 0xC000_0234,
        /// The session has expired: authenticate again.
        STATUS_NETWORK_SESSION_EXPIRED = 0xC000_035C,
        /// A policy of the domain keeps the account from this server.
        STATUS_AUTHENTICATION_FIREWALL_FAILED = 0xC000_0413,
        /// A policy of the server refuses NTLM.
        STATUS_NTLM_BLOCKED = 0xC000_0418,
        /// An SMB1 server, or one that shares no dialect.
        STATUS_SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP = 0xC05D_0000,
    }
}

impl NtStatus {
    /// Whether the severity bits say success or information.
    #[must_use]
    pub const fn is_success(self) -> bool {
        self.0 >> 30 < 2
    }

    /// Whether the severity bits say error (a warning such as `STATUS_BUFFER_OVERFLOW` is none).
    #[must_use]
    pub const fn is_error(self) -> bool {
        self.0 >> 30 == 3
    }
}

impl std::error::Error for NtStatus {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_without_a_name_prints_its_number() {
        assert_eq!(NtStatus(0xC000_0234).to_string(), "STATUS_ACCOUNT_LOCKED_OUT");
        assert_eq!(NtStatus(0xC0DE_0001).to_string(), "0xc0de0001");
        assert_eq!(format!("{:?}", Win32Error(1)), "Win32Error(0x00000001)");
    }

    #[test]
    fn a_warning_is_neither_success_nor_error() {
        assert!(NtStatus::STATUS_PENDING.is_success());
        assert!(!NtStatus::STATUS_BUFFER_OVERFLOW.is_success());
        assert!(!NtStatus::STATUS_BUFFER_OVERFLOW.is_error());
        assert!(NtStatus::STATUS_LOGON_FAILURE.is_error());
    }
}
