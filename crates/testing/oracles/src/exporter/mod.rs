//! Laws of what the exporter itself is handed: by plugins, by people in their files, by readers of its pages, by collectors
//! and receivers of alerts.
//!
//! Pages have no oracle: what any names and values become there is proved by `exporter/tests/it/expose_any.rs` and
//! `rules_any.rs`, with a strict reader for each format.

#![expect(clippy::panic, reason = "a law that is broken panics")]

mod accept;
mod answers;
mod compat;
mod config;
mod patterns;
mod receivers;
mod requests;
mod rules;
pub mod seeds;
mod store;

pub use crate::plugin::handed_over as plugin_data;
pub(crate) use test_support::oracle::Input;
pub(crate) use test_support::oracle::{INPUT_BYTES_MAX, Oracle};

pub use self::accept::accept as web_accept;
pub use self::answers::answer as otlp_answer;
pub use self::compat::files as compat_files;
pub use self::config::{file as config_file, target_file as config_targets, web_file as config_web};
pub use self::patterns::pattern as rules_pattern;
pub use self::receivers::answer as alerts_answer;
pub use self::requests::{
    certificate as web_certificate, credentials as web_credentials, heads as web_heads, probe as web_probe,
};
pub use self::rules::labels as rules_labels;

/// All oracles, each by the name of its fuzz target and of its folder of inputs.
pub const ORACLES: [(&str, Oracle); 14] = [
    ("plugin_data", plugin_data),
    ("rules_pattern", rules_pattern),
    ("rules_labels", rules_labels),
    ("config_file", config_file),
    ("config_targets", config_targets),
    ("config_web", config_web),
    ("compat_files", compat_files),
    ("web_accept", web_accept),
    ("web_probe", web_probe),
    ("web_credentials", web_credentials),
    ("web_heads", web_heads),
    ("web_certificate", web_certificate),
    ("otlp_answer", otlp_answer),
    ("alerts_answer", alerts_answer),
];
