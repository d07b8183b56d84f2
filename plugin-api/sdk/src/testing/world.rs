use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use plugin_abi::raw::STALE;

use super::seen::{FakeCompletion, FakeIdentity, Seen};
use crate::lock::lock;

/// The host's state for one instance.
#[derive(Default)]
pub(super) struct World {
    pub(super) state: Mutex<State>,
    changed: Condvar,
}

/// All that arrived for it, and its leased identity.
#[derive(Default)]
pub(super) struct State {
    pub(super) seen: Seen,
    pub(super) completions: HashMap<u64, FakeCompletion>,
    pub(super) identity: Option<FakeIdentity>,
    pub(super) destroyed: bool,
}

impl World {
    /// The state of a new instance, found by its token from now on.
    pub(super) fn of(token: u64, identity: Option<FakeIdentity>) -> Arc<Self> {
        let world = Arc::new(Self::default());
        lock(&world.state).identity = identity;
        lock(worlds()).insert(token, Arc::clone(&world));
        world
    }

    /// The result of `look`, or `None` after `patience`.
    pub(super) fn wait<R>(
        &self,
        patience: Duration,
        mut look: impl FnMut(&mut State) -> Option<R>,
    ) -> Option<R> {
        let until = Instant::now() + patience;
        let mut state = lock(&self.state);
        loop {
            if let Some(result) = look(&mut state) {
                return Some(result);
            }
            let pause = until.saturating_duration_since(Instant::now());
            if pause.is_zero() {
                return None;
            }
            state = self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn worlds() -> &'static Mutex<HashMap<u64, Arc<World>>> {
    static WORLDS: OnceLock<Mutex<HashMap<u64, Arc<World>>>> = OnceLock::new();
    WORLDS.get_or_init(Mutex::default)
}

/// Changes what an instance has seen; STALE for one that is not known.
pub(super) fn change(token: u64, action: impl FnOnce(&mut State) -> i32) -> i32 {
    let world = lock(worlds()).get(&token).cloned();
    let Some(world) = world else { return STALE };
    let status = action(&mut lock(&world.state));
    world.changed.notify_all();
    status
}
