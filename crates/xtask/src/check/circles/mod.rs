//! Modules of a package import each other in one direction only: no circles between siblings, at any depth. A circle
//! can only be built, tested and moved as a whole. Parent and child may know each other.

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

pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for (name, package) in &workspace.packages {
        let modules = read(&sources(&package.folder)?);
        problems.extend(in_circles(&edges(&modules)).iter().map(|edge| problem(name, edge)));
    }
    Ok(problems)
}

fn problem(package: &str, Edge { parent, from, to, file, line }: &Edge) -> String {
    format!(
        "{package} | {parent} | {from} -> {to}: modules import each other in a circle, here in {file}, line {line}; \
         let one of them not know the other, mostly by moving what both need into a third"
    )
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
