//! C706 appendix Q, the interface `mgmt`: the methods, and both sides of them.

mod client;
mod server;

use crate::ErrorStatus;
use crate::ndr::{Conformant, NarrowString};

pub use self::client::Management;
use crate::endpoints::mgmt::types::{AuthenticationService, RpcIfIdVector};

crate::interface! {
    /// C706 appendix Q: remote management, version 1.0.
    #[doc(alias = "mgmt")]
    pub interface Mgmt("afa8bd80-7d8a-11c9-bef4-08002b102989", 1.0) -> ErrorStatus {
        /// C706 appendix Q: the interfaces that the server offers.
        0 => rpc__mgmt_inq_if_ids as inq_if_ids() -> (if_id_vector: Option<Box<RpcIfIdVector>>);

        /// C706 appendix Q: what the server has counted: [`Statistics`](crate::endpoints::mgmt::types::Statistics), as far as there is room.
        1 => rpc__mgmt_inq_stats as inq_stats(#[ndr(name = "count")] room: u32) -> (
            count: u32, #[ndr(size_is = count)] statistics: Conformant<u32>,
        );

        /// C706 appendix Q: whether the server takes calls.
        2 => rpc__mgmt_is_server_listening as is_server_listening() -> (
            #[ndr(name = "return value", returned)] is_listening: u32,
        );

        /// C706 appendix Q: stops the server.
        3 => rpc__mgmt_stop_server_listening as stop_server_listening();

        /// C706 appendix Q: the name under which the server authenticates.
        4 => rpc__mgmt_inq_princ_name as inq_princ_name(
            authn_proto: AuthenticationService, #[ndr(name = "princ_name_size", range = 0..=4096)] room: u32,
        ) -> (#[ndr(name = "princ_name", size_is = room)] name: NarrowString);
    }
}
