//! The log: structured, to the standard error, as text or JSON.

use std::fmt;
use std::io::IsTerminal;
use std::str::FromStr;

use plugin_host::LibraryLog;
use plugin_host::sink::{Event, Level};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// `2026-11-21T04:00:00Z  INFO Target is up target_name="web1"`
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Begins the log. `level` is a word, or directives such as `info,perfmon_exporter::web=debug`.
///
/// # Errors
/// When `level` cannot be read.
pub fn init(level: &str, format: LogFormat) -> Result<(), ParseError> {
    let filter = EnvFilter::from_str(level)?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second one in the same process (tests) keeps the first.
    let _ = match format {
        LogFormat::Text => {
            let is_terminal = std::io::stderr().is_terminal();
            builder.with_ansi(is_terminal).with_target(false).try_init()
        }
        LogFormat::Json => builder.json().flatten_event(true).with_current_span(false).try_init(),
    };
    Ok(())
}

/// What plugins say goes through these, so that one filter rules all: `perfmon_exporter::plugin=debug`.
macro_rules! with_level {
    ($level:expr, $macro:ident!($($argument:tt)*)) => {
        match $level {
            Level::Error => tracing::$macro!(target: PLUGIN, tracing::Level::ERROR, $($argument)*),
            Level::Warn => tracing::$macro!(target: PLUGIN, tracing::Level::WARN, $($argument)*),
            Level::Info => tracing::$macro!(target: PLUGIN, tracing::Level::INFO, $($argument)*),
            Level::Debug => tracing::$macro!(target: PLUGIN, tracing::Level::DEBUG, $($argument)*),
            Level::Trace => tracing::$macro!(target: PLUGIN, tracing::Level::TRACE, $($argument)*),
        }
    };
}

const PLUGIN: &str = "perfmon_exporter::plugin";

/// Whether a plugin's record of this level would be kept.
#[must_use]
pub fn plugin_log_enabled(level: Level) -> bool {
    match level {
        Level::Error => tracing::enabled!(target: PLUGIN, tracing::Level::ERROR),
        Level::Warn => tracing::enabled!(target: PLUGIN, tracing::Level::WARN),
        Level::Info => tracing::enabled!(target: PLUGIN, tracing::Level::INFO),
        Level::Debug => tracing::enabled!(target: PLUGIN, tracing::Level::DEBUG),
        Level::Trace => tracing::enabled!(target: PLUGIN, tracing::Level::TRACE),
    }
}

/// A record about one target.
pub(super) fn log_plugin_record(
    plugin: &str,
    target: &str,
    level: Level,
    message: &str,
    fields: &[(&str, &str)],
) {
    let fields = Fields(fields);
    with_level!(level, event!(plugin, target_name = target, %fields, "{message}"));
}

/// Something that happened on a target.
pub(super) fn log_plugin_event(plugin: &str, target: &str, event: &Event<'_>) {
    let (name, body, fields) = (event.name, event.body, Fields(event.fields));
    with_level!(event.level, event!(plugin, target_name = target, event = name, %fields, "{body}"));
}

/// What a plugin says that is about no target.
#[derive(Clone, Copy, Debug, Default)]
pub struct PluginLog;

impl LibraryLog for PluginLog {
    fn log_enabled(&self, _plugin: &str, level: Level) -> bool {
        plugin_log_enabled(level)
    }

    fn log(&self, plugin: &str, level: Level, message: &str, fields: &[(&str, &str)]) {
        let fields = Fields(fields);
        with_level!(level, event!(plugin, %fields, "{message}"));
    }
}

struct Fields<'a>(&'a [(&'a str, &'a str)]);

impl fmt::Display for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.0.iter().enumerate() {
            let separator = if index > 0 { " " } else { "" };
            write!(f, "{separator}{name}={value:?}")?;
        }
        Ok(())
    }
}
