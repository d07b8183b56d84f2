//! Hosts to test with.

use std::sync::Arc;

use ssp::{Credentials, Secret};
use windows_sim::model::{Clock, Host, HostOptions, ValueSource};
use windows_sim::{Account, Accounts, WindowsHost};
use wire::FileTime;

/// The time is 2026-11-01T12:00:00Z.
pub(crate) const NOON: FileTime = FileTime(134_379_216_000_000_000);

pub(crate) fn model(clock: &Clock) -> Host {
    Host::new(HostOptions { seed: 7, clock: clock.clone(), ..HostOptions::default() })
}

/// A healthy host at noon with one account, whose credentials are [`credentials`].
pub(crate) fn host() -> Arc<WindowsHost> {
    host_of(Arc::new(model(&Clock::manual(NOON))))
}

/// The same with values from elsewhere.
pub(crate) fn host_of(source: Arc<dyn ValueSource>) -> Arc<WindowsHost> {
    Arc::new(WindowsHost::new("web1", source, Arc::new(Accounts::new(vec![account()]))))
}

pub(crate) fn account() -> Account {
    Account::new("CORP", "svc-metrics", Secret::new("Passw0rd!"))
}

pub(crate) fn credentials() -> Credentials {
    Credentials::new("CORP", "svc-metrics", Secret::new("Passw0rd!"))
}
