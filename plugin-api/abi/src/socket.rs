//! Sockets that were opened for plugins before the process began.

use std::io;
use std::os::fd::OwnedFd;

/// Keeps listening sockets for plugins. The exporter implements it.
pub trait ListeningSockets: Send + Sync {
    /// Another descriptor, close-on-exec and non-blocking, of the plugin's socket with this name; `None` if it has
    /// none.
    ///
    /// # Errors If there are no descriptors left.
    fn socket(&self, plugin: &str, name: &str) -> io::Result<Option<OwnedFd>>;
}

#[derive(Clone, Copy, Debug, Default)]
pub struct NoSockets;

impl ListeningSockets for NoSockets {
    fn socket(&self, _plugin: &str, _name: &str) -> io::Result<Option<OwnedFd>> {
        Ok(None)
    }
}
