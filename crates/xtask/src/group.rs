//! A program and all that it starts, which end together: a process group of its own.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::Result;

const STEP: Duration = Duration::from_millis(50);

/// How a program ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Itself(ExitStatus),
    /// This process was asked to end, and the group was ended.
    Interrupted,
    /// It was still there at its limit, and the group was ended.
    Late,
}

/// Runs a program whose output is ours.
pub(crate) fn run(command: &mut Command, limit: Option<Duration>, ended: &AtomicBool) -> Result<Ended> {
    let mut group = Group::start(command.stdin(Stdio::null()))?;
    let begun = Instant::now();
    loop {
        if let Some(status) = group.child.try_wait()? {
            return Ok(Ended::Itself(status));
        }
        if let Some(reason) = reason_to_end(begun, limit, ended) {
            return Ok(reason);
        }
        std::thread::sleep(STEP);
    }
}

/// Runs a program and hands on each line that it prints on either stream.
pub(crate) fn run_reading(
    command: &mut Command,
    limit: Duration,
    ended: &AtomicBool,
    mut read: impl FnMut(&str),
) -> Result<Ended> {
    let (reader, writer) = std::io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut group = Group::start(command)?;
    // The command has our ends of the pipe for writing; without them the reader sees the end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(reader).split(b'\n').map_while(std::result::Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let begun = Instant::now();
    loop {
        match lines.recv_timeout(STEP) {
            Ok(line) => read(&String::from_utf8_lossy(&line)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(Ended::Itself(group.child.wait()?)),
        }
        if let Some(reason) = reason_to_end(begun, Some(limit), ended) {
            return Ok(reason);
        }
    }
}

fn reason_to_end(begun: Instant, limit: Option<Duration>, ended: &AtomicBool) -> Option<Ended> {
    if ended.load(Ordering::Relaxed) {
        Some(Ended::Interrupted)
    } else {
        limit.is_some_and(|limit| begun.elapsed() > limit).then_some(Ended::Late)
    }
}

/// Dropping it ends the rest of the group.
struct Group {
    child: Child,
}

impl Group {
    fn start(command: &mut Command) -> Result<Self> {
        let child = command.process_group(0).spawn();
        let name = command.get_program().to_string_lossy().into_owned();
        Ok(Self { child: child.map_err(|error| format!("{name}: {error}"))? })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // Whoever has ended needs no ending.
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn lines_of_both_streams_and_the_status_arrive() {
        let mut lines = Vec::new();
        let never = AtomicBool::new(false);
        let limit = Duration::from_secs(60);
        let script = "echo out; echo err >&2; exit 77";
        let ended =
            run_reading(&mut shell(script), limit, &never, |line| lines.push(line.to_owned())).unwrap();
        lines.sort();
        assert_eq!(lines, ["err", "out"]);
        assert!(matches!(ended, Ended::Itself(status) if status.code() == Some(77)), "{ended:?}");
    }

    #[test]
    fn an_interrupted_program_ends_with_all_that_it_started() {
        let ended = AtomicBool::new(false);
        let mut grandchild = None;
        let script = "sleep 600 & echo $!; wait";
        let how = run_reading(&mut shell(script), Duration::from_secs(60), &ended, |line| {
            grandchild = line.parse().ok().and_then(Pid::from_raw);
            ended.store(true, Ordering::Relaxed);
        });
        assert_eq!(how.unwrap(), Ended::Interrupted);
        let grandchild = grandchild.expect("the shell prints it");
        let deadline = Instant::now() + Duration::from_secs(60);
        // Whoever adopted it reaps it when it pleases; a zombie runs no longer.
        while is_running(grandchild) {
            assert!(Instant::now() < deadline, "it still runs");
            std::thread::yield_now();
        }
    }

    fn is_running(process: Pid) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_at_its_limit() {
        let never = AtomicBool::new(false);
        let how = run_reading(&mut shell("exec sleep 600"), Duration::from_millis(1), &never, |_| {});
        assert_eq!(how.unwrap(), Ended::Late);
    }
}
