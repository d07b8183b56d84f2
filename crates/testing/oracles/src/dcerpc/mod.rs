//! Laws of `dcerpc`.

mod client;
mod pdu;
mod server;

pub use self::client::client;
pub(crate) use self::client::honest_answer;
pub use self::pdu::pdu;
pub use self::server::server;

use dcerpc::client::{ClientAssociation, ClientConfig};
use dcerpc::server::{ServerAssociation, ServerConfig};
use dcerpc::{Auth, AuthLevel, AuthService, Limits, SyntaxId};
use ssp::{Error, Message, Peer, Protection, SecurityContext, SessionKey, Step};

/// Small, so that small inputs reach them.
const LIMITS: Limits = Limits {
    stub_bytes_max: 4096,
    fragments_max: 8,
    contexts_max: 4,
    calls_max: 4,
    orphans_max: 2,
    security_contexts_max: 2,
    auth_legs_max: 3,
};

pub(crate) const INTERFACE: SyntaxId = counters::pcq::SYNTAX_ID;

/// The protection that the first two bits of an input choose.
fn auth(mode: u8) -> Option<Auth> {
    match mode & 3 {
        1 => Some(Auth::new(AuthLevel::PKT_INTEGRITY, AuthService::WINNT)),
        2 => Some(Auth::new(AuthLevel::PKT_PRIVACY, AuthService::WINNT)),
        _ => None,
    }
}

pub(crate) fn new_client(mode: u8) -> ClientAssociation {
    let config = ClientConfig { auth: auth(mode), limits: LIMITS, ..ClientConfig::default() };
    let security = config.auth.map(|_| Box::new(Seal::default()) as Box<dyn SecurityContext>);
    let mut client = ClientAssociation::new(config, security).expect("the configuration is right");
    client.bind(&[INTERFACE]).expect("it is the first command");
    client
}

pub(crate) fn new_server() -> ServerAssociation {
    let config = ServerConfig { limits: LIMITS, ..ServerConfig::new(vec![INTERFACE]) };
    ServerAssociation::new(config, |service| {
        (service == AuthService::WINNT).then(|| Box::new(Seal::default()) as Box<dyn SecurityContext>)
    })
}

/// Passes PDUs between both sides until there are no more.
fn converse(client: &mut ClientAssociation, server: &mut ServerAssociation) {
    const HONEST: &str = "both keep to the rules";
    loop {
        let mut is_idle = true;
        while let Some(transmit) = client.poll_transmit() {
            server.handle_bytes(&transmit.bytes).expect(HONEST);
            is_idle = false;
        }
        while let Some(bytes) = server.poll_transmit() {
            client.handle_bytes(&bytes).expect(HONEST);
            is_idle = false;
        }
        if is_idle {
            return;
        }
    }
}

/// A security context that an input can speak for: its signature is always the same.
#[derive(Debug, Default)]
pub(crate) struct Seal {
    legs: u8,
}

impl Seal {
    pub(crate) const SIGNATURE: [u8; 16] = *b"signed and seal.";
}

const MASK: u8 = 0x5a;
const HELLO: &[u8] = b"hello";
const CHALLENGE: &[u8] = b"who is it";
const PROOF: &[u8] = b"me";

impl SecurityContext for Seal {
    fn step(&mut self, token: &[u8]) -> Result<Step, Error> {
        self.legs += 1;
        match (self.legs, token) {
            (1, b"") => Ok(Step::Continue(HELLO.to_vec())),
            (1, HELLO) => Ok(Step::Continue(CHALLENGE.to_vec())),
            (2, CHALLENGE) => Ok(Step::Done(Some(PROOF.to_vec()))),
            (2, PROOF) => Ok(Step::Done(None)),
            _ => Err(Error::UnexpectedToken { reason: "it is not the one that is due" }),
        }
    }

    fn session_key(&self) -> Result<SessionKey, Error> {
        Ok(SessionKey::new(Self::SIGNATURE))
    }

    fn signature_len(&self, _: Protection) -> usize {
        Self::SIGNATURE.len()
    }

    fn wrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        mask(message.protection, message.body);
        message.signature.copy_from_slice(&Self::SIGNATURE);
        Ok(())
    }

    fn unwrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        if *message.signature != Self::SIGNATURE {
            return Err(Error::UnexpectedToken { reason: "the signature is another" });
        }
        mask(message.protection, message.body);
        Ok(())
    }

    fn peer(&self) -> Peer {
        Peer::default()
    }
}

fn mask(protection: Protection, body: &mut [u8]) {
    if protection == Protection::Privacy {
        body.iter_mut().for_each(|byte| *byte ^= MASK);
    }
}
