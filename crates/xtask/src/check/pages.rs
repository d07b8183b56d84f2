//! The way into the documents: README.md stays short and leads to everything else.

use std::fs;

use crate::Result;
use crate::workspace::Workspace;

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
