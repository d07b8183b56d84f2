//! The source `rpc_endpoints` against simulated Windows hosts on loopback.

mod mapper;
mod refusals;
mod sim_host;
mod values;
mod world;
