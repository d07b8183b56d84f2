//! A program that a task starts, in a process group of its own: whatever it does, it ends.

use std::convert::Infallible;
use std::ffi::OsString;
use std::future::pending;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use safe_files::WeakMap;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::threads::{Place, STARTS};

#[derive(Clone, Debug)]
pub(super) struct Program {
    /// Its absolute path and its arguments.
    pub(super) words: Vec<String>,
    /// All variables of its environment.
    pub(super) environment: Vec<(&'static str, OsString)>,
    /// When it is ended if it still runs, and given up if it has not started.
    pub(super) timeout: Duration,
}

/// How a program ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Itself(ExitStatus),
    /// It ran for too long, and was ended.
    TimedOut,
    /// Nobody waits for it any more, and it was ended, or not started.
    Stopped,
}

/// Runs a program for a target until it ends, or `stop` says so. Its process group ends with it: what it leaves behind there, too.
/// Returns the first bytes that it printed.
///
/// # Errors
/// When it cannot be started.
pub(super) async fn run(
    target: &str,
    program: Program,
    mut stop: watch::Receiver<()>,
) -> io::Result<(Ended, Vec<u8>)> {
    let timeout = program.timeout;
    let start = async {
        let turn = turn(target).await.map_err(io::Error::other)?;
        let deadline = Instant::now() + timeout;
        // Its file may be on a network drive.
        let folder = program.words.first().map(|path| Place::of_file(Path::new(path)));
        let started = STARTS.run(folder.into_iter().collect(), move || spawn(&program));
        let started = timeout_at(deadline, started)
            .await
            .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "it did not start within its timeout"))?;
        Ok::<_, io::Error>((turn, deadline, started.map_err(io::Error::other)??))
    };
    let (_turn, deadline, (mut group, output)) = tokio::select! {
        biased;
        _ = stop.changed() => return Ok((Ended::Stopped, Vec::new())),
        started = start => started?,
    };
    let process = group.watch()?;
    let mut output = Output::new(output)?;
    let ended = tokio::select! {
        biased;
        has_ended = process.readable() => has_ended.map(|_| None)?,
        _ = stop.changed() => Some(Ended::Stopped),
        () = sleep_until(deadline) => Some(Ended::TimedOut),
        never = output.read() => match never {},
    };
    // Its number is not given to another process before it is reaped.
    group.kill();
    let _ = process.readable().await?;
    let status = group.reap()?;
    output.read_rest();
    Ok((ended.unwrap_or(Ended::Itself(status)), output.kept))
}

/// Waits until another program of a target may run. Only one beside others of its target needs a share, so that targets whose tasks
/// hang leave places for others.
async fn turn(target: &str) -> Result<[OwnedSemaphorePermit; 2], AcquireError> {
    let first = FIRST.get_or_insert_with(target.to_owned(), || Semaphore::new(1));
    let share = tokio::select! {
        biased;
        first = first.acquire_owned() => first?,
        further = Arc::clone(&FURTHER).acquire_owned() => further?,
    };
    Ok([share, Arc::clone(&PROCESSES).acquire_owned().await?])
}

fn spawn(program: &Program) -> io::Result<(Group, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    let (path, arguments) = program.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(path);
    command
        .args(arguments)
        .env_clear()
        .envs(program.environment.iter().map(|(name, value)| (name, value)))
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0);
    plugin_sdk::unblock_signals(&mut command);
    Ok((Group::of(command.spawn()?)?, reader.into()))
}

/// A process group. Dropping it ends it.
struct Group {
    child: Child,
    leader: Pid,
    process: OwnedFd,
    is_reaped: bool,
}

impl Group {
    fn of(mut child: Child) -> io::Result<Self> {
        let leader = Pid::from_child(&child);
        match pidfd_open(leader, PidfdFlags::empty()) {
            Ok(process) => Ok(Self { child, leader, process, is_reaped: false }),
            Err(error) => {
                kill(leader);
                child.wait()?;
                Err(io::Error::other(format!("its end cannot be watched: {error}")))
            }
        }
    }

    /// Readable when the leader has ended.
    #[expect(deprecated, reason = "what replaces it is unsafe; a descriptor that is owned is what it needs")]
    fn watch(&self) -> io::Result<AsyncFd<OwnedFd>> {
        AsyncFd::with_interest(self.process.try_clone()?, Interest::READABLE)
    }

    fn kill(&self) {
        if !self.is_reaped {
            kill(self.leader);
        }
    }

    fn reap(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait()?;
        self.is_reaped = true;
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_reaped {
            self.kill();
            // Nobody else reaps it, and nobody asks how it ended.
            let _ = self.child.wait();
        }
    }
}

fn kill(leader: Pid) {
    // What has ended needs no ending.
    let _ = kill_process_group(leader, Signal::KILL);
}

/// What a program prints: the first bytes are kept, and all are read, so that the program does not wait for us.
struct Output {
    pipe: pipe::Receiver,
    buffer: Vec<u8>,
    kept: Vec<u8>,
}

impl Output {
    fn new(pipe: OwnedFd) -> io::Result<Self> {
        let pipe = pipe::Receiver::from_owned_fd(pipe)?;
        Ok(Self { pipe, buffer: vec![0; READ_BYTES], kept: Vec::new() })
    }

    /// Reads on and on.
    async fn read(&mut self) -> Infallible {
        loop {
            if self.pipe.readable().await.is_err() {
                return pending().await;
            }
            match self.pipe.try_read(&mut self.buffer) {
                Ok(0) => return pending().await,
                Ok(count) => self.keep(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return pending().await,
            }
            // A program that prints without end costs a part of one processor, and not all of it.
            if self.kept.len() == KEPT_BYTES_MAX {
                sleep(READ_PAUSE).await;
            }
        }
    }

    /// Reads what there is now. A process that left the group may still have the other end of the pipe.
    fn read_rest(&mut self) {
        while self.kept.len() < KEPT_BYTES_MAX {
            match self.pipe.try_read(&mut self.buffer) {
                Ok(count @ 1..) => self.keep(count),
                _ => return,
            }
        }
    }

    fn keep(&mut self, count: usize) {
        let room = KEPT_BYTES_MAX - self.kept.len();
        self.kept.extend_from_slice(&self.buffer[..count.min(room)]);
    }
}

/// Programs of all targets that run at a time.
static PROCESSES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(64)));
/// Of these, programs beside another one of their target. The rest is for targets that have none running.
static FURTHER: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(32)));
static FIRST: WeakMap<String, Semaphore> = WeakMap::new();
/// Of what a program prints.
const KEPT_BYTES_MAX: usize = 4 << 10;
/// As many as a pipe has room for.
const READ_BYTES: usize = 64 << 10;
const READ_PAUSE: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests;
