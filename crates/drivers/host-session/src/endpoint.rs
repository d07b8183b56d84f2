use crate::Reason;

/// Where a host offers RPC interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Endpoint {
    /// A pipe behind `IPC$`.
    NamedPipe {
        /// The name without `\PIPE\`.
        name: &'static str,
        /// The reason of failures while the service behind the pipe does not run.
        stopped: Reason,
    },
}

impl Endpoint {
    /// The reason of failures while the service does not run.
    pub(crate) const fn stopped(self) -> Reason {
        match self {
            Self::NamedPipe { stopped, .. } => stopped,
        }
    }
}

/// What listens on a TCP port of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpService {
    /// The class of its service principal name, such as `RPCSS`.
    pub class: &'static str,
    /// The reason of failures while it does not run.
    pub stopped: Reason,
}
