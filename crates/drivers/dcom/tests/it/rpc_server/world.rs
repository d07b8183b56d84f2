//! A server of one interface, and connections to it.

use std::future::{Future, pending};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use dcerpc::client::{CallRequest, ClientAssociation, ClientConfig};
use dcerpc::{FaultStatus, SyntaxId};
use dcom::rpc_server::{Call, Incoming, Interface, Options, Server};
use host_session::rpc_client::{Association, Error, Security, TcpTransport};
use tokio::io::{AsyncReadExt, DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use wire::Guid;

pub(crate) const ECHO: SyntaxId = SyntaxId::new(Guid::from_u128(0x0ec0), 1, 0);
pub(crate) const REPEAT: u16 = 0;
/// Returns the address and the account of the caller.
pub(crate) const CALLER: u16 = 1;

pub(crate) const WEB1: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
pub(crate) const WEB2: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

struct Echo;

impl Interface for Echo {
    fn syntax_id(&self) -> SyntaxId {
        ECHO
    }

    fn call(&self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        match call.opnum {
            REPEAT => Ok(call.stub.to_vec()),
            CALLER => {
                let user = call.account.map_or("nobody", |account| &account.user);
                Ok(format!("{user} at {}, level {}", call.peer, call.info.auth_level.0).into_bytes())
            }
            _ => Err(FaultStatus::NCA_S_OP_RNG_ERROR),
        }
    }
}

pub(crate) fn server(options: Options) -> Server {
    Server::new(options, vec![Arc::new(Echo)])
}

/// A connection to the server, and the task that serves it.
pub(crate) fn dial(server: &Server, peer: IpAddr) -> (DuplexStream, JoinHandle<()>) {
    dial_until(server, peer, pending())
}

pub(crate) fn dial_until(
    server: &Server,
    peer: IpAddr,
    stop: impl Future<Output = ()> + Send + 'static,
) -> (DuplexStream, JoinHandle<()>) {
    let (near, far) = duplex(16 * 1024);
    let server = server.clone();
    (
        near,
        tokio::spawn(
            async move { server.serve(Incoming { stream: Box::new(far), peer, port: 135 }, stop).await },
        ),
    )
}

pub(crate) async fn bind(
    stream: DuplexStream,
    security: Option<&Security>,
) -> Result<Association<TcpTransport>, Error> {
    let transport = TcpTransport::new(Box::new(stream));
    Association::bind(transport, &[ECHO], security, ClientConfig::default(), soon()).await
}

pub(crate) const fn call(opnum: u16, stub: &[u8]) -> CallRequest<'_> {
    CallRequest { context_id: 0, opnum, object: None, stub }
}

pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

/// The bytes of a bind, and of a call with so many bytes.
pub(crate) fn bind_and_call(stub: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut client = ClientAssociation::new(ClientConfig::default(), None).unwrap();
    client.bind(&[ECHO]).unwrap();
    let bind = client.poll_transmit().unwrap().bytes;
    let mut server = dcerpc::server::ServerAssociation::new(
        dcerpc::server::ServerConfig::new(vec![ECHO]),
        |_: dcerpc::AuthService| None,
    );
    server.handle_bytes(&bind).unwrap();
    client.handle_bytes(&server.poll_transmit().unwrap()).unwrap();
    client.poll_event().unwrap();
    client.call(call(REPEAT, stub)).unwrap();
    let pdus = std::iter::from_fn(|| client.poll_transmit());
    (bind, pdus.flat_map(|pdu| pdu.bytes).collect())
}

pub(crate) async fn read_pdu(stream: &mut DuplexStream) -> Vec<u8> {
    let mut pdu = vec![0; 16];
    stream.read_exact(&mut pdu).await.unwrap();
    pdu.resize(u16::from_le_bytes([pdu[8], pdu[9]]).into(), 0);
    stream.read_exact(&mut pdu[16..]).await.unwrap();
    pdu
}
