//! Files that are mapped into memory, and what keeps a process alive if somebody cuts one short.

mod file;
mod ranges;
mod sigbus;

pub(crate) use self::file::CreateError;
pub use self::file::MappedFile;
pub use self::sigbus::SigbusGuard;
