//! RPC directly over TCP, without SMB: `ncacn_ip_tcp`.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{sleep, timeout};
use transport::Stream;

use super::association::Association;
use super::reply::{Reply, Then};
use crate::host::WindowsHost;
use crate::service::TcpPort;

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
pub(super) async fn serve_tcp_of<S: Stream>(
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
