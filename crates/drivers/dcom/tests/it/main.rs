#![allow(missing_docs, reason = "tests")]

mod client;
mod exporter;
mod rpc_server;
