//! Logons without the library: `sspi` asks a KDC for both tickets at each of them. It knows the KDCs that a file of
//! `KRB5_CONFIG` names, and AES with SHA-1 alone.

use std::io;
use std::sync::Arc;

use gssapi::{EncryptionType, Keys, Leg, Protection, Protocol, Reason};
use parking_lot::Mutex;
use sspi::kerberos::client::principal::get_client_principal_realm;
use sspi::network_client::NetworkClient;
use sspi::{
    AuthIdentityBuffers, ClientRequestFlags, CredentialsBuffers, KdcResolution, Kerberos, KerberosConfig,
    KeytabIdentity, NetworkRequest, Sspi, Username,
};

use super::session::ContextInitiator;
use crate::package::{Answer, Wanted, initialize, quietly, requirements};
use crate::spnego::kerberos_error;
use crate::{ClientOptions, Error, ImpersonationLevel, LongTermKey, Principal};

/// One security context, by `sspi`.
pub(super) struct SspiInitiator {
    network: Arc<dyn KdcClient>,
    package: Kerberos,
    credentials: CredentialsBuffers,
    requirements: ClientRequestFlags,
    service: String,
}

impl SspiInitiator {
    pub(super) fn new(
        principal: &Principal,
        options: &ClientOptions,
        network: Arc<dyn KdcClient>,
    ) -> Result<Self, Error> {
        let mut requirements = requirements(options.usage);
        if options.impersonation == ImpersonationLevel::Identify {
            requirements |= ClientRequestFlags::IDENTIFY;
        }
        let config = KerberosConfig {
            kdc_resolution: KdcResolution::KdcUrl(None),
            client_computer_name: String::new(),
        };
        let package = quietly(|| Kerberos::new_client_from_config(config))
            .map_err(|source| Error::Package { doing: "set Kerberos up", source: source.into() })?;
        Ok(Self {
            network,
            package,
            credentials: credentials(principal)?,
            requirements,
            service: principal.service.as_ref().unwrap_or(&options.target_name).clone(),
        })
    }
}

fn credentials(principal: &Principal) -> Result<CredentialsBuffers, Error> {
    let Principal { realm, username, proof, .. } = principal;
    // It is made of the realm by `[domain_realm]` of krb5.conf, and would be that of another account.
    if quietly(|| Ok(get_client_principal_realm(username, realm)))
        .map_err(|source| Error::Package { doing: "read krb5.conf", source: source.into() })?
        != *realm
    {
        let reason = "krb5.conf, in [domain_realm], has another one for it, which counts without the library";
        return Err(Error::InvalidCredentials { field: "realm", reason });
    }
    match proof {
        LongTermKey::Password(password) => {
            let identity = AuthIdentityBuffers::from_utf8(username, realm, password.expose());
            Ok(CredentialsBuffers::AuthIdentity(identity))
        }
        LongTermKey::Key(key) => {
            let not_taken = |field, reason| Error::InvalidCredentials { field, reason };
            // Not as `user@REALM`, which would be a name of another kind.
            let principal = Username::new_down_level_logon_name(username, realm)
                .map_err(|_| not_taken("username", "it is not taken without the library"))?;
            let key_enctype = usize::try_from(key.encryption_type.0)
                .ok()
                .and_then(|number| number.try_into().ok())
                .ok_or_else(|| not_taken("key", "its type is not spoken without the library"))?;
            let key = key.bytes.clone().into();
            Ok(CredentialsBuffers::Keytab(KeytabIdentity { principal, key, key_enctype }))
        }
    }
}

impl ContextInitiator for SspiInitiator {
    fn step(&mut self, token: &[u8]) -> Result<Leg, Error> {
        if let Some(code) = kerberos_error(token) {
            return Err(Error::Kerberos(refusal("the host", code)));
        }
        let kdcs = Kdcs { network: &*self.network, heard: Mutex::default() };
        let wanted = Wanted { requirements: self.requirements, target_name: &self.service, network: &kdcs };
        let handle = Some(self.credentials.clone());
        match quietly(|| initialize(&mut self.package, handle, &wanted, token)) {
            Ok(Answer { token, is_done: false }) => Ok(Leg::Continue(token)),
            Ok(Answer { token, is_done: true }) => {
                Ok(Leg::Done(Some(token).filter(|token| !token.is_empty())))
            }
            Err(error) => Err(kdcs.explain(error)),
        }
    }

    fn into_protection(mut self) -> Result<Protection, Error> {
        let found = quietly(|| self.package.query_context_session_key())
            .map_err(|source| Error::Package { doing: "ask for the session key", source: source.into() })?;
        let key: &[u8] = found.session_key.as_ref();
        let encryption_type = match key.len() {
            16 => EncryptionType::AES128_SHA1,
            32 => EncryptionType::AES256_SHA1,
            _ => return Err(Error::EncryptionType { name: format!("a key of {} bytes", key.len()) }),
        };
        Ok(Protection::Keys(Keys {
            protocol: Protocol::Rfc4121 { acceptor_subkey: true },
            encryption_type,
            key: key.to_vec(),
            session_key: key.to_vec(),
            send_sequence: self.package.next_seq_number().into(),
            // `sspi` keeps it to itself.
            receive_sequence: None,
        }))
    }
}

/// What a number of `KRB-ERROR` says.
fn refusal(who: &str, code: i32) -> gssapi::Error {
    let name = match code {
        6 => "KDC_ERR_C_PRINCIPAL_UNKNOWN",
        7 => "KDC_ERR_S_PRINCIPAL_UNKNOWN",
        8 => "KDC_ERR_PRINCIPAL_NOT_UNIQUE",
        12 => "KDC_ERR_POLICY",
        14 => "KDC_ERR_ETYPE_NOSUPP",
        18 => "KDC_ERR_CLIENT_REVOKED",
        23 => "KDC_ERR_KEY_EXPIRED",
        24 => "KDC_ERR_PREAUTH_FAILED",
        31 => "KRB_AP_ERR_BAD_INTEGRITY",
        32 => "KRB_AP_ERR_TKT_EXPIRED",
        37 => "KRB_AP_ERR_SKEW",
        41 => "KRB_AP_ERR_MODIFIED",
        44 => "KRB_AP_ERR_BADKEYVER",
        68 => "KDC_ERR_WRONG_REALM",
        _ => "RFC 4120 7.5.9",
    };
    gssapi::Error {
        reason: Reason::of_rfc4120(code),
        message: format!("{who} answers with KRB-ERROR {code}, {name}"),
    }
}

/// Carries a question to a KDC and its answer back, over TCP: each after its length (RFC 4120 7.2.2).
pub trait KdcClient: Send + Sync {
    /// # Errors
    /// Those of the network.
    fn ask(&self, host: &str, port: u16, question: &[u8]) -> io::Result<Vec<u8>>;
}

/// KDCs, and what was heard of them.
struct Kdcs<'a> {
    network: &'a dyn KdcClient,
    heard: Mutex<Heard>,
}

#[derive(Default)]
struct Heard {
    questions: usize,
    /// The first is the ticket-granting ticket, which proves the key.
    tickets: usize,
    last: Option<Last>,
}

enum Last {
    /// `KRB-ERROR` with this number.
    Error(i32),
    Unreachable(String),
}

impl Kdcs<'_> {
    fn explain(self, error: sspi::Error) -> Error {
        let Heard { questions, tickets, last } = self.heard.into_inner();
        let of_kdc =
            |reason, message: &str| Error::Kdc(gssapi::Error { reason, message: message.to_owned() });
        match last {
            Some(Last::Error(code)) if tickets == 0 => Error::Kdc(refusal("the KDC", code)),
            // It is about the service.
            Some(Last::Error(code)) => Error::Kerberos(refusal("the KDC", code)),
            Some(Last::Unreachable(message)) => of_kdc(Reason::KdcUnreachable, &message),
            None if error.error_type == sspi::ErrorKind::NoAuthenticatingAuthority => of_kdc(
                Reason::KdcUnreachable,
                "no KDC is known for the realm: name one as `kdc` of the identity, or in /etc/krb5.conf",
            ),
            None if (questions, tickets) == (1, 1) => of_kdc(
                Reason::Other,
                "the KDC wants no pre-authentication of the account, which does not work without the library",
            ),
            None => Error::Package { doing: "ask for tickets without the library", source: error.into() },
        }
    }

    fn hear(&self, last: Option<Last>) {
        let mut heard = self.heard.lock();
        heard.questions += 1;
        heard.tickets += usize::from(last.is_none());
        heard.last = last;
    }
}

impl NetworkClient for Kdcs<'_> {
    fn send(&self, request: &NetworkRequest) -> sspi::Result<Vec<u8>> {
        let host = request.url.host_str().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = request.url.port().unwrap_or(KDC_PORT);
        match self.network.ask(host, port, &request.data) {
            Ok(answer) => {
                let message = answer.get(LENGTH..).unwrap_or_default();
                self.hear(kerberos_error(message).map(Last::Error));
                Ok(answer)
            }
            Err(error) => {
                let message = format!("KDC {host}, port {port}: {error}");
                self.hear(Some(Last::Unreachable(message.clone())));
                Err(sspi::Error::new(sspi::ErrorKind::NoAuthenticatingAuthority, message))
            }
        }
    }
}

const KDC_PORT: u16 = 88;
/// Bytes before each message over TCP.
const LENGTH: usize = 4;
