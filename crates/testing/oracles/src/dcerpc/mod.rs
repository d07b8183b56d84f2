//! Laws of `dcerpc`.

mod client;
mod pdu;
mod seal;
mod server;

pub use self::client::client;
pub(crate) use self::client::honest_answer;
pub use self::pdu::pdu;
use self::seal::Seal;
pub use self::server::server;

use dcerpc::client::{ClientAssociation, ClientConfig};
use dcerpc::server::{ServerAssociation, ServerConfig};
use dcerpc::{Auth, AuthLevel, AuthService, Limits, SyntaxId};
use ssp::SecurityContext;

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
