//! Who may import whom. A new edge is a line here that somebody reviewed.

use std::collections::BTreeSet;

use crate::workspace::{Package, Workspace};

/// What one of our packages may name under `[dependencies]`. Tests may use more: see [`FOR_TESTS`].
struct Edges {
    package: &'static str,
    /// Our own packages.
    ours: &'static [&'static str],
    /// Packages of others; the reason for each stands in the workspace's Cargo.toml.
    theirs: &'static [&'static str],
}

const EDGES: [Edges; 20] = [
    // T0, foundation: bytes and types.
    Edges { package: "codec", ours: &[], theirs: &["thiserror"] },
    Edges { package: "ms-dtyp", ours: &["codec"], theirs: &["thiserror"] },
    // T1, session: protocol machines.
    Edges { package: "ndr", ours: &["codec", "ms-dtyp"], theirs: &["thiserror"] },
    Edges { package: "ssp", ours: &[], theirs: &["sspi", "thiserror", "tracing", "zeroize"] },
    Edges {
        package: "dcerpc",
        ours: &["codec", "ms-dtyp", "ssp"],
        theirs: &["bytes", "thiserror", "tracing"],
    },
    Edges {
        package: "ms-smb2",
        ours: &["codec", "ms-dtyp"],
        theirs: &[
            "aes",
            "aes-gcm",
            "bytes",
            "ccm",
            "cmac",
            "hmac",
            "sha2",
            "thiserror",
            "tracing",
            "zeroize",
        ],
    },
    // T2, interfaces.
    Edges { package: "ms-pcq", ours: &["codec", "ms-dtyp", "ndr", "dcerpc"], theirs: &["thiserror"] },
    Edges { package: "counters", ours: &["ms-dtyp", "ms-pcq"], theirs: &["regex", "thiserror"] },
    // T3, drivers.
    Edges { package: "transport", ours: &[], theirs: &["thiserror", "tokio", "tracing"] },
    Edges {
        package: "rpc-client",
        ours: &["ms-dtyp", "ssp", "dcerpc", "ms-smb2", "transport"],
        theirs: &["getrandom", "thiserror", "tokio", "tracing"],
    },
    Edges {
        package: "windows-session",
        ours: &["ms-dtyp", "ssp", "dcerpc", "ms-smb2", "ms-pcq", "rpc-client", "transport"],
        theirs: &["tokio", "tracing"],
    },
    // T4, world. No client code: a simulator that shared it could hide a client's mistakes.
    Edges {
        package: "windows-sim",
        ours: &["codec", "ms-dtyp", "ndr", "ssp", "dcerpc", "ms-smb2", "ms-pcq", "counters", "transport"],
        theirs: &[
            "bytes",
            "clap",
            "humantime",
            "jiff",
            "thiserror",
            "tokio",
            "tracing",
            "tracing-subscriber",
        ],
    },
    // Plugins and their interface.
    Edges { package: "plugin-abi", ours: &[], theirs: &[] },
    Edges {
        package: "plugin-host",
        ours: &["plugin-abi"],
        theirs: &["libloading", "serde", "serde_json", "thiserror", "tracing"],
    },
    Edges {
        package: "plugin-sdk",
        ours: &["plugin-abi"],
        theirs: &["serde", "serde_json", "thiserror", "tokio", "tracing"],
    },
    Edges {
        package: "plugin-pcq",
        ours: &[
            "plugin-sdk",
            "windows-session",
            "rpc-client",
            "transport",
            "ms-pcq",
            "ms-smb2",
            "dcerpc",
            "ms-dtyp",
            "ssp",
            "counters",
        ],
        theirs: &["serde", "tokio", "tracing"],
    },
    // The process.
    Edges {
        package: "perfmon-exporter",
        ours: &["plugin-host"],
        theirs: &[
            "bytes",
            "clap",
            "http-body-util",
            "humantime",
            "hyper",
            "hyper-util",
            "ipnet",
            "itoa",
            "memchr",
            "prometheus-client",
            "rustix",
            "serde",
            "serde-saphyr",
            "serde_json",
            "sha2",
            "thiserror",
            "tokio",
            "tracing",
            "tracing-subscriber",
            "zeroize",
            "zmij",
        ],
    },
    // Tools. Nothing above depends on them.
    Edges { package: "test-support", ours: &[], theirs: &["rustix"] },
    Edges {
        package: "wire-oracles",
        ours: &["codec", "ms-dtyp", "ndr", "dcerpc", "ms-smb2", "ms-pcq", "plugin-abi"],
        theirs: &[],
    },
    Edges {
        package: "xtask",
        ours: &[],
        theirs: &["clap", "rustix", "serde_json", "signal-hook", "tempfile"],
    },
];

/// What only tests and benchmarks may name.
const FOR_TESTS: [&str; 4] = ["test-support", "wire-oracles", "xtask", "windows-sim"];

/// Packages without input and output, directly or through anything that they import. `ssp` is none of
/// them: sspi brings its own clock and randomness.
const WITHOUT_IO: [&str; 6] = ["codec", "ms-dtyp", "ndr", "ms-smb2", "plugin-abi", "test-support"];
/// What only input and output needs.
const IO: [&str; 3] = ["tokio", "mio", "socket2"];

/// `.0` must not reach `.1`, however far.
const FORBIDDEN: [(&str, &[&str]); 4] = [
    ("perfmon-exporter", &["sspi", "ssp", "dcerpc", "ms-smb2", "ms-pcq", "plugin-sdk", "plugin-pcq"]),
    ("plugin-pcq", &["plugin-host", "perfmon-exporter", "hyper"]),
    ("windows-sim", &["rpc-client", "windows-session", "plugin-sdk"]),
    ("ms-pcq", &["tokio", "mio", "socket2"]),
];

pub(crate) fn check(workspace: &Workspace) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, package) in &workspace.packages {
        match EDGES.iter().find(|edges| edges.package == name) {
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
        let allowed = if workspace.packages.contains_key(dependency) { edges.ours } else { edges.theirs };
        if !allowed.contains(&dependency) {
            problems.push(format!("{name} -> {dependency}: not in the table of edges"));
        }
        if FOR_TESTS.contains(&dependency) {
            problems.push(format!("{name} -> {dependency}: a tool is for tests only"));
        }
    }
    for allowed in edges.ours.iter().chain(edges.theirs) {
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
