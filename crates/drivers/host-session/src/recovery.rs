/// What has to be opened again after an error, before another attempt can succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Recovery {
    /// Nothing: the error is the result.
    Nothing,
    /// Context handles: the service was restarted, dropped them, or failed.
    Handle,
    /// The pipe. See [`Session::reopen`](crate::Session::reopen).
    Pipe,
    /// The connection, also after access was denied: new rights take effect at the next logon. See
    /// [`Session::connect`](crate::Session::connect).
    Connection,
}

impl Recovery {
    /// The next larger step, if an attempt after this one failed again.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Nothing => Self::Handle,
            Self::Handle => Self::Pipe,
            Self::Pipe | Self::Connection => Self::Connection,
        }
    }
}
