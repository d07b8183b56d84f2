//! Conversations of client and server, hostile peers, and bytes from outside.

mod conversation;
mod pair;
