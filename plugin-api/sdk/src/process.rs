//! Programs that a plugin starts, and sockets that the service manager opened for it.
#![expect(unsafe_code, reason = "a hook that runs in the new process")]

// UNSAFETY: the hook runs between fork and exec, where only calls that are safe in a signal handler are allowed. It makes two
// of them, on a set that lives on its stack, and allocates nothing.

use std::io;
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use plugin_abi::raw::FAILED;

use super::host;

/// Lets the program that `command` starts receive signals.
///
/// A program inherits the signal mask of the thread that starts it, and the threads of a plugin block all signals. Call this for
/// every program that a plugin starts: without it nothing but SIGKILL ends the program, and `timeout` in a script has no effect.
pub fn unblock_signals(command: &mut Command) -> &mut Command {
    // SAFETY: per the lines at the top of this file, the hook is safe between fork and exec.
    unsafe { command.pre_exec(clear_mask) }
}

fn clear_mask() -> io::Result<()> {
    let mut none = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: empties the set that it is given.
    unsafe { libc::sigemptyset(none.as_mut_ptr()) };
    // SAFETY: reads the set that was emptied above; a null pointer means that the old one is not wanted.
    match unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut()) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

// Sockets that the service manager opened for a plugin.

/// The listening socket that the service manager opened for this library, by its name there without `plugin.` and
/// the library's name: `events` for `FileDescriptorName=plugin.pla.events`. It does not block. `None` if there is
/// none. Do not call it before [`crate::Source::create`].
///
/// # Errors If the name is invalid, or no descriptors are left.
pub fn listening_socket(name: &str) -> io::Result<Option<TcpListener>> {
    let socket = host::listening_socket(name).map_err(|status| {
        let kind = if status == FAILED { io::ErrorKind::Other } else { io::ErrorKind::InvalidInput };
        io::Error::new(
            kind,
            format!("the exporter answers status {status} to a request for the socket `{name}`"),
        )
    })?;
    Ok(socket.map(TcpListener::from))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    /// How a shell ends that sends itself SIGTERM, started on a thread of a plugin.
    fn ended(prepare: fn(&mut Command) -> &mut Command) -> (Option<i32>, Option<i32>) {
        let runtime = crate::runtime::build("test", 1).expect("a thread");
        let run = runtime.spawn(async move {
            let mut command = Command::new("/bin/sh");
            prepare(command.args(["-c", "kill -TERM $$; exit 3"])).status().expect("there is a shell")
        });
        let status = runtime.block_on(run).expect("it ran");
        (status.signal(), status.code())
    }

    #[test]
    fn a_program_that_a_plugin_starts_can_be_ended() {
        assert_eq!(ended(unblock_signals), (Some(libc::SIGTERM), None));
        assert_eq!(ended(|command| command), (None, Some(3)), "it would not be without the hook");
    }
}
