//! DCOM with sockets: objects of a host ([`client`]), objects that hosts call back ([`exporter`]), and the RPC server that
//! takes their calls ([`rpc_server`]).

pub mod client;
pub mod exporter;
pub mod rpc_server;
