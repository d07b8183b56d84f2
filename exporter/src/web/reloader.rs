use std::pin::Pin;

/// Reloads the configuration on request.
pub trait Reloader: Send + Sync {
    /// Done when the configuration that was in the file after this was called is in use, or refused.
    fn reload(&self) -> Reloading<'_>;
}

/// What a reload comes to.
pub type Reloading<'a> = Pin<Box<dyn Future<Output = Result<String, NotReloaded>> + Send + 'a>>;

/// Why the configuration is the one that it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotReloaded {
    /// The file is not as it should be; the report says where.
    Refused(String),
    /// Too many wait for a reload.
    Busy,
    /// The process begins or ends.
    Unavailable,
}
