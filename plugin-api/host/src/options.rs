//! What a host is made of.

use std::sync::Arc;

use plugin_abi::ABI_MINOR;
use plugin_contract::{CredentialBroker, LibraryLog, ListeningSockets, NoCredentials, NoSockets};

use crate::limits::Limits;
use crate::trial::Trial;

/// What a host is made of.
#[derive(Clone)]
pub struct HostOptions {
    /// The limits of every library.
    pub limits: Limits,
    /// Keeps the secrets.
    pub broker: Arc<dyn CredentialBroker>,
    /// Keeps the sockets that were opened for plugins; none by default.
    pub sockets: Arc<dyn ListeningSockets>,
    /// Takes log records that are about no instance; by default they go to `tracing`.
    pub log: Option<Arc<dyn LibraryLog>>,
    /// How many threads a library's run time should have.
    pub worker_threads: u32,
    /// The program's name and version, for the plugin's log.
    pub program: String,
    /// The monotonic clock in nanoseconds; tests hand in their own.
    pub clock: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// How libraries are tried before they are loaded; not at all by default.
    pub trial: Option<Trial>,
    /// The minor version that the host says it speaks; tests of compatibility say another.
    pub abi_minor: u16,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            broker: Arc::new(NoCredentials),
            sockets: Arc::new(NoSockets),
            log: None,
            worker_threads: 2,
            program: concat!("perfmon-exporter ", env!("CARGO_PKG_VERSION")).to_owned(),
            clock: Arc::new(crate::monotonic_ns),
            trial: None,
            abi_minor: ABI_MINOR,
        }
    }
}
