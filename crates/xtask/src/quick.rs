//! `cargo xtask test --quick`: the tests of what changed and of what is built with it, by cargo-nextest, without the slow ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::peers::{self, Peer};
use crate::workspace::{Package, Workspace, capture, cargo, run};

/// What takes long is left to `cargo xtask test`: filters of nextest, each with its reason.
const SLOW: [(&str, &str); 5] = [
    ("package(/oracles$/)", "replays and mutates all that fuzzers found"),
    ("test(/(^|::)(drill|many|crowded|fleet|steady|soak)(::|$)/)", "many hosts, files or faults"),
    ("test(/_reader_has_gone_/)", "runs each command several times"),
    ("test(/_any::/) | test(/cut_off_anywhere/) | test(/in_every_way/)", "tries all there is"),
    ("test(a_host_with_many_instances_lets_others_run_all_the_time)", "waits for a busy machine"),
];

/// With more packages than that, building them takes longer than quick tests may.
const AFFECTED_MAX: usize = 16;

const SLOWEST_SHOWN: usize = 10;

/// Files that are read by the tests of a package elsewhere.
const READ_BY: [(&str, &str); 4] = [
    ("docs/", "perfmon-exporter"),
    ("README.md", "perfmon-exporter"),
    ("dashboards/", "perfmon-exporter"),
    ("deploy/", "perfmon-exporter"),
];

/// Runs the tests of the packages that differ from a revision, by default from where this branch left `origin/main`.
pub(crate) fn quick(workspace: &Workspace, since: Option<&str>) -> Result<()> {
    let nextest = peers::nextest(workspace).ok_or_else(|| {
        format!("cargo-nextest is not on this machine; get it by {}", Peer::Nextest.how_to_get())
    })?;
    let base = base(workspace, since)?;
    let changed = changed(workspace, &base)?;
    if changed.is_empty() {
        println!("no package differs from {base}; --since REVISION compares with another one");
        return Ok(());
    }
    println!("changed since {base}: {}", changed.iter().copied().collect::<Vec<_>>().join(", "));
    for (tests, why) in SLOW {
        println!("left out: {tests}: {why}");
    }
    let report = workspace.target.join("nextest/quick/junit.xml");
    // That of an earlier run says nothing.
    let _ = fs::remove_file(&report);
    let mut command = Command::new(nextest);
    command.current_dir(&workspace.root).env("CARGO", cargo().get_program());
    command.args(["nextest", "run", "--locked", "--lib", "--bins", "--tests"]);
    let affected = affected(workspace, &changed);
    if affected.len() <= AFFECTED_MAX {
        // All are selected, so that each is built as in `cargo xtask test`: what did not change is there already.
        command.arg("--workspace");
    } else {
        println!(
            "left out: {} packages that are built with these, which takes longer; `cargo xtask test` runs them",
            affected.len() - changed.len()
        );
        command.args(changed.iter().flat_map(|package| ["--package", package]));
    }
    command.args(["--config-file", "crates/xtask/nextest.toml", "--profile", "quick"]);
    let outcome = run(command.args(["--filterset", &filter(&changed)]));
    if let Ok(report) = fs::read_to_string(report) {
        println!("slowest:");
        for (seconds, test) in slowest(&report) {
            println!("  {seconds:7.2} s  {test}");
        }
    }
    outcome
}

/// The revision that the tree is compared with.
fn base(workspace: &Workspace, since: Option<&str>) -> Result<String> {
    let git = |arguments: &[&str]| capture(Command::new("git").current_dir(&workspace.root).args(arguments));
    let found = match since {
        Some(revision) => git(&["rev-parse", "--verify", revision])?,
        // A clone without such a branch has changes of its own only.
        None => git(&["merge-base", "HEAD", "origin/main"]).or_else(|_| git(&["rev-parse", "HEAD"]))?,
    };
    Ok(found.trim().to_owned())
}

/// The packages of which a file differs.
fn changed<'a>(workspace: &'a Workspace, base: &str) -> Result<BTreeSet<&'a str>> {
    let mut files = String::new();
    for arguments in [&["diff", "--name-only", base][..], &["ls-files", "--others", "--exclude-standard"]] {
        files += &capture(Command::new("git").current_dir(&workspace.root).args(arguments))?;
    }
    let folders: Vec<(&str, &Path)> = workspace
        .packages
        .iter()
        .map(|(name, package)| {
            (name.as_str(), package.folder.strip_prefix(&workspace.root).unwrap_or(Path::new("")))
        })
        .collect();
    Ok(files.lines().flat_map(|file| owners(&folders, file)).collect())
}

/// The packages that a file belongs to.
fn owners<'a>(folders: &[(&'a str, &Path)], file: &str) -> Vec<&'a str> {
    let reader = READ_BY.iter().find(|(start, _)| file.starts_with(start)).map(|(_, name)| *name);
    let is_owner = |(name, folder): &&(&str, &Path)| {
        reader.map_or_else(|| Path::new(file).starts_with(folder), |reader| *name == reader)
    };
    // A folder of a package may be below that of another one.
    let owner = folders.iter().filter(is_owner).max_by_key(|(_, folder)| folder.components().count());
    owner.map(|(name, _)| *name).into_iter().collect()
}

/// The packages that are built or tested with one of these, and they themselves.
fn affected<'a>(workspace: &'a Workspace, changed: &BTreeSet<&'a str>) -> BTreeSet<&'a str> {
    let mut affected = changed.clone();
    loop {
        let uses_one = |package: &Package| {
            let mut used = package.dependencies.union(&package.dev_dependencies);
            used.any(|used| affected.contains(used.as_str()))
        };
        let more = workspace.packages.iter().filter(|(_, package)| uses_one(package));
        let more: Vec<&str> = more.map(|(name, _)| name.as_str()).collect();
        let known = affected.len();
        affected.extend(more);
        if affected.len() == known {
            return affected;
        }
    }
}

fn filter(changed: &BTreeSet<&str>) -> String {
    let affected: Vec<String> = changed.iter().map(|name| format!("rdeps(={name})")).collect();
    let slow: Vec<String> = SLOW.iter().map(|(tests, _)| format!(" - ({tests})")).collect();
    format!("({}){}", affected.join(" | "), slow.concat())
}

/// The slowest tests of a report in the format of JUnit.
fn slowest(report: &str) -> Vec<(f64, String)> {
    let cases = report.split("<testcase ").skip(1).filter_map(|case| {
        let attribute = |name: &str| {
            let (_, value) = case.split_once(&format!("{name}=\""))?;
            value.split('"').next()
        };
        Some((
            attribute("time")?.parse().ok()?,
            format!("{} {}", attribute("classname")?, attribute("name")?),
        ))
    });
    let mut cases: Vec<(f64, String)> = cases.collect();
    cases.sort_by(|one, other| other.0.total_cmp(&one.0));
    cases.truncate(SLOWEST_SHOWN);
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_the_innermost_package_or_to_the_one_that_reads_it() {
        let folders = [("perfmon-exporter", "exporter"), ("series", "exporter/series")]
            .map(|(name, folder)| (name, Path::new(folder)));
        let check = |file, expected: &[&str]| assert_eq!(owners(&folders, file), expected, "{file}");
        check("exporter/src/main.rs", &["perfmon-exporter"]);
        check("exporter/series/src/lib.rs", &["series"]);
        check("exporter/series2.rs", &["perfmon-exporter"]);
        check("docs/alerts.md", &["perfmon-exporter"]);
        check("Cargo.lock", &[]);
        check("LICENSE", &[]);
    }

    #[test]
    fn the_slowest_tests_of_a_report_come_first() {
        let report = r#"<testsuite name="a"><testcase name="x" classname="a::it" timestamp="t" time="0.5"></testcase>
            <testcase name="y" classname="a" time="2.25"/></testsuite>"#;
        assert_eq!(slowest(report), [(2.25, "a y".to_owned()), (0.5, "a::it x".to_owned())]);
        assert_eq!(slowest("<testsuites/>"), []);
    }

    #[test]
    fn all_dependents_of_each_changed_package_are_run() {
        let changed = ["codec", "series"].into();
        assert!(filter(&changed).starts_with("(rdeps(=codec) | rdeps(=series))"), "{}", filter(&changed));
    }
}
