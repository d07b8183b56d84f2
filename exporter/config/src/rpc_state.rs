//! `rpc_state:`, which state of the RPC run time is kept, and where.

use std::path::{Path, PathBuf};

use super::item::Item;
use super::section::set;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RpcState {
    /// `level`: what is kept.
    pub level: RpcStateLevel,
    /// `directory`: where the files are. Default: where the system keeps such for the process.
    pub directory: Option<PathBuf>,
}

/// Which state of the RPC run time is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RpcStateLevel {
    None,
    /// Servers: endpoints, connections and calls of hosts that call back.
    Server,
    /// Calls of hosts, too.
    #[default]
    Full,
}

pub(super) fn rpc_state(item: &Item<'_>, base: &Path) -> RpcState {
    let mut state = RpcState::default();
    let Some(mut section) = item.section(&[]) else { return state };
    set(&mut state.level, section.choice("level", LEVELS));
    state.directory = section.file("directory", base);
    section.finish();
    state
}

const LEVELS: &[(&str, RpcStateLevel)] =
    &[("none", RpcStateLevel::None), ("server", RpcStateLevel::Server), ("full", RpcStateLevel::Full)];
