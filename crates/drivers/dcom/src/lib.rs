//! DCOM with sockets: objects of a host ([`client`]), objects that hosts call back ([`callbacks`]), and the RPC server that
//! takes their calls ([`rpc_server`]).

pub mod callbacks;
pub mod client;
pub mod rpc_server;
