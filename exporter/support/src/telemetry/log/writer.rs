use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tracing::warn;

/// Maximum of lines that wait for the reader of the log; more are left out and counted.
const WAITING_MAX: usize = 4096;

static OUT: OnceLock<Out> = OnceLock::new();

/// Takes lines for the standard error without waiting for its reader: a terminal that is stopped, or a pipe that
/// nobody empties, must not stop the collections.
#[derive(Clone)]
pub(super) struct Out {
    waiting: SyncSender<Message>,
    left_out: Arc<AtomicU64>,
}

enum Message {
    Line(Vec<u8>),
    /// All lines before it are written.
    Flush(SyncSender<()>),
}

impl Out {
    /// The process's only one, with a thread that writes.
    pub(super) fn start() -> io::Result<Self> {
        if let Some(out) = OUT.get() {
            return Ok(out.clone());
        }
        let (waiting, lines) = sync_channel(WAITING_MAX);
        let left_out = Arc::new(AtomicU64::new(0));
        let out = Self { waiting, left_out: Arc::clone(&left_out) };
        std::thread::Builder::new().name("log".to_owned()).spawn(move || write_all(&lines, &left_out))?;
        Ok(OUT.get_or_init(|| out).clone())
    }
}

/// Waits until what was logged is written, or for as long as its reader may take.
pub(super) fn flush(patience: Duration) {
    let Some(out) = OUT.get() else { return };
    let (written, wait) = sync_channel(1);
    // Where nobody reads there is nothing to wait for.
    if out.waiting.try_send(Message::Flush(written)).is_ok() {
        let _ = wait.recv_timeout(patience);
    }
}

impl Write for Out {
    /// Takes a whole line: the formatter writes each in one piece.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match self.waiting.try_send(Message::Line(line.to_vec())) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                self.left_out.fetch_add(1, Ordering::Relaxed);
            }
            // The thread has ended, which it never does by itself.
            Err(TrySendError::Disconnected(_)) => io::stderr().write_all(line)?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_all(lines: &Receiver<Message>, left_out: &AtomicU64) {
    for message in lines {
        match message {
            // There is nobody to tell that it cannot be written.
            Message::Line(line) => drop(io::stderr().write_all(&line)),
            Message::Flush(written) => drop(written.try_send(())),
        }
        let lines = left_out.swap(0, Ordering::Relaxed);
        if lines > 0 {
            // There is room for it now.
            warn!(lines, "Log lines were dropped, because the output was not read in time");
        }
    }
}
