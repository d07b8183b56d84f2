use wire::open_enum;

use super::sealed::Stored;
use super::{Fields, Malformed};

open_enum! {
    /// What a worker thread does.
    pub struct ThreadStatus(u8) {
        /// It is within the run time, which processes something.
        PROCESSING = 0,
        /// It executes a method of the server.
        DISPATCHED = 1,
        ALLOCATED = 2,
        /// It waits for requests.
        IDLE = 3,
    }
}

/// A worker thread of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Thread {
    pub status: ThreadStatus,
    /// The thread id that the system gives it.
    #[doc(alias = "TID")]
    pub tid: u32,
    /// When this was last updated, in milliseconds after boot.
    pub last_update_ms: u64,
}

impl Stored for Thread {
    fn write(&self, fields: &mut Fields) {
        fields.put(1, [self.status.0]);
        fields.put(4, self.tid.to_le_bytes());
        fields.put(8, self.last_update_ms.to_le_bytes());
    }

    fn read(fields: &Fields) -> Result<Self, Malformed> {
        let [status] = fields.get(1);
        Ok(Self { status: ThreadStatus(status), tid: fields.u32(4), last_update_ms: fields.u64(8) })
    }
}
