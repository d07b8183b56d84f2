//! A plugin in Rust that keeps objects of its RPC run time in cells, where other processes read them: endpoints that it
//! invents. Plugins for Windows hosts get their writer from `plugin-session`.
//!
//! `cargo build -p plugin-host --example cells` makes `libcells.so` of it.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use plugin_sdk::{
    CellMemory, Collection, Coverage, Failure, Problem, Setup, Source, SourceEntry, cell_memory,
};
use rpc_cells::{CellHandle, Endpoint, EndpointStatus, Memory, Name, ProtocolSequence, Writer};

/// What the configuration says.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    /// How many endpoints there are.
    endpoints: u16,
}

impl Default for Settings {
    fn default() -> Self {
        Self { endpoints: 1 }
    }
}

/// The memory of this library, as a writer takes it.
struct OfExporter(CellMemory);

impl Memory for OfExporter {
    fn words(&self) -> &[AtomicU64] {
        self.0.words()
    }

    fn grow(&self, sections: u16) -> bool {
        self.0.grow(sections)
    }
}

/// There is one writer for the whole library. It writes nothing if the exporter keeps no cells.
fn writer() -> &'static Writer {
    static WRITER: OnceLock<Writer> = OnceLock::new();
    WRITER.get_or_init(|| match cell_memory() {
        Ok(Some(memory)) => Writer::over(OfExporter(memory)).unwrap_or_default(),
        Ok(None) | Err(_) => Writer::disabled(),
    })
}

struct Endpoints(Vec<CellHandle<Endpoint>>);

impl Source for Endpoints {
    const NAME: &'static str = "cells";
    const HELP: &'static str = "Shows endpoints in cells";
    type Settings = Settings;

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        let mut endpoints = Self(Vec::new());
        endpoints.reconfigure(setup.settings);
        Ok(endpoints)
    }

    fn reconfigure(&mut self, settings: Settings) {
        self.0.clear();
        self.0.extend((0..settings.endpoints).map(|port| {
            writer().endpoint(Endpoint {
                protocol_sequence: ProtocolSequence::TCP,
                status: EndpointStatus::ALLOCATED,
                name: Name::new(&port.to_string()),
            })
        }));
    }

    async fn collect(&mut self, _: &mut Collection) -> Result<Coverage, Failure> {
        for endpoint in &mut self.0 {
            endpoint.update(|endpoint| endpoint.status = EndpointStatus::ACTIVE);
        }
        Ok(Coverage::Full)
    }
}

plugin_sdk::export_plugin! {
    name: "cells",
    version: env!("CARGO_PKG_VERSION"),
    description: "An example with cells",
    sources: [SourceEntry::of::<Endpoints>()],
    commands: [],
}
