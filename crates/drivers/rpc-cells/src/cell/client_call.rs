use super::sealed::Stored;
use super::{Fields, Malformed, Name, ProtocolSequence};
use crate::layout::CellId;

/// A call as its client has it. Where it goes is in a second cell, a [`CallTarget`](super::CallTarget).
#[doc(alias = "CCALL")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ClientCall {
    /// The number of its method.
    #[doc(alias = "ProcNum")]
    pub opnum: u16,
    /// The thread of this server on which it is made; none outside of a server call.
    #[doc(alias = "ServicingThread")]
    pub servicing_thread: CellId,
    /// The first 32 bits of the UUID of its interface.
    #[doc(alias = "IfStart")]
    pub interface_start: u32,
    /// The front of the name of the server's endpoint.
    pub endpoint: Name<12>,
    /// The id of the call within its connection.
    pub call_id: u32,
    pub target: CellId,
    /// The object that is called, if it is one of DCOM.
    pub object: CellId,
    /// The name of the method, if it is known.
    pub operation: CellId,
}

impl Stored for ClientCall {
    fn write(&self, fields: &mut Fields) {
        fields.put(2, self.opnum.to_le_bytes());
        fields.put(4, self.interface_start.to_le_bytes());
        fields.put_cell_id(8, self.servicing_thread);
        fields.put(12, self.call_id.to_le_bytes());
        fields.put_cell_id(16, self.target);
        fields.put_name(20, &self.endpoint);
        fields.put_cell_id(36, self.object);
        fields.put_cell_id(40, self.operation);
    }

    fn read(fields: &Fields) -> Result<Self, Malformed> {
        Ok(Self {
            opnum: fields.u16(2),
            servicing_thread: fields.cell_id(8),
            interface_start: fields.u32(4),
            endpoint: fields.name(20, "Endpoint")?,
            call_id: fields.u32(12),
            target: fields.cell_id(16),
            object: fields.cell_id(36),
            operation: fields.cell_id(40),
        })
    }
}

/// Where a client call goes, or a client's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CallTarget {
    /// How the server is reached.
    pub protocol_sequence: ProtocolSequence,
    /// When this cell or the call's was last updated, in milliseconds after boot.
    pub last_update_ms: u64,
    /// The front of the name of the server. The empty name is this machine's.
    #[doc(alias = "TargetServer")]
    pub server: Name<24>,
    /// The front of the endpoint on the server.
    pub endpoint: Name<12>,
}

impl Stored for CallTarget {
    fn write(&self, fields: &mut Fields) {
        fields.put(2, self.protocol_sequence.0.to_le_bytes());
        fields.put(8, self.last_update_ms.to_le_bytes());
        fields.put_name(16, &self.server);
        fields.put_name(42, &self.endpoint);
    }

    fn read(fields: &Fields) -> Result<Self, Malformed> {
        Ok(Self {
            protocol_sequence: ProtocolSequence(fields.u16(2)),
            last_update_ms: fields.u64(8),
            server: fields.name(16, "TargetServer")?,
            endpoint: fields.name(42, "Endpoint")?,
        })
    }
}
