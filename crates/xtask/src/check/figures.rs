//! `cargo xtask check --figures`: how large the house is, as a table. ARCHITECTURE.md limits some of its rows, under
//! "Limits", and `cargo xtask check` compares them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::workspace::{Workspace, capture, cargo};

/// A short file is one that its only caller could hold.
const SHORT_LINES_MAX: usize = 80;
const SHORT_DOC_WORDS_MAX: usize = 3;
/// A package with no more users than this may belong to one of them.
const FEW_USERS_MAX: usize = 2;

const DAEMON: &str = "perfmon-exporter";

/// Packages that only tests use, and are no large tools themselves. Oracles, the simulator and this tool count as tools.
const FOR_TESTS: [&str; 2] = ["test-support", "plugin-harness"];

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Figure {
    name: &'static str,
    value: usize,
}

/// Prints the figures of a tree.
pub(super) fn print(workspace: &Workspace) -> Result<()> {
    let figures = measure(workspace)?;
    let width = figures.iter().map(|figure| figure.name.len()).max().unwrap_or_default();
    println!("| {:width$} |   value |\n| {} | ------: |", "figure", "-".repeat(width));
    for Figure { name, value } in figures {
        println!("| {name:width$} | {value:>7} |");
    }
    Ok(())
}

/// Which figures are above their limit.
pub(super) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let map = fs::read_to_string(workspace.root.join("ARCHITECTURE.md"))?;
    Ok(problems(&measure(workspace)?, &map))
}

fn measure(workspace: &Workspace) -> Result<Vec<Figure>> {
    let sources = sources(workspace)?;
    let map = fs::read_to_string(workspace.root.join("ARCHITECTURE.md"))?;
    let plugins = workspace.packages.keys().filter(|name| is_plugin(workspace, name));
    let with_plugins: Vec<&str> = plugins.map(String::as_str).chain([DAEMON]).collect();
    let lines_of = |wanted: &dyn Fn(&Source) -> bool| -> usize {
        sources.iter().filter(|source| wanted(source)).map(|source| source.text.lines().count()).sum()
    };
    let count = |count_in: fn(&str) -> usize| sources.iter().map(|source| count_in(&source.text)).sum();
    let is_short = |source: &&Source| source.text.lines().count() <= SHORT_LINES_MAX;
    let rows: [(&'static str, usize); 14] = [
        ("packages", workspace.packages.len()),
        ("packages with one or two users", with_few_users(workspace)),
        ("source files", sources.len()),
        ("source files of at most 80 lines", sources.iter().filter(is_short).count()),
        ("shipped lines", lines_of(&|source| source.is_shipped() && !source.is_test())),
        ("lines of simulator, oracles and xtask", lines_of(&|source| is_tool(&source.package))),
        ("lines of the exporter's own package", lines_of(&|source| source.package == DAEMON)),
        ("functions named `lock`", count(locks)),
        ("doc comments of three words or fewer", count(short_docs)),
        ("bytes of ARCHITECTURE.md", map.len()),
        ("rows of ARCHITECTURE.md", rows(before_limits(&map)).len()),
        ("edges between packages", workspace.packages.keys().map(|name| uses(workspace, name).count()).sum()),
        ("packages of others in the daemon", of_others(workspace, &[DAEMON])?),
        ("packages of others in daemon and plugins", of_others(workspace, &with_plugins)?),
    ];
    Ok(rows.map(|(name, value)| Figure { name, value }).into())
}

/// A file below the `src` of one of our packages.
struct Source {
    package: String,
    /// Below the package's `src`.
    name: String,
    text: String,
}

impl Source {
    fn is_shipped(&self) -> bool {
        !is_tool(&self.package) && !FOR_TESTS.contains(&self.package.as_str())
    }

    /// A module of tests alone.
    fn is_test(&self) -> bool {
        let parts = || self.name.split('/');
        parts().any(|part| part == "tests") || parts().next_back() == Some("tests.rs")
    }
}

fn is_tool(package: &str) -> bool {
    package == "windows-sim" || package == "xtask" || package.ends_with("oracles")
}

fn is_plugin(workspace: &Workspace, package: &str) -> bool {
    workspace.packages[package].folder.starts_with(workspace.root.join("plugins"))
}

fn sources(workspace: &Workspace) -> Result<Vec<Source>> {
    let listed = capture(Command::new("git").current_dir(&workspace.root).args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "*.rs",
    ]))?;
    let mut sources = Vec::new();
    for file in listed.lines() {
        let path = workspace.root.join(file);
        // A folder of a package may be below that of another one.
        let owner = workspace
            .packages
            .iter()
            .filter(|(_, package)| path.starts_with(package.folder.join("src")))
            .max_by_key(|(_, package)| package.folder.components().count());
        // A file may be deleted and not yet committed so.
        if let Some((name, package)) = owner
            && let Ok(text) = fs::read_to_string(&path)
        {
            let below = path.strip_prefix(package.folder.join("src")).unwrap_or(Path::new(""));
            sources.push(Source { package: name.clone(), name: below.display().to_string(), text });
        }
    }
    Ok(sources)
}

/// Those of ours that a package is built with.
fn uses<'a>(workspace: &'a Workspace, name: &str) -> impl Iterator<Item = &'a String> {
    let dependencies = workspace.packages.get(name).map(|package| &package.dependencies);
    dependencies.into_iter().flatten().filter(|used| workspace.packages.contains_key(*used))
}

/// Tools for tests are no users.
fn with_few_users(workspace: &Workspace) -> usize {
    let is_user = |name: &&String| !is_tool(name) && !FOR_TESTS.contains(&name.as_str());
    let users: Vec<BTreeSet<&String>> =
        workspace.packages.keys().filter(is_user).map(|name| uses(workspace, name).collect()).collect();
    let users_of = |name: &String| users.iter().filter(|used| used.contains(name)).count();
    workspace.packages.keys().filter(|name| (1..=FEW_USERS_MAX).contains(&users_of(name))).count()
}

/// The packages that are linked into these of ours.
fn of_others(workspace: &Workspace, ours: &[&str]) -> Result<usize> {
    let mut tree = cargo();
    // Built for themselves, whatever a developer unifies in builds.
    tree.current_dir(&workspace.root).env_remove("CARGO_RESOLVER_FEATURE_UNIFICATION");
    tree.args(["tree", "--locked", "--edges", "normal", "--prefix", "none"]);
    let printed = capture(tree.args(ours.iter().flat_map(|package| ["--package", package])))?;
    let root = format!("({}", workspace.root.display());
    let theirs = printed.lines().filter(|line| !line.is_empty() && !line.contains(&root));
    // A line is `name v1.0.0`, and some have a note after that.
    let names = theirs.filter_map(|line| {
        let mut words = line.split(' ');
        Some((words.next()?, words.next()?))
    });
    Ok(names.collect::<BTreeSet<_>>().len())
}

fn locks(text: &str) -> usize {
    ["(", "<"].iter().map(|next| text.matches(&format!("{}{next}", concat!("fn", " lock"))).count()).sum()
}

fn short_docs(text: &str) -> usize {
    let mut found = 0;
    let mut words = None;
    for line in text.lines().chain([""]) {
        let line = line.trim_start();
        let comment = ["///", "//!"].iter().find_map(|mark| line.strip_prefix(mark));
        match comment.filter(|comment| !comment.starts_with('/')) {
            Some(comment) => *words.get_or_insert(0) += comment.split_whitespace().count(),
            None => found += usize::from(words.take().is_some_and(|words| words <= SHORT_DOC_WORDS_MAX)),
        }
    }
    found
}

/// The page without its table of limits.
fn before_limits(page: &str) -> &str {
    page.split_once("\n## Limits\n").map_or(page, |(before, _)| before)
}

/// The rows of all tables, without those that name and underline their columns.
fn rows(page: &str) -> Vec<&str> {
    let is_row = |line: &&str| line.starts_with('|');
    let is_underline = |line: &&str| is_row(line) && line.chars().all(|c| "|-: ".contains(c));
    let next = page.lines().skip(1).chain([""]);
    let lines = page.lines().zip(next);
    let rows = lines.filter(|(line, next)| is_row(line) && !is_underline(line) && !is_underline(next));
    rows.map(|(line, _)| line).collect()
}

fn problems(figures: &[Figure], map: &str) -> Vec<String> {
    let (_, section) = map.split_once("\n## Limits\n").unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut problems = Vec::new();
    for row in rows(section) {
        let mut cells = row.split('|').skip(1).map(str::trim);
        let (name, limit) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let figure = figures.iter().find(|figure| figure.name == name);
        match (figure, limit.replace(',', "").parse::<usize>()) {
            (Some(Figure { value, .. }), Ok(most)) if *value > most => problems.push(format!(
                "{name}: {value}, more than the {most} that ARCHITECTURE.md allows; merge or delete, or say there why not"
            )),
            (Some(_), Ok(_)) => {}
            _ => problems.push(format!(
                "ARCHITECTURE.md: the limit `{name}` is `{limit}`; write a figure of `cargo xtask check --figures` and a number"
            )),
        }
    }
    if rows(section).is_empty() {
        problems.push("ARCHITECTURE.md: has no table under `## Limits`".to_owned());
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_above_its_limit_is_a_problem_and_so_is_a_limit_of_nothing() {
        let figures = [("packages", 68), ("source files", 1_300)].map(|(name, value)| Figure { name, value });
        let map = |limits: &str| {
            format!(
                "| a | b |\n| --- | --- |\n| packages | 1 |\n\n## Limits\n\n| figure | at most |\n| --- | ---: |\n\
                 {limits}\n## More\n\n| packages | 2 |\n"
            )
        };
        let found = |limits: &str| problems(&figures, &map(limits));
        assert_eq!(found("| packages | 68 |\n| source files | 1,300 |\n"), Vec::<String>::new());
        let above = found("| packages | 67 |\n| source files | 1,300 |\n");
        assert_eq!(above.len(), 1, "{above:?}");
        assert!(above[0].starts_with("packages: 68, more than the 67 "), "{above:?}");
        let nothing = found("| pakages | 68 |\n| source files | few |\n");
        assert_eq!(nothing.len(), 2, "{nothing:?}");
        assert!(nothing[0].contains("`pakages`") && nothing[1].contains("`few`"), "{nothing:?}");
        assert_eq!(found("").len(), 1);
        assert_eq!(problems(&figures, "# A map\n").len(), 1);
    }

    #[test]
    fn short_comments_are_counted_once_each() {
        let text = "//! What this is.\n\n/// It is.\nfn a() {}\n    /// Two lines that\n    /// are not short.\n//// No comment.\n\
                    // Nor this.\n/// Last";
        assert_eq!(short_docs(text), 3);
        assert_eq!(short_docs("/// One two three four\n"), 0);
    }

    #[test]
    fn rows_are_those_below_the_heads_of_tables() {
        let page = "| a | b |\n| --- | --: |\n| 1 | 2 |\n| 3 | 4 |\ntext\n\n| c |\n|---|\n| 5 |\n";
        assert_eq!(rows(page), ["| 1 | 2 |", "| 3 | 4 |", "| 5 |"]);
    }

    #[test]
    fn functions_are_counted_by_their_whole_name() {
        let call = concat!("fn", " lock");
        assert_eq!(locks(&format!("{call}(x) {call}<T>(y) {call}ed() self.lock()")), 2);
    }
}
