#![expect(unsafe_code, reason = "calls the library")]

use core::ffi::CStr;
use core::ptr::{null, null_mut};
use core::time::Duration;
use std::path::Path;

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::error::{bytes, keytab_name, take, text, wipe};
use crate::library::{
    Buffer, Handle, IovBuffer, Kerberos, KeyValue, KeyValueSet, LucidContext, MECHANISM, OidSet,
    PRINCIPAL_NAME, SESSION_KEY,
};
use crate::{EncryptionType, Error, Reason};

const MUTUAL: u32 = 0x02;
const REPLAY: u32 = 0x04;
const SEQUENCE: u32 = 0x08;
const CONFIDENTIALITY: u32 = 0x10;
const INTEGRITY: u32 = 0x20;
const DCE_STYLE: u32 = 0x1000;
const IDENTIFY: u32 = 0x2000;

const ERROR: u32 = 0xFFFF_0000;
const CONTINUE_NEEDED: u32 = 1;

/// What a client wants of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Three legs, and signatures of a header and a trailer beside a sealed body ([MS-RPCE] 2.2.1.1.7).
    pub dce_style: bool,
    /// The server learns who its client is, and may not act as the client.
    pub identify: bool,
}

/// What to do with a token.
#[derive(Debug, PartialEq, Eq)]
pub enum Leg {
    /// Send it; the answer goes into the next step.
    Continue(Vec<u8>),
    /// Both sides are sure of each other. Send it, if there is one.
    Done(Option<Vec<u8>>),
}

/// A client's side of a context, until it is established.
pub struct Initiator {
    context: Context,
    credential: Credential,
    target: Name,
    flags: u32,
}

impl Initiator {
    /// A context with the service of a principal, by the tickets of a cache in memory. A name without a realm belongs to that of
    /// the client, or to where the KDCs of that realm refer.
    ///
    /// # Errors
    /// If there is no such cache. That its tickets have expired, the first step tells.
    pub fn new(
        library: &'static Kerberos,
        cache: &str,
        service: &str,
        encryption_types: &[EncryptionType],
        options: Options,
    ) -> Result<Self, Error> {
        let credential =
            Credential::of_cache(library, &text(cache, "the name of a cache")?, encryption_types)?;
        // The empty realm is that of referrals; without the mark the library takes that of krb5.conf.
        let service = if service.contains('@') { service.to_owned() } else { format!("{service}@") };
        let target = Name::of_principal(library, &service)?;
        let mut flags = MUTUAL | REPLAY | SEQUENCE | CONFIDENTIALITY | INTEGRITY;
        if options.dce_style {
            flags |= DCE_STYLE;
        }
        if options.identify {
            flags |= IDENTIFY;
        }
        Ok(Self { context: Context { library, handle: null_mut() }, credential, target, flags })
    }

    /// The next leg. The first takes no token, and may ask a KDC; the later ones ask nobody.
    ///
    /// # Errors
    /// If a KDC or the server refuses. The context is of no use then.
    pub fn step(&mut self, token: &[u8]) -> Result<Leg, Error> {
        let library = self.context.library;
        let input = Buffer::reading(token);
        let (mut minor, mut output, mut flags) = (0, Buffer::EMPTY, 0);
        // SAFETY: the handles live or are null, as the function permits; all other pointers are of this frame.
        let major = unsafe {
            (library.functions.gss_init_sec_context)(
                &raw mut minor,
                self.credential.handle,
                &raw mut self.context.handle,
                self.target.handle,
                &raw const MECHANISM,
                self.flags,
                0,
                null(),
                if token.is_empty() { null() } else { &raw const input },
                null_mut(),
                &raw mut output,
                &raw mut flags,
                null_mut(),
            )
        };
        let wanted = self.flags;
        leg(library, major, minor, output, || {
            // A server that does without would leave messages unprotected.
            if flags & wanted & !IDENTIFY == wanted & !IDENTIFY { Ok(()) } else { Err(weak()) }
        })
    }

    /// What protects messages of an established context.
    ///
    /// # Errors
    /// If it is not established.
    pub fn into_protection(self) -> Result<Protection, Error> {
        self.context.into_protection()
    }

    /// The context as the library protects messages with it.
    #[must_use]
    pub fn into_reference(self) -> Reference {
        Reference(self.context)
    }
}

/// A server's side of a context, until it is established.
pub struct Acceptor {
    context: Context,
    credential: Credential,
    client: Option<String>,
}

impl Acceptor {
    /// A server that has the keys of a keytab: it is every principal there. It remembers no tokens: what is replayed is taken
    /// again, except in DCE style, whose third leg a replayer cannot make.
    ///
    /// # Errors
    /// If the file is absent, or holds no key.
    pub fn new(library: &'static Kerberos, keytab: &Path) -> Result<Self, Error> {
        let keytab = keytab_name(keytab)?;
        let credential =
            Credential::acquire(library, ACCEPT, &[(c"keytab", &keytab), (c"rcache", c"none:")])?;
        Ok(Self { context: Context { library, handle: null_mut() }, credential, client: None })
    }

    /// Takes the client's next token.
    ///
    /// # Errors
    /// If it is not made for this server, or not now. The context is of no use then.
    pub fn step(&mut self, token: &[u8]) -> Result<Leg, Error> {
        let library = self.context.library;
        let input = Buffer::reading(token);
        let (mut minor, mut output) = (0, Buffer::EMPTY);
        let mut client = Name { library, handle: null_mut() };
        // SAFETY: the handles live or are null, as the function permits; all other pointers are of this frame.
        let major = unsafe {
            (library.functions.gss_accept_sec_context)(
                &raw mut minor,
                &raw mut self.context.handle,
                self.credential.handle,
                &raw const input,
                null(),
                &raw mut client.handle,
                null_mut(),
                &raw mut output,
                null_mut(),
                null_mut(),
                null_mut(),
            )
        };
        let leg = leg(library, major, minor, output, || Ok(()))?;
        if !client.handle.is_null() {
            self.client = Some(client.display()?);
        }
        Ok(leg)
    }

    /// Who the client is, with its realm, once the context is established.
    #[must_use]
    pub fn client(&self) -> Option<&str> {
        self.client.as_deref()
    }

    /// What protects messages of an established context.
    ///
    /// # Errors
    /// If it is not established.
    pub fn into_protection(self) -> Result<Protection, Error> {
        self.context.into_protection()
    }

    /// The context as the library protects messages with it.
    #[must_use]
    pub fn into_reference(self) -> Reference {
        Reference(self.context)
    }
}

fn leg(
    library: &'static Kerberos,
    major: u32,
    minor: u32,
    output: Buffer,
    established: impl FnOnce() -> Result<(), Error>,
) -> Result<Leg, Error> {
    let token = take(library, output);
    if major & ERROR != 0 {
        return Err(Error::of_gss(library, major, minor));
    }
    if major & CONTINUE_NEEDED != 0 {
        return Ok(Leg::Continue(token));
    }
    established()?;
    Ok(Leg::Done((!token.is_empty()).then_some(token)))
}

fn weak() -> Error {
    Error { reason: Reason::Other, message: "the other side does not agree to protect messages".to_owned() }
}

/// What protects messages of an established context.
pub enum Protection {
    Keys(Keys),
    /// RC4 is left to the library.
    Library {
        context: Reference,
        session_key: Zeroizing<Vec<u8>>,
    },
}

/// How messages of a context are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// RFC 1964 and RFC 4757: with RC4.
    Rfc1964,
    /// RFC 4121: with AES. Tells whether the key is a subkey that the acceptor chose.
    Rfc4121 { acceptor_subkey: bool },
}

/// What an established context protects messages with. Erased when dropped.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Keys {
    #[zeroize(skip)]
    pub protocol: Protocol,
    #[zeroize(skip)]
    pub encryption_type: EncryptionType,
    /// That of each message.
    pub key: Vec<u8>,
    /// [MS-KILE] 3.1.1.2: what SMB takes its keys from.
    pub session_key: Vec<u8>,
    #[zeroize(skip)]
    pub send_sequence: u64,
    /// Nothing where only the first message tells.
    #[zeroize(skip)]
    pub receive_sequence: Option<u64>,
}

/// A name, which ends with this value.
struct Name {
    library: &'static Kerberos,
    handle: Handle,
}

impl Name {
    fn of_principal(library: &'static Kerberos, name: &str) -> Result<Self, Error> {
        let buffer = Buffer::reading(name.as_bytes());
        let (mut minor, mut handle) = (0, null_mut());
        // SAFETY: all pointers are of this frame, or static.
        let major = unsafe {
            (library.functions.gss_import_name)(
                &raw mut minor,
                &raw const buffer,
                &raw const PRINCIPAL_NAME,
                &raw mut handle,
            )
        };
        check(library, major, minor)?;
        Ok(Self { library, handle })
    }

    fn display(&self) -> Result<String, Error> {
        let (mut minor, mut text) = (0, Buffer::EMPTY);
        // SAFETY: the name lives; the pointers are of this frame.
        let major = unsafe {
            (self.library.functions.gss_display_name)(&raw mut minor, self.handle, &raw mut text, null_mut())
        };
        let text = take(self.library, text);
        check(self.library, major, minor)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        let mut minor = 0;
        // SAFETY: the name is the library's and ends here alone; null is permitted.
        unsafe { (self.library.functions.gss_release_name)(&raw mut minor, &raw mut self.handle) };
    }
}

const INITIATE: i32 = 1;
const ACCEPT: i32 = 2;

/// Tickets of a cache, or keys of a keytab, in use.
pub(crate) struct Credential {
    library: &'static Kerberos,
    handle: Handle,
    lifetime: Duration,
}

impl Credential {
    pub(crate) fn of_cache(
        library: &'static Kerberos,
        cache: &CStr,
        encryption_types: &[EncryptionType],
    ) -> Result<Self, Error> {
        let credential = Self::acquire(library, INITIATE, &[(c"ccache", cache)])?;
        let numbers: Vec<i32> = encryption_types.iter().map(|one| one.0).collect();
        let count = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        let mut minor = 0;
        // SAFETY: the credential lives; the library copies the numbers.
        let major = unsafe {
            (library.functions.gss_krb5_set_allowable_enctypes)(
                &raw mut minor,
                credential.handle,
                count,
                numbers.as_ptr(),
            )
        };
        check(library, major, minor)?;
        Ok(credential)
    }

    fn acquire(library: &'static Kerberos, usage: i32, store: &[(&CStr, &CStr)]) -> Result<Self, Error> {
        let mechanisms = OidSet { count: 1, elements: &raw const MECHANISM };
        let elements: Vec<KeyValue> =
            store.iter().map(|(key, value)| KeyValue { key: key.as_ptr(), value: value.as_ptr() }).collect();
        let count = u32::try_from(elements.len()).unwrap_or(u32::MAX);
        let store = KeyValueSet { count, elements: elements.as_ptr() };
        let (mut minor, mut handle, mut seconds) = (0, null_mut(), 0);
        // SAFETY: all pointers are of this frame or static; no name is given, and the default of the store is meant.
        let major = unsafe {
            (library.functions.gss_acquire_cred_from)(
                &raw mut minor,
                null_mut(),
                u32::MAX,
                &raw const mechanisms,
                usage,
                &raw const store,
                &raw mut handle,
                null_mut(),
                &raw mut seconds,
            )
        };
        check(library, major, minor)?;
        Ok(Self { library, handle, lifetime: Duration::from_secs(seconds.into()) })
    }

    pub(crate) const fn lifetime(&self) -> Duration {
        self.lifetime
    }
}

impl Drop for Credential {
    fn drop(&mut self) {
        let mut minor = 0;
        // SAFETY: the credential is the library's and ends here alone.
        unsafe { (self.library.functions.gss_release_cred)(&raw mut minor, &raw mut self.handle) };
    }
}

/// A `gss_ctx_id_t`, which ends with this value.
struct Context {
    library: &'static Kerberos,
    handle: Handle,
}

// SAFETY: a context of the library may move between threads; it is not `Sync`, so that one uses it at a time.
unsafe impl Send for Context {}
// SAFETY: as for a context.
unsafe impl Send for Credential {}
// SAFETY: as for a context.
unsafe impl Send for Name {}

impl Context {
    fn into_protection(self) -> Result<Protection, Error> {
        let (session_key, encryption_type) = self.session_key()?;
        if encryption_type == Some(EncryptionType::RC4_HMAC) {
            return Ok(Protection::Library { context: Reference(self), session_key });
        }
        self.into_keys(session_key).map(Protection::Keys)
    }

    /// The library gives up the context where it gives out its keys.
    fn into_keys(mut self, mut session_key: Zeroizing<Vec<u8>>) -> Result<Keys, Error> {
        const VERSION: u32 = 1;
        let functions = &self.library.functions;
        let (mut minor, mut lucid) = (0, null_mut::<LucidContext>());
        // SAFETY: the context lives; the pointers are of this frame.
        let major = unsafe {
            (functions.gss_krb5_export_lucid_sec_context)(
                &raw mut minor,
                &raw mut self.handle,
                VERSION,
                &raw mut lucid,
            )
        };
        check(self.library, major, minor)?;
        // SAFETY: the library answered with version 1, which has this layout.
        let context = unsafe { &*lucid };
        let (protocol, key) = match (context.protocol, context.rfc4121.have_acceptor_subkey) {
            (0, _) => (Protocol::Rfc1964, &context.rfc1964.key),
            (_, 0) => (Protocol::Rfc4121 { acceptor_subkey: false }, &context.rfc4121.key),
            _ => (Protocol::Rfc4121 { acceptor_subkey: true }, &context.rfc4121.acceptor_subkey),
        };
        let keys = Keys {
            protocol,
            encryption_type: EncryptionType(key.kind.cast_signed()),
            key: bytes(&Buffer { length: key.length as usize, value: key.data }),
            session_key: core::mem::take(&mut *session_key),
            send_sequence: context.send_sequence,
            receive_sequence: Some(context.receive_sequence),
        };
        // SAFETY: the structure is the library's and is not used again; it wipes the keys.
        unsafe { (functions.gss_krb5_free_lucid_sec_context)(&raw mut minor, lucid) };
        Ok(keys)
    }

    /// The key, and its type: the last number of an object identifier below 1.2.840.113554.1.2.2.4.
    fn session_key(&self) -> Result<(Zeroizing<Vec<u8>>, Option<EncryptionType>), Error> {
        let functions = &self.library.functions;
        let (mut minor, mut set) = (0, null_mut());
        // SAFETY: the context lives; the pointers are of this frame.
        let major = unsafe {
            (functions.gss_inquire_sec_context_by_oid)(
                &raw mut minor,
                self.handle,
                &raw const SESSION_KEY,
                &raw mut set,
            )
        };
        check(self.library, major, minor)?;
        // SAFETY: the library answered with a set, or left the pointer null.
        let (count, elements) =
            unsafe { set.as_ref() }.map_or((0, null_mut()), |set| (set.count, set.elements));
        let (mut key, mut encryption_type) = (Zeroizing::new(Vec::new()), None);
        for index in 0..count {
            // SAFETY: the set has so many buffers.
            let element = unsafe { elements.add(index) };
            // SAFETY: each of them was filled by the library.
            let buffer = unsafe { &*element };
            match index {
                0 => *key = bytes(buffer),
                1 => encryption_type = bytes(buffer).last().map(|last| EncryptionType(i32::from(*last))),
                _ => {}
            }
            wipe(buffer);
        }
        // SAFETY: the set is the library's and is not used again.
        unsafe { (functions.gss_release_buffer_set)(&raw mut minor, &raw mut set) };
        Ok((key, encryption_type))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let mut minor = 0;
        // SAFETY: the context is the library's or null, and ends here alone.
        unsafe {
            (self.library.functions.gss_delete_sec_context)(&raw mut minor, &raw mut self.handle, null_mut())
        };
    }
}

fn check(library: &Kerberos, major: u32, minor: u32) -> Result<(), Error> {
    if major & ERROR == 0 { Ok(()) } else { Err(Error::of_gss(library, major, minor)) }
}

/// An established context that protects messages by the library itself: with RC4, and what other code is compared with.
pub struct Reference(Context);

const IOV_DATA: u32 = 1;
const IOV_HEADER: u32 = 2;
const IOV_MIC_TOKEN: u32 = 12;
const IOV_SIGN_ONLY: u32 = 11;

impl Reference {
    /// Seals `body` in place between a header and a trailer that are signed only, as DCE style does.
    ///
    /// # Errors
    /// If the signature has another length.
    pub fn wrap(
        &mut self,
        header: &[u8],
        body: &mut [u8],
        trailer: &[u8],
        signature: &mut [u8],
    ) -> Result<(), Error> {
        let mut buffers = message(IOV_HEADER, header, body, trailer, signature);
        let (mut minor, mut sealed) = (0, 0);
        // SAFETY: the context lives; the buffers are of the caller, and the library writes to the body and the signature.
        let major = unsafe {
            (self.0.library.functions.gss_wrap_iov)(
                &raw mut minor,
                self.0.handle,
                1,
                0,
                &raw mut sealed,
                buffers.as_mut_ptr(),
                4,
            )
        };
        check(self.0.library, major, minor)
    }

    /// Takes what [`wrap`](Self::wrap) of the other side made.
    ///
    /// # Errors
    /// If it was altered, or is not the next.
    pub fn unwrap(
        &mut self,
        header: &[u8],
        body: &mut [u8],
        trailer: &[u8],
        signature: &mut [u8],
    ) -> Result<(), Error> {
        let mut buffers = message(IOV_HEADER, header, body, trailer, signature);
        let (mut minor, mut sealed, mut quality) = (0, 0, 0);
        // SAFETY: as for `wrap`.
        let major = unsafe {
            (self.0.library.functions.gss_unwrap_iov)(
                &raw mut minor,
                self.0.handle,
                &raw mut sealed,
                &raw mut quality,
                buffers.as_mut_ptr(),
                4,
            )
        };
        check(self.0.library, major, minor)
    }

    /// Signs the three parts.
    ///
    /// # Errors
    /// If the signature has another length.
    pub fn sign(
        &mut self,
        header: &[u8],
        body: &mut [u8],
        trailer: &[u8],
        signature: &mut [u8],
    ) -> Result<(), Error> {
        let mut buffers = message(IOV_MIC_TOKEN, header, body, trailer, signature);
        let mut minor = 0;
        // SAFETY: as for `wrap`.
        let major = unsafe {
            (self.0.library.functions.gss_get_mic_iov)(
                &raw mut minor,
                self.0.handle,
                0,
                buffers.as_mut_ptr(),
                4,
            )
        };
        check(self.0.library, major, minor)
    }

    /// Takes what [`sign`](Self::sign) of the other side made.
    ///
    /// # Errors
    /// If it was altered, or is not the next.
    pub fn verify(
        &mut self,
        header: &[u8],
        body: &mut [u8],
        trailer: &[u8],
        signature: &mut [u8],
    ) -> Result<(), Error> {
        let mut buffers = message(IOV_MIC_TOKEN, header, body, trailer, signature);
        let (mut minor, mut quality) = (0, 0);
        // SAFETY: as for `wrap`.
        let major = unsafe {
            (self.0.library.functions.gss_verify_mic_iov)(
                &raw mut minor,
                self.0.handle,
                &raw mut quality,
                buffers.as_mut_ptr(),
                4,
            )
        };
        check(self.0.library, major, minor)
    }
}

fn message(
    kind: u32,
    header: &[u8],
    body: &mut [u8],
    trailer: &[u8],
    signature: &mut [u8],
) -> [IovBuffer; 4] {
    [
        IovBuffer { kind: IOV_SIGN_ONLY, buffer: Buffer::reading(header) },
        IovBuffer { kind: IOV_DATA, buffer: Buffer::writing(body) },
        IovBuffer { kind: IOV_SIGN_ONLY, buffer: Buffer::reading(trailer) },
        IovBuffer { kind, buffer: Buffer::writing(signature) },
    ]
}
