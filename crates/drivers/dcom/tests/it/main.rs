#![allow(missing_docs, reason = "tests")]

mod callbacks;
mod client;
mod rpc_server;
