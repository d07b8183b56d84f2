use std::collections::BTreeMap;

use dcerpc::Transport;
use parking_lot::Mutex;
use rpc_cells::{CellHandle, CellId, Endpoint, EndpointStatus, Name, ProtocolSequence, Writer};

use crate::names::Names;

/// What the observers of a recorder share.
pub(crate) struct Shared {
    /// Tells this recorder from others that a thread works for.
    pub(crate) id: u64,
    pub(crate) writer: Writer,
    pub(crate) names: Names,
    pub(crate) endpoints: Mutex<BTreeMap<(Transport, String), CellHandle<Endpoint>>>,
    pub(crate) now_ms: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl Shared {
    pub(crate) fn now_ms(&self) -> u64 {
        (self.now_ms)()
    }

    /// The cell of an endpoint; one that is first seen by its association is active.
    pub(crate) fn endpoint(
        &self,
        transport: Transport,
        name: &str,
        status: Option<EndpointStatus>,
    ) -> CellId {
        let mut endpoints = self.endpoints.lock();
        let cell = endpoints.entry((transport, name.to_owned())).or_insert_with(|| {
            self.writer.endpoint(Endpoint {
                protocol_sequence: protocol_sequence(transport),
                status: status.unwrap_or(EndpointStatus::ACTIVE),
                name: Name::new(name),
            })
        });
        if let Some(status) = status {
            cell.update(|endpoint| endpoint.status = status);
        }
        cell.id()
    }
}

pub(crate) fn protocol_sequence(transport: Transport) -> ProtocolSequence {
    match transport {
        Transport::NamedPipe => ProtocolSequence::NAMED_PIPE,
        _ => ProtocolSequence::TCP,
    }
}
