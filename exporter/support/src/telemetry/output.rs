//! What commands print.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use safe_text::OneLine;

/// The standard output. What follows is nobody's loss where the reader has gone, as behind `| head`.
#[derive(Debug)]
pub struct Output;

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match io::stdout().write(bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush().or_else(|error| match error.kind() {
            ErrorKind::BrokenPipe => Ok(()),
            _ => Err(error),
        })
    }
}

/// The same for lines for people, of which nothing commands a terminal.
#[derive(Debug)]
pub struct Shown;

impl Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Output.write_all(shown(&String::from_utf8_lossy(bytes)).as_bytes()).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Output.flush()
    }
}

/// Prints to the standard output.
pub fn out(text: impl Display) {
    if let Err(error) = write!(Output, "{text}").and_then(|()| Output.flush()) {
        incomplete(&error);
    }
}

/// The rest of the output is lost, which ends the program as a failure does.
pub fn incomplete(error: &io::Error) {
    if !IS_INCOMPLETE.swap(true, Ordering::Relaxed) {
        err(format!("the output is not complete: {error}; make room, or write it elsewhere"));
    }
}

/// Whether some of the output is lost.
#[must_use]
pub fn is_incomplete() -> bool {
    IS_INCOMPLETE.load(Ordering::Relaxed)
}

static IS_INCOMPLETE: AtomicBool = AtomicBool::new(false);

/// Prints lines for people to the standard error. Nothing in them commands a terminal.
pub fn err(text: impl Display) {
    // Nowhere to print is nothing to tell.
    let _ = io::stderr().write_all(shown(&format!("{text}\n")).as_bytes());
}

/// Lines as a terminal shows them.
#[must_use]
pub fn shown(lines: &str) -> String {
    let line = |text: &str| match text.strip_suffix('\n') {
        Some(text) => format!("{}\n", OneLine(text)),
        None => OneLine(text).to_string(),
    };
    lines.split_inclusive('\n').map(line).collect()
}

/// Prints a line to the standard output.
#[macro_export]
macro_rules! outln {
    ($($part:tt)*) => { $crate::telemetry::output::out(format_args!("{}\n", format_args!($($part)*))) };
}

/// Prints a line for people to the standard error.
#[macro_export]
macro_rules! errln {
    ($($part:tt)*) => { $crate::telemetry::output::err(format_args!($($part)*)) };
}
