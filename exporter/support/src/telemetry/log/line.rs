use std::fmt::{self, Write};

use safe_text::OneLine;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::{AUDIT, LogFormat, PLUGIN, PLUGIN_FIELDS};

/// Writes an event as one line, whatever is in it: control characters are escaped, so that nobody whom the exporter
/// talks to can forge a line.
///
/// Spans are not written: nothing of ours makes any. `target` is always the watched host's name; what `tracing` calls
/// a target is `logger` in JSON, and left out of text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line(pub(super) LogFormat);

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _context: &FmtContext<'_, S, N>,
        mut out: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let metadata = event.metadata();
        let mut time = String::new();
        SystemTime.format_time(&mut Writer::new(&mut time))?;
        let is_plugin = [PLUGIN, AUDIT].contains(&metadata.target());
        let mut fields = Fields { format: self.0, is_plugin, message: String::new(), rest: String::new() };
        event.record(&mut fields);
        let Fields { message, rest, .. } = fields;
        match self.0 {
            LogFormat::Text => writeln!(out, "{time} {:>5} {message}{rest}", metadata.level().as_str()),
            LogFormat::Json => writeln!(
                out,
                "{{\"timestamp\":{},\"level\":\"{}\",\"message\":{},\"logger\":{}{rest}}}",
                Json(&time),
                metadata.level(),
                Json(&message),
                Json(metadata.target())
            ),
        }
    }
}

/// The message, and the fields as they are written after it.
struct Fields {
    format: LogFormat,
    /// Whether it is of a plugin, whose fields are one that has them all.
    is_plugin: bool,
    message: String,
    rest: String,
}

impl Fields {
    /// A value that is a number or a truth in both formats.
    fn bare(&mut self, field: &Field, value: impl fmt::Display) {
        // Writing into a string cannot fail.
        let _ = match self.format {
            LogFormat::Text => write!(self.rest, " {}={value}", field.name()),
            LogFormat::Json => write!(self.rest, ",{}:{value}", Json(field.name())),
        };
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        if value.is_finite() { self.bare(field, value) } else { self.record_str(field, &value.to_string()) }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.bare(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.bare(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.bare(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            return self.record_debug(field, &format_args!("{value}"));
        }
        let _ = match self.format {
            LogFormat::Text => write!(self.rest, " {}={value:?}", field.name()),
            LogFormat::Json => write!(self.rest, ",{}:{}", Json(field.name()), Json(value)),
        };
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if self.is_plugin && self.format == LogFormat::Json && field.name() == PLUGIN_FIELDS {
            let _ = write!(self.rest, ",{}:{value:#?}", Json(PLUGIN_FIELDS));
            return;
        }
        let text = format!("{value:?}");
        let _ = match (field.name(), self.format) {
            ("message", LogFormat::Text) => write!(self.message, "{}", OneLine(&text)),
            ("message", LogFormat::Json) => self.message.write_str(&text),
            (name, LogFormat::Text) => write!(self.rest, " {name}={}", OneLine(&text)),
            (name, LogFormat::Json) => write!(self.rest, ",{}:{}", Json(name), Json(&text)),
        };
    }
}

pub(super) struct Json<'a>(pub(super) &'a str);

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self.0).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What `say` writes in `format`, without the time.
    fn logged(format: LogFormat, say: impl FnOnce()) -> String {
        let log = Log::default();
        let out = log.clone();
        let subscriber =
            tracing_subscriber::fmt().event_format(Line(format)).with_writer(move || out.clone()).finish();
        tracing::subscriber::with_default(subscriber, say);
        let text = String::from_utf8(log.0.lock().clone()).unwrap();
        let time = text.find("20").unwrap();
        text.replace(&text[time..time + "2026-11-21T04:00:00.000000Z".len()], "T")
    }

    fn say() {
        let error = io::Error::other("torn\nin two\u{202e}");
        tracing::warn!(target: "here", target = "web\n1", %error, tries = 3_u64, share = f64::NAN, "Two\nlines \"quoted\"");
    }

    #[test]
    fn text_has_one_line_whatever_is_in_it() {
        assert_eq!(
            logged(LogFormat::Text, say),
            "T  WARN Two\\nlines \"quoted\" target=\"web\\n1\" error=torn\\nin two\\u{202e} tries=3 share=\"NaN\"\n"
        );
    }

    #[test]
    fn fields_of_a_plugin_are_fields_in_json() {
        let origin = crate::telemetry::log::Origin { target: "web1", module: "os", plugin: "pla" };
        let fields = [("set", "L\"g"), ("serial number", "7"), ("set", "again"), ("line", "a\nb")];
        let say =
            || crate::telemetry::log::log_plugin_record(origin, plugin_abi::Level::Info, "It runs", &fields);
        let json: serde_json::Value = serde_json::from_str(&logged(LogFormat::Json, say)).unwrap();
        assert_eq!(json["fields"], serde_json::json!({"set": "L\"g", "serial number": "7", "line": "a\nb"}));
        assert_eq!((&json["target"], &json["message"]), (&"web1".into(), &"It runs".into()));
        assert_eq!(
            logged(LogFormat::Text, say),
            "T  INFO It runs target=\"web1\" module=\"os\" plugin=\"pla\" fields=set=\"L\\\"g\" \
             serial number=\"7\" set=\"again\" line=\"a\\nb\"\n"
        );
        // Who else logs a field of that name logs a text.
        let say = || tracing::info!(fields = "x\"y", "Other");
        let json: serde_json::Value = serde_json::from_str(&logged(LogFormat::Json, say)).unwrap();
        assert_eq!(json["fields"], "x\"y");
    }

    #[test]
    fn json_has_one_object_a_line_and_the_target_is_the_host() {
        assert_eq!(
            logged(LogFormat::Json, say),
            "{\"timestamp\":\"T\",\"level\":\"WARN\",\"message\":\"Two\\nlines \\\"quoted\\\"\",\"logger\":\"here\",\
             \"target\":\"web\\n1\",\"error\":\"torn\\nin two\u{202e}\",\"tries\":3,\"share\":\"NaN\"}\n"
        );
    }
}
