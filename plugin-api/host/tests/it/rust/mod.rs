//! A plugin in Rust, linked into this program: what the SDK and the host do together.

mod collecting;
mod commands;
mod panics;
pub(crate) mod plugin;
mod settings;

use std::sync::Arc;

use plugin_host::testing::{Recorded, RecordedOutcome, RecordingSink};
use plugin_host::{Host, HostOptions, Instance, InstanceConfig, Library, monotonic_ns};

use crate::support::config;

/// The plugin in a host with the real clock.
pub(crate) fn linked(change: impl FnOnce(&mut HostOptions)) -> (Host, Library) {
    let mut options = HostOptions::default();
    change(&mut options);
    let host = Host::new(options);
    let library = host.link("rust", plugin::entry).expect("the plugin is linked");
    (host, library)
}

pub(crate) fn made(
    library: &Library,
    source: &str,
    settings: serde_json::Value,
) -> (Instance, Arc<RecordingSink>) {
    let sink = Arc::new(RecordingSink::default());
    let config = InstanceConfig { settings, ..config("web1.example") };
    let instance = library.create(source, &config, Arc::<RecordingSink>::clone(&sink));
    (instance.expect("the instance is made"), sink)
}

/// Collects with a deadline far away.
pub(crate) fn collected(instance: &Instance, sink: &RecordingSink) -> Recorded {
    let before = sink.recorded().completions.len();
    instance.collect(monotonic_ns() + 60_000_000_000).expect("the collection begins");
    sink.wait_completions(before + 1).expect("the collection ends")
}

/// Why the last collection failed.
fn failure(recorded: &Recorded) -> String {
    match &recorded.completions.last().expect("a completion").outcome {
        RecordedOutcome::Failed(failure) => failure.to_string(),
        other => panic!("it did not fail: {other:?}"),
    }
}
