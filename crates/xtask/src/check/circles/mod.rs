//! Modules of a package import each other in one direction only: no circles between siblings, at any depth. A circle
//! can only be built, tested and moved as a whole. Circles of today stand in a table that may only become shorter.

mod graph;
mod module;
mod tokens;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use self::graph::{Edge, edges, in_circles};
use self::module::{ModulePath, Modules};
use crate::Result;
use crate::workspace::{Workspace, capture};

/// Edges that are part of a circle, by package, parent and the module that imports.
const TABLE: &str = include_str!("../../../circles.txt");

pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (name, package) in &workspace.packages {
        let sources = sources(&package.folder)?;
        let modules = read(&sources);
        found.extend(in_circles(&edges(&modules)).into_iter().map(|edge| (name.clone(), edge)));
    }
    Ok(compare(TABLE, &found))
}

/// What the table lacks, and what it has that is no longer so.
fn compare(table: &str, found: &[(String, Edge)]) -> Vec<String> {
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let mut known: BTreeSet<String> = lines.flat_map(edges_of_line).collect();
    let mut problems = Vec::new();
    for (package, edge) in found {
        let Edge { parent, from, to, file, line } = edge;
        let edge = format!("{package} | {parent} | {from} -> {to}");
        if !known.remove(&edge) {
            problems
                .push(format!("{edge}: modules import each other in a circle, here in {file}, line {line}"));
        }
    }
    let gone = |edge| format!("{edge}: no longer in a circle; take it out of crates/xtask/circles.txt");
    problems.extend(known.into_iter().map(gone));
    problems
}

/// `package | parent | from -> to to` as one text for each edge.
fn edges_of_line(line: &str) -> impl Iterator<Item = String> {
    let (from, to) = line.split_once("->").unwrap_or((line, "?"));
    to.split_whitespace().map(move |to| format!("{} -> {to}", from.trim_end()))
}

/// A file of a package: the module that it is, its name, its text.
struct Source {
    module: ModulePath,
    file: String,
    text: String,
}

/// The files of the library of a package, or of its program where there is no library.
fn sources(folder: &Path) -> Result<Vec<Source>> {
    let listed = capture(Command::new("git").current_dir(folder).args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "src/*.rs",
    ]))?;
    let names: BTreeSet<&str> = listed.lines().filter(|name| folder.join(name).exists()).collect();
    let root = if names.contains("src/lib.rs") { "src/lib.rs" } else { "src/main.rs" };
    let mut sources = Vec::new();
    for name in names {
        let is_other_root = name.starts_with("src/bin/") || ["src/lib.rs", "src/main.rs"].contains(&name);
        if name == root || !is_other_root {
            let text = fs::read_to_string(folder.join(name))?;
            sources.push(Source { module: module_of(name, root), file: name.to_owned(), text });
        }
    }
    Ok(sources)
}

/// The module that a file is: `src/a/b.rs` and `src/a/b/mod.rs` are `a::b`.
fn module_of(name: &str, root: &str) -> ModulePath {
    if name == root {
        return Vec::new();
    }
    let inner = name.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
    inner.split('/').map(str::to_owned).collect()
}

/// The modules of these files, those for tests left out.
fn read(sources: &[Source]) -> Modules {
    let (mut modules, mut for_tests) = (Modules::new(), Vec::new());
    for source in sources {
        let mut read = Modules::new();
        for_tests.extend(module::read(&source.module, &source.text, &mut read));
        for module in read.values_mut() {
            module.file.clone_from(&source.file);
        }
        modules.extend(read);
    }
    modules.retain(|path, _| !for_tests.iter().any(|tests| path.starts_with(tests)));
    modules
}

#[cfg(test)]
mod tests;
