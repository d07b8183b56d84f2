//! `cargo xtask check`: the architecture as a table that a machine reads.

mod circles;
mod edges;
mod links;
mod pages;
mod sources;

use crate::Result;
use crate::workspace::Workspace;

pub(crate) fn run() -> Result<()> {
    let workspace = Workspace::load()?;
    let mut problems = edges::check(&workspace);
    problems.extend(circles::check(&workspace)?);
    problems.extend(sources::check(&workspace)?);
    problems.extend(links::check(&workspace)?);
    problems.extend(pages::check(&workspace)?);
    if problems.is_empty() {
        return Ok(());
    }
    for problem in &problems {
        eprintln!("rule: {problem}");
    }
    Err(format!("{} rules are broken; the rules and their reasons stand in ARCHITECTURE.md", problems.len())
        .into())
}
