//! Prints a stub of each method of the remote registry that is declared, for readers that are not ours: the method's name,
//! `in` or `out`, and the bytes in hexadecimal digits.
//!
//! `cargo run -p counters --example winreg_stubs`

use std::error::Error;

use counters::rrp::types::{AccessMask, KeyHandle, Room, UnicodeString, ValueType};
use counters::rrp::winreg::{
    CloseRegistryKeyReply, CloseRegistryKeyRequest, EnumerateRegistryKeyReply, EnumerateRegistryKeyRequest,
    EnumerateRegistryValueRequest, OpenLocalMachineReply, OpenLocalMachineRequest, OpenPerformanceDataReply,
    OpenPerformanceDataRequest, OpenRegistryKeyReply, OpenRegistryKeyRequest, QueryInfoOfRegistryKeyReply,
    QueryInfoOfRegistryKeyRequest, QueryRegistryValueRequest, Winreg,
};
use rpc::ndr::ConformantVaryingBytes;
use rpc::{Interface, Message, Request};
use wire::{FileTime, Guid, Win32Error};

const KEY: KeyHandle =
    KeyHandle { attributes: 0, uuid: Guid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10) };
const SUCCESS: Win32Error = Win32Error::ERROR_SUCCESS;

fn main() -> Result<(), Box<dyn Error>> {
    let (sub_key, sam_desired) = (UnicodeString::new(r"SOFTWARE\Perflib"), AccessMask::KEY_READ);
    let class = || Some(Box::new(UnicodeString::with_room(128)));
    let name = UnicodeString::with_room(1024);
    let last_write_time = Some(Box::new(FileTime(0x01dc_0000_0000_0000)));
    let enumerate = EnumerateRegistryKeyRequest { key: KEY, index: 3, name, class: class(), last_write_time };
    let info = QueryInfoOfRegistryKeyRequest { key: KEY, class_room: Room::new(512) };
    let counted = QueryInfoOfRegistryKeyReply {
        sub_keys: 7,
        sub_key_bytes_max: 76,
        values: 5,
        ..info.refused(SUCCESS)
    };
    let named = EnumerateRegistryKeyReply {
        name: UnicodeString::new("Print"),
        class: class(),
        last_write_time: Some(Box::new(FileTime(0x01dc_0000_0000_0000))),
        status: SUCCESS,
    };
    print("in", &OpenLocalMachineRequest { server_name: Some(Box::new(0x5c)), sam_desired })?;
    print("out", &OpenLocalMachineReply { key: KEY, status: SUCCESS })?;
    print("in", &CloseRegistryKeyRequest { key: KEY })?;
    print("out", &CloseRegistryKeyReply { key: KeyHandle::NULL, status: SUCCESS })?;
    print("in", &enumerate)?;
    print("out", &named)?;
    print("in", &OpenRegistryKeyRequest { key: KEY, sub_key, options: 0, sam_desired })?;
    print("out", &OpenRegistryKeyReply { opened: KEY, status: Win32Error::ERROR_FILE_NOT_FOUND })?;
    print("in", &info)?;
    print("out", &counted)?;
    print("in", &OpenPerformanceDataRequest { server_name: None, sam_desired })?;
    print("out", &OpenPerformanceDataReply { key: KEY, status: SUCCESS })?;
    let name = UnicodeString::with_room(64);
    let data = || Some(Box::new(ConformantVaryingBytes { max_count: 8, bytes: (&[][..]).into() }));
    let enumerate = EnumerateRegistryValueRequest {
        key: KEY,
        index: 3,
        name,
        value_type: Some(Box::new(ValueType::REG_NONE)),
        data: data(),
        size: Some(Box::new(8)),
        length: Some(Box::new(0)),
    };
    print("in", &enumerate)?;
    print("out", &enumerate.answer("Start", ValueType::REG_DWORD, vec![2, 0, 0, 0]))?;
    let query = QueryRegistryValueRequest {
        key: KEY,
        name: UnicodeString::new("2 238"),
        value_type: Some(Box::new(ValueType::REG_NONE)),
        data: data(),
        size: Some(Box::new(8)),
        length: Some(Box::new(0)),
    };
    print("in", &query)?;
    print("out", &query.answer(ValueType::REG_BINARY, b"P\0E\0R\0F\0".to_vec()))?;
    eprintln!("{} methods", Winreg::METHODS.len());
    Ok(())
}

fn print<M: Message>(direction: &str, message: &M) -> Result<(), Box<dyn Error>> {
    let stub = message.to_stub().map_err(|error| error.to_string())?;
    let digits: String = stub.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("{} {direction} {digits}", M::METHOD.name);
    Ok(())
}
