//! Where things are, asked from cargo.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Result;
use crate::process::finish;

/// The workspace as `cargo metadata` tells it.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) packages: BTreeMap<String, Package>,
    /// Each resolved package, ours or not, to those it is linked with (not for tests, not for build scripts).
    links: BTreeMap<String, Vec<String>>,
    names: BTreeMap<String, String>,
    profile: Profile,
}

/// How programs are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// As they are installed.
    Release,
    /// As fast as they can be built: for a look at them.
    Demo,
}

impl Profile {
    /// Its name for cargo, and that of its folder below the target folder.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Demo => "demo",
        }
    }
}

/// One of our packages.
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) folder: PathBuf,
    /// What `[dependencies]` and `[build-dependencies]` name.
    pub(crate) dependencies: BTreeSet<String>,
    pub(crate) dev_dependencies: BTreeSet<String>,
}

impl Workspace {
    /// The workspace, with programs that are built in release.
    pub(crate) fn load() -> Result<Self> {
        Self::load_with(Profile::Release)
    }

    pub(crate) fn load_with(profile: Profile) -> Result<Self> {
        Self::read(Path::new("."), profile)
    }

    /// The workspace of another checkout.
    pub(crate) fn load_at(folder: &Path) -> Result<Self> {
        Self::read(folder, Profile::Release)
    }

    fn read(folder: &Path, profile: Profile) -> Result<Self> {
        // Without the filter the graph holds what only other systems link.
        let platform = ["--filter-platform", "x86_64-unknown-linux-gnu"];
        let mut metadata = cargo();
        metadata.current_dir(folder).args(["metadata", "--format-version", "1", "--locked"]).args(platform);
        let output = metadata.output().map_err(|error| format!("{}: {error}", folder.display()))?;
        if !output.status.success() {
            return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        let metadata: Value = serde_json::from_slice(&output.stdout)?;
        let members: BTreeSet<&str> =
            array(&metadata["workspace_members"]).filter_map(Value::as_str).collect();
        let mut packages = BTreeMap::new();
        let mut names = BTreeMap::new();
        for package in array(&metadata["packages"]) {
            let (id, name) = (text(&package["id"]), text(&package["name"]));
            if members.contains(id.as_str()) {
                packages.insert(name.clone(), read_package(&id, package));
            }
            names.insert(id, name);
        }
        let links = array(&metadata["resolve"]["nodes"]).map(read_links).collect();
        Ok(Self {
            root: PathBuf::from(text(&metadata["workspace_root"])),
            target: PathBuf::from(text(&metadata["target_directory"])),
            packages,
            links,
            names,
            profile,
        })
    }

    /// The names of all packages that end up in the same program as `package`.
    pub(crate) fn closure(&self, package: &Package) -> BTreeSet<&str> {
        let mut seen = BTreeSet::new();
        let mut open = vec![package.id.as_str()];
        while let Some(id) = open.pop() {
            for next in self.links.get(id).into_iter().flatten() {
                if seen.insert(next.as_str()) {
                    open.push(next);
                }
            }
        }
        seen.into_iter().filter_map(|id| self.names.get(id).map(String::as_str)).collect()
    }

    /// A program or library that cargo built.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.target.join(self.profile.as_str()).join(name)
    }

    /// Builds the exporter, its plugins and the simulated host; and what the demo does without, unless it is the demo.
    pub(crate) fn build_programs(&self) -> Result<()> {
        let programs = [
            "perfmon-exporter",
            "plugin-pcq",
            "plugin-comt",
            "plugin-rpc-state",
            "plugin-pla",
            "windows-sim",
        ];
        let mut what = programs.map(|package| ["-p", package]).concat();
        match self.profile {
            Profile::Release => what.extend(["-p", "perfmon-tool"]),
            Profile::Demo => what.extend(["--no-default-features", "--features", "plugin-pla/logs"]),
        }
        self.build(&what)
    }

    /// Builds what the conformance checks run: the programs, the clients of a registry and of an endpoint map, the
    /// subscriber of events, the writer of a log, and both sides of a tracker. These are built after the programs, since the
    /// packages that only they need would change what the programs are built with.
    pub(crate) fn build_for_conformance(&self) -> Result<()> {
        self.build_programs()?;
        let packages = ["host-session", "ssp", "dcom", "counter-log"].map(|package| ["-p", package]);
        let examples =
            ["winreg_probe", "endpoint_map", "kerberos", "subscriber", "invented_tables", "com_plus_tracker"];
        self.build(&[packages.concat(), examples.map(|example| ["--example", example]).concat()].concat())
    }

    fn build(&self, what: &[&str]) -> Result<()> {
        let profile = ["build", "--locked", "--profile", self.profile.as_str()];
        run(cargo().current_dir(&self.root).args(profile).args(what))
    }

    /// The folder of everything that was installed for the tests and nothing else.
    pub(crate) fn peers(&self) -> PathBuf {
        self.target.join("peers")
    }
}

/// The cargo that runs this tool.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command with our own output as its output, and says which one failed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = finish(command).map_err(|error| format!("{}: {error}", describe(command)))?.status;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", describe(command)).into()) }
}

/// Runs a command and answers what it printed.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = finish(command).map_err(|error| format!("{}: {error}", describe(command)))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        Ok(printed)
    } else {
        let complaint = String::from_utf8_lossy(&output.stderr);
        Err(format!("{}: {}\n{printed}{complaint}", describe(command), output.status).into())
    }
}

fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

fn read_package(id: &str, package: &Value) -> Package {
    let manifest = PathBuf::from(text(&package["manifest_path"]));
    let named = |development: bool| {
        array(&package["dependencies"])
            .filter(|dependency| (dependency["kind"] == "dev") == development)
            .map(|dependency| text(&dependency["name"]))
            .collect()
    };
    Package {
        id: id.to_owned(),
        folder: manifest.parent().map(Path::to_path_buf).unwrap_or_default(),
        dependencies: named(false),
        dev_dependencies: named(true),
    }
}

fn read_links(node: &Value) -> (String, Vec<String>) {
    let is_link = |dependency: &&Value| array(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null());
    let links = array(&node["deps"]).filter(is_link).map(|dependency| text(&dependency["pkg"])).collect();
    (text(&node["id"]), links)
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
