//! Source plugin: the state of RPC run times.
//!
//! | module | job |
//! | --- | --- |
//! | `host` | the source `rpc_endpoints`: the RPC servers of Windows hosts |
//! | `own` | the source `rpc_state`: what processes of this machine keep in cells |
//! | `series` | samples as series of the exporter |

mod host;
mod own;
mod series;

plugin_sdk::export_plugin! {
    name: "rpc_state",
    version: env!("CARGO_PKG_VERSION"),
    description: "The state of RPC run times: calls, connections, endpoints and threads",
    sources: [
        plugin_sdk::SourceEntry::blocking::<own::RpcStateSource>(),
        plugin_sdk::SourceEntry::of::<host::RpcEndpointsSource>(),
    ],
    commands: [],
}
