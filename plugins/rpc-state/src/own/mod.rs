//! The source `rpc_state`: what processes of this machine keep in cells.

mod config;

use plugin_sdk::{BlockingSource, Collection, Coverage, Failure, Problem, Setup};

use self::config::{SHOWN, Settings};

/// The run directories of one module.
pub(crate) struct RpcStateSource {
    settings: Settings,
}

impl BlockingSource for RpcStateSource {
    const NAME: &'static str = "rpc_state";
    const HELP: &'static str = "The state of RPC calls that processes of this machine keep in files";
    const SHOWN: &'static [&'static str] = SHOWN;
    type Settings = Settings;

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        Ok(Self { settings: setup.settings })
    }

    fn reconfigure(&mut self, settings: Settings) {
        self.settings = settings;
    }

    fn collect(&mut self, _: &mut Collection) -> Result<Coverage, Failure> {
        Ok(Coverage::Full)
    }
}
