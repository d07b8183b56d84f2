//! Source plugin: performance logs and alerts of a Windows host, judged here.
//!
//! | module | job |
//! | --- | --- |
//! | `model` | data collector sets and their alerts, wherever they come from |

#[cfg_attr(not(test), expect(dead_code, reason = "its users come next"))]
mod model;

plugin_sdk::export_plugin! {
    name: "pla",
    version: env!("CARGO_PKG_VERSION"),
    description: "Performance logs and alerts of Windows hosts: thresholds of counters, judged outside of the host",
    sources: [],
    commands: [],
}
