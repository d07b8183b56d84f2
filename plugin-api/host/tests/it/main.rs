//! Plugins in C and Rust, loaded and led through the contract; the broken ones of the zoo among them.

mod check;
mod credentials;
mod data;
mod hangs;
mod loading;
mod rust;
mod support;
