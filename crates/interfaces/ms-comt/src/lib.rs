//! The COM+ Tracker Service Protocol [MS-COMT], client and server, without I/O: which COM+ applications a host runs,
//! with which components, and how their calls fare.
//!
//! A client either polls or gets events. An event is the state of the whole host, marshalled into one buffer; [`tracking`]
//! reads and writes it. It arrives in a call of the host, which may carry no authentication: all of its bytes are
//! untrusted.
//!
//! Where to look: [`ids`] for classes and interfaces, [`tracking`] for events.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod ids;
pub mod tracking;
