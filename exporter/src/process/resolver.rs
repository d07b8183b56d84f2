//! Name lookups for checks before data is sent to a host.

use std::net::IpAddr;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;
use transport::resolver::{LookupError, Resolver as Names};

use crate::credentials::{Resolved, Resolver};

const TIMEOUT: Duration = Duration::from_secs(5);

/// Finds the addresses of names. Clones share look-ups and their limit.
#[derive(Clone, Debug, Default)]
pub(super) struct Lookups(Names);

impl Lookups {
    /// Those that go by other files than this machine's.
    #[cfg(test)]
    pub(super) fn by(names: Names) -> Self {
        Self(names)
    }

    /// The addresses of a name; never none. Gives up at `deadline`, or earlier.
    pub(super) async fn find(&self, host: &str, deadline: Instant) -> Result<Vec<IpAddr>, LookupError> {
        self.0.lookup(host, deadline.min(Instant::now() + TIMEOUT)).await
    }
}

/// Resolves names for the broker.
pub(super) struct SystemResolver {
    runtime: Handle,
    lookups: Lookups,
}

impl SystemResolver {
    pub(super) fn new(runtime: Handle, lookups: Lookups) -> Self {
        Self { runtime, lookups }
    }
}

impl Resolver for SystemResolver {
    fn resolve(&self, host: &str, done: Box<dyn FnOnce(Resolved) + Send>) {
        let (host, lookups) = (host.to_owned(), self.lookups.clone());
        self.runtime.spawn(async move {
            let found = lookups.find(&host, Instant::now() + TIMEOUT).await;
            done(found.map_err(|error| error.to_string()));
        });
    }
}
