use core::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;

use tracing::debug;

use crate::rpc_server::Incoming;
use crate::rpc_server::Interface;
use crate::rpc_server::Options;
use crate::rpc_server::Shared;
use crate::rpc_server::admission::Permit;
use crate::rpc_server::connection::{Connection, End};
use crate::rpc_server::counters::{Counters, Refusal};

/// An RPC server: interfaces, and what its connections share. Clones are the same server.
#[derive(Clone)]
pub struct Server(Arc<Shared>);

impl Server {
    /// A server of these interfaces.
    #[must_use]
    pub fn new(options: Options, interfaces: Vec<Arc<dyn Interface>>) -> Self {
        Self(Arc::new(Shared::new(options, interfaces)))
    }

    /// What it did so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.0.counters
    }

    /// Serves one connection until it ends, or until `stop`: an answer that is being sent then is sent. A connection that
    /// is refused is closed at once.
    pub async fn serve(&self, incoming: Incoming, stop: impl Future<Output = ()>) {
        let Incoming { stream, peer, port } = incoming;
        let peer = peer.to_canonical();
        let permit = match self.admit(peer) {
            Ok(permit) => permit,
            Err(reason) => {
                debug!(%peer, %reason, "Connection refused");
                self.refuse(peer, reason, None);
                return;
            }
        };
        self.0.counters.count_connection();
        match Connection::new(&self.0, Incoming { stream, peer, port }, permit).serve(stop).await {
            End::Closed => {}
            End::Refused(reason, error) => self.refuse(peer, reason, error.as_ref()),
        }
    }

    fn refuse(&self, peer: IpAddr, reason: Refusal, error: Option<&dcerpc::Error>) {
        self.0.counters.count_refusal(reason);
        (self.0.options.on_refusal)(peer, reason, error);
    }

    fn admit(&self, peer: IpAddr) -> Result<Permit, Refusal> {
        if !(self.0.options.is_allowed)(peer) {
            return Err(Refusal::Address);
        }
        self.0.admission.admit(peer, &self.0.options.limits)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("options", &self.0.options).finish_non_exhaustive()
    }
}
