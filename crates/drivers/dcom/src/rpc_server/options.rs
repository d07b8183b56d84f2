use core::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use dcerpc::{AuthService, Observers};
use ssp::SecurityContext;

use crate::rpc_server::counters::Refusal;
use crate::rpc_server::limits::{Deadlines, Limits};

/// Which addresses may connect. It may change its mind between two connections.
pub type AddressFilter = Arc<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// Makes a security context for the service that a peer asks for, or refuses the service.
pub type Acceptor = Arc<dyn Fn(AuthService) -> Option<Box<dyn SecurityContext>> + Send + Sync>;

/// Is told which peer was refused, or had its connection ended, why, and by which error if there was one. It returns at once.
pub type RefusalObserver = Arc<dyn Fn(IpAddr, Refusal, Option<&dcerpc::Error>) + Send + Sync>;

/// How a server treats its peers.
#[derive(Clone)]
pub struct Options {
    /// Which addresses may connect: all by default. IPv4 addresses are never mapped ones.
    pub is_allowed: AddressFilter,
    /// How peers authenticate: not at all by default.
    pub acceptor: Acceptor,
    /// Is notified of refusals; does nothing by default.
    pub on_refusal: RefusalObserver,
    /// Make an observer of each association: none by default.
    pub observers: Arc<dyn Observers>,
    /// What peers may use.
    pub limits: Limits,
    /// How long they may take.
    pub deadlines: Deadlines,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            is_allowed: Arc::new(|_| true),
            acceptor: Arc::new(|_| None),
            on_refusal: Arc::new(|_, _, _| {}),
            observers: Arc::new(()),
            limits: Limits::default(),
            deadlines: Deadlines::default(),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("limits", &self.limits)
            .field("deadlines", &self.deadlines)
            .finish_non_exhaustive()
    }
}
