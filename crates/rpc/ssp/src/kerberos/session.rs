//! RFC 4121: protection of messages by keys of an established context, as DCE style has it ([MS-KILE] 3.4.5.4, MIT's and
//! Samba's layout): header and trailer are signed in the clear, the body is sealed in place, and everything else stands in
//! the signature.

use gssapi::{Keys, Leg, Protocol, Reference};

use super::cipher::{BLOCK, CHECKSUM_MAX, Code, Key, Purpose, Sealing, Text};
use crate::crypto::is_same;
use crate::{Error, Message, Protection, SessionKey, Side};

/// Bytes of a token before its checksum (RFC 4121 4.2.6.1 and 4.2.6.2).
const TOKEN: usize = 16;
const MIC: [u8; 2] = [0x04, 0x04];
const WRAP: [u8; 2] = [0x05, 0x04];

const SENT_BY_ACCEPTOR: u8 = 0x01;
const SEALED: u8 = 0x02;
const ACCEPTOR_SUBKEY: u8 = 0x04;

/// Bytes between body and copied token, `EC`. MIT and Windows send a block of them, impacket what is left of the body's last
/// block.
const EXTRA: usize = BLOCK;

/// Signatures and ciphers of both directions.
pub(super) struct Session {
    send: Direction,
    receive: Direction,
    checksum_len: usize,
    /// The other side's first message tells its number.
    learns: bool,
}

/// INVARIANT: `sequence` is that of the next message.
struct Direction {
    sealing: Sealing,
    signing: Code,
    /// `SENT_BY_ACCEPTOR` and `ACCEPTOR_SUBKEY` of each message.
    flags: u8,
    sequence: u64,
}

impl Session {
    pub(super) fn new(keys: &Keys, side: Side) -> Result<Self, Error> {
        let Protocol::Rfc4121 { acceptor_subkey } = keys.protocol else {
            return Err(Error::EncryptionType { name: keys.encryption_type.to_string() });
        };
        let key = Key::new(keys.encryption_type, &keys.key)?;
        let subkey = if acceptor_subkey { ACCEPTOR_SUBKEY } else { 0 };
        let of_initiator =
            |sequence| Direction::new(&key, Purpose::InitiatorSeal, Purpose::InitiatorSign, subkey, sequence);
        let of_acceptor = |sequence| {
            let flags = subkey | SENT_BY_ACCEPTOR;
            Direction::new(&key, Purpose::AcceptorSeal, Purpose::AcceptorSign, flags, sequence)
        };
        let first = keys.receive_sequence.unwrap_or_default();
        let (send, receive) = match side {
            Side::Client => (of_initiator(keys.send_sequence)?, of_acceptor(first)?),
            Side::Server => (of_acceptor(keys.send_sequence)?, of_initiator(first)?),
        };
        let learns = keys.receive_sequence.is_none();
        Ok(Self { send, receive, checksum_len: key.checksum_len(), learns })
    }

    pub(super) const fn signature_len(&self, protection: Protection) -> usize {
        match protection {
            Protection::Integrity => TOKEN + self.checksum_len,
            Protection::Privacy => TOKEN + EXTRA + TOKEN + self.checksum_len + BLOCK,
        }
    }

    pub(super) fn wrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        message.check_signature_len(self.signature_len(message.protection))?;
        let Message { protection, header, body, trailer, signature } = message;
        match protection {
            Protection::Integrity => self.sign(&[header, body, trailer], signature),
            Protection::Privacy => self.seal(header, body, trailer, signature)?,
        }
        self.send.advance();
        Ok(())
    }

    /// Checks a message, and decrypts it.
    pub(super) fn unwrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        let Message { protection, header, body, trailer, signature } = message;
        self.learn(signature);
        match protection {
            Protection::Integrity => self.verify(&[header, body, trailer], signature)?,
            Protection::Privacy => self.unseal(header, body, trailer, signature)?,
        }
        self.received();
        Ok(())
    }

    fn sign_mech_list(&mut self, list: &[u8]) -> Vec<u8> {
        let mut signature = vec![0; self.signature_len(Protection::Integrity)];
        self.sign(&[list], &mut signature);
        self.send.advance();
        signature
    }

    fn check_mech_list(&mut self, list: &[u8], signature: &[u8]) -> Result<(), Error> {
        self.learn(signature);
        self.verify(&[list], signature)?;
        self.received();
        Ok(())
    }

    const fn received(&mut self) {
        self.receive.advance();
        self.learns = false;
    }

    fn learn(&mut self, signature: &[u8]) {
        if self.learns
            && let Some(sequence) = signature.get(8..).and_then(|rest| rest.first_chunk())
        {
            self.receive.sequence = u64::from_be_bytes(*sequence);
        }
    }

    fn sign(&self, parts: &[&[u8]], signature: &mut [u8]) {
        let token = self.send.mic_token();
        let checksum = self.send.mic(parts, &token);
        signature[..TOKEN].copy_from_slice(&token);
        signature[TOKEN..].copy_from_slice(&checksum[..self.checksum_len]);
    }

    fn verify(&self, parts: &[&[u8]], signature: &[u8]) -> Result<(), Error> {
        let token = self.receive.mic_token();
        let checksum = self.receive.mic(parts, &token);
        let Some((found, code)) = signature.split_at_checked(TOKEN) else {
            return Err(altered("is cut short"));
        };
        self.receive.check(found, &token)?;
        if is_same(code, &checksum[..self.checksum_len]) { Ok(()) } else { Err(altered("is another one")) }
    }

    /// The signature: the token; then, since the end of a message is turned to its front, the end of the plaintext, the
    /// checksum, and the confounder.
    fn seal(
        &self,
        header: &[u8],
        body: &mut [u8],
        trailer: &[u8],
        signature: &mut [u8],
    ) -> Result<(), Error> {
        let token = self.send.wrap_token(EXTRA, self.rotation());
        let mut confounder = [0; BLOCK];
        getrandom::fill(&mut confounder)
            .map_err(|error| Error::Package { doing: "random bytes of the system", source: error.into() })?;
        let mut end = self.send.end();
        let mut text = Text { confounder: &mut confounder, body, end: &mut end };
        let checksum = self.send.sealing.seal(header, &mut text, trailer);
        signature[..TOKEN].copy_from_slice(&token);
        let rest = &mut signature[TOKEN..];
        rest[..end.len()].copy_from_slice(&end);
        rest[end.len()..][..self.checksum_len].copy_from_slice(&checksum[..self.checksum_len]);
        rest[end.len() + self.checksum_len..].copy_from_slice(&confounder);
        Ok(())
    }

    fn unseal(&self, header: &[u8], body: &mut [u8], trailer: &[u8], signature: &[u8]) -> Result<(), Error> {
        let others = TOKEN + TOKEN + self.checksum_len + BLOCK;
        let Some(extra) = signature.len().checked_sub(others).filter(|extra| *extra <= EXTRA) else {
            return Err(altered("has another length"));
        };
        let (found, rest) = signature.split_at(TOKEN);
        self.receive.check(found, &self.receive.wrap_token(extra, self.rotation()))?;
        let (sealed_end, rest) = rest.split_at(extra + TOKEN);
        let (code, confounder) = rest.split_at(self.checksum_len);
        let mut end = [0; EXTRA + TOKEN];
        let end = &mut end[..extra + TOKEN];
        end.copy_from_slice(sealed_end);
        let Ok(mut confounder) = confounder.try_into() else { return Err(altered("has another length")) };
        let mut text = Text { confounder: &mut confounder, body, end };
        let checksum = self.receive.sealing.unseal(header, &mut text, trailer);
        // The filler is whatever the other side likes; the copied token is not.
        let copy = self.receive.wrap_token(extra, 0);
        if is_same(code, &checksum[..self.checksum_len]) && is_same(&end[extra..], &copy) {
            Ok(())
        } else {
            Err(altered("is another one"))
        }
    }

    /// By how many bytes, less those of `EC`, the end is turned to the front.
    const fn rotation(&self) -> usize {
        TOKEN + self.checksum_len
    }
}

impl Direction {
    fn new(key: &Key<'_>, seal: Purpose, sign: Purpose, flags: u8, sequence: u64) -> Result<Self, Error> {
        Ok(Self { sealing: key.sealing(seal)?, signing: key.signing(sign)?, flags, sequence })
    }

    const fn advance(&mut self) {
        self.sequence = self.sequence.wrapping_add(1);
    }

    fn mic_token(&self) -> [u8; TOKEN] {
        let mut token = [0xFF; TOKEN];
        token[..2].copy_from_slice(&MIC);
        token[2] = self.flags;
        token[8..].copy_from_slice(&self.sequence.to_be_bytes());
        token
    }

    fn wrap_token(&self, extra: usize, rotation: usize) -> [u8; TOKEN] {
        let mut token = [0; TOKEN];
        token[..2].copy_from_slice(&WRAP);
        token[2] = self.flags | SEALED;
        token[3] = 0xFF;
        // Both are less than 256.
        token[5] = u8::try_from(extra).unwrap_or_default();
        token[7] = u8::try_from(rotation).unwrap_or_default();
        token[8..].copy_from_slice(&self.sequence.to_be_bytes());
        token
    }

    /// What is sealed after the body: the filler, and the token as it is before anything is turned.
    fn end(&self) -> [u8; EXTRA + TOKEN] {
        let mut end = [0xFF; EXTRA + TOKEN];
        end[EXTRA..].copy_from_slice(&self.wrap_token(EXTRA, 0));
        end
    }

    fn mic(&self, parts: &[&[u8]], token: &[u8; TOKEN]) -> [u8; CHECKSUM_MAX] {
        let mut all = [&[][..]; 4];
        all[..parts.len()].copy_from_slice(parts);
        all[parts.len()] = token;
        self.signing.of(&all)
    }

    /// Whether a token is the one that comes next.
    fn check(&self, found: &[u8], expected: &[u8; TOKEN]) -> Result<(), Error> {
        if found == expected {
            return Ok(());
        }
        Err(altered(match () {
            () if found[..2] != expected[..2] => "is of another kind",
            () if found[2] != expected[2] => "has other flags",
            () if found[8..] != expected[8..] => "has another sequence number",
            () => "has another layout",
        }))
    }
}

/// RFC 4757 7.2 and 7.3: RC4, which the library does.
pub(super) struct Rc4(Reference);

impl Rc4 {
    /// RFC 2743 3.1 frames both: 13 bytes before 24, and 8 of a confounder more.
    const fn signature_len(protection: Protection) -> usize {
        match protection {
            Protection::Integrity => 37,
            Protection::Privacy => 45,
        }
    }

    fn wrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        message.check_signature_len(Self::signature_len(message.protection))?;
        let Message { protection, header, body, trailer, signature } = message;
        match protection {
            Protection::Integrity => self.0.sign(header, body, trailer, signature)?,
            Protection::Privacy => self.0.wrap(header, body, trailer, signature)?,
        }
        Ok(())
    }

    fn unwrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        let Message { protection, header, body, trailer, signature } = message;
        let taken = match protection {
            Protection::Integrity => self.0.verify(header, body, trailer, signature),
            Protection::Privacy => self.0.unwrap(header, body, trailer, signature),
        };
        taken.map_err(|error| Error::MessageAltered { source: error.into() })
    }
}

/// What protects messages of a context.
enum Protector {
    Ours(Box<Session>),
    Rc4(Rc4),
}

/// A context after its last token.
pub(super) struct Established {
    protector: Protector,
    key: SessionKey,
}

impl Established {
    pub(super) fn new(protection: gssapi::Protection, side: Side) -> Result<Self, Error> {
        Ok(match protection {
            gssapi::Protection::Keys(keys) => Self {
                protector: Protector::Ours(Box::new(Session::new(&keys, side)?)),
                key: SessionKey::from_slice(&keys.session_key)?,
            },
            gssapi::Protection::Library { context, session_key } => {
                Self { protector: Protector::Rc4(Rc4(context)), key: SessionKey::from_slice(&session_key)? }
            }
        })
    }

    /// [MS-SPNG] 3.2.5.1: signs the list of mechanisms.
    pub(super) fn sign_mech_list(&mut self, list: &[u8]) -> Result<Vec<u8>, Error> {
        match &mut self.protector {
            Protector::Ours(session) => Ok(session.sign_mech_list(list)),
            Protector::Rc4(rc4) => {
                let mut signature = vec![0; Rc4::signature_len(Protection::Integrity)];
                rc4.0.sign(&[], &mut list.to_vec(), &[], &mut signature)?;
                Ok(signature)
            }
        }
    }

    /// Checks the other side's signature of the list.
    pub(super) fn check_mech_list(&mut self, list: &[u8], signature: &[u8]) -> Result<(), Error> {
        match &mut self.protector {
            Protector::Ours(session) => session.check_mech_list(list, signature),
            Protector::Rc4(rc4) => Ok(rc4.0.verify(&[], &mut list.to_vec(), &[], &mut signature.to_vec())?),
        }
    }

    const fn signature_len(&self, protection: Protection) -> usize {
        match &self.protector {
            Protector::Ours(session) => session.signature_len(protection),
            Protector::Rc4(_) => Rc4::signature_len(protection),
        }
    }

    fn wrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        match &mut self.protector {
            Protector::Ours(session) => session.wrap(message),
            Protector::Rc4(rc4) => rc4.wrap(message),
        }
    }

    fn unwrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        match &mut self.protector {
            Protector::Ours(session) => session.unwrap(message),
            Protector::Rc4(rc4) => rc4.unwrap(message),
        }
    }
}

/// The initiator of a security context of GSS-API (RFC 2743), by the library or without it.
pub(super) trait ContextInitiator: Send + Sized {
    fn step(&mut self, token: &[u8]) -> Result<Leg, Error>;

    /// What protects messages after the last token.
    fn into_protection(self) -> Result<gssapi::Protection, Error>;
}

/// Where a context is.
pub(super) enum State<R> {
    Running(R),
    Done(Box<Established>),
    Failed,
}

impl<R> State<R> {
    pub(super) fn session_key(&self) -> Result<SessionKey, Error> {
        match self {
            Self::Done(established) => Ok(established.key.clone()),
            Self::Running(_) | Self::Failed => Err(Error::NotEstablished),
        }
    }

    pub(super) const fn signature_len(&self, protection: Protection) -> usize {
        match self {
            Self::Done(established) => established.signature_len(protection),
            Self::Running(_) | Self::Failed => 0,
        }
    }

    pub(super) fn wrap(&mut self, message: Message<'_>, signs_headers: bool) -> Result<(), Error> {
        match self {
            Self::Done(established) => established.wrap(signed(message, signs_headers)),
            Self::Running(_) | Self::Failed => Err(Error::NotEstablished),
        }
    }

    pub(super) fn unwrap(&mut self, message: Message<'_>, signs_headers: bool) -> Result<(), Error> {
        let Self::Done(established) = self else { return Err(Error::NotEstablished) };
        let result = established.unwrap(signed(message, signs_headers));
        if result.is_err() {
            *self = Self::Failed;
        }
        result
    }
}

/// What of a message is signed.
const fn signed(message: Message<'_>, signs_headers: bool) -> Message<'_> {
    if signs_headers { message } else { Message { header: &[], trailer: &[], ..message } }
}

fn altered(what: &'static str) -> Error {
    Error::MessageAltered { source: format!("its signature {what}").into() }
}

#[cfg(test)]
mod tests {
    use gssapi::EncryptionType;
    use proptest::prelude::*;

    use super::*;

    /// Both sides of one context, as if a KDC had made its key.
    fn pair(encryption_type: EncryptionType, first_of_client: Option<u64>) -> (Session, Session) {
        let len = match encryption_type {
            EncryptionType::AES128_SHA1 | EncryptionType::AES128_SHA256 => 16,
            _ => 32,
        };
        let keys = |send_sequence, receive_sequence| Keys {
            protocol: Protocol::Rfc4121 { acceptor_subkey: true },
            encryption_type,
            key: (0..len).collect(),
            session_key: (0..len).collect(),
            send_sequence,
            receive_sequence,
        };
        (
            Session::new(&keys(7, Some(9)), Side::Client).unwrap(),
            Session::new(&keys(9, first_of_client), Side::Server).unwrap(),
        )
    }

    fn sealed(session: &mut Session, header: &[u8], body: &mut [u8], trailer: &[u8]) -> Vec<u8> {
        let protection = Protection::Privacy;
        let mut signature = vec![0; session.signature_len(protection)];
        session.wrap(Message { protection, header, body, trailer, signature: &mut signature }).unwrap();
        signature
    }

    proptest! {
        #[test]
        fn what_one_side_seals_the_other_opens_once_and_unchanged_alone(
            which in 0..4_usize,
            is_first_known in any::<bool>(),
            header in proptest::collection::vec(any::<u8>(), 1..32),
            body in proptest::collection::vec(any::<u8>(), 0..80),
            trailer in proptest::collection::vec(any::<u8>(), 0..16),
            (position, bit) in (any::<prop::sample::Index>(), 0..8_u32),
        ) {
            let (mut client, mut server) = pair(EncryptionType::STRONG[which], is_first_known.then_some(7));
            let mut text = body.clone();
            let mut signature = sealed(&mut client, &header, &mut text, &trailer);
            let message = [&header[..], &text, &trailer, &signature].concat();

            let mut changed = message.clone();
            changed[position.index(message.len())] ^= 1 << bit;
            let (changed_header, rest) = changed.split_at_mut(header.len());
            let (changed_text, rest) = rest.split_at_mut(text.len());
            let (changed_trailer, changed_signature) = rest.split_at_mut(trailer.len());
            let protection = Protection::Privacy;
            let opened = server.unwrap(Message {
                protection,
                header: changed_header,
                body: changed_text,
                trailer: changed_trailer,
                signature: changed_signature,
            });
            prop_assert!(opened.is_err());

            let mut open = |text: &mut [u8], signature: &mut [u8]| {
                server.unwrap(Message { protection, header: &header, body: text, trailer: &trailer, signature })
            };
            let mut again = text.clone();
            prop_assert!(open(&mut text, &mut signature).is_ok());
            prop_assert_eq!(text, body);
            prop_assert!(open(&mut again, &mut signature).is_err());
        }

        #[test]
        fn a_signature_of_any_length_is_an_error_and_no_panic(
            which in 0..4_usize,
            mut signature in proptest::collection::vec(any::<u8>(), 0..120),
            mut body in proptest::collection::vec(any::<u8>(), 0..40),
            is_sealed in any::<bool>(),
        ) {
            let (_, mut server) = pair(EncryptionType::STRONG[which], None);
            let protection = if is_sealed { Protection::Privacy } else { Protection::Integrity };
            let message =
                Message { protection, header: &[], body: &mut body, trailer: &[], signature: &mut signature };
            prop_assert!(server.unwrap(message).is_err());
        }
    }
}
