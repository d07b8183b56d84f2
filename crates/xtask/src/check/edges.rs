//! Who may import whom. A new edge is a line here that somebody reviewed.

use std::collections::BTreeSet;

use crate::workspace::{Package, Workspace};

/// What one of our packages may name under `[dependencies]`. Tests may use more: see [`FOR_TESTS`].
struct Edges {
    package: &'static str,
    ours: Vec<&'static str>,
    theirs: Vec<&'static str>,
}

const TABLE: &str = include_str!("../../edges.txt");

fn table() -> Vec<Edges> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let words = |part: Option<&'static str>| part.unwrap_or_default().split_whitespace().collect();
    let read = |line: &'static str| {
        let mut parts = line.split('|');
        let package = parts.next().unwrap_or_default().trim();
        Edges { package, ours: words(parts.next()), theirs: words(parts.next()) }
    };
    lines.map(read).collect()
}

/// What only tests and benchmarks may name, and each other.
const FOR_TESTS: [&str; 5] = ["test-support", "oracles", "xtask", "plugin-harness", "windows-sim"];

/// Packages without input and output, directly or through anything that they import. `ssp` is none of
/// them: sspi brings its own clock and randomness.
const WITHOUT_IO: [&str; 4] = ["wire", "ms-smb2", "plugin-abi", "test-support"];
/// What only input and output needs.
const IO: [&str; 3] = ["tokio", "mio", "socket2"];

/// `.0` must not depend on `.1`, directly or indirectly.
const FORBIDDEN: [(&str, &[&str]); 8] = [
    (
        "perfmon-exporter",
        &[
            "sspi",
            "ssp",
            "dcerpc",
            "ms-smb2",
            "counters",
            "plugin-sdk",
            "plugin-pcq",
            "plugin-comt",
            "plugin-rpc-state",
            "plugin-pla",
            "promql-parser",
        ],
    ),
    ("perfmon-tool", &["perfmon-exporter", "http-server", "sspi", "ssp", "plugin-sdk"]),
    ("plugin-pcq", &["plugin-host", "perfmon-exporter", "hyper"]),
    ("plugin-comt", &["plugin-host", "perfmon-exporter", "hyper", "plugin-pcq", "counters"]),
    ("plugin-rpc-state", &["plugin-host", "perfmon-exporter", "hyper", "plugin-pcq", "plugin-comt"]),
    (
        "plugin-pla",
        &["plugin-host", "perfmon-exporter", "hyper", "plugin-pcq", "plugin-comt", "plugin-rpc-state"],
    ),
    ("windows-sim", &["host-session", "dcom", "plugin-sdk"]),
    ("counters", &["tokio", "mio", "socket2"]),
];

pub(crate) fn check(workspace: &Workspace) -> Vec<String> {
    let mut problems = Vec::new();
    let table = table();
    for (name, package) in &workspace.packages {
        match table.iter().find(|edges| edges.package == name) {
            Some(edges) => check_edges(workspace, package, edges, &mut problems),
            None => problems.push(format!("{name}: has no line in the table of edges")),
        }
    }
    for name in WITHOUT_IO {
        forbid(workspace, name, &IO, &mut problems);
    }
    for (name, unwanted) in FORBIDDEN {
        forbid(workspace, name, unwanted, &mut problems);
    }
    problems
}

fn check_edges(workspace: &Workspace, package: &Package, edges: &Edges, problems: &mut Vec<String>) {
    let name = edges.package;
    for dependency in &package.dependencies {
        let dependency = dependency.as_str();
        let allowed = if workspace.packages.contains_key(dependency) { &edges.ours } else { &edges.theirs };
        if !allowed.contains(&dependency) {
            problems.push(format!("{name} -> {dependency}: not in the table of edges"));
        }
        if FOR_TESTS.contains(&dependency) && !FOR_TESTS.contains(&name) {
            problems.push(format!("{name} -> {dependency}: a tool is for tests only"));
        }
    }
    for allowed in edges.ours.iter().chain(&edges.theirs) {
        if !package.dependencies.contains(*allowed) {
            problems.push(format!("{name} -> {allowed}: in the table of edges, not in Cargo.toml"));
        }
    }
    if name != "ssp" && package.dependencies.union(&package.dev_dependencies).any(|used| used == "sspi") {
        problems.push(format!("{name} -> sspi: ssp alone knows it"));
    }
}

fn forbid(workspace: &Workspace, name: &str, unwanted: &[&str], problems: &mut Vec<String>) {
    let Some(package) = workspace.packages.get(name) else {
        problems.push(format!("{name}: the table of edges names it, the workspace does not hold it"));
        return;
    };
    let reached: BTreeSet<&str> = workspace.closure(package);
    for found in unwanted.iter().filter(|unwanted| reached.contains(**unwanted)) {
        problems.push(format!("{name} -> … -> {found}: forbidden however far"));
    }
}
