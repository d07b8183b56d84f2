//! Performance counters over the wire: the Performance Counter Query Protocol ([`pcq`]), the remote registry ([`rrp`]) whose
//! performance data are the classic counters, and what it answers with ([`perflib_v1`]).

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod pcq;
pub mod perflib_v1;
pub mod rrp;
