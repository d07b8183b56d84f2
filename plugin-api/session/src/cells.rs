//! The state of this plugin's RPC run time, in cells that other processes read.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use plugin_sdk::CellMemory;
use rpc_cells::{Memory, Writer};
use rpc_recorder::{InterfaceNames, Recorder};
use tracing::warn;

/// The writer of this library's cells. It writes nothing if the exporter keeps none. Do not call it before
/// [`plugin_sdk::Source::create`].
#[must_use]
pub fn cells() -> Writer {
    // There is one writer of a memory.
    static WRITER: OnceLock<Writer> = OnceLock::new();
    WRITER.get_or_init(begin).clone()
}

/// Keeps the state of this library's associations in its [`cells`]. The names are those of its first call.
#[must_use]
pub fn recorder(names: &[InterfaceNames]) -> Recorder {
    static RECORDER: OnceLock<Recorder> = OnceLock::new();
    RECORDER.get_or_init(|| Recorder::new(cells(), names)).clone()
}

fn begin() -> Writer {
    // The exporter has logged why there is no room.
    let Ok(Some(memory)) = plugin_sdk::cell_memory() else { return Writer::disabled() };
    Writer::over(OfExporter(memory)).unwrap_or_else(|error| {
        let next_step = "install the plugin and the exporter of one version";
        warn!(%error, next_step, "Plugin runs without RPC state");
        Writer::disabled()
    })
}

/// Memory of the exporter.
struct OfExporter(CellMemory);

impl Memory for OfExporter {
    fn words(&self) -> &[AtomicU64] {
        self.0.words()
    }

    fn grow(&self, sections: u16) -> bool {
        self.0.grow(sections)
    }
}
