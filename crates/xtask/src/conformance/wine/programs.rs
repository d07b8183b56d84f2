//! Two programs with stubs of widl, which Wine runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::peers::wine::{GCC, HEADERS, LIBRARIES, WIDL, WINE};
use crate::workspace::capture;

/// What Wine's headers and Debian's compiler for Windows name differently.
const DEFINITIONS: [&str; 4] =
    ["-DPrev=prev", "-DEH_UNWINDING=2", "-DEH_EXIT_UNWIND=4", "-DEH_NESTED_CALL=0x10"];

/// Options of `unshare`: Wine starts servers of its own, which end with the program.
const PROCESSES: [&str; 4] = ["--pid", "--fork", "--kill-child", "--mount-proc"];
const RUN_SECONDS_MAX: &str = "60";

/// The programs, and a configuration of Wine.
pub(super) struct Programs {
    folder: PathBuf,
    prefix: PathBuf,
}

impl Programs {
    /// Builds them below `folder`.
    pub(super) fn build(sources: &Path, folder: &Path) -> Result<Self> {
        let folder = folder.join("programs");
        fs::create_dir(&folder)?;
        let mut widl = Command::new(WIDL);
        widl.current_dir(&folder).arg(format!("-I{HEADERS}/wine/windows"));
        capture(widl.args(["-h", "-s", "-c"]).arg(sources.join("tracker.idl")))?;
        for (program, stubs) in [("server", "tracker_s.c"), ("client", "tracker_c.c")] {
            let mut gcc = Command::new(GCC);
            gcc.current_dir(&folder).args(["-O1", "-w", "-I."]).arg("-I").arg(sources).args(DEFINITIONS);
            gcc.args(["-idirafter", HEADERS, "-o", &format!("{program}.exe"), stubs]);
            gcc.arg(sources.join(format!("{program}.c"))).arg(format!("{LIBRARIES}/libwinecrt0.a"));
            capture(gcc.args(["-lrpcrt4", "-lole32", "-luuid", "-lntdll"]))?;
        }
        let prefix = folder.join("prefix");
        make_prefix(&prefix)?;
        Ok(Self { folder, prefix })
    }

    /// A program that ends soon, and with it all that Wine started for it.
    pub(super) fn run(&self, program: &str) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", RUN_SECONDS_MAX, "unshare"]).args(PROCESSES).arg(WINE);
        self.configure(&mut command, program);
        command
    }

    /// A program in a network of its own, in which there is only loopback. It ends like the other.
    pub(super) fn run_alone(&self, program: &str) -> Command {
        let mut command = Command::new("unshare");
        command.args(PROCESSES).args(["--net", "sh", "-c", r#"ip link set lo up && exec "$0" "$@""#, WINE]);
        self.configure(&mut command, program);
        command
    }

    fn configure(&self, command: &mut Command, program: &str) {
        command.arg(self.folder.join(program));
        command.env("WINEPREFIX", &self.prefix).env("WINEARCH", "win64").env("WINEDEBUG", "-all");
        // The prefix is complete as far as these programs need it.
        command.env("DISPLAY", "").env("WINEDLLOVERRIDES", "wineboot.exe=");
    }
}

/// A prefix that has links to Wine's libraries and nothing else. Wine itself would make one of 700 MB, in 16 seconds.
fn make_prefix(prefix: &Path) -> Result<()> {
    let system = prefix.join("drive_c/windows/system32");
    fs::create_dir_all(&system)?;
    for library in fs::read_dir(LIBRARIES)? {
        let library = library?;
        if library.path().extension().is_some_and(|extension| extension == "dll") {
            symlink(library.path(), system.join(library.file_name()))?;
        }
    }
    Ok(())
}
