//! How a host authenticates when it calls a subscriber. The tokens are made here, by none of the code that reads them.

use dcerpc::{Auth, AuthLevel, AuthService};
use ssp::{
    ClientOptions, Credentials, Error, Mechanism, Message, NegotiateFlags, Peer, Protection, Secret,
    SecurityContext, Session, SessionKey, Side, Step, Usage,
};

use crate::choices::CallBackSecurity;

/// What a connection begins with.
#[allow(clippy::type_complexity, reason = "two parameters of an association")]
pub(super) fn begin(security: CallBackSecurity) -> (Option<Auth>, Option<Box<dyn SecurityContext>>) {
    let with = |level, service, context| (Some(Auth::new(level, service)), Some(context));
    match security {
        CallBackSecurity::None => (None, None),
        CallBackSecurity::AnonymousNtlm => {
            with(AuthLevel::PKT_INTEGRITY, AuthService::WINNT, Anonymous::new(Mechanism::Ntlm))
        }
        CallBackSecurity::AnonymousNegotiate => {
            with(AuthLevel::PKT_PRIVACY, AuthService::GSS_NEGOTIATE, Anonymous::new(Mechanism::Negotiate))
        }
        CallBackSecurity::MachineAtConnect => machine(AuthLevel::CONNECT),
        CallBackSecurity::MachineSigned => machine(AuthLevel::PKT_INTEGRITY),
        CallBackSecurity::Kerberos => {
            with(AuthLevel::PKT_INTEGRITY, AuthService::GSS_KERBEROS, Box::new(Kerberos))
        }
    }
}

/// The account of the machine, with a password that nobody else knows.
fn machine(level: AuthLevel) -> (Option<Auth>, Option<Box<dyn SecurityContext>>) {
    let password = crate::random_guid().to_string();
    let credentials = Credentials::new("CORP", "WEB1$", Secret::new(password));
    let options = ClientOptions::new(Mechanism::Ntlm, "RPCSS/collector", Usage::Rpc);
    match ssp::client(&credentials, options) {
        Ok(context) => (Some(Auth::new(level, AuthService::WINNT)), Some(context)),
        Err(_) => (None, None),
    }
}

/// [MS-NLMP] 3.2.5.1.2: a client without a name and a password.
struct Anonymous {
    mechanism: Mechanism,
    legs: u32,
    session: Option<Session>,
}

const FLAGS: u32 = 0x0000_0001 /* UNICODE */
    | 0x0000_0004 /* REQUEST_TARGET */
    | NegotiateFlags::SIGN
    | NegotiateFlags::SEAL
    | 0x0000_0200 /* NTLM */
    | 0x0000_8000 /* ALWAYS_SIGN */
    | NegotiateFlags::EXTENDED_SESSION_SECURITY
    | 0x0200_0000 /* VERSION */
    | NegotiateFlags::KEY_128
    | NegotiateFlags::KEY_EXCHANGE
    | NegotiateFlags::KEY_56;
const ANONYMOUS: u32 = 0x0000_0800;
const VERSION: [u8; 8] = [10, 0, 0x7c, 0x4f, 0, 0, 0, 15];
/// Length, maximum length and offset of a field that is not there.
const NO_FIELD: [u8; 8] = [0; 8];
/// SPNEGO and NTLM as object identifiers, with tag and length.
const SPNEGO: &[u8] = &[6, 6, 0x2b, 6, 1, 5, 5, 2];
const NTLM: &[u8] = &[6, 10, 0x2b, 6, 1, 4, 1, 0x82, 0x37, 2, 2, 10];

impl Anonymous {
    #[allow(clippy::new_ret_no_self, reason = "a context like others")]
    fn new(mechanism: Mechanism) -> Box<dyn SecurityContext> {
        Box::new(Self { mechanism, legs: 0, session: None })
    }

    fn negotiate(&self) -> Vec<u8> {
        let message =
            [b"NTLMSSP\0\x01\0\0\0", &FLAGS.to_le_bytes()[..], &NO_FIELD, &NO_FIELD, &VERSION].concat();
        if self.mechanism == Mechanism::Ntlm {
            return message;
        }
        let list = der(0xa0, &der(0x30, NTLM));
        let token = der(0xa2, &der(0x04, &message));
        let init = der(0xa0, &der(0x30, &[list, token].concat()));
        der(0x60, &[SPNEGO, &init].concat())
    }

    /// AUTHENTICATE_MESSAGE, with an LM response of one byte, and a key that is encrypted with zeros.
    fn authenticate(&mut self) -> Result<Vec<u8>, Error> {
        const PAYLOAD: u32 = 64 + 8 + 16;
        let key: [u8; SessionKey::LEN] = crate::random_bytes();
        let field = |length: u16, offset: u32| -> Vec<u8> {
            [&length.to_le_bytes()[..], &length.to_le_bytes(), &offset.to_le_bytes()].concat()
        };
        let flags = FLAGS | ANONYMOUS;
        let empty = field(0, PAYLOAD + 1);
        let message = [
            b"NTLMSSP\0\x03\0\0\0",
            &field(1, PAYLOAD)[..],
            &empty,
            &empty,
            &empty,
            &empty,
            &field(16, PAYLOAD + 1),
            &flags.to_le_bytes(),
            &VERSION,
            &[0; 16],
            &[0],
            &key,
        ]
        .concat();
        let mut session = Session::anonymous(&key, NegotiateFlags(flags), Side::Client)?;
        let is_wrapped = self.mechanism == Mechanism::Negotiate;
        let signature = is_wrapped.then(|| session.sign_mech_list(&der(0x30, NTLM)));
        self.session = Some(session);
        let Some(signature) = signature else { return Ok(message) };
        let token = der(0xa2, &der(0x04, &message));
        let signature = der(0xa3, &der(0x04, &signature));
        Ok(der(0xa1, &der(0x30, &[token, signature].concat())))
    }

    fn established(&mut self) -> Result<&mut Session, Error> {
        self.session.as_mut().ok_or(Error::NotEstablished)
    }
}

impl SecurityContext for Anonymous {
    fn step(&mut self, token: &[u8]) -> Result<Step, Error> {
        self.legs += 1;
        match (self.legs, self.mechanism) {
            (1, _) => Ok(Step::Continue(self.negotiate())),
            (2, Mechanism::Ntlm) => Ok(Step::Done(Some(self.authenticate()?))),
            (2, _) => Ok(Step::Continue(self.authenticate()?)),
            _ => {
                // The signature of the list is the last element of the last token.
                let signature = token.len().checked_sub(16).map(|start| &token[start..]);
                let signature = signature.ok_or(Error::NotEstablished)?;
                self.established()?.check_mech_list(&der(0x30, NTLM), signature)?;
                Ok(Step::Done(None))
            }
        }
    }

    fn session_key(&self) -> Result<SessionKey, Error> {
        self.session.as_ref().map(|session| session.key().clone()).ok_or(Error::NotEstablished)
    }

    fn signature_len(&self, _: Protection) -> usize {
        16
    }

    fn wrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        self.established()?.wrap(message);
        Ok(())
    }

    fn unwrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        self.established()?.unwrap(message)
    }

    fn peer(&self) -> Peer {
        Peer::default()
    }
}

/// A ticket that nobody reads.
struct Kerberos;

impl SecurityContext for Kerberos {
    fn step(&mut self, _: &[u8]) -> Result<Step, Error> {
        Ok(Step::Continue(der(0x6e, &[0; 64])))
    }

    fn session_key(&self) -> Result<SessionKey, Error> {
        Err(Error::NotEstablished)
    }

    fn signature_len(&self, _: Protection) -> usize {
        16
    }

    fn wrap(&mut self, _: Message<'_>) -> Result<(), Error> {
        Err(Error::NotEstablished)
    }

    fn unwrap(&mut self, _: Message<'_>) -> Result<(), Error> {
        Err(Error::NotEstablished)
    }

    fn peer(&self) -> Peer {
        Peer::default()
    }
}

/// An element of less than 256 bytes.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(content.len()).unwrap_or(u8::MAX);
    let head = if length < 0x80 { vec![tag, length] } else { vec![tag, 0x81, length] };
    [&head, content].concat()
}
