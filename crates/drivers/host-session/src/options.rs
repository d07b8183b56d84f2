use std::sync::Arc;
use std::time::Duration;

use dcerpc::Observers;
use dcerpc::client::ClientConfig;
use ssp::{ImpersonationLevel, Mechanism};

use super::Reason;
use crate::rpc_client::SmbOptions;

pub type Target = transport::Endpoint;

/// How to talk to a host.
#[derive(Clone, Debug)]
pub struct Options {
    /// Maximum time of each of the stages dns and tcp.
    pub connect_timeout: Duration,
    /// Options of SMB, including encryption.
    pub smb: SmbOptions,
    /// How RPC authenticates. Calls are sealed with each mechanism.
    pub mechanism: Mechanism,
    /// The host's name in those of its services, where it is reached by another one, such as an address that it named.
    pub server_name: Option<String>,
    /// What the host may do in the name of the account, by calls.
    pub impersonation: ImpersonationLevel,
    /// Fragments and limits of RPC.
    pub rpc: ClientConfig,
    /// How to wait for a service that starts when its pipe is opened.
    pub pipe_retry: PipeRetry,
    /// Make an observer of each association: none by default.
    pub observers: Arc<dyn Observers>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(3),
            smb: SmbOptions::default(),
            mechanism: Mechanism::Negotiate,
            server_name: None,
            impersonation: ImpersonationLevel::default(),
            rpc: ClientConfig::default(),
            pipe_retry: PipeRetry::default(),
            observers: Arc::new(()),
        }
    }
}

/// Windows starts some services when a client opens their pipe, and refuses the pipe until they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipeRetry {
    pub attempts_max: u32,
    /// Time between two attempts.
    pub pause: Duration,
}

impl Default for PipeRetry {
    fn default() -> Self {
        Self { attempts_max: 5, pause: Duration::from_millis(750) }
    }
}

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
