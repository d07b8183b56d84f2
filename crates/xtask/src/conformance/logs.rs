//! Programs of others with what counter logs leave: cabinet files, logs, reports.
//!
//! Debian's cabextract and gcab unpack the cabinet files of a data manager; it unpacks those that gcab makes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use super::browser::Browser;
use crate::peers::{self, is_root, pandas};
use crate::workspace::{Workspace, capture, cargo, run as run_here};
use crate::{Outcome, Result};

/// Bytes of a block of a cabinet file.
const BLOCK: usize = 32 * 1024;
/// When all files were modified: an even second, as the format has them.
const MODIFIED: Duration = Duration::from_secs(1_772_600_768);

type Files = BTreeMap<String, Vec<u8>>;

pub(crate) fn cabinets(workspace: &Workspace) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    let files = cabinet_files();
    write_files(&at("run1"), &files)?;
    our_cabinet(workspace, &["create".as_ref(), at("run1").as_os_str()])?;
    let cabinet = at("run1").join("run1.cab");

    capture(Command::new("cabextract").args(["--quiet", "--test"]).arg(&cabinet))?;
    let mut cabextract = Command::new("cabextract");
    cabextract.args(["--quiet", "--directory"]).arg(at("cabextract")).arg(&cabinet).env("TZ", "UTC");
    run_here(&mut cabextract)?;
    same_files("cabextract", &at("cabextract"), &files)?;
    for name in files.keys() {
        let modified = fs::metadata(at("cabextract").join(name))?.modified()?;
        if modified != UNIX_EPOCH + MODIFIED {
            return Err(format!("cabextract gives {name} the time {modified:?}").into());
        }
    }
    fs::create_dir(at("gcab"))?;
    run_here(Command::new("gcab").args(["--extract", "--directory"]).arg(at("gcab")).arg(&cabinet))?;
    same_files("gcab", &at("gcab"), &files)?;

    for (name, options) in [("stored", &["--create"][..]), ("mszip", &["--create", "--zip"])] {
        let (cabinet, to) = (at(&format!("{name}.cab")), at(name));
        let mut gcab = Command::new("gcab");
        // Names are those of the command line.
        run_here(gcab.current_dir(at("run1")).args(options).arg(&cabinet).args(files.keys()))?;
        fs::create_dir(&to)?;
        our_cabinet(workspace, &["extract".as_ref(), cabinet.as_os_str(), to.as_os_str()])?;
        same_files(&format!("our reading of gcab's {name}"), &to, &files)?;
    }
    let mounts = if is_root() { mounts(workspace, &at("mounts"))? } else { "mounts only as root" };
    Ok(Outcome::Ran(format!("{} files with {} bytes, 4 ways; {mounts}", files.len(), bytes(&files))))
}

/// What is mounted in a folder that is deleted stays as it is. The mounts are in a namespace of their own.
fn mounts(workspace: &Workspace, folder: &Path) -> Result<&'static str> {
    let (set, outside) = (folder.join("set"), folder.join("outside"));
    for path in ["run1", "run2/inner", "run3"] {
        fs::create_dir_all(set.join(path))?;
    }
    fs::create_dir(&outside)?;
    fs::write(outside.join("precious"), "kept")?;
    our_cabinet(workspace, &["keep".as_ref(), "3".as_ref(), set.as_os_str()])?;
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "sh", "-c", MOUNTED]).arg(cargo().get_program()).arg(&set).arg(&outside);
    let output = unshare.current_dir(&workspace.root).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || !said.contains("is another file system that is mounted there") {
        return Err(format!("a mount is not reported: {said}").into());
    }
    if fs::read(outside.join("precious"))? != b"kept" || set.join("run3").exists() {
        return Err("the wrong folder was deleted".into());
    }
    Ok("mounts are kept")
}

/// Mounts $2 on a folder and below another one, and deletes all folders but one.
const MOUNTED: &str = r#"set -e; mount --bind "$2" "$1/run1"; mount --bind "$2" "$1/run2/inner"
exec "$0" run --quiet --locked -p counter-log --example cabinet -- keep 1 "$1""#;

/// What a run may leave, with sizes at the borders of blocks.
fn cabinet_files() -> Files {
    let text: Vec<u8> = (0..40_000).flat_map(|line| format!("{line},\"0.5\"\r\n").into_bytes()).collect();
    [
        ("log.csv", text),
        ("empty.csv", Vec::new()),
        ("inner/Größe 1.csv", b"1".to_vec()),
        ("inner/deep/block.bin", noise(BLOCK)),
        ("inner/deep/less.bin", noise(BLOCK - 1)),
        ("inner/deep/more.bin", noise(2 * BLOCK + 1)),
        ("zeros.bin", vec![0; 5 * BLOCK]),
        ("report.xml", b"<Report/>".to_vec()),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .into()
}

/// Bytes that cannot be compressed, the same each time.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32;
    let next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[1]
    };
    std::iter::repeat_with(next).take(len).collect()
}

fn bytes(files: &Files) -> usize {
    files.values().map(Vec::len).sum()
}

fn write_files(folder: &Path, files: &Files) -> Result<()> {
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().ok_or("a file is in a folder")?)?;
        fs::write(&path, bytes)?;
        fs::File::options().write(true).open(&path)?.set_modified(UNIX_EPOCH + MODIFIED)?;
    }
    Ok(())
}

fn our_cabinet(workspace: &Workspace, arguments: &[&std::ffi::OsStr]) -> Result<String> {
    let mut example = cargo();
    example.current_dir(&workspace.root).args(["run", "--quiet", "--locked", "-p", "counter-log"]);
    capture(example.args(["--example", "cabinet", "--"]).args(arguments))
}

/// Whether a folder has these files, and no others.
fn same_files(who: &str, folder: &Path, files: &Files) -> Result<()> {
    let mut found = Files::new();
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                open.push(entry?.path());
            }
        } else {
            let name = path.strip_prefix(folder)?.to_str().ok_or("a name is not UTF-8")?;
            found.insert(name.to_owned(), fs::read(&path)?);
        }
    }
    if found == *files {
        return Ok(());
    }
    let names: Vec<&String> = files.keys().filter(|name| found.get(*name) != files.get(*name)).collect();
    Err(format!("{who}: {names:?} are not the same; there are {:?}", found.keys()).into())
}

// pandas, pyarrow and DuckDB read logs of counters as they were written.

pub(crate) fn counter_logs(workspace: &Workspace) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let mut example = cargo();
    example.current_dir(&workspace.root).args(["run", "--quiet", "--locked", "-p", "counter-log"]);
    capture(example.args(["--example", "invented_log", "--"]).arg(folder.path()))?;
    let mut python = Command::new(pandas(workspace));
    python.arg(workspace.root.join("crates/xtask/peers/read_logs.py")).arg(folder.path());
    Ok(Outcome::Ran(capture(&mut python)?.trim().to_owned()))
}

// Reports of counters: xmllint reads them, and evaluates the expressions of rules as `counter-log` does; Chromium shows them.

const REPORTS: &str = "crates/logs/counter-log/tests/data/reports";

/// Where libxml2 does something else than XPath 1.0 says, or what rules here do without: the reasons are in
/// `crates/logs/counter-log/src/data_manager/reports/gaps.toml`.
const KNOWN_DIFFERENCES: [&str; 7] = [
    "/Report/namespace::xml",
    "count(//namespace::*)",
    "//@visible/following::Data[1]",
    "position()",
    "last()",
    "number('1e3')",
    "//Data[number() = number()]",
];

/// What xmllint says where an expression is wrong.
const WRONG: &str = "error";

/// xmllint on the report, and on each expression.
pub(crate) fn by_xmllint(workspace: &Workspace) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    make_report(workspace, folder.path())?;
    capture(Command::new("xmllint").arg("--noout").arg(folder.path().join("report.xml")))?;
    let data = workspace.root.join(REPORTS);
    let listed = fs::read_to_string(data.join("xpath.txt"))?;
    let mut expressions: Vec<String> =
        listed.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect();
    let count = compare_expressions(workspace, &data.join("xpath.xml"), &expressions, folder.path())?;
    expressions = in_rules(&fs::read_to_string(data.join("rules.xml"))?);
    let in_rules =
        compare_expressions(workspace, &folder.path().join("report.xml"), &expressions, folder.path())?;
    Ok(Outcome::Ran(format!("{count} expressions of a table and {in_rules} of rules are what xmllint says")))
}

/// Chromium on the page of the report, wide and on a phone, light and dark.
pub(crate) fn by_chromium(workspace: &Workspace) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    make_report(workspace, folder.path())?;
    let pictures = std::env::temp_dir().join(format!("perfmon-reports-{}", std::process::id()));
    fs::create_dir_all(&pictures)?;
    let browser = Browser::start(&folder.path().join("browser"))?;
    let axe = peers::axe(workspace).map(fs::read_to_string).transpose()?;
    for (width, scheme) in [(1280, "light"), (1280, "dark"), (390, "light"), (320, "dark")] {
        browser.look_as(width, width < 1000, scheme)?;
        browser.open(&format!("file://{}", folder.path().join("report.html").display()))?;
        browser.picture(&pictures.join(format!("report-{width}-{scheme}.png")))?;
        holds(&browser, "the page fits", "document.documentElement.scrollWidth <= innerWidth")?;
        holds(&browser, "it needs no script", "document.scripts.length === 0")?;
        holds(
            &browser,
            "each link leads somewhere",
            "[...document.querySelectorAll('a[href]')].every(link => document.querySelector(link.getAttribute('href')))",
        )?;
        if let Some(axe) = &axe {
            let found = browser.run_async(&format!(
                "const done = arguments[arguments.length - 1]; {axe};\n\
                 axe.run().then(found => done(found.violations.map(one => one.id + ': ' + \
                 one.nodes.slice(0, 3).map(node => node.html).join(' | '))), error => done([String(error)]));"
            ))?;
            if found.as_array().is_none_or(|found| !found.is_empty()) {
                return Err(format!("axe-core says {found:#}").into());
            }
        }
    }
    browser.run("document.querySelector('.symptom a').click()")?;
    holds(
        &browser,
        "a warning leads to its row",
        "document.querySelector(':target').closest('tr.warned') !== null",
    )?;
    let axe = if axe.is_some() { "axe-core has no complaint" } else { "without axe-core" };
    Ok(Outcome::Ran(format!("at 1280, 390 and 320 pixels, {axe}; pictures in {}", pictures.display())))
}

fn holds(browser: &Browser, law: &str, expression: &str) -> Result<()> {
    let value = browser.run(&format!("return {expression}"))?;
    if value == true { Ok(()) } else { Err(format!("{law}: `{expression}` is {value}").into()) }
}

fn make_report(workspace: &Workspace, folder: &Path) -> Result<()> {
    capture(example(workspace, "pla_report").arg(folder)).map(drop)
}

fn example(workspace: &Workspace, name: &str) -> Command {
    let mut command = cargo();
    command.current_dir(&workspace.root);
    command.args(["run", "--quiet", "--locked", "-p", "counter-log", "--example", name, "--"]);
    command
}

/// Evaluates expressions on a document with both programs, and returns how many there were.
fn compare_expressions(
    workspace: &Workspace,
    document: &Path,
    expressions: &[String],
    folder: &Path,
) -> Result<usize> {
    let asked = folder.join("expressions.txt");
    fs::write(&asked, expressions.join("\n"))?;
    let answers = capture(example(workspace, "xpath_answers").arg(document).arg(&asked))?;
    let mut answers = answers.lines().map(|line| line.replace("\\n", "\n").replace("\\\\", "\\"));
    // Without comments and white space between elements, as it is evaluated.
    let same = folder.join("same.xml");
    fs::write(&same, answers.next().ok_or("no document")?)?;
    for (expression, ours) in expressions.iter().zip(answers) {
        let theirs = xmllint(expression, &same);
        let is_known = KNOWN_DIFFERENCES.contains(&&**expression);
        if are_same(&ours, &theirs) == is_known {
            let what = if is_known { "agrees now, and is listed as different" } else { "differs" };
            return Err(format!("`{expression}` {what}: {ours:?} here, {theirs:?} by xmllint").into());
        }
    }
    Ok(expressions.len())
}

fn xmllint(expression: &str, document: &Path) -> String {
    let ask = |expression: String| {
        let mut command = Command::new("xmllint");
        let printed = capture(command.arg("--xpath").arg(expression).arg(document)).ok()?;
        Some(printed.strip_suffix('\n').unwrap_or(&printed).to_owned())
    };
    let text = || ask(format!("string({expression})"));
    match ask(format!("count({expression})")) {
        Some(count) => format!("set {count}: {}", text().unwrap_or_default()),
        None => text().unwrap_or_else(|| WRONG.to_owned()),
    }
}

/// xmllint writes 15 digits of a number, and exponents.
fn are_same(ours: &str, theirs: &str) -> bool {
    let numbers = (ours.parse::<f64>(), theirs.parse::<f64>());
    ours == theirs
        || (theirs == WRONG && ours.starts_with(WRONG))
        || matches!(numbers, (Ok(ours), Ok(theirs)) if (ours - theirs).abs() <= 1e-14 * theirs.abs())
}

/// The expressions of rules that have no variables.
fn in_rules(rules: &str) -> Vec<String> {
    let names = ["select=\"", "expression=\"", "table=\"", "sortNode=\""];
    let found =
        names.iter().flat_map(|name| rules.split(name).skip(1)).filter_map(|rest| rest.split_once('"'));
    let found = found.map(|(expression, _)| expression.replace("&gt;", ">").replace("&quot;", "\""));
    found.filter(|expression| !expression.contains('{')).collect()
}
