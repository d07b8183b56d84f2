use std::net::IpAddr;
use std::time::Duration;

use tokio::runtime::Handle;

use crate::credentials::Resolver;

const TIMEOUT: Duration = Duration::from_secs(5);

/// The machine's resolver, on the process's run time.
pub(super) struct SystemResolver(pub(super) Handle);

impl Resolver for SystemResolver {
    fn resolve(&self, host: &str, done: Box<dyn FnOnce(Vec<IpAddr>) + Send>) {
        let host = host.to_owned();
        self.0.spawn(async move {
            let found = tokio::time::timeout(TIMEOUT, tokio::net::lookup_host((host.as_str(), 0))).await;
            let addresses = match found {
                Ok(Ok(addresses)) => addresses.map(|address| address.ip()).collect(),
                Ok(Err(_)) | Err(_) => Vec::new(),
            };
            done(addresses);
        });
    }
}
