//! The host's servers: SMB over any stream, RPC over TCP, and a single pipe behind a real smbd.

mod association;
mod bind;
mod listen;
mod listening;
mod npa;
mod publish;
mod reply;
mod smb;
mod tcp;

pub use self::listen::{Limits, listen_black_hole, listen_dcom, listen_pipe_socket, listen_smb};
pub use self::npa::serve_named_pipe;
pub use self::publish::{CallError, Delivery, EventPublisher};
pub use self::smb::serve_smb;
pub use self::tcp::serve_tcp;
