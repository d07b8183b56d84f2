//! What every RPC server offers about itself: the endpoint mapper ([`epm`]), which knows where the interfaces of a host are,
//! and remote management ([`mgmt`]).

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod epm;
pub mod mgmt;
