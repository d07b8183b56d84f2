//! The process of a trial.

use std::path::Path;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use crate::exit;
use crate::host::Host;
use crate::image::Image;
use crate::options::HostOptions;
use crate::trial::{LOADED, REFUSED};

/// Loads the library at `path` and ends the process. The program of a [`crate::Trial`] calls it for the process
/// `parent`.
pub fn run_trial(parent: &str, path: &Path) -> ! {
    // A hanging library must not outlive the parent, which may have ended before this call.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    if getppid().is_none_or(|now| now.as_raw_nonzero().to_string() != parent) {
        exit::leave(REFUSED);
    }
    let loaded = Host::new(HostOptions::default()).load_image(Image::InPlace(path.to_owned()), path);
    exit::leave(if loaded.is_ok() { LOADED } else { REFUSED })
}
