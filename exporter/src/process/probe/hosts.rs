use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

/// Serialises probes of one host, for any modules and identities.
#[derive(Default)]
pub(super) struct Hosts(Mutex<HashMap<String, Weak<Turn>>>);

/// Held during a probe of the host.
pub(super) type Turn = tokio::sync::Mutex<()>;

/// Unused turns are removed when there is this number of them.
const CLEAR_AT: usize = 4096;

impl Hosts {
    pub(super) fn turn(&self, host: &str) -> Arc<Turn> {
        let mut hosts = self.0.lock();
        if let Some(turn) = hosts.get(host).and_then(Weak::upgrade) {
            return turn;
        }
        if hosts.len() >= CLEAR_AT {
            hosts.retain(|_, turn| turn.strong_count() > 0);
        }
        let turn = Arc::default();
        hosts.insert(host.to_owned(), Arc::downgrade(&turn));
        turn
    }
}
