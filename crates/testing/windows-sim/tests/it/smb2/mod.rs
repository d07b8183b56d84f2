//! The client of `ms-smb2` and the server here, without input and output: conversations, hostile peers, and bytes from outside.

mod conversation;
mod golden;
mod hostile_client;
mod hostile_server;
mod overlapping_reads;
mod pair;
mod random;
mod raw;
#[path = "../../../../../rpc/ms-smb2/tests/it/recording.rs"]
mod recording;
