//! Reports of counters: xmllint reads them, and evaluates the expressions of rules as `counter-log` does; Chromium shows them.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::browser::Browser;
use crate::Outcome;
use crate::Result;
use crate::peers;
use crate::workspace::{Workspace, capture, cargo};

const DATA: &str = "crates/logs/counter-log/tests/data/reports";

/// Where libxml2 does something else than XPath 1.0 says, or what rules here do without: the reasons stand in
/// `crates/logs/counter-log/src/data_manager/reports/gaps.toml`.
const KNOWN: [&str; 7] = [
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
    let data = workspace.root.join(DATA);
    let listed = fs::read_to_string(data.join("xpath.txt"))?;
    let mut expressions: Vec<String> =
        listed.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect();
    let count = compare(workspace, &data.join("xpath.xml"), &expressions, folder.path())?;
    expressions = in_rules(&fs::read_to_string(data.join("rules.xml"))?);
    let in_rules = compare(workspace, &folder.path().join("report.xml"), &expressions, folder.path())?;
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
fn compare(workspace: &Workspace, document: &Path, expressions: &[String], folder: &Path) -> Result<usize> {
    let asked = folder.join("expressions.txt");
    fs::write(&asked, expressions.join("\n"))?;
    let answers = capture(example(workspace, "xpath_answers").arg(document).arg(&asked))?;
    let mut answers = answers.lines().map(|line| line.replace("\\n", "\n").replace("\\\\", "\\"));
    // Without comments and white space between elements, as it is evaluated.
    let same = folder.join("same.xml");
    fs::write(&same, answers.next().ok_or("no document")?)?;
    for (expression, ours) in expressions.iter().zip(answers) {
        let theirs = xmllint(expression, &same);
        let is_known = KNOWN.contains(&&**expression);
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
