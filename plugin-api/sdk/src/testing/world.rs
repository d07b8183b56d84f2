use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use plugin_abi::raw::STALE;

use super::seen::{FakeCompletion, FakeIdentity, Seen};

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
        world.state.lock().identity = identity;
        worlds().lock().insert(token, Arc::clone(&world));
        world
    }

    /// The result of `look`, or `None` after `patience`.
    pub(super) fn wait<R>(
        &self,
        patience: Duration,
        mut look: impl FnMut(&mut State) -> Option<R>,
    ) -> Option<R> {
        let until = Instant::now() + patience;
        let mut state = self.state.lock();
        loop {
            if let Some(result) = look(&mut state) {
                return Some(result);
            }
            let pause = until.saturating_duration_since(Instant::now());
            if pause.is_zero() {
                return None;
            }
            self.changed.wait_for(&mut state, pause);
        }
    }
}

fn worlds() -> &'static Mutex<HashMap<u64, Arc<World>>> {
    static WORLDS: OnceLock<Mutex<HashMap<u64, Arc<World>>>> = OnceLock::new();
    WORLDS.get_or_init(Mutex::default)
}

/// Changes what an instance has seen; STALE for one that is not known.
pub(super) fn change(token: u64, action: impl FnOnce(&mut State) -> i32) -> i32 {
    let world = worlds().lock().get(&token).cloned();
    let Some(world) = world else { return STALE };
    let status = action(&mut world.state.lock());
    world.changed.notify_all();
    status
}
