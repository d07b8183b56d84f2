use crate::Reason;

/// Where a host offers RPC interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Endpoint {
    /// A pipe behind `IPC$`.
    NamedPipe {
        /// The name without `\PIPE\`.
        name: &'static str,
        /// Why the pipe cannot be opened while the service behind it does not run.
        stopped: Reason,
    },
}

impl Endpoint {
    /// The reason of a failure, where the service does not run.
    pub(crate) const fn stopped(self) -> Reason {
        match self {
            Self::NamedPipe { stopped, .. } => stopped,
        }
    }
}
