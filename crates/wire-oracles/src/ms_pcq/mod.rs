//! Laws of `ms-pcq`.

mod calls;
mod data;
mod lists;
mod service;

pub use self::calls::{requests, responses};
pub use self::data::query_data;
pub use self::lists::lists;
pub(crate) use self::service::{HANDLE, SET, Service};
