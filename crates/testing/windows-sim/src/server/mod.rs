//! The host's servers: SMB over any stream, RPC over TCP, and a single pipe behind a real smbd.

mod association;
mod listen;
mod publish;
mod smb;

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use dcerpc::{CallId, FaultStatus};
use ssp::{Mechanism, SecurityContext, ServerOptions, Usage, kerberos};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{sleep, timeout};
use tracing::warn;
use transport::Stream;

pub use self::listen::{Limits, listen_black_hole, listen_dcom, listen_pipe_socket, listen_smb};
pub use self::publish::{CallError, Delivery, EventPublisher};
pub use self::smb::serve_smb;

use crate::host::WindowsHost;
use crate::server::association::Association;
use crate::service::TcpPort;

/// A client's logon, by what the host takes.
fn accept(host: &WindowsHost, mechanism: Mechanism, usage: Usage) -> Option<Box<dyn SecurityContext>> {
    let (keytab, takes_ntlm) = {
        let behaviour = host.behaviour();
        (behaviour.keytab.clone(), behaviour.takes_ntlm)
    };
    let accounts = Arc::<crate::Accounts>::clone(host.accounts());
    let ntlm = match mechanism {
        Mechanism::Ntlm | Mechanism::Negotiate if takes_ntlm => {
            ssp::server(accounts, ServerOptions::new(mechanism, usage)).ok()
        }
        _ => None,
    };
    match keytab {
        Some(keytab) if mechanism != Mechanism::Ntlm => kerberos::server_beside(&keytab, usage, ntlm)
            .inspect_err(|error| warn!(host = host.name(), %error, keytab = %keytab.display(), "No Kerberos"))
            .ok(),
        _ => ntlm,
    }
}

/// What to send for one message.
#[derive(Debug, Default)]
struct Reply {
    /// How long to wait first.
    delay: Duration,
    /// PDUs, one message each.
    messages: Vec<Vec<u8>>,
    /// Answers of calls that are in progress until then. Their PDUs are made when the wait is over.
    late: Vec<LateAnswer>,
    /// What comes after them.
    then: Then,
}

/// What happens to the connection after a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Then {
    #[default]
    GoOn,
    HangUp,
    /// The whole connection ends.
    Drop,
}

/// The answer of a call that was executed.
#[derive(Debug)]
struct LateAnswer {
    call_id: CallId,
    result: Result<Vec<u8>, FaultStatus>,
}

const READ_BYTES: usize = 16 * 1024;

/// Serves one connection to `port`, whose number is `number`, until its client goes, does not read or send for `idle_max`,
/// or breaks the protocol.
///
/// # Errors
/// When the stream fails, or the host has no service at this port. What a client does wrong ends the connection and is
/// no error.
pub async fn serve_tcp<S: Stream>(
    host: Arc<WindowsHost>,
    port: TcpPort,
    number: u16,
    stream: S,
    idle_max: Duration,
) -> io::Result<()> {
    serve_tcp_of(host, None, (port, number), stream, idle_max).await
}

/// The same for a client at this address.
async fn serve_tcp_of<S: Stream>(
    host: Arc<WindowsHost>,
    peer: Option<IpAddr>,
    (port, number): (TcpPort, u16),
    mut stream: S,
    idle_max: Duration,
) -> io::Result<()> {
    let Some(endpoint) = host.tcp_endpoint(port) else {
        return Err(io::Error::other("the host has no service at this port"));
    };
    let mut association = Association::on_port(host, endpoint, number, peer);
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(received) = timeout(idle_max, stream.read(&mut buffer)).await {
        let count = received?;
        if count == 0 {
            return Ok(());
        }
        let reply = association.input(&buffer[..count]);
        if !reply.delay.is_zero() {
            sleep(reply.delay).await;
        }
        let Reply { messages, then, .. } = association.finish(reply);
        for message in messages {
            timeout(idle_max, stream.write_all(&message)).await??;
        }
        if then != Then::GoOn {
            break;
        }
    }
    stream.shutdown().await
}

// The pipe as a real smbd hands it on: over a unix socket, behind a handshake of Samba's own (`named_pipe_auth`).
//
// smbd names the SMB user, which is ignored here: callers of these interfaces authenticate again within RPC.
// Then messages go both ways, each with its length in front.

const MAGIC: [u8; 4] = *b"NPAM";
/// Samba sends one to a few kilobytes: tokens with their groups.
const REQUEST_BYTES_MAX: usize = 1 << 20;
/// The pipe is in message mode.
const FILE_TYPE_MESSAGE_MODE: u16 = 2;
/// What Windows answers for its pipes: message mode, any number of instances.
const DEVICE_STATE: u16 = 0x05ff;
const ALLOCATION_SIZE: u64 = 4096;

/// Serves one open of the pipe `name`, which smbd has put the client through to, until the client closes it.
///
/// # Errors
/// When the stream fails, or does not begin with the handshake.
pub async fn serve_named_pipe<S: Stream>(
    host: Arc<WindowsHost>,
    name: &str,
    mut stream: S,
) -> io::Result<()> {
    let level = read_handshake(&mut stream).await?;
    let opened = host.open_pipe(name);
    let status = opened.as_ref().err().map_or(0, |status| status.0);
    stream.write_all(&handshake_reply(level, status)).await?;
    let Ok((endpoint, run)) = opened else { return stream.shutdown().await };
    let mut association = Association::new(host, endpoint, run, None);
    while let Some(message) = read_message(&mut stream).await? {
        let reply = association.input(&message);
        if !reply.delay.is_zero() {
            sleep(reply.delay).await;
        }
        let reply = association.finish(reply);
        for message in &reply.messages {
            write_message(&mut stream, message).await?;
        }
        if reply.then != Then::GoOn {
            break;
        }
    }
    stream.shutdown().await
}

/// Reads `named_pipe_auth_req` and answers its level.
async fn read_handshake<S: Stream>(stream: &mut S) -> io::Result<u32> {
    let length = usize::try_from(stream.read_u32().await?).unwrap_or(usize::MAX);
    if !(8..=REQUEST_BYTES_MAX).contains(&length) {
        return Err(io::Error::other("a named_pipe_auth_req of an impossible length"));
    }
    let mut request = vec![0; length];
    stream.read_exact(&mut request).await?;
    match request[..8] {
        [m0, m1, m2, m3, l0, l1, l2, l3] if [m0, m1, m2, m3] == MAGIC => {
            Ok(u32::from_le_bytes([l0, l1, l2, l3]))
        }
        _ => Err(io::Error::other("not a named_pipe_auth_req")),
    }
}

/// `named_pipe_auth_rep`. The level is the one that was asked for: versions of Samba differ in what they tell us,
/// and not in what they take.
fn handshake_reply(level: u32, status: u32) -> Vec<u8> {
    let mut reply = Vec::with_capacity(36);
    reply.extend_from_slice(&MAGIC);
    reply.extend_from_slice(&level.to_le_bytes());
    reply.extend_from_slice(&level.to_le_bytes()); // the union's discriminant
    reply.extend_from_slice(&FILE_TYPE_MESSAGE_MODE.to_le_bytes());
    reply.extend_from_slice(&DEVICE_STATE.to_le_bytes());
    // The next field is aligned to 8, counted from the length in front.
    reply.extend_from_slice(&[0; 4]);
    reply.extend_from_slice(&ALLOCATION_SIZE.to_le_bytes());
    reply.extend_from_slice(&status.to_le_bytes());
    let mut framed = u32::try_from(reply.len()).unwrap_or(0).to_be_bytes().to_vec();
    framed.extend_from_slice(&reply);
    framed
}

async fn read_message<S: Stream>(stream: &mut S) -> io::Result<Option<Vec<u8>>> {
    let length = match stream.read_u16_le().await {
        Ok(length) => length,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut message = vec![0; usize::from(length)];
    stream.read_exact(&mut message).await?;
    Ok(Some(message))
}

async fn write_message<S: Stream>(stream: &mut S, message: &[u8]) -> io::Result<()> {
    let length = u16::try_from(message.len()).map_err(|_| io::Error::other("a PDU longer than 64 KiB"))?;
    let mut framed = length.to_le_bytes().to_vec();
    framed.extend_from_slice(message);
    stream.write_all(&framed).await
}
