//! The process of `tests/child`, which the tests stop, kill and cheat.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

/// It does one thing after the other, each when it is told to. It ends with the test.
pub(crate) struct Process {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Process {
    /// Starts it; it says what `doing` makes it say first.
    pub(crate) fn start(doing: &str, directory: &Path) -> (Self, String) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rpc-cells-child"))
            .arg(doing)
            .arg(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the process starts");
        let said = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let mut process = Self { child, said };
        let first = process.line();
        (process, first)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Tells it to go on, and waits for what it says then.
    pub(crate) fn go_on(&mut self) -> String {
        let stdin = self.child.stdin.as_mut().expect("it is a pipe");
        // It may have died, which its status says.
        let _ = stdin.write_all(b"\n").and_then(|()| stdin.flush());
        self.line()
    }

    /// The next line, without its end; empty if it ended.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).expect("lines are UTF-8");
        line.trim_end().to_owned()
    }

    /// Ends it with SIGKILL, whatever it is doing.
    pub(crate) fn kill(mut self) -> ExitStatus {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it was killed")
    }

    /// Waits until it ends.
    pub(crate) fn wait(mut self) -> ExitStatus {
        drop(self.child.stdin.take());
        self.child.wait().expect("it ends")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
