//! The options of a host.

use std::sync::Arc;

use plugin_abi::raw::ABI_MINOR;
use plugin_abi::{CredentialBroker, LibraryLog, ListeningSockets, NoCredentials, NoSockets};

use crate::cells::CellFiles;
use crate::limits::Limits;
use crate::trial::Trial;

/// The options of a host.
#[derive(Clone)]
pub struct HostOptions {
    /// The limits of every library.
    pub limits: Limits,
    pub broker: Arc<dyn CredentialBroker>,
    /// Keeps the sockets that were opened for plugins; none by default.
    pub sockets: Arc<dyn ListeningSockets>,
    /// Where libraries keep the state of their RPC run time; nowhere by default.
    pub cells: Option<Arc<CellFiles>>,
    /// Receives log records that belong to no instance; by default they go to `tracing`.
    pub log: Option<Arc<dyn LibraryLog>>,
    /// How many threads a library's runtime should have.
    pub worker_threads: u32,
    /// The program's name and version, for the plugin's log.
    pub program: String,
    /// The monotonic clock in nanoseconds; tests hand in their own.
    pub clock: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// How libraries are tested before they are loaded; `None` by default.
    pub trial: Option<Trial>,
    /// The minor version that the host declares; tests of compatibility change it.
    pub abi_minor: u16,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            broker: Arc::new(NoCredentials),
            sockets: Arc::new(NoSockets),
            cells: None,
            log: None,
            worker_threads: 2,
            program: concat!("perfmon-exporter ", env!("CARGO_PKG_VERSION")).to_owned(),
            clock: Arc::new(crate::monotonic_ns),
            trial: None,
            abi_minor: ABI_MINOR,
        }
    }
}
