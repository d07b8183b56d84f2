//! What pages remember between two looks.

mod pulse;
mod watched;

use std::sync::Arc;

use otlp_push::AllCounts;

use self::pulse::Pulse;
use self::watched::Watched;
use crate::targets::Plugins;

pub(super) use self::watched::{Collected, Moment, POINTS_MAX, Seen, TRACKS_MAX, unit_of};

/// What the pages for people show besides the targets, and what they remember between two looks.
#[derive(Default)]
pub struct PageState {
    pub(super) plugins: Arc<Plugins>,
    pub(super) plugin_limits: plugin_host::Limits,
    pub(super) pushes: Arc<AllCounts>,
    pub(super) watched: Watched,
    pub(super) pulse: Pulse,
}

impl PageState {
    /// What is loaded, what a plugin may ask for, and what became of data that was pushed, for each endpoint.
    #[must_use]
    pub fn new(plugins: Arc<Plugins>, plugin_limits: plugin_host::Limits, pushes: Arc<AllCounts>) -> Self {
        Self { plugins, plugin_limits, pushes, ..Self::default() }
    }
}
