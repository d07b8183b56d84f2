//! What pages remember between two looks.

mod files;
mod pulse;
mod state_reader;
mod watched;

use std::sync::Arc;

use alerts::Registry;
use otlp::push::AllCounts;

use self::files::Files;
use self::pulse::Pulse;
use self::state_reader::StateReader;
use self::watched::Watched;
use crate::rpc_state::Keeping;
use crate::targets::Plugins;

pub(super) use self::files::{Kept, NoFiles};
pub(super) use self::state_reader::NoState;
pub(super) use self::watched::{Collected, Moment, POINTS_MAX, Seen, TRACKS_MAX, unit_of};

/// What the pages for people show besides the targets, and what they remember between two looks.
#[derive(Default)]
pub struct PageState {
    pub(super) plugins: Arc<Plugins>,
    pub(super) plugin_limits: plugin_host::Limits,
    pub(super) pushes: Arc<AllCounts>,
    pub(super) watched: Watched,
    pub(super) pulse: Pulse,
    pub(super) rpc_state: StateReader,
    pub(super) files: Files,
    pub(super) alerts: Arc<Registry>,
    pub(super) receivers: Arc<alerts::AllCounts>,
}

impl PageState {
    /// What is loaded, what a plugin may ask for, what became of data that was pushed, for each endpoint, and where the
    /// state of RPC calls is.
    #[must_use]
    pub fn new(
        plugins: Arc<Plugins>,
        plugin_limits: plugin_host::Limits,
        pushes: Arc<AllCounts>,
        keeping: Keeping,
    ) -> Self {
        let rpc_state = StateReader::new(keeping);
        Self { plugins, plugin_limits, pushes, rpc_state, ..Self::default() }
    }

    /// The same, with the alerts of targets, and what became of them for each receiver.
    #[must_use]
    pub fn with_alerts(self, alerts: Arc<Registry>, receivers: Arc<alerts::AllCounts>) -> Self {
        Self { alerts, receivers, ..self }
    }
}
