mod callbacks;
mod client;
mod rpc_server;
