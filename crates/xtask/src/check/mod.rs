//! `cargo xtask check`: the architecture as a table that a machine reads.

mod circles;
mod edges;
mod figures;
mod links;
mod pages;
mod sources;

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
    problems.extend(pages::check(&workspace)?);
    problems.extend(figures::check(&workspace)?);
    if problems.is_empty() {
        return Ok(());
    }
    for problem in &problems {
        eprintln!("rule: {problem}");
    }
    Err(format!("{} rules are broken; the rules and their reasons stand in ARCHITECTURE.md", problems.len())
        .into())
}
