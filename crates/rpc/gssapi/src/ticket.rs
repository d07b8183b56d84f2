#![expect(unsafe_code, reason = "calls the library")]

use core::ffi::CStr;
use core::ptr::null_mut;
use core::time::Duration;
use std::ffi::CString;
use std::path::Path;

use zeroize::Zeroizing;

use crate::context::Credential;
use crate::error::{holds_zero, keytab_name, text};
use crate::library::{Handle, Kerberos, KeytabEntry};
use crate::{EncryptionType, Error};

/// Where a ticket-granting ticket comes from.
#[derive(Clone, Copy)]
pub enum Origin<'a> {
    /// A KDC, for an account's password. One wrong password is one failed pre-authentication: the library does not ask a
    /// primary KDC again.
    Password { principal: &'a str, password: &'a str },
    /// A KDC, for the key in a file.
    Keytab { principal: &'a str, file: &'a Path },
    /// Another cache, as krb5.conf names it: `FILE:/run/cache`, `DIR:`, `KCM:`. No KDC is asked.
    Cache { name: &'a str },
}

/// What a cache was filled with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// As the KDC writes it, with its realm.
    pub principal: String,
    /// Zero where it has expired.
    pub lifetime: Duration,
    /// How far the KDC's clock is ahead of ours, as far as its answers tell. `None` where none was asked.
    pub skew_seconds: Option<i32>,
}

/// A cache of tickets in the memory of this process. It ends with this value.
pub struct Cache {
    library: &'static Kerberos,
    name: CString,
}

impl Cache {
    /// Fills a new cache with a ticket-granting ticket.
    ///
    /// `name` is unique in the process; the cache's own name is that with `MEMORY:` before it.
    ///
    /// # Errors
    /// If the KDC refuses or does not answer, or a file is absent or wrong. Nothing is left behind then.
    pub fn obtain(
        library: &'static Kerberos,
        name: &str,
        origin: Origin<'_>,
        encryption_types: &[EncryptionType],
    ) -> Result<(Self, Ticket), Error> {
        let cache = Self { library, name: text(&format!("MEMORY:{name}"), "the name of a cache")? };
        let session = Session::new(library)?;
        let skew_seconds = match origin {
            Origin::Password { principal, password } => {
                // Made in one piece, so that no copy of it is left behind.
                let mut copy = Zeroizing::new(Vec::with_capacity(password.len() + 1));
                copy.extend_from_slice(password.as_bytes());
                copy.push(0);
                let password = CStr::from_bytes_with_nul(&copy).map_err(|_| holds_zero("a password"))?;
                session.obtain(&cache.name, principal, encryption_types, |initial| {
                    // SAFETY: both handles live, and the password ends with a zero.
                    let code = unsafe {
                        (library.functions.krb5_init_creds_set_password)(
                            session.context,
                            initial,
                            password.as_ptr(),
                        )
                    };
                    session.check(code)
                })?
            }
            Origin::Keytab { principal, file } => {
                let keytab = session.keytab(file)?;
                session.check_keytab(&keytab, principal)?;
                session.obtain(&cache.name, principal, encryption_types, |initial| {
                    // SAFETY: all three handles live.
                    let code = unsafe {
                        (library.functions.krb5_init_creds_set_keytab)(
                            session.context,
                            initial,
                            keytab.handle,
                        )
                    };
                    session.check(code)
                })?
            }
            Origin::Cache { name } => {
                session.copy(&text(name, "the name of a cache")?, &cache.name)?;
                None
            }
        };
        let principal = session.principal_of(&cache.name)?;
        let lifetime = Credential::of_cache(library, &cache.name, encryption_types)?.lifetime();
        Ok((cache, Ticket { principal, lifetime, skew_seconds }))
    }

    /// What contexts of this process find the cache by.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.to_str().unwrap_or_default()
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        let Ok(session) = Session::new(self.library) else { return };
        if let Ok(cache) = session.resolve(&self.name) {
            let handle = cache.leak();
            // SAFETY: the handle was resolved just now, and this call takes it.
            unsafe { (self.library.functions.krb5_cc_destroy)(session.context, handle) };
        }
    }
}

/// A `krb5_context`: one thread uses it at a time.
struct Session {
    library: &'static Kerberos,
    context: Handle,
}

impl Session {
    fn new(library: &'static Kerberos) -> Result<Self, Error> {
        let mut context = null_mut();
        // SAFETY: the pointer is of this frame.
        let code = unsafe { (library.functions.krb5_init_context)(&raw mut context) };
        match code {
            0 => Ok(Self { library, context }),
            _ => Err(Error::of_krb5(library, null_mut(), code)),
        }
    }

    fn check(&self, code: i32) -> Result<(), Error> {
        if code == 0 { Ok(()) } else { Err(Error::of_krb5(self.library, self.context, code)) }
    }

    /// Asks a KDC; `with` says by what. Answers with the clock's difference.
    fn obtain(
        &self,
        cache: &CStr,
        principal: &str,
        encryption_types: &[EncryptionType],
        with: impl FnOnce(Handle) -> Result<(), Error>,
    ) -> Result<Option<i32>, Error> {
        let functions = &self.library.functions;
        let principal = self.parse(principal)?;
        let cache = self.resolve(cache)?;
        let numbers: Vec<i32> = encryption_types.iter().map(|one| one.0).collect();
        let count = i32::try_from(numbers.len()).unwrap_or(i32::MAX);

        let mut options = null_mut();
        // SAFETY: the context lives; the pointer is of this frame.
        self.check(unsafe { (functions.krb5_get_init_creds_opt_alloc)(self.context, &raw mut options) })?;
        let options = Owned { session: self, handle: options, end: functions.krb5_get_init_creds_opt_free };
        // SAFETY: the library keeps the pointer to the numbers in the options, which end before them.
        unsafe {
            (functions.krb5_get_init_creds_opt_set_etype_list)(options.handle, numbers.as_ptr(), count);
        }
        // SAFETY: all three handles live, the cache longer than the options.
        self.check(unsafe {
            (functions.krb5_get_init_creds_opt_set_out_ccache)(self.context, options.handle, cache.handle)
        })?;

        let mut initial = null_mut();
        // SAFETY: the handles live; no prompter is there, so that nothing is asked of a terminal.
        self.check(unsafe {
            (functions.krb5_init_creds_init)(
                self.context,
                principal.handle,
                core::ptr::null(),
                null_mut(),
                0,
                options.handle,
                &raw mut initial,
            )
        })?;
        let initial = Owned { session: self, handle: initial, end: functions.krb5_init_creds_free };
        with(initial.handle)?;
        // SAFETY: both handles live.
        self.check(unsafe { (functions.krb5_init_creds_get)(self.context, initial.handle) })?;
        Ok(self.skew())
    }

    /// What the KDC's answers said of its clock.
    fn skew(&self) -> Option<i32> {
        let (mut seconds, mut microseconds) = (0, 0);
        // SAFETY: the pointers are of this frame.
        let code = unsafe {
            (self.library.functions.krb5_get_time_offsets)(
                self.context,
                &raw mut seconds,
                &raw mut microseconds,
            )
        };
        (code == 0).then_some(seconds)
    }

    fn copy(&self, from: &CStr, to: &CStr) -> Result<(), Error> {
        let functions = &self.library.functions;
        let (from, to) = (self.resolve(from)?, self.resolve(to)?);
        let principal = self.principal(&from)?;
        // SAFETY: the handles live.
        self.check(unsafe { (functions.krb5_cc_initialize)(self.context, to.handle, principal.handle) })?;
        // SAFETY: the handles live.
        self.check(unsafe { (functions.krb5_cc_copy_creds)(self.context, from.handle, to.handle) })
    }

    fn resolve(&self, name: &CStr) -> Result<Owned<'_, Code>, Error> {
        let mut handle = null_mut();
        // SAFETY: the context lives, the name ends with a zero, the pointer is of this frame.
        self.check(unsafe {
            (self.library.functions.krb5_cc_resolve)(self.context, name.as_ptr(), &raw mut handle)
        })?;
        Ok(Owned { session: self, handle, end: self.library.functions.krb5_cc_close })
    }

    fn principal(&self, cache: &Owned<'_, Code>) -> Result<Owned<'_, ()>, Error> {
        let mut handle = null_mut();
        // SAFETY: the handles live, the pointer is of this frame.
        self.check(unsafe {
            (self.library.functions.krb5_cc_get_principal)(self.context, cache.handle, &raw mut handle)
        })?;
        Ok(Owned { session: self, handle, end: self.library.functions.krb5_free_principal })
    }

    fn principal_of(&self, cache: &CStr) -> Result<String, Error> {
        let functions = &self.library.functions;
        let principal = self.principal(&self.resolve(cache)?)?;
        let mut name = null_mut();
        // SAFETY: the handles live, the pointer is of this frame.
        self.check(unsafe { (functions.krb5_unparse_name)(self.context, principal.handle, &raw mut name) })?;
        // SAFETY: the library wrote a text that ends with a zero.
        let text = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
        // SAFETY: the text came from the function that belongs to this one.
        unsafe { (functions.krb5_free_unparsed_name)(self.context, name) };
        Ok(text)
    }

    fn keytab(&self, file: &Path) -> Result<Owned<'_, Code>, Error> {
        let name = keytab_name(file)?;
        let mut handle = null_mut();
        // SAFETY: the context lives, the name ends with a zero, the pointer is of this frame.
        self.check(unsafe {
            (self.library.functions.krb5_kt_resolve)(self.context, name.as_ptr(), &raw mut handle)
        })?;
        Ok(Owned { session: self, handle, end: self.library.functions.krb5_kt_close })
    }

    /// Whether there is a key. A KDC that is asked without one is said to have refused it, whatever is wrong with the file.
    fn check_keytab(&self, keytab: &Owned<'_, Code>, principal: &str) -> Result<(), Error> {
        const ANY: (u32, i32) = (0, 0);
        let functions = &self.library.functions;
        let principal = self.parse(principal)?;
        let mut entry = KeytabEntry::EMPTY;
        // SAFETY: the handles live, the pointer is of this frame.
        self.check(unsafe {
            (functions.krb5_kt_get_entry)(
                self.context,
                keytab.handle,
                principal.handle,
                ANY.0,
                ANY.1,
                &raw mut entry,
            )
        })?;
        // SAFETY: the entry was filled just now; the function wipes the key.
        unsafe { (functions.krb5_free_keytab_entry_contents)(self.context, &raw mut entry) };
        Ok(())
    }

    fn parse(&self, principal: &str) -> Result<Owned<'_, ()>, Error> {
        let name = text(principal, "a principal")?;
        let mut handle = null_mut();
        // SAFETY: the context lives, the name ends with a zero, the pointer is of this frame.
        self.check(unsafe {
            (self.library.functions.krb5_parse_name)(self.context, name.as_ptr(), &raw mut handle)
        })?;
        Ok(Owned { session: self, handle, end: self.library.functions.krb5_free_principal })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: everything that was made with the context borrows the session.
        unsafe { (self.library.functions.krb5_free_context)(self.context) };
    }
}

type Code = i32;

/// What ends with a function of the library that takes the context and it.
struct Owned<'a, R> {
    session: &'a Session,
    handle: Handle,
    end: unsafe extern "C" fn(Handle, Handle) -> R,
}

impl<R> Owned<'_, R> {
    fn leak(self) -> Handle {
        core::mem::ManuallyDrop::new(self).handle
    }
}

impl<R> Drop for Owned<'_, R> {
    fn drop(&mut self) {
        // SAFETY: the handle is the library's, made with this context, and ends here alone.
        unsafe { (self.end)(self.session.context, self.handle) };
    }
}
