//! Programs that are built from Go modules as their authors published them.
//!
//! Each has a folder under `crates/xtask/peers` whose `go.mod` says which versions; Go's module proxy brings them, its
//! checksum database vouches for them, and Go's own caches keep them, so that the next build takes seconds.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use crate::Result;
use crate::workspace::{Workspace, run};

/// Programs of one module and how they are built.
pub(crate) struct Programs {
    /// Of the folder with their `go.mod`.
    name: &'static str,
    /// The packages with a `main`; a program is called as the last part of its package.
    packages: &'static [&'static str],
    tags: &'static str,
}

/// The OpenTelemetry Collector with one receiver and one exporter: the program `otelcol`.
pub(crate) const OTELCOL: Programs =
    Programs { name: "otelcol", packages: &["perfmon-exporter/peers/otelcol"], tags: "" };

/// Prometheus 3 without its page and its kinds of service discovery: the programs `prometheus` and `promtool`.
pub(crate) const PROMETHEUS: Programs = Programs {
    name: "prometheus3",
    packages: &[
        "github.com/prometheus/prometheus/cmd/prometheus",
        "github.com/prometheus/prometheus/cmd/promtool",
    ],
    tags: "remove_all_sd",
};

/// The parsers of Prometheus 3's scrapes: the program `textparse`.
pub(crate) const TEXTPARSE: Programs =
    Programs { name: "textparse", packages: &["perfmon-exporter/peers/textparse"], tags: "" };

/// A database that scrapes and takes OTLP: the program `victoria-metrics`.
pub(crate) const VICTORIA_METRICS: Programs = Programs {
    name: "victoriametrics",
    packages: &["github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics"],
    tags: "",
};

/// A client of performance counters and of COM+ over SMB, NTLM, RPC and DCOM in Go: the program `gomsrpc`.
pub(crate) const GOMSRPC: Programs =
    Programs { name: "gomsrpc", packages: &["perfmon-exporter/peers/gomsrpc"], tags: "" };

/// Neither symbols nor paths of this machine: half the size, and nothing here debugs them.
const FLAGS: [&str; 4] = ["-mod=mod", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"];

impl Programs {
    /// Where one of them is once it is built.
    pub(crate) fn path(&self, workspace: &Workspace, program: &str) -> PathBuf {
        self.folder(workspace).join("bin").join(program)
    }

    /// Whether they are built, and from what the folder holds now.
    pub(super) fn are_there(&self, workspace: &Workspace) -> bool {
        let recipe = self.recipe(workspace);
        let built_from = fs::read_to_string(self.stamp(workspace));
        recipe.is_ok_and(|recipe| built_from.is_ok_and(|built| built == recipe))
    }

    pub(super) fn install(&self, workspace: &Workspace) -> Result<()> {
        let begun = Instant::now();
        println!("building: {} from its published modules; the first time this takes minutes", self.name);
        let source = self.folder(workspace).join("source");
        // What an earlier build left.
        let _ = fs::remove_dir_all(&source);
        fs::create_dir_all(&source)?;
        for file in self.sources(workspace)? {
            fs::copy(&file, source.join(file.file_name().unwrap_or_default()))?;
        }
        let mut go = Command::new("go");
        // `-mod=mod` completes the copy of go.mod by what the modules require themselves.
        go.current_dir(&source).env("GOFLAGS", "").env("CGO_ENABLED", "0").arg("build").args(FLAGS);
        let programs = self.folder(workspace).join("bin");
        fs::create_dir_all(&programs)?;
        run(go.args(["-tags", self.tags]).arg("-o").arg(programs).args(self.packages))?;
        fs::write(self.stamp(workspace), self.recipe(workspace)?)?;
        println!("built: {} in {:.0} s", self.name, begun.elapsed().as_secs_f64());
        Ok(())
    }

    /// All that the programs are made of, as text.
    fn recipe(&self, workspace: &Workspace) -> Result<String> {
        let mut recipe = format!("{} {} {}\n", FLAGS.join(" "), self.tags, self.packages.join(" "));
        for file in self.sources(workspace)? {
            recipe += &fs::read_to_string(file)?;
        }
        Ok(recipe)
    }

    /// What decides about the programs, besides the version of Go: `go.mod` and the code beside it.
    fn sources(&self, workspace: &Workspace) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(workspace.root.join("crates/xtask/peers").join(self.name))? {
            let file = entry?.path();
            if file.extension().is_some_and(|extension| extension == "go" || extension == "mod") {
                files.push(file);
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    fn folder(&self, workspace: &Workspace) -> PathBuf {
        workspace.peers().join("go").join(self.name)
    }

    /// Written last: what is there without it is broken.
    fn stamp(&self, workspace: &Workspace) -> PathBuf {
        self.folder(workspace).join("built-from")
    }
}
