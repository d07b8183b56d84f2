//! Source plugin: the state of RPC run times.
//!
//! | module | job |
//! | --- | --- |
//! | `own` | the source `rpc_state`: what processes of this machine keep in cells |
//! | `series` | samples as series of the exporter |

mod own;
mod series;

plugin_sdk::export_plugin! {
    name: "rpc_state",
    version: env!("CARGO_PKG_VERSION"),
    description: "The state of RPC run times: calls, connections, endpoints and threads",
    sources: [plugin_sdk::SourceEntry::blocking::<own::RpcStateSource>()],
    commands: [],
}
