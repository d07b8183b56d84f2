//! The judges that are not ours: which are there, and how to get those that are not.
//!
//! Debian packages are installed as root by apt-get. Python packages go into an environment of their own below
//! the target folder. Without `--peers=install` nothing on the machine is changed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::report::Outcome;
use crate::workspace::{Workspace, run};

const PYTHON_PACKAGES: [&str; 2] = ["impacket==0.13.1", "prometheus_client==0.26.0"];

/// Something of others that a check needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    Samba,
    Tshark,
    Prometheus,
    Python,
    Cc,
}

const ALL: [Peer; 5] = [Peer::Samba, Peer::Tshark, Peer::Prometheus, Peer::Python, Peer::Cc];

impl Peer {
    const fn name(self) -> &'static str {
        match self {
            Self::Samba => "Samba",
            Self::Tshark => "tshark",
            Self::Prometheus => "Prometheus",
            Self::Python => "Python with impacket and prometheus_client",
            Self::Cc => "a C compiler",
        }
    }

    const fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Samba => &["samba", "samba-common-bin"],
            Self::Tshark => &["tshark"],
            Self::Prometheus => &["prometheus"],
            Self::Python => &["python3", "python3-venv"],
            Self::Cc => &["gcc", "libc6-dev"],
        }
    }

    fn is_there(self, workspace: &Workspace) -> bool {
        match self {
            Self::Samba => has("smbd") && has("smbpasswd"),
            Self::Tshark => has("tshark"),
            Self::Prometheus => has("prometheus") && has("promtool"),
            Self::Python => python(workspace).is_file(),
            Self::Cc => has("cc"),
        }
    }

    fn how_to_get(self) -> String {
        format!("`cargo xtask test --peers=install` or `apt-get install {}`", self.packages().join(" "))
    }
}

/// The Python interpreter that has the packages.
pub(crate) fn python(workspace: &Workspace) -> PathBuf {
    workspace.peers().join("python/bin/python")
}

/// Whether this process may do what only root may: run a private smbd, capture packets.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The reason to skip a check, where one of `needed` is missing.
pub(crate) fn missing(workspace: &Workspace, needed: &[Peer]) -> Option<Outcome> {
    let peer = needed.iter().find(|peer| !peer.is_there(workspace))?;
    Some(Outcome::Skipped(format!("{} is not on this machine; get it by {}", peer.name(), peer.how_to_get())))
}

/// Installs every peer that is missing.
pub(crate) fn install(workspace: &Workspace) -> Result<()> {
    let missing: Vec<Peer> = ALL.into_iter().filter(|peer| !peer.is_there(workspace)).collect();
    let packages: Vec<&str> = missing
        .iter()
        .filter(|peer| !satisfied_by_other_means(**peer))
        .flat_map(|peer| peer.packages())
        .copied()
        .collect();
    if !packages.is_empty() {
        if !is_root() {
            return Err(format!("only root can install {}", packages.join(" ")).into());
        }
        println!("installing: {}", packages.join(" "));
        let mut update = Command::new("apt-get");
        run(update.args(["-o", "DPkg::Lock::Timeout=600", "update", "-q"]))?;
        let mut install = Command::new("apt-get");
        install.env("DEBIAN_FRONTEND", "noninteractive");
        install.args(["-o", "DPkg::Lock::Timeout=600", "install", "-q", "-y", "--no-install-recommends"]);
        run(install.args(packages))?;
    }
    if missing.contains(&Peer::Python) { install_python(workspace) } else { Ok(()) }
}

/// A Python from elsewhere than Debian does as well.
fn satisfied_by_other_means(peer: Peer) -> bool {
    let venv = || Command::new("python3").args(["-c", "import venv, ensurepip"]).output();
    peer == Peer::Python && venv().is_ok_and(|output| output.status.success())
}

fn install_python(workspace: &Workspace) -> Result<()> {
    let folder = workspace.peers().join("python");
    // Made aside and moved into place when whole, so that a broken installation is not taken for one.
    let aside = workspace.peers().join("python.new");
    let _ = std::fs::remove_dir_all(&aside);
    std::fs::create_dir_all(workspace.peers())?;
    println!("installing: {} into {}", PYTHON_PACKAGES.join(" "), folder.display());
    run(Command::new("python3").args(["-m", "venv"]).arg(&aside))?;
    run(Command::new(aside.join("bin/python")).args(["-m", "pip", "install", "-q"]).args(PYTHON_PACKAGES))?;
    std::fs::rename(&aside, &folder)?;
    Ok(())
}

fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let extra = [Path::new("/usr/sbin"), Path::new("/sbin")].map(Path::to_path_buf);
    std::env::split_paths(&path).chain(extra).any(|folder| folder.join(program).is_file())
}
