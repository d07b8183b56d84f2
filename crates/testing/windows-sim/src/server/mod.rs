//! The host's servers: SMB over any stream, RPC over TCP, and a single pipe behind a real smbd.

mod association;
mod listen;
mod npa;
mod publish;
mod smb;

pub use self::listen::{Limits, listen_black_hole, listen_dcom, listen_pipe_socket, listen_smb};
pub use self::npa::serve_named_pipe;
pub use self::publish::{CallError, Delivery, EventPublisher};
pub use self::smb::serve_smb;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use dcerpc::{CallId, FaultStatus};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{sleep, timeout};
use transport::Stream;

use crate::host::WindowsHost;
use crate::server::association::Association;
use crate::service::TcpPort;

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
