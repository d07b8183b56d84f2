//! `cargo xtask test`: everything, from rules to conformance checks. The last line says how many checks ran.

use std::process::Command;

use clap::{Args, ValueEnum};

use crate::Result;
use crate::workspace::{self, Workspace, cargo};
use crate::{Outcome, Report};
use crate::{check, conformance, peers, process, quick, third_party};

/// How a run of the tests treats peers.
#[derive(Args)]
pub(crate) struct Options {
    /// What to do about peers that are not on this machine
    #[arg(long, value_enum, value_delimiter = ',', default_value = "auto")]
    peers: Vec<Peers>,
    /// Only the checks whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Instead of all that, within minutes: the tests of packages that changed and of those built with them, without the
    /// slow ones
    #[arg(long, conflicts_with = "only")]
    quick: bool,
    /// What the tree is compared with to find what changed [default: where this branch left origin/main]
    #[arg(long, value_name = "REVISION", requires = "quick")]
    since: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Peers {
    /// Use those that are there, skip what needs the others
    Auto,
    /// Install the missing ones: Debian packages as root, Python packages below the target folder
    Install,
    /// Fail where one is missing
    Require,
    /// Use none
    Skip,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    process::end_children_on_signal()?;
    let workspace = Workspace::load()?;
    if options.quick {
        if options.peers.contains(&Peers::Install) {
            peers::install_nextest(&workspace)?;
        }
        return quick::quick(&workspace, options.since.as_deref());
    }
    if options.peers.contains(&Peers::Install) {
        peers::install(&workspace)?;
    }
    let mut report = Report::default();
    for (name, step) in OWN {
        if name.contains(&options.only) {
            report.check(name, || step(&workspace).map(|()| Outcome::Ran(String::new())));
        }
    }
    let with_peers = !options.peers.contains(&Peers::Skip);
    if with_peers && PACKAGES.contains(&options.only) {
        report.check(PACKAGES, || third_party::check(&workspace));
    }
    conformance::run(&workspace, &mut report, &options.only, with_peers);
    report.finish(options.peers.contains(&Peers::Require))
}

/// `plugin-pla` without its feature `logs`. The other packages are as they are with it, but for those that want it.
const WITHOUT_LOGS: [&str; 8] = [
    "--workspace",
    "--exclude",
    "perfmon-exporter",
    "--exclude",
    "oracles",
    "--lib",
    "--no-default-features",
    "--locked",
];

const PACKAGES: &str = "packages of others";

type Step = fn(&Workspace) -> Result<()>;

/// The checks that need nothing but the toolchain and a C compiler.
const OWN: [(&str, Step); 5] = [
    ("rules", |_| check::rules()),
    ("format", |workspace| workspace::run(cargo_in(workspace).args(["fmt", "--all", "--check"]))),
    ("lints", |workspace| {
        let lints = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
        workspace::run(cargo_in(workspace).args(lints))?;
        workspace::run(cargo_in(workspace).arg("clippy").args(WITHOUT_LOGS).args(["--", "-D", "warnings"]))
    }),
    ("tests", |workspace| {
        workspace::run(cargo_in(workspace).args([
            "test",
            "--workspace",
            "--locked",
            "--quiet",
            "--no-fail-fast",
        ]))
    }),
    ("documents", |workspace| {
        let mut doc = cargo_in(workspace);
        doc.env("RUSTDOCFLAGS", "-D warnings");
        workspace::run(doc.args(["doc", "--workspace", "--no-deps", "--locked", "--quiet"]))
    }),
];

fn cargo_in(workspace: &Workspace) -> Command {
    let mut command = cargo();
    command.current_dir(&workspace.root);
    command
}
