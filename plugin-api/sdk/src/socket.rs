//! Sockets that the service manager opened for a plugin.

use std::io;
use std::net::TcpListener;

use plugin_abi::raw::FAILED;

use crate::host;

/// The listening socket that the service manager opened for this library, by its name there without `plugin.` and
/// the library's name: `events` for `FileDescriptorName=plugin.pla.events`. It does not block. `None` if there is
/// none. Do not call it before [`crate::Source::create`].
///
/// # Errors If the name is invalid, or no descriptors are left.
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
