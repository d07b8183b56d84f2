//! Prints stubs of the event system and of OLE Automation, for readers that are not ours. Each line has the name of a method, a direction
//! and bytes in hexadecimal digits; after a colon the name says which of several stubs of one method it is.
//!
//! `cargo run -p com --example com_plus_stubs`
//!
//! With the name of a file that has such lines it reads each and prints it as these crates write it.

use std::error::Error;
use std::fmt::Write;

use com::comev::subscription::{
    GetPublisherPropertyReply, PutPublisherPropertyRequest, PutSubscriberInterfaceRequest,
    PutSubscriptionIdRequest,
};
use com::comev::{
    GetItemReply, IEnumEventObject, IEventObjectCollection, IEventSubscription, IEventSystem, NextItemsReply,
    QueryReply, QueryRequest, RemoveRequest, StoreRequest, prog_id,
};
use com::oaut::{
    Bstr, Currency, Date, Decimal, DispParams, GetIdsOfNamesReply, GetIdsOfNamesRequest, IDispatch,
    InvokeRequest, Value, Variant, VariantBool,
};
use rpc::ndr::{Conformant, ConformantVarying, InterfacePointer, WideString};
use rpc::orpc::{ComVersion, OrpcThat, OrpcThis, reply_stub, request_stub};
use rpc::{Direction, Interface, Message, Request};
use wire::{Guid, HResult};

const CID: Guid = Guid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    if let Some(file) = std::env::args().nth(1) {
        for line in std::fs::read_to_string(file)?.lines() {
            let parts: Vec<&str> = line.split(' ').collect();
            let [name, direction, digits] = parts[..] else { return Err("three words are expected".into()) };
            print(name, direction, &recode(name, direction, &unhex(digits)?)?);
        }
        return Ok(());
    }
    event_system()?;
    dispatch()?;
    for (name, value) in values()? {
        let variant = Some(Box::new(Variant::new(value)?));
        let request = PutPublisherPropertyRequest { name: Bstr::new("Name")?, value: variant.clone() };
        input("IEventSubscription", name, &request)?;
        output(
            "IEventSubscription",
            name,
            &GetPublisherPropertyReply { value: variant, status: HResult::S_OK },
        )?;
    }
    Ok(())
}

fn event_system() -> Result<()> {
    let (name, status) = ("IEventSystem", HResult::S_OK);
    let criteria = || Bstr::new("SubscriptionID={01020304-0506-0708-090A-0B0C0D0E0F10}");
    let prog_id = || Bstr::new(prog_id::EVENT_SUBSCRIPTION_COLLECTION);
    let object = object();
    input(name, "", &QueryRequest { prog_id: prog_id()?, criteria: criteria()? })?;
    output(name, "", &QueryReply { error_index: 7, collection: object.clone(), status })?;
    input(
        name,
        "",
        &StoreRequest { prog_id: Bstr::new(prog_id::EVENT_SUBSCRIPTION)?, object: object.clone() },
    )?;
    input(name, "", &RemoveRequest { prog_id: prog_id()?, criteria: criteria()? })?;
    let name = "IEventSubscription";
    input(
        name,
        "",
        &PutSubscriptionIdRequest { value: Bstr::new("{01020304-0506-0708-090A-0B0C0D0E0F10}")? },
    )?;
    input(name, "", &PutSubscriberInterfaceRequest { value: object.clone() })?;
    let item = Some(Box::new(Variant::new(Value::Unknown(object.clone()))?));
    output("IEventObjectCollection", "", &GetItemReply { item, status })?;
    let items = ConformantVarying { max_count: 2, elements: vec![object] };
    output("IEnumEventObject", "", &NextItemsReply { items, count: 1, status: HResult::S_FALSE })
}

fn dispatch() -> Result<()> {
    let names = Conformant(vec![Some(Box::new(WideString("Name".to_owned())))]);
    input("IDispatch", "", &GetIdsOfNamesRequest { iid: Guid::NULL, names, count: 1, lcid: 0x409 })?;
    output("IDispatch", "", &GetIdsOfNamesReply { ids: Conformant(vec![7]), status: HResult::S_OK })?;
    let arguments = [Value::Bstr(Bstr::new("web1")?), Value::I4(7)].map(Variant::new);
    let arguments = arguments.into_iter().map(|variant| variant.map(|variant| Some(Box::new(variant))));
    let params = DispParams {
        arguments: Some(Box::new(Conformant(arguments.collect::<std::result::Result<_, _>>()?))),
        names: None,
        count: 2,
        named_count: 0,
    };
    let request = InvokeRequest {
        member: 7,
        iid: Guid::NULL,
        lcid: 0x409,
        flags: 1,
        params,
        count: 0,
        indexes: Conformant(Vec::new()),
        references: Conformant(Vec::new()),
    };
    input("IDispatch", "", &request)
}

fn values() -> Result<Vec<(&'static str, Value<'static>)>> {
    let decimal = Decimal { reserved: 0, scale: 2, sign: 0x80, high: 1, low: 2 };
    Ok(vec![
        ("EMPTY", Value::Empty),
        ("NULL", Value::Null),
        ("I2", Value::I2(-2)),
        ("I4", Value::I4(-4)),
        ("R4", Value::R4(0.5)),
        ("R8", Value::R8(0.25)),
        ("CY", Value::Currency(Currency(52_500))),
        ("DATE", Value::Date(Date(5.25))),
        ("BSTR", Value::Bstr(Bstr::new("Größe")?)),
        ("ERROR", Value::Error(HResult::S_FALSE)),
        ("BOOL", Value::Bool(VariantBool::TRUE)),
        ("DECIMAL", Value::Decimal(decimal)),
        ("UNKNOWN", Value::Unknown(object())),
        ("DISPATCH", Value::Dispatch(object())),
        ("UI2", Value::Ui2(2)),
        ("UI4", Value::Ui4(4)),
        ("I8", Value::I8(-8)),
        ("UI8", Value::Ui8(8)),
        ("INT", Value::Int(-3)),
        ("UINT", Value::Uint(3)),
        ("I2_BYREF", Value::I2Ref(Some(Box::new(-2)))),
        ("I4_BYREF", Value::I4Ref(Some(Box::new(-4)))),
        ("R8_BYREF", Value::R8Ref(Some(Box::new(0.25)))),
        ("I8_BYREF", Value::I8Ref(Some(Box::new(-8)))),
        ("BSTR_BYREF", Value::BstrRef(Some(Box::new(Bstr::new("web1")?)))),
        ("UNKNOWN_BYREF", Value::UnknownRef(Some(Box::new(object())))),
    ])
}

fn object() -> Option<Box<InterfacePointer<'static>>> {
    Some(Box::new(InterfacePointer { size: 7, data: b"seven b"[..].into() }))
}

fn name_of<M: Message>(interface: &str, which: &str) -> String {
    let colon = if which.is_empty() { "" } else { ":" };
    format!("{interface}_{}{colon}{which}", M::METHOD.name)
}

fn input<R: Request>(interface: &str, which: &str, request: &R) -> Result<()> {
    let this = OrpcThis::new(ComVersion::V5_7, CID);
    print(&name_of::<R>(interface, which), "in", &request_stub(&this, request)?);
    Ok(())
}

fn output<M: Message>(interface: &str, which: &str, reply: &M) -> Result<()> {
    print(&name_of::<M>(interface, which), "out", &reply_stub(&OrpcThat::default(), reply)?);
    Ok(())
}

fn print(name: &str, direction: &str, bytes: &[u8]) {
    let digits = bytes.iter().fold(String::new(), |mut digits, byte| {
        write!(digits, "{byte:02x}").expect("a String takes all that is written");
        digits
    });
    println!("{name} {direction} {digits}");
}

fn recode(name: &str, direction: &str, stub: &[u8]) -> Result<Vec<u8>> {
    let method = name.split(':').next().unwrap_or(name);
    let direction = if direction == "in" { Direction::Request } else { Direction::Reply };
    let recoded = of::<IDispatch>(method, direction, stub)
        .or_else(|| of::<IEventSystem>(method, direction, stub))
        .or_else(|| of::<IEventSubscription>(method, direction, stub))
        .or_else(|| of::<IEventObjectCollection>(method, direction, stub))
        .or_else(|| of::<IEnumEventObject>(method, direction, stub));
    recoded.ok_or("no such method")?.map_err(|why| format!("{name}: {why}").into())
}

/// What an interface makes of a stub of its own; `None` if the method is another's.
fn of<I: Interface>(method: &str, direction: Direction, stub: &[u8]) -> Option<Result<Vec<u8>>> {
    let name = method.strip_prefix(I::NAME)?.strip_prefix('_')?;
    let opnum = I::METHODS.iter().find(|method| method.name == name)?.opnum;
    Some(match I::recode(direction, opnum, stub)? {
        Ok(written) => written.map_err(Into::into),
        Err(error) => Err(error.into()),
    })
}

fn unhex(digits: &str) -> Result<Vec<u8>> {
    let byte = |at| Ok(u8::from_str_radix(digits.get(at..at + 2).ok_or("an odd number of digits")?, 16)?);
    (0..digits.len()).step_by(2).map(byte).collect()
}
