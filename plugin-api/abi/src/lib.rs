//! The interface between plugins and the exporter.
//!
//! [`raw`] is the C header. The other types are what it means, once for both sides: `plugin-sdk` gives them to the authors of
//! plugins and writes them as the header wants, `plugin-host` reads and checks what arrives, and the exporter implements
//! [`DataSink`] and [`Notices`] once an instance and [`CredentialBroker`] once a process. What arrives there is valid: strings are UTF-8
//! within the limits, columns have one length, ids were assigned before, enum values are known. Nothing in a sink may
//! block: the caller is a thread of the plugin.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod credential;
mod event;
mod failure;
mod family;
mod problem;
pub mod raw;
mod reason;
mod setting;
mod sink;

pub use self::credential::{
    CredentialAnswer, CredentialBroker, CredentialKind, CredentialRequest, CredentialVerdict, Lease, LeaseId,
    NoCredentials, Secret, Waiter,
};
pub use self::event::{Alert, AlertState, Attribute, Comparison, Evaluation, Event, Level, NoRoom};
pub use self::failure::{DeclaredReason, Failure, FailureOf, Reason};
pub use self::family::{
    Display, DisplayRule, DropReason, FamilyDef, FamilyId, FamilyKey, Kind, RESERVED_NAMESPACES, SeriesDef,
    SeriesId, Start, ValueKind, Verdict,
};
pub use self::problem::{Problem, Selects};
pub use self::reason::{GeneralReason, Stage};
pub use self::setting::{SettingInfo, SettingKind, SettingsSchema, TransportInfo};
pub use self::sink::{
    Batch, BatchOutcome, CollectionId, Column, Completion, DataSink, HistogramBatch, LibraryLog, Notices,
    Outcome, Sinks, StageReport,
};
use std::io;
use std::os::fd::OwnedFd;

/// Which target an instance is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetInfo {
    /// The target's unique name in the exporter.
    pub name: String,
    /// Host name or address.
    pub host: String,
    /// The port, if it is configured.
    pub port: Option<u16>,
    /// The name of the identity to use; empty for none.
    pub identity: String,
    /// The service principal that is configured. It goes to the plugin with a lease.
    pub service_principal: Option<String>,
}

/// Keeps listening sockets for plugins. The exporter implements it.
pub trait ListeningSockets: Send + Sync {
    /// Another descriptor, close-on-exec and non-blocking, of the plugin's socket with this name; `None` if it has
    /// none.
    ///
    /// # Errors If there are no descriptors left.
    fn socket(&self, plugin: &str, name: &str) -> io::Result<Option<OwnedFd>>;
}

#[derive(Clone, Copy, Debug, Default)]
pub struct NoSockets;

impl ListeningSockets for NoSockets {
    fn socket(&self, _plugin: &str, _name: &str) -> io::Result<Option<OwnedFd>> {
        Ok(None)
    }
}
