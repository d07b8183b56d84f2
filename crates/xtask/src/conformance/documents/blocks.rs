//! The fenced blocks of a page, and what is to be done with each.

use crate::Result;

/// A fenced block of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// `PAGE:LINE` of its fence.
    pub(super) place: String,
    pub(super) what: What,
    pub(super) text: String,
}

/// What is done with a block, as its fence says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// `sh run`: each command is run and ends with this code.
    Run(i32),
    /// `sh serve`: runs until the page or the next such block ends it.
    Serve,
    /// `sh root`: as `sh run`, on a machine that root may change.
    Root,
    /// `sh developer`: takes long, or changes the work tree; whether its options and packages exist is checked.
    Developer,
    /// `sh windows-host`: needs a real host; whether a shell can read it is checked.
    WindowsHost,
    /// `powershell windows`: needs Windows; cmdlets and parameters are looked up in a list.
    Windows,
    /// `yaml FILE`: the file is written and checked.
    File(String),
    /// `yaml keys`: these sections take the place of those of `perfmon.yml`.
    Keys,
    /// `promql`: one query a line.
    Queries,
    Text,
}

impl What {
    fn read(fence: &str) -> Option<Self> {
        let (language, argument) = fence.split_once(' ').unwrap_or((fence, ""));
        Some(match (language, argument) {
            ("sh", "run") => Self::Run(0),
            ("sh", "serve") => Self::Serve,
            ("sh", "root") => Self::Root,
            ("sh", "developer") => Self::Developer,
            ("sh", "windows-host") => Self::WindowsHost,
            ("sh", argument) => Self::Run(argument.strip_prefix("run=")?.parse().ok()?),
            ("powershell", "windows") => Self::Windows,
            ("yaml", "keys") => Self::Keys,
            ("yaml", file) if file.contains('.') && !file.contains("..") => Self::File(file.to_owned()),
            ("promql", "") => Self::Queries,
            ("text", "") => Self::Text,
            _ => return None,
        })
    }
}

impl Block {
    /// The commands of a block for a shell: lines, joined where one ends with `\`; comments are left out.
    pub(super) fn commands(&self) -> Vec<String> {
        let mut commands: Vec<String> = Vec::new();
        let mut open = String::new();
        for line in self.text.lines().filter(|line| !line.trim_start().starts_with('#')) {
            match line.strip_suffix('\\') {
                Some(part) => open += part,
                None => commands.push(std::mem::take(&mut open) + line),
            }
        }
        commands.push(open);
        commands.retain(|command| !command.trim().is_empty());
        commands
    }
}

/// The blocks of a page, in order. A fence that does not say what to do with its block is an error.
pub(super) fn read(page: &str, text: &str) -> Result<Vec<Block>> {
    let (mut blocks, mut open) = (Vec::new(), None::<Block>);
    for (index, line) in text.lines().enumerate() {
        let place = format!("{page}:{}", index + 1);
        let Some(fence) = line.trim_start().strip_prefix("```") else {
            if let Some(block) = &mut open {
                block.text = format!("{}{line}\n", block.text);
            }
            continue;
        };
        match open.take() {
            Some(block) if fence.is_empty() => blocks.push(block),
            Some(block) => return Err(format!("{place}: the block of {} does not end", block.place).into()),
            None => {
                let what = What::read(fence).ok_or_else(|| {
                    format!(
                        "{place}: ```{fence}: says not what is done with the block; see docs/developing.md"
                    )
                })?;
                open = Some(Block { place, what, text: String::new() });
            }
        }
    }
    match open {
        Some(block) => Err(format!("{}: the block does not end", block.place).into()),
        None => Ok(blocks),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_says_what_is_done_with_it() {
        let text = "a\n```sh run\none \\\n  more\n# no command\ntwo\n```\n```yaml a/b.yml\nx: 1\n```\n";
        let blocks = read("p.md", text).unwrap();
        assert_eq!(blocks[0].commands(), ["one   more", "two"]);
        assert_eq!(blocks[0].place, "p.md:2");
        assert_eq!(blocks[1].what, What::File("a/b.yml".to_owned()));
    }

    #[test]
    fn a_fence_without_a_language_or_with_an_unknown_one_is_refused() {
        for fence in ["", "sh", "bash", "yaml", "yaml ../x.yml", "sh run=x", "promql x"] {
            let error = read("p.md", &format!("\n```{fence}\n```\n")).unwrap_err().to_string();
            assert!(error.starts_with("p.md:2: "), "{error}");
        }
        assert!(read("p.md", "```sh run\n").is_err());
    }
}
