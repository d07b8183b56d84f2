//! Keeps the state of a program's RPC associations in cells (`rpc-cells`): it observes them as
//! [`dcerpc::Observers`], and writes a cell where something changed.
//!
//! - An endpoint of a server has a cell from the first that is seen of it, for as long as the recorder lives.
//! - A connection has one while its association lives.
//! - A server's call has one while it is processed; the connection keeps the cell for its next call. A client's call has
//!   one while it is in flight.
//! - A thread that works for a server has one until it ends.
//! - Names of interfaces and methods have cells from their first call on, where they are among the [`InterfaceNames`]
//!   that the recorder is made with.
//!
//! Nothing is allocated for a call after the first of a connection.

mod client;
mod connection;
mod names;
mod recorder;
mod server;
mod shared;
mod threads;

pub use self::names::InterfaceNames;
pub use self::recorder::Recorder;
use rpc_cells::ObjectCall;
use wire::Guid;

/// The object and the causality of a call, if it is one of DCOM: its stub begins with an `ORPCTHIS`.
pub(crate) fn object_call(object: Option<Guid>, stub: &[u8]) -> Option<ObjectCall> {
    let ipid = object?;
    let major = stub.get(..2)?;
    let causality_id = stub.get(CAUSALITY_ID..CAUSALITY_ID + 16)?;
    (major == COM_MAJOR.to_le_bytes()).then_some(())?;
    Some(ObjectCall { ipid, causality_id: Guid::from_bytes(causality_id.try_into().ok()?) })
}

/// `ORPCTHIS` of [MS-DCOM] 2.2.13.3.
const CAUSALITY_ID: usize = 4 /* version */ + 4 /* flags */ + 4 /* reserved1 */;
/// [MS-DCOM] 2.2.11: the major version, which is always the same.
const COM_MAJOR: u16 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_stub_with_a_whole_orpcthis_has_a_causality() {
        let object = Some(Guid::from_u128(7));
        let mut stub = [5, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0].to_vec();
        stub.extend(Guid::from_u128(9).to_bytes());
        let expected = ObjectCall { ipid: Guid::from_u128(7), causality_id: Guid::from_u128(9) };
        assert_eq!(object_call(object, &stub), Some(expected));
        assert_eq!(object_call(None, &stub), None);
        assert_eq!(object_call(object, &stub[..27]), None);
        assert_eq!(object_call(object, &[]), None);
        stub[0] = 1;
        assert_eq!(object_call(object, &stub), None, "no version of DCOM");
    }
}
