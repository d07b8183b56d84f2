use std::ops::BitOr;

use wire::open_enum;

use super::sealed::Stored;
use super::{Fields, Malformed};
use crate::layout::CellId;

open_enum! {
    /// Where a call is.
    pub struct CallStatus(u8) {
        /// Nowhere: the object is cached.
        ALLOCATED = 0,
        /// In the run time, which processes it.
        ACTIVE = 1,
        /// In the method of the server, which has not returned yet.
        DISPATCHED = 2,
    }
}

open_enum! {
    /// What kind of call it is. The flags can be combined.
    pub struct CallFlags(u32) {
        /// The cached call of an exclusive connection.
        CACHED = 0x1,
        ASYNC = 0x2,
        /// A call with pipes.
        PIPE = 0x4,
        /// A call within one host.
        LRPC = 0x8,
    }
}

impl CallFlags {
    /// Whether all of `flags` are set.
    #[must_use]
    pub fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }
}

impl BitOr for CallFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A call as its server has it.
#[doc(alias = "SCALL")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ServerCall {
    pub status: CallStatus,
    /// The number of its method.
    #[doc(alias = "ProcNum")]
    pub opnum: u16,
    /// The first 32 bits of the UUID of its interface.
    #[doc(alias = "InterfaceUUIDStart")]
    pub interface_start: u32,
    /// The thread that executes it. Unless it is active or dispatched, this is out of date.
    #[doc(alias = "ServicingTID")]
    pub servicing_thread: CellId,
    /// What kind of call it is.
    pub flags: CallFlags,
    /// When this was last updated, in milliseconds after boot.
    pub last_update_ms: u64,
    /// The id of the call within its connection.
    pub call_id: u32,
    /// Its connection; none within one host.
    pub connection: CellId,
    /// The process of the caller, for a call within one host.
    #[doc(alias = "PID")]
    pub caller_pid: u32,
    /// The thread of the caller, for a call within one host.
    #[doc(alias = "TID")]
    pub caller_tid: u32,
    /// The object that is called, if it is one of DCOM.
    pub object: CellId,
    /// The name of the method, if it is known.
    pub operation: CellId,
}

impl ServerCall {
    /// Whether it is being processed or executed.
    #[must_use]
    pub fn is_in_progress(&self) -> bool {
        matches!(self.status, CallStatus::ACTIVE | CallStatus::DISPATCHED)
    }
}

impl Stored for ServerCall {
    fn write(&self, fields: &mut Fields) {
        fields.put(1, [self.status.0]);
        fields.put(2, self.opnum.to_le_bytes());
        fields.put(4, self.interface_start.to_le_bytes());
        fields.put_cell_id(8, self.servicing_thread);
        fields.put(12, self.flags.0.to_le_bytes());
        fields.put(16, self.last_update_ms.to_le_bytes());
        fields.put(24, self.call_id.to_le_bytes());
        fields.put_cell_id(28, self.connection);
        fields.put(32, self.caller_pid.to_le_bytes());
        fields.put(36, self.caller_tid.to_le_bytes());
        fields.put_cell_id(40, self.object);
        fields.put_cell_id(44, self.operation);
    }

    fn read(fields: &Fields) -> Result<Self, Malformed> {
        let [status] = fields.get(1);
        Ok(Self {
            status: CallStatus(status),
            opnum: fields.u16(2),
            interface_start: fields.u32(4),
            servicing_thread: fields.cell_id(8),
            flags: CallFlags(fields.u32(12)),
            last_update_ms: fields.u64(16),
            call_id: fields.u32(24),
            connection: fields.cell_id(28),
            caller_pid: fields.u32(32),
            caller_tid: fields.u32(36),
            object: fields.cell_id(40),
            operation: fields.cell_id(44),
        })
    }
}
