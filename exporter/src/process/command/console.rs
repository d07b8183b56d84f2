//! Where a command's words go: the standard output, the standard error, and one line that comes and goes.

use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};
use std::sync::OnceLock;

use parking_lot::{Mutex, MutexGuard};
use plugin_host::{CommandCancel, CommandOutput};
use safe_text::one_line;

use crate::process::output;

/// The process's own standard output and error.
#[derive(Debug, Default)]
pub(in crate::process) struct Console {
    /// Whether a progress line is there, which everything else has to clear.
    has_progress: Mutex<bool>,
    /// Cancels the command when the output is closed.
    cancel: OnceLock<CommandCancel>,
    is_closed: OnceLock<()>,
}

impl Console {
    /// Ends this when the reader of the standard output has gone.
    pub(super) fn end_when_closed(&self, cancel: CommandCancel) {
        if self.is_closed() {
            cancel.cancel();
        }
        // Called once for each run.
        let _ = self.cancel.set(cancel);
    }

    /// Whether the reader of the standard output has gone, as behind `| head`.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.get().is_some()
    }

    fn clear(&self) -> MutexGuard<'_, bool> {
        let mut has_progress = self.has_progress.lock();
        if std::mem::take(&mut *has_progress) {
            // A terminal that has gone needs no cleaning.
            let _ = stderr().write_all(CLEAR_LINE);
        }
        has_progress
    }
}

impl CommandOutput for Console {
    fn out(&self, bytes: &[u8]) {
        let _guard = self.clear();
        let mut stdout = stdout().lock();
        let Err(error) = stdout.write_all(bytes).and_then(|()| stdout.flush()) else { return };
        if error.kind() != ErrorKind::BrokenPipe {
            output::incomplete(&error);
        }
        if self.is_closed.set(()).is_ok()
            && let Some(cancel) = self.cancel.get()
        {
            cancel.cancel();
        }
    }

    fn err(&self, bytes: &[u8]) {
        let _guard = self.clear();
        // Nowhere to print is nothing to tell.
        let _ = stderr().write_all(output::shown(&String::from_utf8_lossy(bytes)).as_bytes());
    }

    fn progress(&self, line: &str) {
        if !stderr().is_terminal() {
            return;
        }
        let mut has_progress = self.clear();
        if line.is_empty() {
            return;
        }
        let width = usize::from(width_of(&stderr()).unwrap_or(80)).saturating_sub(1);
        let shown: String = one_line(line).chars().take(width).collect();
        *has_progress = stderr().write_all(shown.as_bytes()).is_ok();
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        drop(self.clear());
    }
}

/// Columns of the terminal; `None` if the standard output is not a terminal.
pub(super) fn terminal_width() -> Option<u16> {
    let stdout = stdout();
    if stdout.is_terminal() { width_of(&stdout) } else { None }
}

fn width_of(stream: &impl std::os::fd::AsFd) -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then_some(size.ws_col)
}

const CLEAR_LINE: &[u8] = b"\r\x1b[2K";
