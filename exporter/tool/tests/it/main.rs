//! The program in a folder of its own.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod compat;
mod help;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_perfmon-tool");

/// A folder with files of users.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn write(&self, file: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(file), text).unwrap();
        self.path(file)
    }

    /// Compiles a plugin of the zoo.
    fn plugin(&self, name: &str) {
        let zoo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin-api/examples/zoo");
        let library = self.path(&format!("libplugin_{name}.so"));
        test_support::plugin::compile(&zoo.join(format!("{name}.c")), &library, &[]);
    }

    /// A plugin of the project, as it was built.
    fn built_plugin(&self, name: &str) {
        let name = format!("libplugin_{name}.so");
        let (from, to) = (Path::new(PROGRAM).with_file_name("deps").join(&name), self.path(&name));
        // A link is enough, where both are on one disk.
        std::fs::hard_link(&from, &to).or_else(|_| std::fs::copy(&from, &to).map(drop)).unwrap();
    }

    /// What the program says to these arguments, run to its end in this folder.
    fn run(&self, arguments: &[&str]) -> Output {
        Command::new("timeout")
            .args(["--foreground", "60", PROGRAM])
            .current_dir(self.0.path())
            .args(arguments)
            .output()
            .unwrap()
    }
}
