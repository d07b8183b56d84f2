use core::fmt;
use std::io;

use dcerpc::FaultStatus;
use wire::NtStatus;

/// The operations of a driver. Each belongs to one [`Stage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Agreeing on an SMB dialect.
    Negotiate,
    /// Authenticating to the SMB server.
    Authenticate,
    /// Connecting the tree `IPC$`.
    ConnectTree,
    OpenPipe,
    /// Binding an RPC interface, and authenticating to the RPC server.
    Bind,
    /// Adding an RPC interface to the association.
    AlterContext,
    Call,
    /// Writing into a pipe and reading its answer, outside a bind or a call.
    Transceive,
    /// Reading from a pipe.
    Read,
    /// Writing into a pipe.
    Write,
    ClosePipe,
    /// Checking whether the server is alive.
    Echo,
    LogOff,
}

/// The operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    Smb,
    Auth,
    /// The tree and the pipe.
    Pipe,
    Bind,
    Query,
}

impl Operation {
    /// The stage that the operation belongs to.
    #[must_use]
    pub const fn stage(self) -> Stage {
        match self {
            Self::Negotiate | Self::Echo | Self::LogOff => Stage::Smb,
            Self::Authenticate => Stage::Auth,
            Self::ConnectTree | Self::OpenPipe | Self::ClosePipe => Stage::Pipe,
            Self::Bind | Self::AlterContext => Stage::Bind,
            Self::Call | Self::Transceive | Self::Read | Self::Write => Stage::Query,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Negotiate => "negotiate smb",
            Self::Authenticate => "authenticate",
            Self::ConnectTree => "connect IPC$",
            Self::OpenPipe => "open pipe",
            Self::Bind => "bind interface",
            Self::AlterContext => "alter context",
            Self::Call => "call",
            Self::Transceive => "transceive",
            Self::Read => "read pipe",
            Self::Write => "write pipe",
            Self::ClosePipe => "close pipe",
            Self::Echo => "echo",
            Self::LogOff => "log off",
        })
    }
}

/// A closed list of reasons, for decisions and labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    Timeout,
    /// The peer ended the connection, or it broke.
    ConnectionLost,
    /// The SMB server refused; see the status.
    Refused(NtStatus),
    /// The RPC server answered with a fault; see the status.
    Fault(FaultStatus),
    /// The RPC server refused to bind.
    BindRefused,
    /// The RPC server does not have the interface.
    InterfaceRefused,
    /// The server speaks SMB1 only, or no dialect from 2.1 on.
    Smb1Only,
    /// One side demands encryption that the other does not have.
    Encryption,
    /// The server does not sign, signs wrongly, or lets us in without keys.
    Signing,
    /// Unencrypted messages were altered on the way.
    Downgrade,
    Malformed,
    /// The peer violates its protocol.
    Protocol,
    /// A limit of this side was exceeded.
    Limit,
    /// The security context refuses a token or a message.
    Security,
    /// An earlier call was dropped before its answer came.
    Abandoned,
    /// A bug on this side.
    Internal,
}

/// Why an operation failed. Every variant names the operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("{operation}: no answer in time")]
    Timeout { operation: Operation },
    #[error("{operation}: {source}")]
    Stream { operation: Operation, source: io::Error },
    /// The SMB connection ended or refused the request.
    #[error("{operation}: {source}")]
    Smb { operation: Operation, source: ms_smb2::Error },
    /// The SMB server refused.
    #[error("{operation}: {status}")]
    Status { operation: Operation, status: NtStatus },
    /// The security context refused a token or a message.
    #[error("{operation}: {source}")]
    Security { operation: Operation, source: ssp::Error },
    /// The RPC association ended or refused the request.
    #[error("{operation}: {source}")]
    Rpc { operation: Operation, source: dcerpc::Error },
    /// The RPC server answered with a fault.
    #[error("call of opnum {opnum}: {status}")]
    Fault { opnum: u16, status: FaultStatus },
    /// The peer violates its protocol.
    #[error("{operation}: {reason}")]
    Protocol { operation: Operation, reason: &'static str },
    /// An earlier call was abandoned; its answer could be taken for that of this call.
    #[error("{operation}: {what} is unusable after an abandoned call")]
    Abandoned {
        operation: Operation,
        /// The connection, the pipe or the association.
        what: &'static str,
    },
    /// An earlier error ended what the operation needs, and stays the reason.
    #[error("{operation}: {what} has ended by an earlier error")]
    Ended {
        operation: Operation,
        /// The connection, the pipe or the association.
        what: &'static str,
        /// The kind of that error.
        by: ErrorKind,
    },
}

impl Error {
    #[must_use]
    pub const fn operation(&self) -> Operation {
        match self {
            Self::Fault { .. } => Operation::Call,
            Self::Timeout { operation }
            | Self::Stream { operation, .. }
            | Self::Smb { operation, .. }
            | Self::Status { operation, .. }
            | Self::Security { operation, .. }
            | Self::Rpc { operation, .. }
            | Self::Protocol { operation, .. }
            | Self::Abandoned { operation, .. }
            | Self::Ended { operation, .. } => *operation,
        }
    }

    /// The stage of the connection in which it failed.
    #[must_use]
    pub const fn stage(&self) -> Stage {
        self.operation().stage()
    }
}
