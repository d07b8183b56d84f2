//! The machine's resolver.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::credentials::Resolver;

const TIMEOUT: Duration = Duration::from_secs(5);
/// Lookups at a time of each [`Lookups`]. The system's resolver keeps a thread for as long as a name server is silent,
/// which may be much longer than anybody waits: it must not take the threads that other work needs.
pub(super) const LOOKUPS_MAX: usize = 16;

/// Finds the addresses of names, so many at a time.
#[derive(Clone)]
pub(super) struct Lookups {
    places: Arc<Semaphore>,
    look: Arc<Look>,
}

type Look = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

impl Default for Lookups {
    fn default() -> Self {
        Self::by(by_system)
    }
}

impl Lookups {
    fn by(look: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static) -> Self {
        Self { places: Arc::new(Semaphore::new(LOOKUPS_MAX)), look: Arc::new(look) }
    }

    /// The addresses of a name; none where it has none, or they are not found in time.
    pub(super) async fn find(&self, host: &str) -> Vec<IpAddr> {
        let (host, places, look) = (host.to_owned(), Arc::clone(&self.places), Arc::clone(&self.look));
        let found = async move {
            let place = places.acquire_owned().await.ok()?;
            let looking = move || {
                // Kept until the resolver answers, whoever still waits for that.
                let _place = place;
                look(&host)
            };
            tokio::task::spawn_blocking(looking).await.ok()?.ok()
        };
        tokio::time::timeout(TIMEOUT, found).await.ok().flatten().unwrap_or_default()
    }
}

fn by_system(host: &str) -> io::Result<Vec<IpAddr>> {
    Ok((host, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
}

/// Resolves names for who lends secrets.
pub(super) struct SystemResolver {
    runtime: Handle,
    lookups: Lookups,
}

impl SystemResolver {
    pub(super) fn new(runtime: Handle) -> Self {
        Self { runtime, lookups: Lookups::default() }
    }
}

impl Resolver for SystemResolver {
    fn resolve(&self, host: &str, done: Box<dyn FnOnce(Vec<IpAddr>) + Send>) {
        let (host, lookups) = (host.to_owned(), self.lookups.clone());
        self.runtime.spawn(async move { done(lookups.find(&host).await) });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, mpsc};

    use super::*;

    #[test]
    fn a_name_server_that_is_silent_takes_no_thread_that_others_need() {
        let threads = tokio::runtime::Builder::new_multi_thread()
            .max_blocking_threads(LOOKUPS_MAX + 1)
            .enable_time()
            .build();
        let runtime = threads.unwrap();
        let (looking, looked) = mpsc::channel();
        let (silence, answer) = mpsc::channel::<()>();
        let answer = Mutex::new(answer);
        let lookups = Lookups::by(move |_| {
            looking.send(()).unwrap();
            // All of them, when the other end goes.
            let _ = answer.lock().unwrap().recv();
            Ok(Vec::new())
        });
        for _ in 0..2 * LOOKUPS_MAX {
            let lookups = lookups.clone();
            runtime.spawn(async move { lookups.find("silent.example").await });
        }
        for _ in 0..LOOKUPS_MAX {
            looked.recv().unwrap();
        }
        let (done, other) = mpsc::channel();
        runtime.spawn_blocking(move || done.send(7));
        assert_eq!(other.recv_timeout(2 * TIMEOUT), Ok(7));
        drop(silence);
        drop(runtime);
    }
}
