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

mod table;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use plugin_abi::raw::{Collect, OK, STALE, struct_size};
use plugin_abi::{DisplayRule, Problem, Stage};
use serde_json::Value;

use self::table::TABLE;
use super::failure::Failure;
use super::handle::Handle;
use crate::output::Stamp;
use crate::plugin::{Plugin, SourceEntry};
use crate::source::{BlockingSource, End, EndReason, Setup, Source};
use crate::state::Slot;
use crate::{Target, host};

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

/// The host's state for one instance.
#[derive(Default)]
struct World {
    state: Mutex<State>,
    changed: Condvar,
}

/// All that arrived for it, and its leased identity.
#[derive(Default)]
struct State {
    seen: Seen,
    completions: HashMap<u64, FakeCompletion>,
    identity: Option<FakeIdentity>,
    destroyed: bool,
}

impl World {
    /// The state of a new instance, found by its token from now on.
    fn of(token: u64, identity: Option<FakeIdentity>) -> Arc<Self> {
        let world = Arc::new(Self::default());
        world.state.lock().identity = identity;
        worlds().lock().insert(token, Arc::clone(&world));
        world
    }

    /// The result of `look`, or `None` after `patience`.
    fn wait<R>(&self, patience: Duration, mut look: impl FnMut(&mut State) -> Option<R>) -> Option<R> {
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
fn change(token: u64, action: impl FnOnce(&mut State) -> i32) -> i32 {
    let world = worlds().lock().get(&token).cloned();
    let Some(world) = world else { return STALE };
    let status = action(&mut world.state.lock());
    world.changed.notify_all();
    status
}

/// All that arrived for an instance.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Families by id: object, item and part.
    pub families: Vec<(String, String, String)>,
    /// How each of them is shown, and its base.
    pub displays: Vec<(DisplayRule, String)>,
    /// The bounds of each; empty if it is not a histogram.
    pub bounds: Vec<Vec<f64>>,
    /// The help of each.
    pub helps: Vec<String>,
    pub series: Vec<SeenSeries>,
    /// Log messages with their fields.
    pub logs: Vec<(String, Vec<(String, String)>)>,
    /// Events: name and body.
    pub events: Vec<(String, String)>,
    /// Facts about the target: names and values, in order.
    pub facts: Vec<(String, String)>,
    /// The requested interval between collections, if any.
    pub min_interval: Option<Duration>,
    /// The verdicts of leases, in order: `accepted`, `rejected`, `locked`, `unknown`.
    pub verdicts: Vec<&'static str>,
}

/// A series that arrived, with its last value.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenSeries {
    pub family: usize,
    pub labels: Vec<(String, String)>,
    pub value: Option<SeenValue>,
    /// The last counts and sum of a histogram.
    pub histogram: Option<(Vec<u64>, f64)>,
    /// The times of its last value.
    pub stamp: Stamp,
    /// Whether it was retired.
    pub retired: bool,
}

/// A value as it came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SeenValue {
    /// From a column of doubles.
    F64(f64),
    /// From an unsigned column.
    U64(u64),
    /// From a signed column.
    I64(i64),
}

/// How a collection ended.
#[derive(Clone, Debug, PartialEq)]
pub enum FakeOutcome {
    Full,
    /// These families, and why not the others.
    Partial(Vec<usize>, Option<Failure>),
    Failed(Failure),
}

/// The end of a collection.
#[derive(Clone, Debug)]
pub struct FakeCompletion {
    pub outcome: FakeOutcome,
    /// The stages with their calls and bytes in and out.
    pub stages: Vec<(Stage, u64, u64, u64)>,
}

/// A password that the host leases.
#[derive(Clone, Debug, Default)]
pub struct FakeIdentity {
    pub domain: String,
    pub username: String,
    pub password: String,
}
