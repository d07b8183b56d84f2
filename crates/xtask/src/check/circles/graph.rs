//! Which sibling imports which, and which of these edges are part of a circle.

use std::collections::{BTreeMap, BTreeSet};

use super::module::{ModulePath, Modules};

/// Maximum number of re-exports that a name is followed through.
const HOPS_MAX: usize = 16;

/// One module, or something below it, names another that has the same parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    /// `crate`, or the path of the parent.
    pub(super) parent: String,
    pub(super) from: String,
    pub(super) to: String,
    /// Where it is written first.
    pub(super) file: String,
    pub(super) line: usize,
}

/// All edges between siblings, each once.
pub(super) fn edges(modules: &Modules) -> Vec<Edge> {
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
pub(super) fn in_circles(edges: &[Edge]) -> Vec<Edge> {
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
