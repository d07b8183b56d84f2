use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use plugin_abi::Waiter;

use super::clock::Clock;

/// How long a resolved name is cached.
const FRESH: Duration = Duration::from_secs(10);
/// When this number of names is cached, expired ones are removed.
const NAMES_MAX: usize = 4096;

/// The addresses of a name, at least one; or the reason why there is none.
pub type Resolved = Result<Vec<IpAddr>, String>;

/// Resolves names without blocking the caller.
pub trait Resolver: Send + Sync {
    /// Starts to resolve `host` and calls `done` from any thread.
    fn resolve(&self, host: &str, done: Box<dyn FnOnce(Resolved) + Send>);
}

/// The addresses of names that networks of `allow_hosts` are asked about.
pub(super) struct AddressBook {
    resolver: Arc<dyn Resolver>,
    clock: Arc<dyn Clock>,
    names: Arc<Mutex<HashMap<String, Addresses>>>,
}

#[derive(Default)]
struct Addresses {
    /// What was found, and when; nothing before the first answer.
    found: Option<(Resolved, Instant)>,
    waiters: Vec<Waiter>,
}

impl AddressBook {
    pub(super) fn new(resolver: Arc<dyn Resolver>, clock: Arc<dyn Clock>) -> Self {
        Self { resolver, clock, names: Arc::default() }
    }

    /// The addresses of a name, if they are known now; else they are being looked up and `waiter` is woken.
    pub(super) fn find(&self, host: &str, waiter: &Waiter, now: Instant) -> Option<Resolved> {
        let key = host.to_lowercase();
        let mut names = self.names.lock();
        let is_fresh = |(_, at): &(Resolved, Instant)| now.saturating_duration_since(*at) < FRESH;
        if names.len() >= NAMES_MAX && !names.contains_key(&key) {
            names.retain(|_, known| !known.waiters.is_empty() || known.found.as_ref().is_some_and(is_fresh));
        }
        let entry = names.entry(key.clone()).or_default();
        if let Some(found) = entry.found.as_ref().filter(|found| is_fresh(found)) {
            return Some(found.0.clone());
        }
        let is_first = entry.waiters.is_empty();
        entry.waiters.push(waiter.clone());
        drop(names);
        if is_first {
            let (names, clock) = (Arc::clone(&self.names), Arc::clone(&self.clock));
            let done = move |found| {
                let known = Addresses { found: Some((found, clock.now().mono)), waiters: Vec::new() };
                let before = names.lock().insert(key, known);
                before.into_iter().flat_map(|before| before.waiters).for_each(|waiter| waiter.wake());
            };
            self.resolver.resolve(host, Box::new(done));
        }
        None
    }
}
