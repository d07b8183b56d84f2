//! The constants of the header, named as there without `PERFMON_`.

macro_rules! constants {
    ($($name:ident: $type:ty = $value:literal;)*) => {
        $(#[doc = concat!("`PERFMON_", stringify!($name), "`")] pub const $name: $type = $value;)*

        /// Name in the header and value of each, for the test that asks a C compiler.
        pub const CONSTANTS: &[(&str, i64)] = &[$((concat!("PERFMON_", stringify!($name)), $value),)*];
    };
}

constants! {
    ABI_MAJOR: u16 = 1;
    ABI_MINOR: u16 = 3;
    OK: i32 = 0;
    FULL: i32 = 1;
    WAIT: i32 = 2;
    DENIED: i32 = 3;
    STALE: i32 = 4;
    STOPPED: i32 = 5;
    INVALID: i32 = 6;
    UNSUPPORTED: i32 = 7;
    FAILED: i32 = 8;
    PANICKED: i32 = 9;
    VERSION: i32 = 10;
    NOT_FOUND: i32 = 11;
    MODE_ASYNC: u32 = 1;
    MODE_BLOCKING: u32 = 2;
    KIND_UNKNOWN: u32 = 0;
    KIND_GAUGE: u32 = 1;
    KIND_COUNTER: u32 = 2;
    KIND_INFO: u32 = 3;
    KIND_HISTOGRAM: u32 = 4;
    VALUE_F64: u32 = 1;
    VALUE_U64: u32 = 2;
    VALUE_I64: u32 = 3;
    VALUE_HISTOGRAM: u32 = 4;
    HISTOGRAM_BOUNDS_MAX: u32 = 64;
    DISPLAY_NONE: u32 = 0;
    DISPLAY_VALUE: u32 = 1;
    DISPLAY_PERCENT: u32 = 2;
    DISPLAY_DELTA: u32 = 3;
    DISPLAY_RATE: u32 = 4;
    DISPLAY_QUEUE_LENGTH: u32 = 5;
    DISPLAY_PERCENT_OF_TIME: u32 = 6;
    DISPLAY_PERCENT_NOT_OF_TIME: u32 = 7;
    DISPLAY_PERCENT_OF_TIME_OF_MANY: u32 = 8;
    DISPLAY_PERCENT_NOT_OF_TIME_OF_MANY: u32 = 9;
    DISPLAY_PERCENT_OF_BASE: u32 = 10;
    DISPLAY_PERCENT_OF_BASE_DELTA: u32 = 11;
    DISPLAY_AVERAGE: u32 = 12;
    DISPLAY_ELAPSED: u32 = 13;
    DISPLAY_BASE: u32 = 14;
    ACCEPTED: u32 = 0;
    DROPPED_LIMIT: u32 = 1;
    DROPPED_RULE: u32 = 2;
    DROPPED_DUPLICATE: u32 = 3;
    DROPPED_INVALID: u32 = 4;
    DROPPED_UNKNOWN_FAMILY: u32 = 5;
    DROPPED_UNSUPPORTED: u32 = 6;
    START_TIME_UNKNOWN: u32 = 0;
    START_TIME_KNOWN: u32 = 1;
    START_TIME_INFERRED: u32 = 2;
    OUTCOME_FULL: u32 = 1;
    OUTCOME_PARTIAL: u32 = 2;
    OUTCOME_FAILED: u32 = 3;
    STAGE_DNS: u32 = 1;
    STAGE_TCP: u32 = 2;
    STAGE_SMB: u32 = 3;
    STAGE_AUTH: u32 = 4;
    STAGE_PIPE: u32 = 5;
    STAGE_BIND: u32 = 6;
    STAGE_QUERY: u32 = 7;
    STAGE_DECODE: u32 = 8;
    STAGE_PLUGIN: u32 = 9;
    REASON_TIMEOUT: u32 = 1;
    REASON_CANCELLED: u32 = 2;
    REASON_NAME_NOT_FOUND: u32 = 3;
    REASON_CONNECTION_REFUSED: u32 = 4;
    REASON_UNREACHABLE: u32 = 5;
    REASON_CONNECTION_RESET: u32 = 6;
    REASON_PROTOCOL_ERROR: u32 = 7;
    REASON_SMB1_ONLY: u32 = 8;
    REASON_ENCRYPTION_REQUIRED: u32 = 9;
    REASON_SIGNING_REQUIRED: u32 = 10;
    REASON_WRONG_CREDENTIALS: u32 = 11;
    REASON_ACCOUNT_LOCKED: u32 = 12;
    REASON_ACCOUNT_DISABLED: u32 = 13;
    REASON_PASSWORD_EXPIRED: u32 = 14;
    REASON_LOGON_RESTRICTED: u32 = 15;
    REASON_CREDENTIALS_WITHHELD: u32 = 16;
    REASON_ACCESS_DENIED: u32 = 17;
    REASON_REMOTE_REGISTRY_STOPPED: u32 = 18;
    REASON_NOT_FOUND: u32 = 19;
    REASON_LIMIT_EXCEEDED: u32 = 20;
    REASON_MALFORMED_REPLY: u32 = 21;
    REASON_SERVER_FAULT: u32 = 22;
    REASON_BUSY: u32 = 23;
    REASON_INTERNAL: u32 = 24;
    REASON_OTHER: u32 = 25;
    REASON_PANICKED: u32 = 26;
    REASON_QUARANTINED: u32 = 27;
    REASON_DECLARED: u32 = 256;
    DECLARED_REASONS_MAX: u32 = 64;
    LEVEL_ERROR: u32 = 1;
    LEVEL_WARN: u32 = 2;
    LEVEL_INFO: u32 = 3;
    LEVEL_DEBUG: u32 = 4;
    LEVEL_TRACE: u32 = 5;
    ALERT_NONE: u32 = 0;
    ALERT_OPENED: u32 = 1;
    ALERT_OPEN: u32 = 2;
    ALERT_CLOSED: u32 = 3;
    CREDENTIAL_KIND_PASSWORD: u32 = 1;
    CREDENTIAL_KIND_KERBEROS: u32 = 2;
    CREDENTIAL_UNKNOWN: u32 = 0;
    CREDENTIAL_ACCEPTED: u32 = 1;
    CREDENTIAL_REJECTED: u32 = 2;
    CREDENTIAL_LOCKED: u32 = 3;
    OUTPUT_OUT: u32 = 1;
    OUTPUT_ERR: u32 = 2;
    OUTPUT_PROGRESS: u32 = 3;
    SOURCE_LIBRARY: u32 = 4_294_967_295;
    NO_MODULE: u32 = 4_294_967_295;
    END_REMOVED: u32 = 1;
    END_PROCESS: u32 = 2;
    OPTION_REQUIRED: u32 = 1;
    OPTION_REPEATED: u32 = 2;
    SETTING_KIND_TEXT: u32 = 1;
    SETTING_KIND_WORD: u32 = 2;
    SETTING_KIND_INTEGER: u32 = 3;
    SETTING_KIND_BOOL: u32 = 4;
    SETTING_KIND_DURATION: u32 = 5;
    SETTING_KIND_PORT: u32 = 6;
    SETTING_SHOWN: u32 = 1;
}

/// The symbol that a plugin exports.
pub const ENTRY_SYMBOL: &str = "perfmon_plugin_entry_v1";
