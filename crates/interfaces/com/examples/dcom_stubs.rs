//! Prints what this crate writes, for readers that are not ours: a stub of each method that is declared, and structures that
//! are no NDR. Each line has a name, a direction and bytes in hexadecimal digits.
//!
//! `cargo run -p com --example dcom_stubs`
//!
//! With the name of a file that has such lines it reads each and prints it as this crate writes it.

use std::error::Error;
use std::fmt::Write;

use com::dcom::activation::{Activation, ActivationRequest, ObjectExporter};
use com::dcom::activator::{
    IRemoteSCMActivator, RemoteCreateInstanceReply, RemoteCreateInstanceRequest, RemoteGetClassObjectReply,
    RemoteGetClassObjectRequest,
};
use com::dcom::remote_unknown::{
    IRemUnknown, IRemUnknown2, RemAddRefReply, RemAddRefRequest, RemQueryInterface2Reply,
    RemQueryInterface2Request, RemQueryInterfaceReply, RemQueryInterfaceRequest, RemReleaseReply,
    RemReleaseRequest,
};
use com::dcom::resolver::{
    ComplexPingReply, ComplexPingRequest, IObjectExporter, ResolveOxid2Reply, ResolveOxid2Request,
    ResolveOxidReply, ResolveOxidRequest, ServerAlive2Reply, ServerAlive2Request, ServerAliveReply,
    ServerAliveRequest, SimplePingReply, SimplePingRequest,
};
use com::dcom::types::{
    AuthenticationService, Oid, Oxid, ProtocolSequence, ReferenceFlags, RemInterfaceRef, RemQiResult, SetId,
    StdObjref,
};
use com::dcom::wire::{DataElement, DualStringArray, ErrorInfo, Objref, ObjrefBody, SecurityBinding};
use rpc::ndr::{Conformant, InterfacePointer, Reserved};
use rpc::orpc::{ComVersion, OrpcExtent, OrpcThat, OrpcThis, reply_stub, request_stub};
use rpc::{Direction, Interface, Message};
use wire::{Guid, HResult, Win32Error, decode, encode_vec};

const CID: Guid = Guid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);
const IPID: Guid = Guid::from_u128(0x1112_1314_1516_1718_191a_1b1c_1d1e_1f20);
const IID: Guid = Guid::from_u128(0xb600_40e0_bcf3_11d1_861d_0080_c729_264d);
const CLASS: Guid = Guid::from_u128(0xecab_afb9_7f19_11d2_978e_0000_f875_7e2a);
const OXID: Oxid = Oxid(0x0123_4567_89ab_cdef);
const SUCCESS: Win32Error = Win32Error::ERROR_SUCCESS;
const OK: HResult = HResult::S_OK;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    if let Some(file) = std::env::args().nth(1) {
        for line in std::fs::read_to_string(file)?.lines() {
            let parts: Vec<&str> = line.split(' ').collect();
            let [name, direction, digits] = parts[..] else { return Err("three words are expected".into()) };
            print(
                name,
                direction,
                &recode(name, direction, &unhex(digits)?).map_err(|why| format!("{name}: {why}"))?,
            );
        }
        return Ok(());
    }
    resolver()?;
    activator()?;
    remote_unknown()?;
    structures()
}

fn print(name: &str, direction: &str, bytes: &[u8]) {
    let digits = bytes.iter().fold(String::new(), |mut digits, byte| {
        write!(digits, "{byte:02x}").expect("a String takes all that is written");
        digits
    });
    println!("{name} {direction} {digits}");
}

fn both(request: &impl Message, reply: &impl Message) -> Result<()> {
    let name = <&str>::clone(&request_name(request));
    print(name, "in", &request.to_stub()?);
    print(name, "out", &reply.to_stub()?);
    Ok(())
}

fn request_name<M: Message>(_: &M) -> &'static str {
    M::METHOD.name
}

fn bindings(port: &str) -> DualStringArray {
    // impacket does not find the end of an empty name; Samba does.
    let principal = if port.is_empty() { "RPCSS/web1" } else { "" };
    let security =
        [(AuthenticationService::WINNT, principal), (AuthenticationService::GSS_KERBEROS, "host/web1")];
    let security =
        security.map(|(service, principal)| SecurityBinding { service, principal: principal.to_owned() });
    let addresses = ["web1", "10.0.0.12"].map(|host| format!("{host}{port}"));
    DualStringArray::tcp(addresses, security.to_vec())
}

fn std_objref() -> StdObjref {
    StdObjref {
        flags: ReferenceFlags::NONE,
        public_refs: 5,
        oxid: OXID,
        oid: Oid(0xfedc_ba98_7654_3210),
        ipid: IPID,
    }
}

fn resolver() -> Result<()> {
    let protocols = || Conformant(vec![ProtocolSequence::TCP]);
    let bound = |port| Some(Box::new(bindings(port)));
    let (ipid_rem_unknown, authn_hint, version, status) = (IPID, 5, ComVersion::V5_7, SUCCESS);
    both(
        &ResolveOxidRequest { oxid: OXID, protocol_count: 1, protocols: protocols() },
        &ResolveOxidReply { bindings: bound("[49664]"), ipid_rem_unknown, authn_hint, status },
    )?;
    both(&SimplePingRequest { set_id: SetId(7) }, &SimplePingReply { status: Win32Error::OR_INVALID_SET })?;
    let add = Some(Box::new(Conformant(vec![Oid(1), Oid(2), Oid(0xfedc_ba98_7654_3210)])));
    both(
        &ComplexPingRequest {
            set_id: SetId(0),
            sequence: 1,
            add_count: 3,
            delete_count: 0,
            add,
            delete: None,
        },
        &ComplexPingReply { set_id: SetId(7), backoff: 2, status },
    )?;
    both(&ServerAliveRequest {}, &ServerAliveReply { status })?;
    both(
        &ResolveOxid2Request::tcp(OXID),
        &ResolveOxid2Reply { bindings: bound("[49664]"), ipid_rem_unknown, authn_hint, version, status },
    )?;
    let reserved = Reserved::NEW;
    both(&ServerAlive2Request {}, &ServerAlive2Reply { version, bindings: bound(""), reserved, status })
}

fn request() -> ActivationRequest {
    ActivationRequest {
        server_name: Some("web1".to_owned()),
        context: Some(CID),
        ..ActivationRequest::new(CLASS, vec![IID, IRemUnknown::SYNTAX_ID.uuid])
    }
}

fn activation() -> Activation {
    let exporter = ObjectExporter {
        oxid: OXID,
        bindings: bindings("[49664]"),
        ipid_rem_unknown: IPID,
        authn_hint: 5,
        version: ComVersion::V5_7,
    };
    let results = vec![
        (IID, Ok(Objref::standard(IID, std_objref(), bindings("")))),
        (IRemUnknown::SYNTAX_ID.uuid, Err(HResult::E_NOINTERFACE)),
    ];
    Activation { exporter, results }
}

fn activator() -> Result<()> {
    let this = || OrpcThis::new(ComVersion::V5_7, CID);
    let pointer = || -> Result<_> { Ok(Some(Box::new(request().to_pointer()?))) };
    let activated = || -> Result<_> { Ok(Some(Box::new(activation().to_pointer()?))) };
    both(
        &RemoteGetClassObjectRequest { this: this(), properties: pointer()? },
        &RemoteGetClassObjectReply { that: OrpcThat::default(), activated: activated()?, status: OK },
    )?;
    both(
        &RemoteCreateInstanceRequest { this: this(), outer: None, properties: pointer()? },
        &RemoteCreateInstanceReply { that: OrpcThat::default(), activated: activated()?, status: OK },
    )
}

fn remote_unknown() -> Result<()> {
    let this = OrpcThis::new(ComVersion::V5_7, CID);
    let that = OrpcThat::default();
    let refs = || {
        vec![RemInterfaceRef::public(IPID, 5), RemInterfaceRef { ipid: CID, public_refs: 1, private_refs: 2 }]
    };
    let query = RemQueryInterfaceRequest::new(IPID, 5, vec![IID, CLASS]).ok_or("too many")?;
    print("RemQueryInterface", "in", &request_stub(&this, &query)?);
    let results = vec![
        RemQiResult { result: OK, std: std_objref() },
        RemQiResult { result: HResult::E_NOINTERFACE, std: StdObjref::default() },
    ];
    let reply =
        RemQueryInterfaceReply { results: Some(Box::new(Conformant(results))), status: HResult::S_FALSE };
    print("RemQueryInterface", "out", &reply_stub(&that, &reply)?);
    let add = RemAddRefRequest::new(refs()).ok_or("too many")?;
    print("RemAddRef", "in", &request_stub(&this, &add)?);
    let reply = RemAddRefReply { results: Conformant(vec![OK, HResult::CO_E_OBJNOTREG]), status: OK };
    print("RemAddRef", "out", &reply_stub(&that, &reply)?);
    let release = RemReleaseRequest::new(refs()).ok_or("too many")?;
    print("RemRelease", "in", &request_stub(&this, &release)?);
    print("RemRelease", "out", &reply_stub(&that, &RemReleaseReply { status: OK })?);
    let query = RemQueryInterface2Request::new(IPID, vec![IID, CLASS]).ok_or("too many")?;
    print("RemQueryInterface2", "in", &request_stub(&this, &query)?);
    let pointer = Objref::standard(IID, std_objref(), bindings("")).to_pointer()?;
    let reply = RemQueryInterface2Reply {
        results: Conformant(vec![OK, HResult::E_NOINTERFACE]),
        pointers: Conformant(vec![Some(Box::new(pointer)), None]),
        status: OK,
    };
    print("RemQueryInterface2", "out", &reply_stub(&that, &reply)?);
    Ok(())
}

fn structures() -> Result<()> {
    let (std, resolver) = (std_objref(), bindings(""));
    let handler = ObjrefBody::Handler { std, clsid: CLASS, resolver: resolver.clone() };
    let context = DataElement { id: CID, data: b"a context"[..].into() };
    let extended = ObjrefBody::Extended { std, resolver: resolver.clone(), context };
    print("OBJREF_STANDARD", "struct", &encode_vec(&Objref::standard(IID, std, resolver.clone()))?);
    print("OBJREF_HANDLER", "struct", &encode_vec(&Objref { iid: IID, body: handler })?);
    print("OBJREF_CUSTOM", "struct", &encode_vec(&Objref::custom(IID, CLASS, &b"seven b"[..]))?);
    print("OBJREF_EXTENDED", "struct", &encode_vec(&Objref { iid: IID, body: extended })?);
    print("DUALSTRINGARRAY", "struct", &encode_vec(&resolver)?);
    let info =
        ErrorInfo { iid: IID, description: Some("No such application".to_owned()), ..ErrorInfo::default() };
    let extents =
        vec![info.to_extent()?, OrpcExtent::new(CLASS, b"twelve bytes")?, OrpcExtent::new(CID, b"")?];
    let that = OrpcThat::with_extents(extents)?;
    print("ORPCTHAT", "struct", &reply_stub(&that, &RemReleaseReply { status: HResult::E_FAIL })?);
    Ok(())
}

/// Reads what has that name, and writes it again.
fn recode(name: &str, direction: &str, bytes: &[u8]) -> Result<Vec<u8>> {
    if let Some(method) = name.strip_prefix("OBJREF_") {
        let objref: Objref<'_> = decode(bytes)?;
        let is_of_name = match objref.body {
            ObjrefBody::Standard { .. } => method == "STANDARD",
            ObjrefBody::Handler { .. } => method == "HANDLER",
            ObjrefBody::Custom { .. } => method == "CUSTOM",
            ObjrefBody::Extended { .. } => method == "EXTENDED",
        };
        return if is_of_name { Ok(encode_vec(&objref)?) } else { Err("another form".into()) };
    }
    match name {
        "DUALSTRINGARRAY" => Ok(encode_vec(&decode::<DualStringArray>(bytes)?)?),
        "ORPCTHAT" => stub::<IRemUnknown>("RemRelease", "out", bytes),
        "ActivationRequest" | "Activation" => {
            let size = u32::try_from(bytes.len())?;
            let pointer = InterfacePointer { size, data: bytes.into() };
            let pointer = match name {
                "Activation" => Activation::from_pointer(&pointer)?.to_pointer()?,
                _ => ActivationRequest::from_pointer(&pointer)?.to_pointer()?,
            };
            Ok(pointer.data.into_owned())
        }
        _ => {
            let interfaces = [
                stub::<IObjectExporter>,
                stub::<IRemoteSCMActivator>,
                stub::<IRemUnknown2>,
                stub::<IRemUnknown>,
            ];
            let mut errors = String::new();
            for stub in interfaces {
                match stub(name, direction, bytes) {
                    Ok(bytes) => return Ok(bytes),
                    Err(error) => write!(errors, "{error}; ")?,
                }
            }
            Err(errors.into())
        }
    }
}

fn stub<I: Interface>(name: &str, direction: &str, bytes: &[u8]) -> Result<Vec<u8>> {
    let method = I::METHODS.iter().find(|method| method.name == name).ok_or("no such method")?;
    let direction = if direction == "in" { Direction::Request } else { Direction::Reply };
    Ok(I::recode(direction, method.opnum, bytes).ok_or("no such method")???)
}

fn unhex(digits: &str) -> Result<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?)).collect()
}
