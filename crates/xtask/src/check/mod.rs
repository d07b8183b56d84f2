//! `cargo xtask check`: the architecture as a table that a machine reads.

mod circles;
mod edges;
mod figures;
mod links;
mod sources;

use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::Result;
use crate::workspace::Workspace;

/// What is checked or measured.
#[derive(Args)]
pub(crate) struct Options {
    /// Prints how large the house is in place of checking the rules
    #[arg(long)]
    figures: bool,
    /// The checkout whose figures are printed [default: this one]
    #[arg(long, value_name = "DIR", requires = "figures")]
    at: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.figures {
        let workspace = options.at.as_deref().map_or_else(Workspace::load, Workspace::load_at)?;
        return figures::print(&workspace);
    }
    rules()
}

/// Whether each rule holds.
pub(crate) fn rules() -> Result<()> {
    let workspace = Workspace::load()?;
    let mut problems = edges::check(&workspace);
    problems.extend(circles::check(&workspace)?);
    problems.extend(sources::check(&workspace)?);
    problems.extend(links::check(&workspace)?);
    problems.extend(check(&workspace)?);
    problems.extend(figures::check(&workspace)?);
    if problems.is_empty() {
        return Ok(());
    }
    for problem in &problems {
        eprintln!("rule: {problem}");
    }
    Err(format!("{} rules are broken; the rules and their reasons are in ARCHITECTURE.md", problems.len())
        .into())
}

const README_LINES_MAX: usize = 150;

/// What a stranger tries first.
const FIRST_COMMANDS: [&str; 2] = ["cargo xtask demo", "cargo xtask test"];

pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let readme = fs::read_to_string(workspace.root.join("README.md"))?;
    let index = fs::read_to_string(workspace.root.join("docs/README.md"))?;
    let mut names = Vec::new();
    for entry in fs::read_dir(workspace.root.join("docs"))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(problems(&readme, &index, &names))
}

fn problems(readme: &str, index: &str, names: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    let lines = readme.lines().count();
    if lines > README_LINES_MAX {
        problems.push(format!(
            "README.md: {lines} lines, more than {README_LINES_MAX}: what is not needed first belongs to docs/"
        ));
    }
    for command in FIRST_COMMANDS {
        if !readme.lines().any(|line| line == command) {
            problems.push(format!("README.md: lacks the command `{command}`"));
        }
    }
    for name in names.iter().filter(|name| name.ends_with(".md") && *name != "README.md") {
        if !index.contains(&format!("]({name})")) {
            problems.push(format!("docs/{name}: docs/README.md does not lead there"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_is_short_and_leads_to_every_page() {
        let readme = "cargo xtask demo\ncargo xtask test\n";
        let names = ["README.md", "a.md", "b.md", "c.svg"].map(str::to_owned);
        assert_eq!(problems(readme, "[A](a.md) [B](b.md)", &names), Vec::<String>::new());
        let long = "\n".repeat(151);
        let found = problems(&long, "[A](a.md)", &names);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found[3].starts_with("docs/b.md: "), "{found:?}");
    }
}
