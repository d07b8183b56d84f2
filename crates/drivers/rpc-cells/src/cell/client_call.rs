use super::sealed::Stored;
use super::{Fields, Malformed, Name};
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
