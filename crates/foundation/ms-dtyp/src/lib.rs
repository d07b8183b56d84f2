//! Windows data types of [MS-DTYP] and the error codes of [MS-ERREF].
//!
//! Four kinds of result live side by side in these protocols and are four types here, converted by name only:
//! [`Win32Error`] (a method's return value), [`HResult`] (COM), [`NtStatus`] (SMB), and the fault status of an
//! RPC PDU, which `dcerpc` owns. All of them are open: a value without a name survives a round trip and prints
//! as its number.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod guid;
mod hresult;
mod open_enum;
mod sid;
mod status;
mod time;

pub use self::guid::{Guid, ParseGuidError};
pub use self::hresult::HResult;
pub use self::sid::Sid;
pub use self::status::{NtStatus, Win32Error};
pub use self::time::{FileTime, SystemTime};
