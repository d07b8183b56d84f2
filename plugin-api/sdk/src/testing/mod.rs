//! A fake host, for the unit tests of plugins.
//!
//! It uses the real ABI, so test data takes the same path as in the exporter. Unlike the real host, it does not
//! check data.
//!
//! ```text
//! let mut fake = FakeInstance::<MySource>::create(target, json!({"start": 1})).unwrap();
//! let done = fake.collect(Duration::from_secs(5));
//! assert_eq!(done.outcome, FakeOutcome::Full);
//! ```

mod seen;
mod table;
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use plugin_abi::raw::{Collect, OK, struct_size};
use serde_json::Value;

pub use self::seen::{FakeCompletion, FakeIdentity, FakeOutcome, Seen, SeenSeries, SeenValue};
use self::table::TABLE;
use self::world::World;
use crate::handle::Handle;
use crate::host;
use crate::plugin::{Plugin, SourceEntry};
use crate::source::{BlockingSource, End, EndReason, Setup, Source};
use crate::state::Slot;
use crate::target::Target;
use plugin_abi::Problem;

/// An instance of a source in a fake host.
pub struct FakeInstance {
    token: u64,
    slot: Arc<dyn Slot>,
    world: Arc<World>,
}

impl FakeInstance {
    /// Makes an instance of an async source, without an identity.
    ///
    /// # Errors Problems with the settings.
    pub fn create<S: Source>(target: Target, settings: &Value) -> Result<Self, Vec<Problem>> {
        Self::of(&SourceEntry::of::<S>(), target, settings, None)
    }

    /// Makes an instance of an async source that gets `identity` when it requests a secret.
    ///
    /// # Errors Problems with the settings.
    pub fn create_with<S: Source>(
        target: Target,
        settings: &Value,
        identity: FakeIdentity,
    ) -> Result<Self, Vec<Problem>> {
        Self::of(&SourceEntry::of::<S>(), target, settings, Some(identity))
    }

    /// Makes an instance of a blocking source.
    ///
    /// # Errors Problems with the settings.
    pub fn create_blocking<S: BlockingSource>(
        target: Target,
        settings: &Value,
    ) -> Result<Self, Vec<Problem>> {
        Self::of(&SourceEntry::blocking::<S>(), target, settings, None)
    }

    fn of(
        entry: &SourceEntry,
        target: Target,
        settings: &Value,
        identity: Option<FakeIdentity>,
    ) -> Result<Self, Vec<Problem>> {
        host::install(TABLE);
        crate::log::install();
        let token = new_token();
        let world = World::of(token, identity);
        let state = PLUGIN.state(2).map_err(|error| vec![Problem::new("", error.to_string())])?;
        let _inside = state.runtime().enter();
        let handle = Handle { instance: token, wake: Arc::default() };
        let setup = Setup { settings: (), target, handle };
        let slot = (entry.create)(&settings.to_string(), setup)?;
        Ok(Self { token, slot, world })
    }

    /// Gives it new settings, which apply from the next collection on.
    ///
    /// # Errors Problems with the settings.
    pub fn reconfigure(&self, settings: &Value) -> Result<(), Vec<Problem>> {
        self.slot.reconfigure(&settings.to_string())
    }

    /// Collects once, and waits for the end. `None` if the SDK did not complete it ten seconds after the deadline.
    #[must_use]
    pub fn collect(&self, deadline: Duration) -> Option<FakeCompletion> {
        let collection = new_token();
        let now_ns = host::now_ns();
        let deadline_ns = now_ns.saturating_add(u64::try_from(deadline.as_nanos()).unwrap_or(u64::MAX));
        let size = struct_size::<Collect>();
        let request = Collect { size, reserved: 0, instance: self.token, collection, now_ns, deadline_ns };
        let state = PLUGIN.state.get()?;
        if Arc::clone(&self.slot).collect(state, request) != OK {
            return None;
        }
        self.world.wait(deadline + PATIENCE, |state| state.completions.remove(&collection))
    }

    /// All that arrived so far.
    #[must_use]
    pub fn seen(&self) -> Seen {
        self.world.state.lock().seen.clone()
    }

    /// Destroys it and waits until it says so.
    #[must_use]
    pub fn destroy(self) -> bool {
        let Some(state) = PLUGIN.state.get() else { return false };
        let end = End { reason: EndReason::Removed, deadline: Instant::now() + PATIENCE };
        Arc::clone(&self.slot).destroy(state, end);
        self.world.wait(PATIENCE, |state| state.destroyed.then_some(())).is_some()
    }
}

/// From now on [`crate::cell_memory`] gives these words, of which so many sections become ready. All instances of a
/// process share them.
pub fn set_cell_memory(words: &'static [AtomicU64], sections_max: u16) {
    host::install(TABLE);
    table::set_cells(words, sections_max);
}

static PLUGIN: Plugin = Plugin::new("testing", "0", "A host made of memory", &[], &[]);

const PATIENCE: Duration = Duration::from_secs(10);

fn new_token() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
