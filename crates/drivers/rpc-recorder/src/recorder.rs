use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dcerpc::{AssociationInfo, EndpointState, Observer, Observers, Role, Transport};
use parking_lot::Mutex;
use rpc_cells::{EndpointStatus, Level, Writer, boot_ms};

use crate::client::Client;
use crate::names::{InterfaceNames, Names};
use crate::server::Server;
use crate::shared::Shared;

/// Keeps the state of all associations of a program in cells. Clones are the same one.
#[derive(Clone)]
pub struct Recorder(Arc<Shared>);

impl Recorder {
    /// A recorder that knows these names. A writer of nothing costs nothing.
    #[must_use]
    pub fn new(writer: Writer, names: &[InterfaceNames]) -> Self {
        Self::with_clock(writer, names, boot_ms)
    }

    /// The same with another clock, of milliseconds after boot.
    #[must_use]
    pub fn with_clock(
        writer: Writer,
        names: &[InterfaceNames],
        now_ms: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Shared {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            writer,
            names: Names::new(names),
            endpoints: Mutex::default(),
            now_ms: Box::new(now_ms),
        }))
    }
}

impl Observers for Recorder {
    fn association(&self, info: &AssociationInfo<'_>) -> Arc<dyn Observer> {
        let shared = Arc::clone(&self.0);
        match info.role {
            _ if shared.writer.level() == Level::NONE => Arc::new(()),
            Role::Client => Arc::new(Client::new(shared, info)),
            Role::Server => {
                let endpoint = shared.endpoint(info.transport, info.endpoint, None);
                Arc::new(Server::new(shared, endpoint, info.peer))
            }
        }
    }

    fn endpoint(&self, transport: Transport, endpoint: &str, state: EndpointState) {
        let status = match state {
            EndpointState::Opening => EndpointStatus::ALLOCATED,
            EndpointState::Closed => EndpointStatus::INACTIVE,
            _ => EndpointStatus::ACTIVE,
        };
        self.0.endpoint(transport, endpoint, Some(status));
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("writer", &self.0.writer).finish_non_exhaustive()
    }
}

static NEXT_ID: AtomicU64 = AtomicU64::new(0);
