/// What has to be opened again after an error, before another attempt can succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Recovery {
    /// Nothing: the error is the answer.
    Nothing,
    /// Context handles: the service was restarted, forgot them, or failed.
    Handle,
    /// The pipe. See [`Session::reopen`](crate::Session::reopen).
    Pipe,
    /// The connection, also after access was denied: a right that is granted counts from the next logon on. See
    /// [`Session::connect`](crate::Session::connect).
    Connection,
}

impl Recovery {
    /// The next larger step, for a caller whose attempt failed with this much opened anew.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Nothing => Self::Handle,
            Self::Handle => Self::Pipe,
            Self::Pipe | Self::Connection => Self::Connection,
        }
    }
}
