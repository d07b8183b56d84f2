//! The state of RPC run times as people see it: the files of run directories, whether this process keeps its own, and
//! the way of a call through processes. The command `rpc-state` and the pages share this.

mod keeping;
mod number;
mod state;
mod trail;

pub use self::keeping::{Keeping, NotKept};
pub(crate) use self::number::number;
pub(crate) use self::state::State;
pub(crate) use self::trail::{end_text, hop_text, trail, trail_json};
