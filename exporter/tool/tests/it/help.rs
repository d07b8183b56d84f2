//! The help of the program, as a document has it.

use std::process::{Command, Stdio};

use expect_test::expect_file;

use crate::{Folder, PROGRAM};

#[test]
fn the_help_of_the_program_is_up_to_date() {
    let text = format!(
        "```text\n{}```\n\n### compat\n\n```text\n{}```\n",
        help(&["--help"]),
        help(&["compat", "--help"])
    );
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/commands.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (begin, end) = ("<!-- begin: help of the tool -->\n", "<!-- end: help of the tool -->");
    let (before, rest) = page.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    expect_file!["../../../../docs/commands.md"].assert_eq(&format!("{before}{begin}{text}{end}{after}"));
}

fn help(arguments: &[&str]) -> String {
    let mut program = Command::new(PROGRAM);
    let output = program.args(arguments).env_remove("COLUMNS").stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

#[test]
fn what_a_file_is_called_cannot_command_a_terminal() {
    let output = Folder::new().run(&["compat", "\u{1b}[31mX\u{202e}"]);
    let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(told.contains('X') && !told.contains(['\u{1b}', '\u{202e}']), "{told:?}");
}

/// The reader of the output may go at any time, as behind `| head -1`.
#[test]
fn a_command_whose_reader_has_gone_ends_quietly_and_a_full_disk_is_a_failure() {
    let folder = Folder::new();
    folder.write("rules.yml", "groups: [{name: a, rules: [{record: x, expr: windows_os_info}]}]\n");
    for arguments in [
        &["compat", "rules.yml"][..],
        &["compat", "--format", "json", "rules.yml"],
        &["compat", "missing.json"],
    ] {
        let expected = folder.run(arguments).status.code();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut program = Command::new(PROGRAM);
        let output = program.args(arguments).current_dir(folder.path("")).stdout(writer).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!told.contains("panicked") && !told.contains("Broken pipe"), "{arguments:?}: {told}");
        assert_eq!(output.status.code(), expected, "{arguments:?}: {told}");
    }
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut program = Command::new(PROGRAM);
    let output =
        program.args(["compat", "rules.yml"]).current_dir(folder.path("")).stdout(full).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.starts_with("the output is not complete: "), "{told}");
}
