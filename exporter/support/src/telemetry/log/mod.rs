//! The log: structured, to the standard error, as text or JSON; one line an event, whatever is in it.
//!
//! Every line about a target has its name in the field `target`; lines about one of its modules have `module`, those
//! about a failure `stage`, `reason` and `next_step`. What is wrong again and again is said when it begins and when it
//! ends.

mod line;
mod throttle;
mod writer;

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;
use std::time::Duration;

use plugin_abi::{AlertState, Event, Level, LibraryLog};
use safe_text::nearest::nearest;
use tracing_subscriber::EnvFilter;

use self::line::{Json, Line};
pub use self::throttle::Throttle;
use self::writer::Out;

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// `2026-11-21T04:00:00Z  INFO Target is up target="web1"`
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// What is logged where nobody says it.
pub const DEFAULT_FILTER: &str = "info";

/// A reader of the log has so long to take what is left at the end.
const FLUSH_MAX: Duration = Duration::from_secs(1);

/// This library warns of each connection that it ends for a peer's mistake, as often as the peer likes. The web server
/// throttles that line, so the library's own are only logged where the filter names it.
const H2: &str = "h2";

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

type Change = Box<dyn Fn(EnvFilter) -> Result<(), tracing_subscriber::reload::Error> + Send + Sync>;

/// Changes the filter of the process's log.
static CHANGE: OnceLock<Change> = OnceLock::new();

/// Begins the log. `filter` is a level, or directives such as `info,perfmon_exporter::web=debug`.
///
/// # Errors
/// When `filter` cannot be read.
pub fn init(filter: &str, format: LogFormat) -> Result<(), String> {
    let out = Out::start().map_err(|error| format!("cannot start the log's thread: {error}"))?;
    let builder = tracing_subscriber::fmt()
        .event_format(Line(format))
        .with_writer(move || out.clone())
        .with_env_filter(parse_filter(filter)?)
        .with_filter_reloading();
    let handle = builder.reload_handle();
    // A second one in the same process (tests) keeps the first.
    if tracing::subscriber::set_global_default(builder.finish()).is_ok() {
        let _ = CHANGE.set(Box::new(move |filter| handle.reload(filter)));
    }
    Ok(())
}

/// Waits a moment until what was logged is written; for who ends the process.
pub fn flush() {
    writer::flush(FLUSH_MAX);
}

/// From now on this is logged.
///
/// # Errors
/// When `filter` cannot be read.
pub fn set_filter(filter: &str) -> Result<(), String> {
    let filter = parse_filter(filter)?;
    match CHANGE.get() {
        Some(change) => change(filter).map_err(|error| error.to_string()),
        None => Ok(()),
    }
}

/// Whether `filter` can be read.
///
/// # Errors
/// What is wrong with it.
pub fn check_filter(filter: &str) -> Result<(), String> {
    parse_filter(filter).map(drop)
}

fn parse_filter(filter: &str) -> Result<EnvFilter, String> {
    // To the filter a word that is no level is a program's part, of which everything is logged, and of the rest
    // nothing: a slip of the pen would silence the log.
    for word in filter.split(',').map(str::trim) {
        let level = word.rsplit_once('=').map_or(word, |(_, level)| level);
        let is_level = LEVELS.iter().any(|known| known.eq_ignore_ascii_case(level));
        if !is_level && let Some(near) = nearest(level, LEVELS) {
            return Err(format!("`{level}` is no level; did you mean `{near}`?"));
        }
    }
    let is_of_h2 = |directive: &str| directive.trim().starts_with(H2);
    let names_h2 = filter.split(',').any(is_of_h2);
    let mut all = of_packages(filter);
    all.push(filter.to_owned());
    if !names_h2 {
        all.push(format!("{H2}=error"));
    }
    let all = all.join(",");
    EnvFilter::from_str(&all).map_err(|error| error.to_string())
}

/// What `filter` says of the exporter is meant for its packages, too: directives for them. What names one part is stronger
/// than what names the whole, so it is after it.
fn of_packages(filter: &str) -> Vec<String> {
    let directives = || filter.split(',').map(str::trim);
    let level = |directive: &str, part: &str| {
        directive
            .strip_prefix(part)
            .filter(|level| level.is_empty() || level.starts_with('='))
            .map(str::to_owned)
    };
    let whole = directives()
        .filter_map(|directive| level(directive, EXPORTER))
        .flat_map(|level| PACKAGES.iter().map(move |(_, package)| format!("{package}{level}")));
    let parts = directives().flat_map(|directive| {
        PACKAGES
            .iter()
            .filter_map(move |(part, package)| Some(format!("{package}{}", level(directive, part)?)))
    });
    whole.chain(parts).collect()
}

/// Whoever reads the log knows one program.
const EXPORTER: &str = "perfmon_exporter";
/// Parts of the program that are packages of their own: their names in a filter, and those that their lines have.
const PACKAGES: [(&str, &str); 6] = [
    ("perfmon_exporter::alerts", "alerts"),
    ("perfmon_exporter::config", "config"),
    ("perfmon_exporter::expose", "exposition"),
    ("perfmon_exporter::otlp", "otlp_push"),
    ("perfmon_exporter::telemetry", "telemetry"),
    ("perfmon_exporter::web", "http_server"),
];

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

/// What plugins say for an audit: their warnings with the field [`AUDIT_FIELD`].
const AUDIT: &str = "perfmon_exporter::audit";
const AUDIT_FIELD: &str = "audit";

/// A filter by which commands log what is for an audit, beside what `filter` says.
#[must_use]
pub fn with_audit(filter: &str) -> String {
    format!("{filter},{AUDIT}=warn")
}

fn is_for_audit(level: Level, fields: &[(&str, &str)]) -> bool {
    level == Level::Warn && fields.iter().any(|(name, _)| *name == AUDIT_FIELD)
}

/// Whether a plugin's record of this level would be kept.
#[must_use]
pub fn plugin_log_enabled(level: Level) -> bool {
    match level {
        Level::Error => tracing::enabled!(target: PLUGIN, tracing::Level::ERROR),
        Level::Warn => {
            tracing::enabled!(target: PLUGIN, tracing::Level::WARN)
                || tracing::enabled!(target: AUDIT, tracing::Level::WARN)
        }
        Level::Info => tracing::enabled!(target: PLUGIN, tracing::Level::INFO),
        Level::Debug => tracing::enabled!(target: PLUGIN, tracing::Level::DEBUG),
        Level::Trace => tracing::enabled!(target: PLUGIN, tracing::Level::TRACE),
    }
}

/// Whose record it is.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    pub target: &'a str,
    pub module: &'a str,
    pub plugin: &'a str,
}

/// A record about one target.
pub fn log_plugin_record(origin: Origin<'_>, level: Level, message: &str, fields: &[(&str, &str)]) {
    let (Origin { target, module, plugin }, fields) = (origin, shown(fields));
    with_level!(level, event!(target, module, plugin, fields, "{message}"));
}

/// Something that happened on a target.
pub fn log_plugin_event(origin: Origin<'_>, event: &Event<'_>) {
    if !plugin_log_enabled(event.level) {
        return;
    }
    let Origin { target, module, plugin } = origin;
    let texts: Vec<(&str, String)> =
        event.attributes().map(|(name, value)| (name, value.to_string())).collect();
    let fields: Vec<(&str, &str)> = texts.iter().map(|(name, value)| (*name, &**value)).collect();
    let (name, body, fields) = (event.name, event.body, shown(&fields));
    let (alert, state) = (event.alert.map(|alert| alert.id), event.alert.map(|alert| alert.state.as_str()));
    with_level!(event.level, event!(target, module, plugin, event = name, alert, state, fields, "{body}"));
}

/// So many alerts more had no line of their own: they are called as one that had, and did the same.
pub fn log_more_alerts(
    origin: Origin<'_>,
    level: Level,
    event: &str,
    name: &str,
    state: AlertState,
    alerts: usize,
) {
    let Origin { target, module, plugin } = origin;
    let (alert, state) = (Some(name).filter(|name| !name.is_empty()), state.as_str());
    with_level!(
        level,
        event!(target, module, plugin, event, alert, state, alerts, "More alerts of the same name")
    );
}

/// What a plugin says that is about no target.
#[derive(Clone, Copy, Debug, Default)]
pub struct PluginLog;

impl LibraryLog for PluginLog {
    fn log_enabled(&self, _plugin: &str, level: Level) -> bool {
        plugin_log_enabled(level)
    }

    fn log(&self, plugin: &str, level: Level, message: &str, fields: &[(&str, &str)]) {
        let (is_for_audit, fields) = (is_for_audit(level, fields), shown(fields));
        if is_for_audit {
            tracing::warn!(target: AUDIT, plugin, fields, "{message}");
        } else {
            with_level!(level, event!(plugin, fields, "{message}"));
        }
    }
}

/// Fields as one value of a line, which is not there where there are none.
fn shown<'a>(fields: &'a [(&'a str, &'a str)]) -> Option<tracing::field::DisplayValue<Fields<'a>>> {
    (!fields.is_empty()).then(|| tracing::field::display(Fields(fields)))
}

struct Fields<'a>(&'a [(&'a str, &'a str)]);

/// The field of a line that has those of a plugin.
const PLUGIN_FIELDS: &str = "fields";

impl fmt::Display for Fields<'_> {
    /// The alternate form is a JSON object. Where a name is twice, its first value counts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            f.write_str("{")?;
            for (index, (name, value)) in self.0.iter().enumerate() {
                let before = self.0.get(..index).unwrap_or_default();
                if before.iter().all(|(known, _)| known != name) {
                    let separator = if index > 0 { "," } else { "" };
                    write!(f, "{separator}{}:{}", Json(name), Json(value))?;
                }
            }
            return f.write_str("}");
        }
        for (index, (name, value)) in self.0.iter().enumerate() {
            let separator = if index > 0 { " " } else { "" };
            write!(f, "{separator}{name}={value:?}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_not_taken_for_a_part_of_the_program() {
        for good in ["info", "WARN", "off", "info,perfmon_exporter::web=debug", "h2=trace,error"] {
            check_filter(good).unwrap();
        }
        let wrong = |filter| check_filter(filter).unwrap_err();
        assert_eq!(wrong("inof"), "`inof` is no level; did you mean `info`?");
        assert_eq!(wrong("info,perfmon_exporter::web=dbug"), "`dbug` is no level; did you mean `debug`?");
        assert!(check_filter("web=[").is_err());
    }

    #[test]
    fn what_is_for_an_audit_is_logged_at_each_level() {
        for filter in ["off", "error", "perfmon_exporter::web=debug"] {
            let logged = parse_filter(&with_audit(filter)).unwrap().to_string();
            assert!(logged.contains("perfmon_exporter::audit=warn"), "{logged}");
        }
        assert!(is_for_audit(Level::Warn, &[("user", "alice"), ("audit", "process_dump")]));
        assert!(!is_for_audit(Level::Warn, &[("user", "audit")]));
        assert!(!is_for_audit(Level::Debug, &[("audit", "process_dump")]));
    }

    #[test]
    fn what_a_filter_says_of_the_exporter_counts_for_its_packages() {
        let packages = |filter| of_packages(filter).join(",");
        assert_eq!(
            packages("info,perfmon_exporter=debug"),
            "alerts=debug,config=debug,exposition=debug,otlp_push=debug,telemetry=debug,http_server=debug"
        );
        assert_eq!(
            packages("perfmon_exporter::otlp=warn,perfmon_exporter"),
            "alerts,config,exposition,otlp_push,telemetry,http_server,otlp_push=warn"
        );
        assert_eq!(packages("info,perfmon_exporter::plugin=debug"), "");
        let logged = |filter| parse_filter(filter).unwrap().to_string();
        assert!(logged("perfmon_exporter::otlp=trace").contains("otlp_push=trace"));
    }
}
