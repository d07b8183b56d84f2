//! Laws of `counters::pcq`.

mod blocks;
mod calls;
mod conversation;
mod data;
mod lists;
mod plain;
mod service;

pub use self::blocks::blocks;
pub use self::calls::{requests, responses};
pub(crate) use self::conversation::honest_conversation;
pub use self::conversation::{conversation, registration};
pub use self::data::query_data;
pub use self::lists::lists;
pub(crate) use self::service::{HANDLE, SET, Service};
