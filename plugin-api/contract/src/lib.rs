//! The interface between the exporter and its plugin host: the checked data of plugins, and the traits that receive
//! it.
//!
//! The exporter implements [`InstanceSink`] once per instance and [`CredentialBroker`] once per process; the host
//! of the plugins calls them. Everything that arrives is valid: strings are UTF-8 within the limits, columns have
//! one length, ids were assigned before, enum values are known. Nothing here may block: the caller is a thread of
//! the plugin.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod batch;
mod completion;
mod credential;
mod event;
mod failure;
mod family;
mod histogram;
mod setting;
mod sink;
mod socket;
mod target;

pub use plugin_abi::{Display, DisplayRule, GeneralReason, Stage};

pub use self::batch::{Batch, BatchOutcome, Column};
pub use self::completion::{CollectionId, Completion, Outcome, StageReport};
pub use self::credential::{
    CredentialAnswer, CredentialBroker, CredentialKind, CredentialRequest, CredentialVerdict, Lease, LeaseId,
    NoCredentials, Secret, Waiter,
};
pub use self::event::{Alert, AlertState, Event, Level};
pub use self::failure::{DeclaredReason, Failure, Reason};
pub use self::family::{
    DropReason, FamilyDef, Kind, RESERVED_NAMESPACES, SeriesDef, StartTimeKind, ValueKind, Verdict,
};
pub use self::histogram::HistogramBatch;
pub use self::setting::{SettingInfo, SettingKind, SettingsSchema, TransportInfo};
pub use self::sink::{InstanceSink, LibraryLog};
pub use self::socket::{ListeningSockets, NoSockets};
pub use self::target::TargetInfo;
