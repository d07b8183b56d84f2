//! Sockets that the service manager opened for a plugin.

use std::io;
use std::net::TcpListener;

use plugin_abi::FAILED;

use crate::host;

/// The listening socket that the service manager opened for this library, by its name there less `plugin.` and the
/// library's own: `events` for `FileDescriptorName=plugin.pla.events`. It does not block. Nothing where there is none, or
/// where the exporter is older than version 1.3. To be called from [`crate::Source::create`] on at the earliest.
///
/// # Errors
/// When the name is none, or no descriptors are left.
pub fn listening_socket(name: &str) -> io::Result<Option<TcpListener>> {
    let socket = host::listening_socket(name).map_err(|status| {
        let kind = if status == FAILED { io::ErrorKind::Other } else { io::ErrorKind::InvalidInput };
        io::Error::new(
            kind,
            format!("the exporter answers status {status} to a request for the socket `{name}`"),
        )
    })?;
    Ok(socket.map(TcpListener::from))
}
