<<<<<<< HEAD
//! The plugin as the exporter sees it, against simulated Windows hosts on loopback.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod classic;
mod files;
mod firing;
mod many;
mod settings;
mod states;
mod steered;
mod world;
=======
//! The plugin as the exporter sees it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod to_rules;
>>>>>>> 30c53fd6 (Run pla to-rules as the program does, and let two versions of promtool judge its rules)
