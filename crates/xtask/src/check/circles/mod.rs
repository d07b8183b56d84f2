//! Modules of a package import each other in one direction only: no circles between siblings, at any depth. A circle
//! can only be built, tested and moved as a whole. Parent and child may know each other.

mod module;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

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

// Which sibling imports which, and which of these edges are part of a circle.

/// Maximum number of re-exports that a name is followed through.
const HOPS_MAX: usize = 16;

/// One module, or something below it, names another that has the same parent.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Edge {
    /// `crate`, or the path of the parent.
    parent: String,
    from: String,
    to: String,
    /// Where it is written first.
    file: String,
    line: usize,
}

/// All edges between siblings, each once.
fn edges(modules: &Modules) -> Vec<Edge> {
    let mut found = BTreeMap::new();
    for (path, module) in modules {
        for mention in &module.mentions {
            let to = target(modules, &mention.path, HOPS_MAX);
            let shared = path.iter().zip(&to).take_while(|(own, other)| own == other).count();
            // Parents and children may know each other.
            let (Some(from), Some(to)) = (path.get(shared), to.get(shared)) else { continue };
            let parent = [&["crate".to_owned()][..], &path[..shared]].concat().join("::");
            found.entry((parent, from.clone(), to.clone())).or_insert((module.file.clone(), mention.line));
        }
    }
    found
        .into_iter()
        .map(|((parent, from, to), (file, line))| Edge { parent, from, to, file, line })
        .collect()
}

/// The module that defines the item at `path`, as far as that is known: names are followed through imports.
fn target(modules: &Modules, path: &[String], hops: usize) -> ModulePath {
    let known = (0..=path.len()).rev().find(|&len| modules.contains_key(&path[..len])).unwrap_or(0);
    let (module, rest) = path.split_at(known);
    let Some((name, rest)) = rest.split_first().filter(|_| hops > 0) else { return module.to_vec() };
    let Some(found) = modules.get(module).filter(|found| !found.defined.contains(name)) else {
        return module.to_vec();
    };
    let follow = |from: &ModulePath| target(modules, &[from, rest].concat(), hops - 1);
    if let Some(from) = found.imported.get(name) {
        return follow(from);
    }
    let named = |from: &ModulePath| [&from[..], std::slice::from_ref(name)].concat();
    let has_it = |from: &&ModulePath| {
        let inside = target(modules, &named(from), hops - 1);
        modules.get(&inside).is_some_and(|inside| inside.defined.contains(name))
    };
    match found.globs.iter().find(has_it) {
        Some(from) => follow(&named(from)),
        None => module.to_vec(),
    }
}

/// The edges that are part of a circle.
fn in_circles(edges: &[Edge]) -> Vec<Edge> {
    let mut levels: BTreeMap<&str, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for Edge { parent, from, to, .. } in edges {
        levels.entry(parent).or_default().entry(from).or_default().push(to);
    }
    let is_back = |edge: &&Edge| reachable(&levels[edge.parent.as_str()], &edge.to).contains(&*edge.from);
    edges.iter().filter(is_back).cloned().collect()
}

fn reachable<'a>(level: &BTreeMap<&'a str, Vec<&'a str>>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(next) = open.pop() {
        if seen.insert(next) {
            open.extend(level.get(next).into_iter().flatten());
        }
    }
    seen
}

#[cfg(test)]
mod tests;
