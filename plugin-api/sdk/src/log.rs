//! Passes events of `tracing` to the host, as records of the current instance.

use std::cell::Cell;
use std::fmt::{self, Write as _};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use plugin_abi::raw::{LEVEL_DEBUG, LEVEL_ERROR, LEVEL_INFO, LEVEL_TRACE, LEVEL_WARN, Label};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

use crate::host;

thread_local! {
    /// The token of the instance or run that this thread works for.
    static OWNER: Cell<u64> = const { Cell::new(0) };
    /// Whether this thread is calling the host's log. In a program that links the plugin, the host may log in turn.
    static TELLING: Cell<bool> = const { Cell::new(false) };
}

/// Makes `tracing` write to the host. A subscriber that was installed before stays (if the plugin is linked into a
/// program with its own).
pub(crate) fn install() {
    // An error means that there is a subscriber already, as the doc says.
    let _ = tracing::subscriber::set_global_default(ToHost);
}

/// Runs `action` on behalf of an instance or run.
pub(crate) fn scope<R>(owner: u64, action: impl FnOnce() -> R) -> R {
    struct Restore(u64);
    impl Drop for Restore {
        fn drop(&mut self) {
            OWNER.set(self.0);
        }
    }
    let _restore = Restore(OWNER.replace(owner));
    action()
}

/// Writes a record outside of `tracing`.
pub(crate) fn error(owner: u64, message: &str, fields: &[(&str, &str)]) {
    let fields: Vec<Label> = fields.iter().map(|(key, value)| Label::of(key, value)).collect();
    host::log(owner, LEVEL_ERROR, message, &fields);
}

/// A future that is polled on behalf of an instance or run.
pub(crate) struct Scoped<F> {
    pub(crate) owner: u64,
    pub(crate) future: Pin<Box<F>>,
}

impl<F: Future> Future for Scoped<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        scope(this.owner, || this.future.as_mut().poll(context))
    }
}

fn owner() -> u64 {
    match OWNER.get() {
        0 => host::library(),
        owner => owner,
    }
}

fn level_code(level: Level) -> u32 {
    match level {
        Level::ERROR => LEVEL_ERROR,
        Level::WARN => LEVEL_WARN,
        Level::INFO => LEVEL_INFO,
        Level::DEBUG => LEVEL_DEBUG,
        Level::TRACE => LEVEL_TRACE,
    }
}

/// Events become records; spans are ignored.
struct ToHost;

impl Subscriber for ToHost {
    fn register_callsite(&self, _metadata: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && !TELLING.get() && host::log_enabled(owner(), level_code(*metadata.level()))
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Id::from_u64(NEXT.fetch_add(1, Ordering::Relaxed).max(1))
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        let mut fields: Vec<Label> = text.fields.iter().map(|(key, value)| Label::of(key, value)).collect();
        fields.push(Label::of("module", event.metadata().target()));
        TELLING.set(true);
        host::log(owner(), level_code(*event.metadata().level()), &text.message, &fields);
        TELLING.set(false);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

#[derive(Default)]
struct Text {
    message: String,
    fields: Vec<(&'static str, String)>,
}

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message.push_str(value);
        } else {
            self.fields.push((field.name(), value.to_owned()));
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            // Writing to a string does not fail.
            let _ = write!(self.message, "{value:?}");
        } else {
            self.fields.push((field.name(), format!("{value:?}")));
        }
    }
}
