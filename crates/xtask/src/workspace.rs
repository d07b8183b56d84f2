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
}

/// One of our packages.
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) folder: PathBuf,
    /// What `[dependencies]` and `[build-dependencies]` name.
    pub(crate) dependencies: BTreeSet<String>,
    /// What `[dev-dependencies]` names.
    pub(crate) dev_dependencies: BTreeSet<String>,
}

impl Workspace {
    pub(crate) fn load() -> Result<Self> {
        // Without the filter the graph holds what only other systems link.
        let platform = ["--filter-platform", "x86_64-unknown-linux-gnu"];
        let output =
            cargo().args(["metadata", "--format-version", "1", "--locked"]).args(platform).output()?;
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

    /// A program that `cargo build --release` made.
    pub(crate) fn release(&self, name: &str) -> PathBuf {
        self.target.join("release").join(name)
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

/// Builds in release the exporter, its plugins and the simulated host.
pub(crate) fn build_programs(root: &Path) -> Result<()> {
    let packages = ["-p", "perfmon-exporter", "-p", "plugin-pcq", "-p", "windows-sim"];
    run(cargo().current_dir(root).args(["build", "--release", "--locked"]).args(packages))
}

/// Builds in release what the demo and the conformance checks run.
pub(crate) fn build_release(root: &Path) -> Result<()> {
    build_programs(root)?;
    let example = ["-p", "rpc-client", "--example", "winreg_probe"];
    run(cargo().current_dir(root).args(["build", "--release", "--locked"]).args(example))
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
