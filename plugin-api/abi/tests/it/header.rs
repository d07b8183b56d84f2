use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use plugin_abi::raw::{CONSTANTS, LAYOUTS};
use plugin_abi::{DisplayRule, GeneralReason, Stage};

#[test]
fn c11_sees_the_sizes_offsets_and_constants_that_rust_sees() {
    compile("cc", "c", &["-std=c11"]).expect("the header and its mirror agree");
}

#[test]
fn cpp_accepts_the_header_with_the_same_layout() {
    if Command::new("c++").arg("--version").output().is_err() {
        println!("skipped: no C++ compiler (install g++)");
        return;
    }
    compile("c++", "cpp", &["-std=c++11"]).expect("the header is C++, too");
}

#[test]
fn a_wrong_offset_would_be_noticed() {
    let error =
        compile_with("cc", "c", &["-std=c11"], "_Static_assert(offsetof(perfmon_batch, ids) == 9, \"\");\n")
            .expect_err("the compiler refuses the false assertion");
    assert!(error.contains("static assertion failed"), "{error}");
}

#[test]
fn every_struct_and_constant_of_the_header_is_mirrored() {
    let structs = plugin_abi::raw::HEADER.matches("typedef struct perfmon_").count();
    assert_eq!(structs, LAYOUTS.len());
    let numbers = plugin_abi::raw::HEADER
        .lines()
        .filter(|line| line.starts_with("#define PERFMON_") && line.split_whitespace().count() > 2)
        .filter(|line| !line.contains('"'))
        .count();
    assert_eq!(numbers, CONSTANTS.len());
}

#[test]
fn stages_and_reasons_have_the_numbers_and_words_of_the_header() {
    for stage in Stage::ALL {
        assert_eq!(constant("STAGE", stage.as_str()), i64::from(stage.code()));
        assert_eq!(Stage::from_code(stage.code()), Some(stage));
    }
    for &reason in GeneralReason::ALL {
        assert_eq!(constant("REASON", reason.as_str()), i64::from(reason.code()));
        assert_eq!(GeneralReason::from_code(reason.code()), Some(reason));
        assert!(reason.sentence().ends_with('.') && reason.next_step().ends_with('.'));
    }
    let reasons = CONSTANTS.iter().filter(|(name, _)| name.starts_with("PERFMON_REASON_")).count();
    assert_eq!(reasons - 1 /* PERFMON_REASON_DECLARED */, GeneralReason::ALL.len());
}

#[test]
fn rules_of_display_have_the_numbers_of_the_header() {
    for rule in DisplayRule::ALL {
        let variant = format!("{rule:?}");
        let snake = variant.char_indices().fold(String::new(), |name, (index, letter)| {
            let gap = if index > 0 && letter.is_uppercase() { "_" } else { "" };
            name + gap + &letter.to_string()
        });
        assert_eq!(constant("DISPLAY", &snake), i64::from(rule.code()), "{variant}");
        assert_eq!(DisplayRule::from_code(rule.code()), Some(rule));
    }
    let rules = CONSTANTS.iter().filter(|(name, _)| name.starts_with("PERFMON_DISPLAY_")).count();
    assert_eq!(rules, DisplayRule::ALL.len());
}

fn constant(group: &str, word: &str) -> i64 {
    let name = format!("PERFMON_{group}_{}", word.to_uppercase());
    CONSTANTS.iter().find(|(constant, _)| *constant == name).map_or(-1, |(_, value)| *value)
}

fn compile(compiler: &str, extension: &str, standard: &[&str]) -> Result<(), String> {
    compile_with(compiler, extension, standard, "")
}

fn compile_with(compiler: &str, extension: &str, standard: &[&str], more: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("layout").with_extension(extension);
    std::fs::write(&source, assertions() + more).expect("the source is written");
    let output = Command::new(compiler)
        .args(standard)
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "-o"])
        .arg(folder.path().join("layout.o"))
        .arg("-I")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
        .arg(&source)
        .output()
        .map_err(|error| format!("{compiler}: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn assertions() -> String {
    let mut text = String::from("#include \"perfmon_plugin.h\"\n#include <stddef.h>\n");
    text.push_str(
        "#ifdef __cplusplus\n#define ASSERT static_assert\n#else\n#define ASSERT _Static_assert\n#endif\n",
    );
    for layout in LAYOUTS {
        let name = layout.name;
        writeln!(text, "ASSERT(sizeof({name}) == {}, \"size of {name}\");", layout.size)
            .expect("a string grows");
        for (member, offset) in layout.members {
            writeln!(text, "ASSERT(offsetof({name}, {member}) == {offset}, \"{name}.{member}\");")
                .expect("a string grows");
        }
    }
    for (name, value) in CONSTANTS {
        writeln!(text, "ASSERT({name} == {value}, \"{name}\");").expect("a string grows");
    }
    text
}
