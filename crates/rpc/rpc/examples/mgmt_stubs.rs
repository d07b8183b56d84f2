//! Prints a stub of each method that is declared, both ways, for readers that are not ours: the method's name, the
//! direction, and bytes in hexadecimal digits.
//!
//! `cargo run -p rpc --example mgmt_stubs`

use std::error::Error;

use rpc::endpoints::mgmt::management::{
    InqIfIdsReply, InqIfIdsRequest, InqPrincNameRequest, InqStatsRequest, IsServerListeningReply,
    IsServerListeningRequest, StopServerListeningReply, StopServerListeningRequest,
};
use rpc::endpoints::mgmt::types::{AuthenticationService, Statistics};
use rpc::{ErrorStatus, Message, SyntaxId};
use wire::Guid;

fn main() -> Result<(), Box<dyn Error>> {
    let winreg = SyntaxId::new(Guid::from_u128(0x338cd001_2244_31f1_aaaa_900038001003), 1, 0);
    let status = ErrorStatus::RPC_S_OK;
    print(
        "mgmt_inq_if_ids",
        &InqIfIdsRequest {},
        &InqIfIdsReply::new([winreg, rpc::endpoints::mgmt::SYNTAX_ID]),
    )?;
    let stats = InqStatsRequest { room: Statistics::COUNT };
    let counted = Statistics { calls_in: 7, calls_out: 1, packets_in: 12, packets_out: 9 };
    print("mgmt_inq_stats", &stats, &stats.answer(counted))?;
    let listening = IsServerListeningReply { is_listening: 1, status };
    print("mgmt_is_server_listening", &IsServerListeningRequest {}, &listening)?;
    let refused = StopServerListeningReply { status: ErrorStatus::ACCESS_DENIED };
    print("mgmt_stop_server_listening", &StopServerListeningRequest {}, &refused)?;
    let name = InqPrincNameRequest { authn_proto: AuthenticationService::WINNT, room: 64 };
    print(
        "mgmt_inq_princ_name",
        &name,
        &name.answer("host/web1".to_owned()).map_err(|status| status.to_string())?,
    )
}

fn print(name: &str, request: &impl Message, reply: &impl Message) -> Result<(), Box<dyn Error>> {
    for (direction, stub) in [("in", request.to_stub()?), ("out", reply.to_stub()?)] {
        let digits: String = stub.iter().map(|byte| format!("{byte:02x}")).collect();
        println!("{name} {direction} {digits}");
    }
    Ok(())
}
