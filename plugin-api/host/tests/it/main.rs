//! Plugins in C and Rust, loaded and led through the contract; the broken ones of the zoo among them.

#![expect(
    clippy::panic,
    reason = "helpers of tests fail by panicking, and some plugins here panic on purpose"
)]

mod cells;
mod check;
mod commands;
mod credentials;
mod data;
mod ends;
mod hangs;
mod histograms;
mod host_panic;
mod library_settings;
mod loading;
mod opened;
mod rust;
mod schema;
mod selects;
mod sockets;
mod support;
