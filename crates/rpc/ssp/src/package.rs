//! With `kerberos::kdc` the only module that calls `sspi`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sspi::negotiate::ProtocolConfig;
use sspi::network_client::NetworkClient;
use sspi::{
    AuthIdentity, AuthIdentityBuffers, BufferType, ClientRequestFlags, CredentialUse, CredentialsBuffers,
    DataRepresentation, EncryptionFlags, Negotiate, NegotiateConfig, NegotiatedProtocol, NetworkRequest,
    Ntlm, SecurityBuffer, SecurityBufferFlags, SecurityBufferRef, SecurityStatus, ServerRequestFlags, Sspi,
    SspiImpl, Username,
};
use tracing::Dispatch;
use tracing::dispatcher::with_default;

use crate::session::Session;
use crate::{Account, AccountPassword, Error, Message, Protection, SessionKey, Usage};

/// One authentication of `sspi`, by either of its packages.
pub(crate) struct Package {
    inner: Inner,
    /// Header and trailer of the message at hand: `sspi` wants them mutable though it only reads them.
    scratch: Vec<u8>,
}

enum Inner {
    Ntlm(Box<Ntlm>),
    Negotiate(Box<Negotiate>),
    /// Not of `sspi`: the client is nobody.
    Anonymous(Box<Session>),
    /// The client is somebody whose keys are not known.
    WithoutKeys(Account),
}

/// What the package answered, and whether it has had enough.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) token: Vec<u8>,
    pub(crate) is_done: bool,
}

/// Bytes of a signature; both packages come down to NTLM.
pub(crate) const SIGNATURE_LEN: usize = 16;

/// Calls with the package, whichever it is.
macro_rules! with_package {
    ($self:expr, $package:ident => $call:expr) => {
        match &mut $self.inner {
            Inner::Ntlm($package) => $call,
            Inner::Negotiate($package) => $call,
            Inner::Anonymous(_) | Inner::WithoutKeys(_) => Err(out_of_sequence()),
        }
    };
}

impl Package {
    pub(crate) fn ntlm() -> Self {
        Self::from(Inner::Ntlm(Box::default()))
    }

    pub(crate) fn ntlm_server() -> Self {
        Self::from(Inner::Ntlm(Box::new(server_ntlm())))
    }

    pub(crate) fn negotiate_client() -> Result<Self, Error> {
        let negotiate = quietly(|| Negotiate::new_client(negotiate_config()))
            .map_err(|error| failed("set SPNEGO up", error))?;
        Ok(Self::from(Inner::Negotiate(Box::new(negotiate))))
    }

    /// A server that gets its accounts later; see [`Package::verify_mech_list`].
    pub(crate) fn negotiate_server() -> Result<Self, Error> {
        let config = NegotiateConfig { protocol_config: Box::new(ServerNtlm), ..negotiate_config() };
        let negotiate = quietly(|| Negotiate::new_server(config, vec![stand_in()?]))
            .map_err(|error| failed("set SPNEGO up", error))?;
        Ok(Self::from(Inner::Negotiate(Box::new(negotiate))))
    }

    const fn from(inner: Inner) -> Self {
        Self { inner, scratch: Vec::new() }
    }

    pub(crate) fn initialize(
        &mut self,
        account: &AccountPassword,
        usage: Usage,
        target_name: &str,
        token: &[u8],
    ) -> Result<Answer, Error> {
        let identity = identity(account);
        let requirements = requirements(usage);
        let wanted = Wanted { requirements, target_name, network: &NoNetwork };
        quietly(|| match &mut self.inner {
            Inner::Ntlm(ntlm) => initialize(&mut **ntlm, Some(identity), &wanted, token),
            Inner::Negotiate(negotiate) => {
                let handle = Some(CredentialsBuffers::AuthIdentity(identity));
                initialize(&mut **negotiate, handle, &wanted, token)
            }
            Inner::Anonymous(_) | Inner::WithoutKeys(_) => Err(out_of_sequence()),
        })
        .map_err(|error| failed("answer the server's token", error))
    }

    /// A server's step. `account` is whom the client claims to be, with the password that it has to have.
    pub(crate) fn accept(
        &mut self,
        account: Option<&AccountPassword>,
        usage: Usage,
        token: &[u8],
    ) -> Result<Answer, Error> {
        let identity = account.map(identity);
        quietly(|| match &mut self.inner {
            Inner::Ntlm(ntlm) => accept(&mut **ntlm, identity, usage, token),
            Inner::Negotiate(negotiate) => {
                accept(&mut **negotiate, identity.map(CredentialsBuffers::AuthIdentity), usage, token)
            }
            Inner::Anonymous(_) | Inner::WithoutKeys(_) => Err(out_of_sequence()),
        })
        .map_err(|error| failed("answer the client's token", error))
    }

    /// Ends a server's authentication: the keys are there after it.
    pub(crate) fn complete(&mut self) -> Result<(), Error> {
        quietly(|| with_package!(self, package => package.complete_auth_token(&mut [])))
            .map(|_| ())
            .map_err(|error| failed("complete the authentication", error))
    }

    /// Gives a server's SPNEGO the client's signature of the mechanism list.
    ///
    /// At this point SPNEGO looks the client's name up among the accounts that it was made with, when nobody knew
    /// the name. So it was made with a stand-in, which now takes the place of the name; the keys are made already.
    pub(crate) fn verify_mech_list(&mut self, usage: Usage, token: &[u8]) -> Result<(), Error> {
        let Inner::Negotiate(negotiate) = &mut self.inner else {
            return Err(Error::UnexpectedToken { reason: "not within SPNEGO" });
        };
        quietly(|| {
            let stand_in = sspi::Credentials::AuthIdentity(stand_in()?);
            negotiate
                .acquire_credentials_handle()
                .with_credential_use(CredentialUse::Outbound)
                .with_auth_data(&stand_in)
                .execute(&mut **negotiate)?;
            accept(&mut **negotiate, None, usage, token)
        })
        .map(|_| ())
        .map_err(|error| failed("check the signature of the mechanism list", error))
    }

    /// Takes NTLM out of SPNEGO, for a client that goes on without the latter's signatures.
    pub(crate) fn unwrap_ntlm(&mut self) -> Result<(), Error> {
        let Inner::Negotiate(negotiate) = &self.inner else {
            return Ok(());
        };
        match negotiate.negotiated_protocol() {
            NegotiatedProtocol::Ntlm(ntlm) => {
                self.inner = Inner::Ntlm(Box::new(ntlm.clone()));
                Ok(())
            }
            _ => Err(Error::UnexpectedToken { reason: "SPNEGO selected another mechanism than NTLM" }),
        }
    }

    /// Goes on with an anonymous client.
    pub(crate) fn become_anonymous(&mut self, session: Session) {
        self.inner = Inner::Anonymous(Box::new(session));
    }

    /// Goes on with a client whose messages can be neither checked nor protected.
    pub(crate) fn become_keyless(&mut self, account: Account) {
        self.inner = Inner::WithoutKeys(account);
    }

    pub(crate) fn session_key(&self) -> Result<SessionKey, Error> {
        let key = match &self.inner {
            Inner::Ntlm(ntlm) => quietly(|| ntlm.query_context_session_key()),
            Inner::Negotiate(negotiate) => quietly(|| negotiate.query_context_session_key()),
            Inner::Anonymous(session) => return Ok(session.key().clone()),
            Inner::WithoutKeys(account) => return Err(unknown_keys(account)),
        };
        let key = key.map_err(|error| failed("ask for the session key", error))?;
        let key: &[u8] = key.session_key.as_ref();
        key.try_into().map(SessionKey::new).map_err(|_| Error::NotEstablished)
    }

    pub(crate) fn wrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        match &mut self.inner {
            Inner::Anonymous(session) => {
                session.wrap(message);
                return Ok(());
            }
            Inner::WithoutKeys(account) => return Err(unknown_keys(account)),
            Inner::Ntlm(_) | Inner::Negotiate(_) => {}
        }
        let scratch = &mut self.scratch;
        quietly(|| {
            with_buffers(scratch, message, |buffers| {
                with_package!(self, package => package.encrypt_message(EncryptionFlags::empty(), buffers))
            })
        })
        .map(|_| ())
        .map_err(|error| failed("protect a message", error))
    }

    pub(crate) fn unwrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        match &mut self.inner {
            Inner::Anonymous(session) => return session.unwrap(message),
            Inner::WithoutKeys(account) => return Err(unknown_keys(account)),
            Inner::Ntlm(_) | Inner::Negotiate(_) => {}
        }
        let scratch = &mut self.scratch;
        quietly(|| {
            with_buffers(
                scratch,
                message,
                |buffers| with_package!(self, package => package.decrypt_message(buffers)),
            )
        })
        .map(|_| ())
        .map_err(|error| Error::MessageAltered { source: error.into() })
    }
}

/// Runs a call without a `tracing` subscriber, since `sspi` puts tokens and messages in the clear into its spans;
/// and where its readers panic on a peer's token, makes that an error. The context is not used again after one.
pub(crate) fn quietly<T>(call: impl FnOnce() -> sspi::Result<T>) -> sspi::Result<T> {
    with_default(&Dispatch::none(), || catch_unwind(AssertUnwindSafe(call))).unwrap_or_else(|_| {
        Err(sspi::Error::new(sspi::ErrorKind::InternalError, "the authentication package panicked"))
    })
}

fn out_of_sequence() -> sspi::Error {
    sspi::Error::new(sspi::ErrorKind::OutOfSequence, "the authentication is over")
}

fn unknown_keys(account: &Account) -> Error {
    let Account { domain, user, .. } = account.clone();
    Error::UnknownKeys { domain, user }
}

fn failed(doing: &'static str, error: sspi::Error) -> Error {
    Error::Package { doing, source: error.into() }
}

fn identity(account: &AccountPassword) -> AuthIdentityBuffers {
    AuthIdentityBuffers::from_utf8(&account.username, &account.domain, account.password.expose())
}

/// A placeholder for the account that is not known yet. No logon uses it.
fn stand_in() -> sspi::Result<AuthIdentity> {
    let username = Username::new("stand-in", None)
        .map_err(|error| sspi::Error::new(sspi::ErrorKind::InvalidParameter, error))?;
    Ok(AuthIdentity { username, password: "stand-in".to_owned().into() })
}

/// NTLM of a server within SPNEGO.
#[derive(Clone, Debug)]
struct ServerNtlm;

impl ProtocolConfig for ServerNtlm {
    fn new_instance(&self) -> sspi::Result<NegotiatedProtocol> {
        Ok(NegotiatedProtocol::Ntlm(server_ntlm()))
    }

    fn box_clone(&self) -> Box<dyn ProtocolConfig> {
        Box::new(self.clone())
    }
}

/// Names a version of the system that our servers have elsewhere, too.
fn server_ntlm() -> Ntlm {
    let [low, high] = 20_348_u16.to_le_bytes();
    let mut ntlm = Ntlm::new();
    ntlm.set_version([10, 0, low, high, 0, 0, 0, 15 /* NTLMSSP_REVISION_W2K3 */]);
    ntlm
}

fn negotiate_config() -> NegotiateConfig {
    let ntlm = sspi::ntlm::NtlmConfig::default();
    NegotiateConfig::new(Box::new(ntlm), Some("ntlm,!kerberos,!pku2u".to_owned()), String::new())
}

/// What a client asks for.
pub(crate) struct Wanted<'a> {
    pub(crate) requirements: ClientRequestFlags,
    pub(crate) target_name: &'a str,
    /// By which a KDC is asked.
    pub(crate) network: &'a dyn NetworkClient,
}

pub(crate) fn requirements(usage: Usage) -> ClientRequestFlags {
    let requirements = ClientRequestFlags::INTEGRITY
        | ClientRequestFlags::CONFIDENTIALITY
        | ClientRequestFlags::MUTUAL_AUTH
        | ClientRequestFlags::SEQUENCE_DETECT
        | ClientRequestFlags::REPLAY_DETECT;
    match usage {
        Usage::Smb => requirements,
        Usage::Rpc => requirements | ClientRequestFlags::USE_DCE_STYLE,
    }
}

// For NTLM.
struct NoNetwork;

impl NetworkClient for NoNetwork {
    fn send(&self, _: &NetworkRequest) -> sspi::Result<Vec<u8>> {
        Err(out_of_sequence())
    }
}

pub(crate) fn initialize<P: Sspi + SspiImpl>(
    package: &mut P,
    mut handle: P::CredentialsHandle,
    wanted: &Wanted<'_>,
    token: &[u8],
) -> sspi::Result<Answer> {
    let mut input = [SecurityBuffer::new(token.to_vec(), BufferType::Token)];
    let mut output = [SecurityBuffer::new(Vec::new(), BufferType::Token)];
    let result = {
        let mut builder = package
            .initialize_security_context()
            .with_credentials_handle(&mut handle)
            .with_context_requirements(wanted.requirements)
            .with_target_data_representation(DataRepresentation::Native)
            .with_target_name(wanted.target_name)
            .with_input(&mut input)
            .with_output(&mut output);
        package.initialize_security_context_impl(&mut builder)?.resolve_with_client(wanted.network)?
    };
    let [SecurityBuffer { buffer: token, .. }] = output;
    Ok(Answer { token, is_done: result.status == SecurityStatus::Ok })
}

fn accept<P: Sspi + SspiImpl>(
    package: &mut P,
    mut handle: P::CredentialsHandle,
    usage: Usage,
    token: &[u8],
) -> sspi::Result<Answer> {
    let mut requirements = ServerRequestFlags::INTEGRITY | ServerRequestFlags::CONFIDENTIALITY;
    if usage == Usage::Rpc {
        requirements |= ServerRequestFlags::USE_DCE_STYLE;
    }
    let mut input = [SecurityBuffer::new(token.to_vec(), BufferType::Token)];
    let mut output = [SecurityBuffer::new(Vec::new(), BufferType::Token)];
    let status = {
        let builder = package
            .accept_security_context()
            .with_credentials_handle(&mut handle)
            .with_context_requirements(requirements)
            .with_target_data_representation(DataRepresentation::Native)
            .with_input(&mut input)
            .with_output(&mut output);
        package.accept_security_context_impl(builder)?.resolve_to_result()?.status
    };
    let [SecurityBuffer { buffer: token, .. }] = output;
    Ok(Answer { token, is_done: matches!(status, SecurityStatus::Ok | SecurityStatus::CompleteNeeded) })
}

/// Lays a message out as `sspi` wants it: what is only signed is read-only.
fn with_buffers<T>(
    scratch: &mut Vec<u8>,
    message: Message<'_>,
    call: impl FnOnce(&mut [SecurityBufferRef<'_>]) -> sspi::Result<T>,
) -> sspi::Result<T> {
    let Message { protection, header, body, trailer, signature } = message;
    scratch.clear();
    scratch.extend_from_slice(header);
    scratch.extend_from_slice(trailer);
    let (header, trailer) = scratch.split_at_mut(header.len());
    let signed = SecurityBufferFlags::SECBUFFER_READONLY_WITH_CHECKSUM;
    let body = SecurityBufferRef::data_buf(body);
    let body = match protection {
        Protection::Privacy => body,
        Protection::Integrity => body.with_flags(signed),
    };
    call(&mut [
        SecurityBufferRef::data_buf(header).with_flags(signed),
        body,
        SecurityBufferRef::data_buf(trailer).with_flags(signed),
        SecurityBufferRef::token_buf(signature),
    ])
}
