//! Loads a library in a separate process first, so that it cannot hang, crash or end this one.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use tracing::warn;

use crate::error::LoadError;
use crate::image::Image;

/// How a library is tested before it is loaded.
#[derive(Clone, Debug)]
pub struct Trial {
    /// A program that calls [`crate::run_trial`] with the last two of its arguments.
    pub program: PathBuf,
    /// The arguments before these two.
    pub arguments: Vec<OsString>,
    /// How long loading may take.
    pub time_max: Duration,
}

/// The library was loaded.
pub(crate) const LOADED: i32 = 99;
/// It was refused; loading it in this process reports why.
pub(crate) const REFUSED: i32 = 98;

impl Trial {
    /// Tests the library; the error says how the process ended.
    pub(crate) fn run(&self, image: &Image, file: &Path) -> Result<(), LoadError> {
        let mut child = match self.begin(image) {
            Ok(child) => child,
            Err(error) => {
                warn!(file = %file.display(), %error, "Plugin cannot be tested in a separate process");
                return Ok(());
            }
        };
        let outcome = match self.wait(&mut child) {
            Ok(Some(status)) if matches!(status.code(), Some(LOADED | REFUSED)) => return Ok(()),
            Ok(Some(status)) => ended(status),
            Ok(None) => format!("it was not loaded within {} s", self.time_max.as_secs()),
            Err(error) => format!("it cannot be waited for: {error}"),
        };
        Err(LoadError::Trial { file: file.to_owned(), outcome })
    }

    fn begin(&self, image: &Image) -> std::io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(std::process::id().to_string()).stdout(Stdio::null());
        match image {
            Image::Copy(copy) => command.stdin(copy.try_clone()?).arg("/proc/self/fd/0"),
            Image::InPlace(file) => command.stdin(Stdio::null()).arg(file),
        };
        command.spawn()
    }

    /// Its exit status; `None` if it had to be killed.
    fn wait(&self, child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
        let has_ended = has_ended_within(child, self.time_max);
        if !matches!(has_ended, Ok(true)) {
            child.kill()?;
        }
        let status = child.wait()?;
        Ok(has_ended?.then_some(status))
    }
}

fn has_ended_within(child: &Child, time_max: Duration) -> std::io::Result<bool> {
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let timeout = Timespec::try_from(time_max).map_err(std::io::Error::other)?;
    loop {
        match poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout)) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended its process with exit status {code}"),
        (None, Some(signal)) => format!("its process was ended by {}", signal_name(signal)),
        (None, None) => "its process ended".to_owned(),
    }
}

fn signal_name(signal: i32) -> String {
    let known = [
        (Signal::SEGV, "SIGSEGV"),
        (Signal::BUS, "SIGBUS"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::ILL, "SIGILL"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SYS, "SIGSYS"),
    ];
    let name = known.iter().find(|(known, _)| known.as_raw() == signal);
    name.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}
