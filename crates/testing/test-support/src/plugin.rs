//! Plugins that are written in C.

use std::path::Path;
use std::process::Command;

/// Compiles a plugin into a library, with the headers of `plugin-api` and of its zoo, and with more for the compiler.
///
/// # Panics
/// When there is no compiler, or when it is not content.
pub fn compile(source: &Path, library: &Path, options: &[&str]) {
    let api = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../plugin-api");
    let output = Command::new("cc")
        .args(["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror"])
        .args(["-shared", "-fPIC", "-fvisibility=hidden", "-pthread"])
        .arg("-I")
        .arg(api.join("abi/include"))
        .arg("-I")
        .arg(api.join("examples/zoo"))
        .arg("-o")
        .arg(library)
        .arg(source)
        .args(options)
        .output()
        .expect("a C compiler named cc");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
