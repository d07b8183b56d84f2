//! Links of the documents: each leads to a file, and to a heading where it names one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::workspace::{Workspace, capture};

/// Every broken link of the pages that git knows.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let listed = capture(Command::new("git").current_dir(&workspace.root).args(["ls-files", "*.md"]))?;
    let mut pages = BTreeMap::new();
    for name in listed.lines() {
        // A page may be deleted and not yet committed so.
        if let Ok(text) = fs::read_to_string(workspace.root.join(name)) {
            pages.insert(PathBuf::from(name), text);
        }
    }
    let exists = |path: &Path| workspace.root.join(path).exists();
    Ok(broken(&pages, &exists))
}

fn broken(pages: &BTreeMap<PathBuf, String>, exists: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, text) in pages {
        for (number, line) in prose(text) {
            for link in links(line) {
                let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
                let folder = name.parent().unwrap_or(Path::new(""));
                let to = if path.is_empty() { name.clone() } else { plain(&folder.join(path)) };
                let anchors =
                    || pages.get(&to).map(|text| prose(text).filter_map(|(_, line)| anchor_of(line)));
                let is_good = exists(&to)
                    && (anchor.is_empty()
                        || anchors().is_some_and(|mut anchors| anchors.any(|known| known == anchor)));
                if !is_good {
                    problems.push(format!("{}:{number}: the link `{link}` leads nowhere", name.display()));
                }
            }
        }
    }
    problems
}

/// The lines outside of fenced blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().zip(1..).filter_map(move |(line, number)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((number, line))
    })
}

/// Where the links of a line lead, but for those to other machines.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let ends = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    ends.filter(|link| !link.contains("://") && !link.starts_with("mailto:"))
}

/// What a heading is linked by: lower case, without punctuation, with dashes for blanks.
fn anchor_of(line: &str) -> Option<String> {
    let heading = line.trim_start_matches('#');
    if heading.len() == line.len() || !heading.starts_with(' ') {
        return None;
    }
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    Some(kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect())
}

/// A path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_a_file_and_to_a_heading_of_it() {
        let page = "# A page\n[a](b.md) [b](../README.md#what-you-get-and-what-not) [c](#a-page) [d](https://x/)\n\
                    ```text\n[no](link)\n```\n[e](gone.md) [f](#gone) [g](b.md#gone)\n";
        let other = "## What you get, and what not\n";
        let texts = [("docs/a.md", page), ("docs/b.md", ""), ("README.md", other)];
        let pages: BTreeMap<PathBuf, String> =
            texts.into_iter().map(|(name, text)| (name.into(), text.to_owned())).collect();
        let found = broken(&pages, &|path| pages.contains_key(path));
        let lost = ["gone.md", "#gone", "b.md#gone"];
        assert_eq!(found, lost.map(|link| format!("docs/a.md:6: the link `{link}` leads nowhere")));
    }
}
