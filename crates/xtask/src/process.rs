//! Child processes that never outlive this one, and waiting for what they say.

use std::collections::{BTreeSet, VecDeque};
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
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
        CHILDREN.lock().insert(child.id());
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

    /// Asks the process to end, and answers all that it printed, as long as that is no more than is kept.
    pub(crate) fn end_and_read(mut self) -> Result<Vec<String>> {
        self.signal(Signal::TERM);
        let deadline = Instant::now() + END_TIMEOUT;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => self.keep(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => return Err(self.complaint("did not end on SIGTERM")),
            }
        }
        if self.last.len() == LINES_KEPT {
            return Err(self.complaint("printed more than is kept"));
        }
        Ok(std::mem::take(&mut self.last).into())
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
        CHILDREN.lock().remove(&self.child.id());
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Becomes true when this process is asked to end.
pub(crate) fn end_on_signal() -> Result<Arc<AtomicBool>> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&ended))?;
    }
    Ok(ended)
}

/// From now on SIGTERM and SIGINT end every [`Running`] and every command of [`finish`], with all that they started, and
/// then this process.
pub(crate) fn end_children_on_signal() -> Result<()> {
    CHILDREN_END.store(true, Ordering::Relaxed);
    for (signal, status) in [(signal_hook::consts::SIGTERM, 143), (signal_hook::consts::SIGINT, 130)] {
        let (mut reader, writer) = UnixStream::pair()?;
        signal_hook::low_level::pipe::register(signal, writer)?;
        std::thread::spawn(move || {
            if reader.read_exact(&mut [0]).is_ok() {
                end_children();
                std::process::exit(status);
            }
        });
    }
    Ok(())
}

/// Runs a command until it ends, and answers what it printed to pipes.
pub(crate) fn finish(command: &mut Command) -> std::io::Result<Output> {
    let child = {
        let mut children = CHILDREN.lock();
        // If its group is not ended, it stays in ours, which a Ctrl-C reaches.
        if CHILDREN_END.load(Ordering::Relaxed) {
            command.process_group(0);
        }
        let child = command.spawn()?;
        children.insert(child.id());
        child
    };
    let group = child.id();
    let output = child.wait_with_output();
    CHILDREN.lock().remove(&group);
    output
}

fn end_children() {
    for child in CHILDREN.lock().iter() {
        if let Some(group) = i32::try_from(*child).ok().and_then(Pid::from_raw) {
            // Whoever has ended needs no ending.
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
    }
}

/// Whether a signal ends [`CHILDREN`].
static CHILDREN_END: AtomicBool = AtomicBool::new(false);

/// The process groups of every [`Running`], and of commands under way.
static CHILDREN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// A free port of loopback.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Set in the process that stands for this tool.
    const IS_TOOL: &str = "XTASK_TEST_IS_TOOL";

    /// In the tool's process `start` starts a program and prints `program ID`; a signal then ends both.
    fn check_that_a_signal_ends_the_program(name: &str, start: impl FnOnce()) {
        if std::env::var_os(IS_TOOL).is_some() {
            end_children_on_signal().unwrap();
            start();
            std::thread::sleep(Duration::from_secs(600));
        }
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", name, "--nocapture"]).env(IS_TOOL, "1");
        let mut tool = Running::start("the tool", &mut command).unwrap();
        let program = tool.wait_for("program", Duration::from_secs(60), |line| {
            line.split_once("program ")?.1.parse::<u32>().ok()
        });
        let program = program.unwrap();
        assert_eq!(tool.end().unwrap().code(), Some(143));
        // Whoever adopted it reaps it when it pleases; a zombie runs no longer.
        poll("the program has ended", Duration::from_secs(60), || {
            let stat = std::fs::read_to_string(format!("/proc/{program}/stat"));
            Ok(stat.map_or(true, |stat| stat.contains(") Z ")).then_some(()))
        })
        .unwrap();
    }

    #[test]
    fn a_benchmark_that_a_signal_ends_leaves_no_program_behind() {
        let name = "process::tests::a_benchmark_that_a_signal_ends_leaves_no_program_behind";
        check_that_a_signal_ends_the_program(name, || {
            let child = Running::start("a program", Command::new("sleep").arg("600")).unwrap();
            println!("program {}", child.id());
            std::mem::forget(child);
        });
    }

    #[test]
    fn a_check_that_a_signal_ends_leaves_no_command_behind() {
        let name = "process::tests::a_check_that_a_signal_ends_leaves_no_command_behind";
        check_that_a_signal_ends_the_program(name, || {
            let script = "sleep 600 & echo program $!; wait";
            finish(Command::new("sh").args(["-c", script])).unwrap();
        });
    }
}
