use crate::{Credentials, Error, Mechanism, SecurityContext, Usage};

/// How a client authenticates.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientOptions {
    /// NTLM as it is, or within SPNEGO.
    pub mechanism: Mechanism,
    /// The service that is asked for, as `cifs/host`; the server can refuse a response meant for another.
    pub target_name: String,
    /// SMB or RPC.
    pub usage: Usage,
}

impl ClientOptions {
    /// Puts the three together.
    #[must_use]
    pub fn new(mechanism: Mechanism, target_name: impl Into<String>, usage: Usage) -> Self {
        Self { mechanism, target_name: target_name.into(), usage }
    }
}

/// Begins an authentication as a client.
///
/// # Errors
/// When the credentials cannot be used.
pub fn client(credentials: &Credentials, options: ClientOptions) -> Result<Box<dyn SecurityContext>, Error> {
    let _ = (credentials, options);
    Err(Error::NotEstablished)
}
