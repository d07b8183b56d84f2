//! Prints a stub of each method that is declared, both ways, for readers that are not ours: the method's name, the
//! direction, and bytes in hexadecimal digits.
//!
//! `cargo run -p rpc --example epm_stubs`

use std::error::Error;
use std::net::Ipv4Addr;

use rpc::endpoints::epm::ept::{
    EptLookupHandleFreeReply, EptLookupHandleFreeRequest, EptLookupRequest, EptMapRequest,
};
use rpc::endpoints::epm::types::{Entry, InquiryType, Twr, VersionOption};
use rpc::endpoints::epm::wire::{Binding, Tower};
use rpc::ndr::ContextHandle;
use rpc::{ErrorStatus, Message, RpcIfId, SyntaxId};
use wire::Guid;

const WINREG: SyntaxId = SyntaxId::new(Guid::from_u128(0x338cd001_2244_31f1_aaaa_900038001003), 1, 0);
const OBJECT: Guid = Guid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);
const HANDLE: ContextHandle = ContextHandle { attributes: 0, uuid: OBJECT };

fn main() -> Result<(), Box<dyn Error>> {
    let tcp = Binding::Tcp { address: Ipv4Addr::new(10, 0, 0, 12), port: 49664 };
    let pipe = Binding::NamedPipe { host: r"\\WEB1".to_owned(), pipe: r"\PIPE\winreg".to_owned() };
    let http = Binding::Http { address: Ipv4Addr::new(10, 0, 0, 12), port: 593 };
    let local = Binding::Local { endpoint: "LRPC-0123".to_owned() };
    let entries = [
        (None, tcp, ""),
        (Some(OBJECT), pipe, "RemoteRegistry Interface"),
        (None, http, "x"),
        (None, local, "y"),
    ];
    let entries = entries.map(|(object, binding, annotation)| Entry {
        object,
        tower: Tower::ndr(WINREG, binding),
        annotation: annotation.to_owned(),
    });

    let lookup = EptLookupRequest {
        inquiry_type: InquiryType::RPC_C_EP_MATCH_BY_BOTH,
        object: Some(Box::new(OBJECT)),
        interface: Some(Box::new(RpcIfId::from(WINREG))),
        versions: VersionOption::RPC_C_VERS_UPTO,
        entry_handle: HANDLE,
        entries_max: 6,
    };
    print("ept_lookup", &lookup, &lookup.page(&entries, HANDLE)?)?;
    let wanted = Twr::new(&Tower::ndr(WINREG, Binding::ANY_TCP))?;
    let (map_tower, entry_handle) = (Some(Box::new(wanted)), ContextHandle::NULL);
    let map = EptMapRequest { object: None, map_tower, entry_handle, towers_max: 3 };
    let towers = entries.iter().map(|entry| &entry.tower);
    print("ept_map", &map, &map.answer(towers.take(2))?)?;
    let freed = EptLookupHandleFreeReply { entry_handle: ContextHandle::NULL, status: ErrorStatus::RPC_S_OK };
    print("ept_lookup_handle_free", &EptLookupHandleFreeRequest { entry_handle: HANDLE }, &freed)
}

fn print(name: &str, request: &impl Message, reply: &impl Message) -> Result<(), Box<dyn Error>> {
    for (direction, stub) in [("in", request.to_stub()?), ("out", reply.to_stub()?)] {
        let digits: String = stub.iter().map(|byte| format!("{byte:02x}")).collect();
        println!("{name} {direction} {digits}");
    }
    Ok(())
}
