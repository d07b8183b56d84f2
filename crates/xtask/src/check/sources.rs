//! Rules about the text of our own files.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::workspace::{Workspace, capture};

/// Longer than this a file is never one idea.
const LINES_MAX: usize = 800;

/// Crates and modules without input and output: they say so to the compiler.
const WITHOUT_IO: [&str; 11] = [
    "crates/foundation/wire/src/lib.rs",
    "crates/rpc/rpc/src/lib.rs",
    "crates/rpc/dcerpc/src/lib.rs",
    "crates/rpc/ms-smb2/src/lib.rs",
    "crates/interfaces/counters/src/lib.rs",
    "crates/counters/counter-types/src/lib.rs",
    "crates/drivers/rpc-cells/src/view/mod.rs",
    "plugin-api/abi/src/lib.rs",
    "exporter/series/src/lib.rs",
    "exporter/exposition/src/lib.rs",
    "exporter/otlp/src/encode/mod.rs",
];
const WITHOUT_IO_LINE: &str = "#![deny(clippy::disallowed_methods, clippy::disallowed_types)]";

/// Where `unsafe` may be written.
const UNSAFE_FOLDERS: [&str; 3] =
    ["plugin-api/", "crates/drivers/rpc-cells/src/mapped/", "crates/rpc/gssapi/"];

pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let listed = capture(Command::new("git").current_dir(&workspace.root).args(["ls-files", "*.rs"]))?;
    let mut problems = Vec::new();
    for name in listed.lines() {
        let path = workspace.root.join(name);
        // A file may be deleted and not yet committed so.
        if let Ok(text) = fs::read_to_string(&path) {
            check_file(name, &text, &mut problems);
        }
    }
    for name in WITHOUT_IO {
        let text = fs::read_to_string(workspace.root.join(name)).unwrap_or_default();
        if !text.lines().any(|line| line == WITHOUT_IO_LINE) {
            problems.push(format!("{name}: lacks the line `{WITHOUT_IO_LINE}`"));
        }
    }
    check_map(workspace, &mut problems)?;
    Ok(problems)
}

fn check_file(name: &str, text: &str, problems: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > LINES_MAX {
        problems.push(format!("{name}: {lines} lines, more than {LINES_MAX}: split it by idea"));
    }
    check_module_table(name, text, problems);
    let may_be_unsafe = UNSAFE_FOLDERS.iter().any(|folder| name.starts_with(folder));
    for (index, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        let at = || format!("{name}:{}", index + 1);
        if code.contains(concat!("#[", "ignore")) {
            problems.push(format!("{}: a test that does not run proves nothing", at()));
        }
        if !may_be_unsafe && is_unsafe(code) {
            problems.push(format!("{}: unsafe belongs to {} only", at(), UNSAFE_FOLDERS.join(" and ")));
        }
        if is_poisonable(code) {
            problems.push(format!("{}: locks are those of parking_lot, which know no poisoning", at()));
        }
    }
}

/// Rows of the tables of modules in `//!` whose module is not declared in the same file.
fn check_module_table(name: &str, text: &str, problems: &mut Vec<String>) {
    let table = text.lines().skip_while(|line| !line.starts_with("//! | module |"));
    for row in table.map_while(|line| line.strip_prefix("//! | ")) {
        let first = row.split(" | ").next().unwrap_or_default();
        for module in first.split('`').skip(1).step_by(2) {
            if !text.lines().any(|line| line.trim_end().ends_with(&format!("mod {module};"))) {
                problems
                    .push(format!("{name}: the table of modules has `{module}`, which is not declared here"));
            }
        }
    }
}

fn is_unsafe(code: &str) -> bool {
    [
        concat!("unsafe", " {"),
        concat!("unsafe", " fn"),
        concat!("unsafe", " impl"),
        concat!("unsafe", " extern"),
    ]
    .iter()
    .any(|form| code.contains(form))
}

fn is_poisonable(code: &str) -> bool {
    code.contains(concat!("std::sync", "::"))
        && ["Mutex", "RwLock", "Condvar"].iter().any(|name| code.contains(name))
}

/// Every package is on the map, by its path or by the name of its folder.
fn check_map(workspace: &Workspace, problems: &mut Vec<String>) -> Result<()> {
    let map = fs::read_to_string(workspace.root.join("ARCHITECTURE.md"))?;
    for package in workspace.packages.values() {
        let folder = package.folder.strip_prefix(&workspace.root).unwrap_or(Path::new(""));
        let name = folder.file_name().unwrap_or_default().display();
        if ![format!("`{}`", folder.display()), format!("`{name}`")].iter().any(|name| map.contains(name)) {
            problems.push(format!("ARCHITECTURE.md: does not name `{}`", folder.display()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_module_table;

    #[test]
    fn a_table_of_modules_has_those_that_are_there() {
        let check = |text: &str| {
            let mut problems = Vec::new();
            check_module_table("src/lib.rs", text, &mut problems);
            problems
        };
        let table = "//! | module | job |\n//! | --- | --- |\n//! | `a`, [`b`] | both |\n\nmod a;\n";
        assert_eq!(check(&format!("{table}pub mod b;\n")), [""; 0]);
        assert_eq!(check(table), ["src/lib.rs: the table of modules has `b`, which is not declared here"]);
        let another = "//!\n//! | key | value |\n//! | --- | --- |\n//! | `c` | no module |\n";
        let both = table.replace("\n\n", &format!("\n{another}\n"));
        assert_eq!(check(&format!("{both}pub mod b;\n")), [""; 0]);
        assert_eq!(check("//! | key | value |\n//! | --- | --- |\n//! | `c` | other tables |\n"), [""; 0]);
    }
}
