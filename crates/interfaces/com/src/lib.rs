//! COM over the wire: typed stubs for both sides of DCOM's own interfaces ([`dcom`]) and of OLE Automation ([`oaut`]), and
//! of what COM+ offers over them: the tracker ([`comt`]) and the event system ([`comev`]).

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod comev;
pub mod comt;
pub mod dcom;
pub mod oaut;
