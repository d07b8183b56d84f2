//! Child processes that never outlive this one, and waiting for what they say.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::Result;

const LINES_KEPT: usize = 200;
const END_TIMEOUT: Duration = Duration::from_secs(15);

/// A process that we started. Dropping it ends it.
pub(crate) struct Running {
    name: String,
    child: Child,
    lines: Receiver<String>,
    last: VecDeque<String>,
}

impl Running {
    /// Starts `command`; what it prints on either stream is kept and can be waited for.
    pub(crate) fn start(name: &str, command: &mut Command) -> Result<Self> {
        let mut child = command
            // A Ctrl-C is for us; we end our children in order.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{name}: {}: {error}", command.get_program().to_string_lossy()))?;
        let (sender, lines) = mpsc::channel();
        forward(child.stdout.take(), sender.clone());
        forward(child.stderr.take(), sender);
        Ok(Self { name: name.to_owned(), child, lines, last: VecDeque::new() })
    }

    /// Waits for a line of which `wanted` makes something.
    pub(crate) fn wait_for<T>(
        &mut self,
        what: &str,
        timeout: Duration,
        wanted: impl Fn(&str) -> Option<T>,
    ) -> Result<T> {
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    let found = wanted(&line);
                    self.keep(line);
                    if let Some(found) = found {
                        return Ok(found);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Err(self.complaint(&format!("no {what}"))),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.complaint(&format!("ended before {what}")));
                }
            }
        }
    }

    /// What the process printed lately, for an error.
    pub(crate) fn complaint(&mut self, problem: &str) -> Box<dyn std::error::Error> {
        while let Ok(line) = self.lines.try_recv() {
            self.keep(line);
        }
        let printed: Vec<&str> = self.last.iter().map(String::as_str).collect();
        format!("{}: {problem}; it printed:\n{}", self.name, printed.join("\n")).into()
    }

    /// The process' id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The status, where the process has ended by itself.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Asks the process to end (SIGTERM) and waits for it.
    pub(crate) fn end(mut self) -> Result<ExitStatus> {
        self.signal(Signal::TERM);
        let deadline = Instant::now() + END_TIMEOUT;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(self.complaint("did not end on SIGTERM"))
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // The process may have ended meanwhile; that is what is wanted.
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    fn keep(&mut self, line: String) {
        if self.last.len() == LINES_KEPT {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Becomes true when somebody asks this process to end.
pub(crate) fn end_on_signal() -> Result<Arc<AtomicBool>> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&ended))?;
    }
    Ok(ended)
}

/// A port of loopback that nobody listens on now.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Asks again and again until `question` has an answer. For peers that tell nothing by themselves.
pub(crate) fn poll<T>(
    what: &str,
    timeout: Duration,
    mut question: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let deadline = Instant::now() + timeout;
    let mut last = String::from("no answer");
    loop {
        match question() {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) => {}
            Err(error) => last = error.to_string(),
        }
        if Instant::now() >= deadline {
            return Err(format!("{what}: not within {timeout:?} ({last})").into());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn forward(stream: Option<impl Read + Send + 'static>, lines: mpsc::Sender<String>) {
    let Some(stream) = stream else { return };
    std::thread::spawn(move || {
        for line in BufReader::new(stream).split(b'\n').map_while(std::result::Result::ok) {
            if lines.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
        }
    });
}
