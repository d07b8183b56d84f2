//! Grafana's own description of dashboards, as TypeScript: each dashboard, each panel's options and what a panel says of its
//! fields must be what it describes, with no key that it does not know.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::Value;

use super::dashboards::panels;
use crate::Outcome;
use crate::Result;
use crate::peers::grafana_modules;
use crate::stage::Stage;
use crate::workspace::{Workspace, capture};

/// Enumerations are words and numbers in a file.
const PLAIN: &str = "type Plain<T> = T extends string ? `${T}` : T extends (infer U)[] ? Plain<U>[]\n  \
    : T extends object ? {[K in keyof T]: Plain<T[K]>} : T;\n";

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let modules = grafana_modules(workspace);
    symlink(&modules, stage.path("node_modules"))?;
    let (mut described, mut count) = (String::new(), 0);
    for name in panels::DASHBOARDS {
        let dashboard = panels::read(&workspace.root, name)?;
        described = program(&dashboard)?;
        check(&stage, &described).map_err(|error| format!("{name}: {error}"))?;
        count += panels::panels(&dashboard).count();
    }
    // The check itself must be able to fail.
    for (good, bad) in
        [("\"schemaVersion\":", "\"schemaversion\":"), ("\"mode\":\"multi\"", "\"mode\":\"many\"")]
    {
        let broken = described.replace(good, bad);
        if broken == described || check(&stage, &broken).is_ok() {
            return Err(format!("{bad} is not noticed").into());
        }
    }
    Ok(Outcome::Ran(format!("{count} panels of {} dashboards", panels::DASHBOARDS.len())))
}

/// Values of the dashboard with the types that they must have.
fn program(dashboard: &Value) -> Result<String> {
    let raw = "./node_modules/@grafana/schema/dist/types/raw";
    let mut text = format!("import type {{Dashboard}} from '{raw}/dashboard/x/types.gen';\n");
    let kinds: BTreeSet<&str> =
        panels::panels(dashboard).filter_map(|panel| panel["type"].as_str()).collect();
    let kinds = kinds.into_iter().map(|kind| kind.replace('-', ""));
    for kind in kinds {
        writeln!(text, "import type * as {kind} from '{raw}/composable/{kind}/panelcfg/x/types.gen';")?;
    }
    text += PLAIN;
    writeln!(text, "export const dashboard: Plain<Dashboard> = {dashboard};")?;
    for panel in panels::panels(dashboard) {
        let (id, kind) = (&panel["id"], panel["type"].as_str().ok_or("a panel without a type")?);
        let kind = kind.replace('-', "");
        writeln!(text, "export const options{id}: Plain<Partial<{kind}.Options>> = {};", panel["options"])?;
        let custom = &panel["fieldConfig"]["defaults"]["custom"];
        if !custom.is_null() {
            writeln!(text, "export const custom{id}: Plain<Partial<{kind}.FieldConfig>> = {custom};")?;
        }
    }
    Ok(text)
}

fn check(stage: &Stage<'_>, program: &str) -> Result<()> {
    fs::write(stage.path("dashboard.ts"), program)?;
    let mut tsc = Command::new("node");
    tsc.current_dir(stage.path("")).arg("node_modules/typescript/bin/tsc");
    tsc.args(["--noEmit", "--strict", "--skipLibCheck", "--preserveSymlinks", "dashboard.ts"]);
    capture(&mut tsc).map(drop)
}
