//! The structures of [MS-SMB2] 2.2, one a file.

mod file_id;

pub use self::file_id::FileId;
