//! The functions of the library. Layouts and constants are those of MIT's headers `gssapi.h` (RFC 2744), `gssapi_ext.h`,
//! `gssapi_krb5.h` and `krb5.h`, which have not changed since version 1.12 of 2013.
#![expect(unsafe_code, reason = "declares the functions of the library")]

use core::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

const FILE: &str = "libgssapi_krb5.so.2";

/// Why there is no Kerberos by the library.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    #[error("{FILE} cannot be loaded: {message}; install MIT Kerberos (libgssapi-krb5-2, krb5-libs)")]
    NotFound {
        /// What the loader says.
        message: String,
    },
    /// A library by that name that is older, or of another maker.
    #[error("{FILE} has no `{function}`: it is not MIT Kerberos 1.12 or later")]
    OtherMaker { function: &'static str },
}

macro_rules! functions {
    ($($name:ident($($argument:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            /// # Safety
            /// A symbol of these names has the type that is declared here.
            unsafe fn load(library: &libloading::Library) -> Result<Self, LoadError> {
                Ok(Self {$(
                    // SAFETY: the caller promises the type; the library is never unloaded.
                    $name: *unsafe { library.get(concat!(stringify!($name), "\0")) }
                        .map_err(|_| LoadError::OtherMaker { function: stringify!($name) })?,
                )*})
            }
        }
    };
}

#[doc(alias = "OM_uint32")]
pub(crate) type Major = u32;
#[doc(alias = "krb5_error_code")]
pub(crate) type Code = i32;
/// `krb5_context`, `gss_name_t` and their kin, which only the library looks into.
pub(crate) type Handle = *mut c_void;

functions! {
    gss_import_name(*mut u32, *const Buffer, *const Oid, *mut Handle) -> Major;
    gss_display_name(*mut u32, Handle, *mut Buffer, *mut *const Oid) -> Major;
    gss_release_name(*mut u32, *mut Handle) -> Major;
    gss_release_buffer(*mut u32, *mut Buffer) -> Major;
    gss_acquire_cred_from(
        *mut u32, Handle, u32, *const OidSet, c_int, *const KeyValueSet, *mut Handle, *mut *mut OidSet, *mut u32,
    ) -> Major;
    gss_release_cred(*mut u32, *mut Handle) -> Major;
    gss_krb5_set_allowable_enctypes(*mut u32, Handle, u32, *const i32) -> Major;
    gss_init_sec_context(
        *mut u32, Handle, *mut Handle, Handle, *const Oid, u32, u32, *const c_void, *const Buffer, *mut *const Oid,
        *mut Buffer, *mut u32, *mut u32,
    ) -> Major;
    gss_accept_sec_context(
        *mut u32, *mut Handle, Handle, *const Buffer, *const c_void, *mut Handle, *mut *const Oid, *mut Buffer,
        *mut u32, *mut u32, *mut Handle,
    ) -> Major;
    gss_delete_sec_context(*mut u32, *mut Handle, *mut Buffer) -> Major;
    gss_inquire_sec_context_by_oid(*mut u32, Handle, *const Oid, *mut *mut BufferSet) -> Major;
    gss_release_buffer_set(*mut u32, *mut *mut BufferSet) -> Major;
    gss_display_status(*mut u32, u32, c_int, *const Oid, *mut u32, *mut Buffer) -> Major;
    gss_krb5_export_lucid_sec_context(*mut u32, *mut Handle, u32, *mut *mut LucidContext) -> Major;
    gss_krb5_free_lucid_sec_context(*mut u32, *mut LucidContext) -> Major;
    gss_wrap_iov(*mut u32, Handle, c_int, u32, *mut c_int, *mut IovBuffer, c_int) -> Major;
    gss_unwrap_iov(*mut u32, Handle, *mut c_int, *mut u32, *mut IovBuffer, c_int) -> Major;
    gss_get_mic_iov(*mut u32, Handle, u32, *mut IovBuffer, c_int) -> Major;
    gss_verify_mic_iov(*mut u32, Handle, *mut u32, *mut IovBuffer, c_int) -> Major;

    krb5_init_context(*mut Handle) -> Code;
    krb5_free_context(Handle);
    krb5_get_error_message(Handle, Code) -> *const c_char;
    krb5_free_error_message(Handle, *const c_char);
    krb5_parse_name(Handle, *const c_char, *mut Handle) -> Code;
    krb5_unparse_name(Handle, Handle, *mut *mut c_char) -> Code;
    krb5_free_unparsed_name(Handle, *mut c_char);
    krb5_free_principal(Handle, Handle);
    krb5_cc_resolve(Handle, *const c_char, *mut Handle) -> Code;
    krb5_cc_get_principal(Handle, Handle, *mut Handle) -> Code;
    krb5_cc_initialize(Handle, Handle, Handle) -> Code;
    krb5_cc_copy_creds(Handle, Handle, Handle) -> Code;
    krb5_cc_close(Handle, Handle) -> Code;
    krb5_cc_destroy(Handle, Handle) -> Code;
    krb5_kt_resolve(Handle, *const c_char, *mut Handle) -> Code;
    krb5_kt_close(Handle, Handle) -> Code;
    krb5_kt_get_entry(Handle, Handle, Handle, u32, i32, *mut KeytabEntry) -> Code;
    krb5_free_keytab_entry_contents(Handle, *mut KeytabEntry) -> Code;
    krb5_get_init_creds_opt_alloc(Handle, *mut Handle) -> Code;
    krb5_get_init_creds_opt_free(Handle, Handle);
    krb5_get_init_creds_opt_set_etype_list(Handle, *const i32, c_int);
    krb5_get_init_creds_opt_set_out_ccache(Handle, Handle, Handle) -> Code;
    krb5_init_creds_init(Handle, Handle, *const c_void, *mut c_void, i32, Handle, *mut Handle) -> Code;
    krb5_init_creds_set_password(Handle, Handle, *const c_char) -> Code;
    krb5_init_creds_set_keytab(Handle, Handle, Handle) -> Code;
    krb5_init_creds_get(Handle, Handle) -> Code;
    krb5_init_creds_free(Handle, Handle);
    krb5_get_time_offsets(Handle, *mut i32, *mut i32) -> Code;
}

/// The library, loaded once for the process.
pub struct Kerberos {
    pub(crate) functions: Functions,
    // The functions are part of it.
    _library: libloading::Library,
}

impl Kerberos {
    /// The library of the system. It is looked for once: whoever installs it later starts the program again.
    ///
    /// # Errors
    /// If it is absent, or not MIT's.
    pub fn of_the_system() -> Result<&'static Self, LoadError> {
        static LIBRARY: OnceLock<Result<Kerberos, LoadError>> = OnceLock::new();
        LIBRARY.get_or_init(|| Self::load(FILE)).as_ref().map_err(Clone::clone)
    }

    fn load(file: &str) -> Result<Self, LoadError> {
        // SAFETY: the initializers of MIT's libraries set up locks and tables of their own.
        let library = unsafe { libloading::Library::new(file) }
            .map_err(|error| LoadError::NotFound { message: error.to_string() })?;
        // SAFETY: the declarations are those of the headers, and no other maker has all of these names.
        let functions = unsafe { Functions::load(&library) }?;
        Ok(Self { functions, _library: library })
    }
}

/// Has the library read `file` before that of `KRB5_CONFIG`, or else of the system. It is read again whenever it changes.
///
/// # Errors
/// If the process has more than one thread: its environment cannot be changed any more.
pub fn read_first(file: &str) -> std::io::Result<()> {
    const VARIABLE: &str = "KRB5_CONFIG";
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(std::io::Error::other("the process has more than one thread"));
    }
    let before = std::env::var(VARIABLE).unwrap_or_else(|_| "/etc/krb5.conf".to_owned());
    // SAFETY: this is the only thread, as was counted above, so that nobody reads the environment meanwhile.
    unsafe { std::env::set_var(VARIABLE, format!("{file}:{before}")) };
    Ok(())
}

#[doc(alias = "gss_buffer_desc")]
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Buffer {
    pub(crate) length: usize,
    pub(crate) value: *mut c_void,
}

impl Buffer {
    pub(crate) const EMPTY: Self = Self { length: 0, value: core::ptr::null_mut() };

    /// A view of bytes that the library only reads.
    pub(crate) const fn reading(bytes: &[u8]) -> Self {
        Self { length: bytes.len(), value: bytes.as_ptr().cast_mut().cast() }
    }

    pub(crate) const fn writing(bytes: &mut [u8]) -> Self {
        Self { length: bytes.len(), value: bytes.as_mut_ptr().cast() }
    }
}

#[doc(alias = "gss_OID_desc")]
#[repr(C)]
pub(crate) struct Oid {
    length: u32,
    elements: *const u8,
}

// SAFETY: the bytes are static and only read.
unsafe impl Sync for Oid {}

impl Oid {
    const fn new<const N: u32>(encoded: &'static [u8]) -> Self {
        assert!(encoded.len() == N as usize, "an object identifier has another length");
        Self { length: N, elements: encoded.as_ptr() }
    }
}

/// Kerberos 5 is 1.2.840.113554.1.2.2.
pub(crate) static MECHANISM: Oid = Oid::new::<9>(b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02");
#[doc(alias = "GSS_KRB5_NT_PRINCIPAL_NAME")]
pub(crate) static PRINCIPAL_NAME: Oid = Oid::new::<10>(b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x01");
#[doc(alias = "GSS_C_INQ_SSPI_SESSION_KEY")]
pub(crate) static SESSION_KEY: Oid = Oid::new::<11>(b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x05\x05");

#[doc(alias = "gss_OID_set_desc")]
#[repr(C)]
pub(crate) struct OidSet {
    pub(crate) count: usize,
    pub(crate) elements: *const Oid,
}

#[doc(alias = "gss_buffer_set_desc")]
#[repr(C)]
pub(crate) struct BufferSet {
    pub(crate) count: usize,
    pub(crate) elements: *mut Buffer,
}

#[doc(alias = "gss_key_value_element_desc")]
#[repr(C)]
pub(crate) struct KeyValue {
    pub(crate) key: *const c_char,
    pub(crate) value: *const c_char,
}

#[doc(alias = "gss_key_value_set_desc")]
#[repr(C)]
pub(crate) struct KeyValueSet {
    pub(crate) count: u32,
    pub(crate) elements: *const KeyValue,
}

#[doc(alias = "gss_iov_buffer_desc")]
#[repr(C)]
pub(crate) struct IovBuffer {
    pub(crate) kind: u32,
    pub(crate) buffer: Buffer,
}

#[doc(alias = "gss_krb5_lucid_key_t")]
#[repr(C)]
pub(crate) struct LucidKey {
    pub(crate) kind: u32,
    pub(crate) length: u32,
    pub(crate) data: *mut c_void,
}

#[doc(alias = "gss_krb5_lucid_context_v1_t")]
#[repr(C)]
pub(crate) struct LucidContext {
    pub(crate) version: u32,
    pub(crate) initiate: u32,
    pub(crate) end_time: u32,
    pub(crate) send_sequence: u64,
    pub(crate) receive_sequence: u64,
    /// 0 is RFC 1964, 1 is RFC 4121.
    pub(crate) protocol: u32,
    pub(crate) rfc1964: Rfc1964Keys,
    pub(crate) rfc4121: Rfc4121Keys,
}

#[doc(alias = "gss_krb5_rfc1964_keydata_t")]
#[repr(C)]
pub(crate) struct Rfc1964Keys {
    sign_algorithm: u32,
    seal_algorithm: u32,
    pub(crate) key: LucidKey,
}

#[doc(alias = "gss_krb5_cfx_keydata_t")]
#[repr(C)]
pub(crate) struct Rfc4121Keys {
    pub(crate) have_acceptor_subkey: u32,
    pub(crate) key: LucidKey,
    pub(crate) acceptor_subkey: LucidKey,
}

#[doc(alias = "krb5_keytab_entry")]
#[repr(C)]
pub(crate) struct KeytabEntry {
    magic: i32,
    principal: Handle,
    timestamp: i32,
    version: u32,
    key: KeyBlock,
}

#[doc(alias = "krb5_keyblock")]
#[repr(C)]
struct KeyBlock {
    magic: i32,
    encryption_type: i32,
    length: u32,
    contents: *mut u8,
}

impl KeytabEntry {
    pub(crate) const EMPTY: Self = Self {
        magic: 0,
        principal: core::ptr::null_mut(),
        timestamp: 0,
        version: 0,
        key: KeyBlock { magic: 0, encryption_type: 0, length: 0, contents: core::ptr::null_mut() },
    };
}
