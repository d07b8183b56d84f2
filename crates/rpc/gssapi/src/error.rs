#![expect(unsafe_code, reason = "reads messages and buffers of the library")]

use core::ffi::CStr;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use zeroize::Zeroize;

use crate::library::{Buffer, Handle, Kerberos, MECHANISM};

/// What the library or a KDC says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub reason: Reason,
    /// The library's own words.
    pub message: String,
}

/// Why there is no ticket or no context, as far as somebody can do something about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A clock differs by more than the KDC, or the host, permits.
    ClockSkew,
    /// The KDC has no such account.
    UnknownPrincipal,
    /// The KDC has no such service, or more than one of that name.
    UnknownService,
    /// No encryption type that all sides have and permit.
    EncryptionType,
    /// The password, or the key in the keytab, is another one.
    WrongPassword,
    /// The password has expired.
    PasswordExpired,
    /// The account is locked, disabled or has expired.
    AccountRevoked,
    /// A ticket's time is over.
    TicketExpired,
    /// No KDC answers, or none is known for the realm.
    KdcUnreachable,
    /// The keytab has no key of the principal.
    NoKeytabEntry,
    /// The ticket was made with another key of the service, or another version of it, than the service has.
    KeyVersion,
    /// The file of a keytab or a cache is absent, cannot be read, or is not one.
    File,
    /// krb5.conf, or a file that it includes, cannot be read or is not one.
    Configuration,
    /// The principal is not written as one.
    Name,
    Other,
}

/// What the library calls `ERROR_TABLE_BASE_krb5`.
const BASE: i32 = -1_765_328_384;

impl Reason {
    /// The number that a KDC or a host wrote into `KRB-ERROR`.
    #[must_use]
    pub const fn of_rfc4120(code: i32) -> Self {
        Self::of(code.wrapping_add(BASE))
    }

    /// RFC 4120 7.5.9, and codes of the library's own.
    const fn of(code: i32) -> Self {
        const NO_ENTRY: i32 = 2;
        const ACCESS: i32 = 13;
        match code.wrapping_sub(BASE) {
            // KDC_ERR_C_PRINCIPAL_UNKNOWN.
            6 => Self::UnknownPrincipal,
            // KDC_ERR_S_PRINCIPAL_UNKNOWN, KDC_ERR_PRINCIPAL_NOT_UNIQUE, KDC_ERR_SERVER_NOMATCH.
            7 | 8 | 26 => Self::UnknownService,
            // KDC_ERR_ETYPE_NOSUPP, KRB5_PROG_ETYPE_NOSUPP, KRB5_BAD_ENCTYPE, KRB5_CONFIG_ETYPE_NOSUPP; and
            // KRB5_PREAUTH_FAILED, which is the library's: it has no key of a type that the KDC asks for.
            14 | 150 | 188 | 237 | 210 => Self::EncryptionType,
            // KDC_ERR_NAME_EXP, KDC_ERR_CLIENT_REVOKED, KDC_ERR_CLIENT_NOTYET.
            1 | 18 | 21 => Self::AccountRevoked,
            // KDC_ERR_SERVICE_EXP, KDC_ERR_SERVICE_REVOKED, KDC_ERR_SERVICE_NOTYET.
            2 | 19 | 22 => Self::UnknownService,
            // KDC_ERR_KEY_EXPIRED.
            23 => Self::PasswordExpired,
            // KDC_ERR_PREAUTH_FAILED, KRB_AP_ERR_BAD_INTEGRITY.
            24 | 31 => Self::WrongPassword,
            // KRB_AP_ERR_TKT_EXPIRED.
            32 => Self::TicketExpired,
            // KRB_AP_ERR_TKT_NYV, KRB_AP_ERR_SKEW, KRB5_KDCREP_SKEW.
            33 | 37 | 148 => Self::ClockSkew,
            // KRB_AP_ERR_MODIFIED, KRB_AP_ERR_BADKEYVER, KRB5_KT_KVNONOTFOUND.
            41 | 44 | 230 => Self::KeyVersion,
            // KRB5_REALM_UNKNOWN, KRB5_KDC_UNREACH, KRB5_REALM_CANT_RESOLVE.
            154 | 156 | 220 => Self::KdcUnreachable,
            // KRB5_KT_NOTFOUND.
            181 => Self::NoKeytabEntry,
            // KRB5_CONFIG_CANTOPEN, KRB5_CONFIG_BADFORMAT.
            135 | 136 => Self::Configuration,
            // KRB5_CC_UNKNOWN_TYPE, KRB5_CC_NOTFOUND, KRB5_KT_BADNAME,
            // KRB5_KT_IOERR, KRB5_CC_IO, KRB5_FCC_PERM, KRB5_FCC_NOFILE, KRB5_CC_FORMAT, KRB5_CCACHE_BADVNO,
            // KRB5_KEYTAB_BADVNO.
            140 | 141 | 179 | 184 | 193 | 194 | 195 | 199 | 212 | 213 => Self::File,
            // KDC_ERR_WRONG_REALM, KRB5_PARSE_MALFORMED, KRB5_CONFIG_NODEFREALM.
            68 | 134 | 224 => Self::Name,
            _ => match code {
                NO_ENTRY | ACCESS => Self::File,
                _ => Self::Other,
            },
        }
    }
}

impl Error {
    /// What a function of GSS-API answered. The major status says little where the mechanism has a code of its own.
    pub(crate) fn of_gss(library: &Kerberos, major: u32, minor: u32) -> Self {
        const GSS_CODE: i32 = 1;
        const MECHANISM_CODE: i32 = 2;
        // These have no code of the mechanism.
        const CREDENTIALS_EXPIRED: u32 = 11 << 16;
        const CONTEXT_EXPIRED: u32 = 12 << 16;
        let reason = Reason::of(minor.cast_signed());
        let mut message = display(library, minor, MECHANISM_CODE);
        if reason == Reason::Other {
            // The mechanism may have no more to say than "unknown error" or "success".
            message = format!("{}: {message}", display(library, major, GSS_CODE));
        }
        let reason = match (major, reason) {
            (CREDENTIALS_EXPIRED | CONTEXT_EXPIRED, _) => Reason::TicketExpired,
            (_, reason) => reason,
        };
        Self { reason, message }
    }

    /// What a function of krb5.h answered.
    pub(crate) fn of_krb5(library: &Kerberos, context: Handle, code: i32) -> Self {
        let functions = &library.functions;
        // SAFETY: the context is null or one of the library's; both are permitted.
        let text = unsafe { (functions.krb5_get_error_message)(context, code) };
        let message = if text.is_null() {
            format!("error {code}")
        } else {
            // SAFETY: the library ends its messages with a zero.
            let message = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
            // SAFETY: the message came from the function that belongs to this one.
            unsafe { (functions.krb5_free_error_message)(context, text) };
            message
        };
        Self { reason: Reason::of(code), message }
    }
}

/// The words of a status; they may be several.
fn display(library: &Kerberos, status: u32, kind: i32) -> String {
    const WORDS_MAX: usize = 8;
    let functions = &library.functions;
    let mut all = Vec::new();
    let mut more = 0;
    for _ in 0..WORDS_MAX {
        let (mut minor, mut text) = (0, Buffer::EMPTY);
        // SAFETY: all pointers are of this frame; `text` is released below.
        let major = unsafe {
            (functions.gss_display_status)(
                &raw mut minor,
                status,
                kind,
                &raw const MECHANISM,
                &raw mut more,
                &raw mut text,
            )
        };
        if major != 0 {
            break;
        }
        all.push(String::from_utf8_lossy(&take(library, text)).into_owned());
        if more == 0 {
            break;
        }
    }
    if all.is_empty() { format!("status {status:#x}") } else { all.join("; ") }
}

/// A copy of a buffer that the library filled.
pub(crate) fn bytes(buffer: &Buffer) -> Vec<u8> {
    if buffer.value.is_null() {
        return Vec::new();
    }
    // SAFETY: the library filled the buffer with so many bytes.
    unsafe { core::slice::from_raw_parts(buffer.value.cast::<u8>(), buffer.length) }.to_vec()
}

/// Overwrites what the library only frees.
pub(crate) fn wipe(buffer: &Buffer) {
    if !buffer.value.is_null() {
        // SAFETY: the library filled the buffer with so many bytes, and nobody else reads it any more.
        unsafe { core::slice::from_raw_parts_mut(buffer.value.cast::<u8>(), buffer.length) }.zeroize();
    }
}

/// The bytes of a buffer that the library allocated, and the buffer's end.
pub(crate) fn take(library: &Kerberos, mut buffer: Buffer) -> Vec<u8> {
    let bytes = bytes(&buffer);
    let mut minor = 0;
    // SAFETY: the buffer is the library's and is not used again.
    unsafe { (library.functions.gss_release_buffer)(&raw mut minor, &raw mut buffer) };
    bytes
}

pub(crate) fn text(text: &str, what: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| holds_zero(what))
}

pub(crate) fn holds_zero(what: &str) -> Error {
    Error { reason: Reason::Name, message: format!("{what} holds a zero byte") }
}

/// A keytab as the library names it.
pub(crate) fn keytab_name(file: &Path) -> Result<CString, Error> {
    let name = [b"FILE:", file.as_os_str().as_bytes()].concat();
    CString::new(name).map_err(|_| holds_zero("the name of a keytab"))
}
