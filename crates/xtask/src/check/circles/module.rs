//! What one module says of others: its imports, its paths, and the names that it defines or passes on.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::{Token, tokens};

/// The names from the root of the package to a module or an item; the root itself has none.
pub(super) type ModulePath = Vec<String>;

/// A path that a module writes, from the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mention {
    pub(super) path: ModulePath,
    pub(super) line: usize,
}

/// What is known of a module by its text.
#[derive(Clone, Debug, Default)]
pub(super) struct Module {
    /// The file that it is written in.
    pub(super) file: String,
    /// What it names outside of itself.
    pub(super) mentions: Vec<Mention>,
    /// Names that are imported here, and from where: children and siblings may go through them.
    pub(super) imported: BTreeMap<String, ModulePath>,
    /// From where everything is imported.
    pub(super) globs: Vec<ModulePath>,
    /// Items that are written here.
    pub(super) defined: BTreeSet<String>,
}

/// The modules of a package by their paths.
pub(super) type Modules = BTreeMap<ModulePath, Module>;

const ITEMS: [&str; 9] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules"];

/// Reads the text of the module at `path` into `modules`, with the modules that are written inside of it. Answers which
/// of its children are for tests only.
pub(super) fn read(path: &[String], source: &str, modules: &mut Modules) -> Vec<ModulePath> {
    let tokens = tokens(source);
    let mut reader = Reader { tokens: &tokens, at: 0, modules, for_tests: Vec::new() };
    reader.module(path.to_vec());
    reader.for_tests
}

struct Reader<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    modules: &'a mut Modules,
    for_tests: Vec<ModulePath>,
}

impl Reader<'_> {
    fn text(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |token| token.text)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).map_or(0, |token| token.line)
    }

    /// Reads a module to the brace that ends it, or to the end of the file.
    fn module(&mut self, path: ModulePath) {
        let mut module = Module::default();
        let mut depth = 0_usize;
        while self.at < self.tokens.len() {
            match self.text(0) {
                "#" if self.is_for_tests() => self.skip_test_item(&path),
                "}" if depth == 0 => break,
                "{" => depth += 1,
                "}" => depth -= 1,
                // `pub(in crate::a)` names who may see an item, and imports nothing.
                "pub" if self.text(1) == "(" => self.skip_to(")"),
                "mod" if self.text(2) == "{" => {
                    let child = joined(&path, &[self.text(1).to_owned()]);
                    self.at += 3;
                    self.module(child);
                }
                "use" => {
                    self.at += 1;
                    let line = self.line();
                    self.tree(&path, &[], line, &mut module);
                }
                "crate" | "self" | "super" if self.text(1) == "::" => {
                    let line = self.line();
                    let written = self.path();
                    module.mentions.extend(absolute(&path, &written).map(|path| Mention { path, line }));
                    continue;
                }
                word if depth == 0 && ITEMS.contains(&word) => {
                    let name = if word == "macro_rules" { self.text(2) } else { self.text(1) };
                    module.defined.insert(name.to_owned());
                }
                _ => {}
            }
            self.at += 1;
        }
        self.modules.insert(path, module);
    }

    /// Whether `#[cfg(test)]` or `#[cfg(all(test, …))]` is here.
    fn is_for_tests(&self) -> bool {
        let words: Vec<&str> = (1..8).map(|ahead| self.text(ahead)).collect();
        words.starts_with(&["[", "cfg", "(", "test", ")"])
            || words.starts_with(&["[", "cfg", "(", "all", "(", "test"])
    }

    /// Passes over an item and its attributes.
    fn skip_test_item(&mut self, path: &[String]) {
        while self.text(0) == "#" {
            self.skip_to("]");
            self.at += 1;
        }
        let mut depth = 0_usize;
        while self.at < self.tokens.len() {
            match self.text(0) {
                "mod" if self.text(2) == ";" => {
                    self.for_tests.push(joined(path, &[self.text(1).to_owned()]));
                }
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 && self.text(0) == "}" {
                        return;
                    }
                }
                ";" if depth == 0 => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn skip_to(&mut self, end: &str) {
        let mut depth = 0_usize;
        while self.at < self.tokens.len() {
            match self.text(0) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && self.text(0) == end {
                return;
            }
            self.at += 1;
        }
    }

    /// Names with `::` between them.
    fn path(&mut self) -> Vec<String> {
        let mut names = vec![self.text(0).to_owned()];
        self.at += 1;
        while self.text(0) == "::" && is_name(self.text(1)) {
            names.push(self.text(1).to_owned());
            self.at += 2;
        }
        names
    }

    /// One tree of a `use`, up to the `,`, `}` or `;` after it.
    fn tree(&mut self, path: &[String], prefix: &[String], line: usize, module: &mut Module) {
        let mut written = prefix.to_vec();
        let mut name = None;
        loop {
            match self.text(0) {
                "," | "}" | ";" | "" => break,
                "::" => {}
                "{" => {
                    while !matches!(self.text(0), "}" | ";" | "") {
                        self.at += 1;
                        let line = self.line();
                        self.tree(path, &written, line, module);
                    }
                    self.at += 1;
                    return;
                }
                "*" => {
                    let from = absolute(path, &written);
                    module.mentions.extend(from.iter().map(|from| Mention { path: from.clone(), line }));
                    module.globs.extend(from);
                    self.at += 1;
                    return;
                }
                "as" => {
                    name = Some(self.text(1).to_owned());
                    self.at += 1;
                }
                // `a::{self}` is `a`.
                "self" if !written.is_empty() => {}
                word => written.push(word.to_owned()),
            }
            self.at += 1;
        }
        let (Some(from), Some(last)) = (absolute(path, &written), written.last()) else { return };
        module.mentions.push(Mention { path: from.clone(), line });
        module.imported.insert(name.unwrap_or_else(|| last.clone()), from);
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn joined(path: &[String], names: &[String]) -> ModulePath {
    [path, names].concat()
}

/// What `written` in the module at `path` means from the root; nothing for what begins with another package.
fn absolute(path: &[String], written: &[String]) -> Option<ModulePath> {
    let ups = written.iter().take_while(|name| *name == "super").count();
    match written.first()?.as_str() {
        "crate" => Some(written[1..].to_vec()),
        "self" => {
            let more = written[1..].iter().take_while(|name| *name == "super").count();
            Some(joined(path.get(..path.len().checked_sub(more)?)?, &written[1 + more..]))
        }
        "super" => Some(joined(path.get(..path.len().checked_sub(ups)?)?, &written[ups..])),
        _ => None,
    }
}
