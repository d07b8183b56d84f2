//! What every RPC server offers about itself: the endpoint mapper ([`epm`]), which knows where the interfaces of a host are,
//! and remote management ([`mgmt`]).

pub mod epm;
pub mod mgmt;
