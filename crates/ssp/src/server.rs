use std::sync::Arc;

use crate::{Accounts, Error, Mechanism, SecurityContext, Usage};

/// How a server authenticates its clients.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerOptions {
    /// NTLM as it is, or within SPNEGO.
    pub mechanism: Mechanism,
    /// SMB or RPC.
    pub usage: Usage,
}

impl ServerOptions {
    /// Puts the two together.
    #[must_use]
    pub const fn new(mechanism: Mechanism, usage: Usage) -> Self {
        Self { mechanism, usage }
    }
}

/// Begins an authentication as a server.
///
/// # Errors
/// When the package cannot be set up.
pub fn server(
    accounts: Arc<dyn Accounts>,
    options: ServerOptions,
) -> Result<Box<dyn SecurityContext>, Error> {
    let _ = (accounts, options);
    Err(Error::NotEstablished)
}
