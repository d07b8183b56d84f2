//! A real Chromium looks at the pages for people: they work, say what is wrong, keep to their policy, fit on a
//! phone, and show names of others as text. axe-core, where it is there, says whether everybody can read them.

use std::fs::{self, Permissions};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::browser::Browser;
use crate::Outcome;
use crate::Result;
use crate::http;
use crate::peers;
use crate::process::poll;
use crate::stage::{self, Stage};
use crate::workspace::Workspace;

/// How long a value may take to change before our eyes: some collections of a second each.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(30);
/// An alert of the simulated host fires once in a minute.
const FIRES_TIMEOUT: Duration = Duration::from_secs(90);
/// A name that would be a script, close an attribute, and turn the text around.
const HOSTILE: &str = "x<script>pwned=1</script>\"'><img src=x onerror=pwned=1>\u{202e}gpj";
/// A report of a host that tries a script, a picture from elsewhere and a form.
const REPORT: &str = "<!DOCTYPE html><title>untouched</title><style>h1 { color: blue }</style><h1>Report</h1>\
    <img src='http://127.0.0.1:1/x' onerror=\"document.title = 'touched'\"><script>document.title = 'touched'</script>\
    <form action='http://127.0.0.1:1/'><button>Send</button></form>";
/// The narrowest screen that a page has to fit.
const NARROW: u32 = 320;

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let (_simulator, host) = stage.simulator(&[])?;
    files(&stage.path("files"))?;
    let (mut exporter, address) = stage.exporter_with(&configuration(&stage, host)?)?;
    stage::page_when_up(&mut exporter, address, "web1")?;
    wait_for_failures(address)?;
    let pictures = std::env::temp_dir().join(format!("perfmon-pages-{}", std::process::id()));
    fs::create_dir_all(&pictures)?;
    let browser = Browser::start(&stage.path("browser"))?;
    let visit = Visit { browser, root: format!("http://{address}/"), pictures, axe: peers::axe(workspace) };
    visit.fleet()?;
    visit.target()?;
    visit.values()?;
    visit.alerts()?;
    visit.logs()?;
    visit.configuration(&stage)?;
    let seen = visit.every_page()?;
    let axe = if visit.axe.is_some() { "axe-core has no complaint" } else { "without axe-core" };
    Ok(Outcome::Ran(format!(
        "{seen} pages at 1280, 390 and 320 pixels, light and dark, {axe}; pictures in {}",
        visit.pictures.display()
    )))
}

/// A target that is up, and one for each of some ways to be down.
fn configuration(stage: &Stage<'_>, host: SocketAddr) -> Result<String> {
    let (good, bad) = (stage.password_file()?, stage.path("wrong"));
    fs::write(&bad, "not-the-password\n")?;
    let name = serde_json::to_string(HOSTILE)?;
    Ok(format!(
        r#"web: {{listen: ["127.0.0.1:0"]}}
rpc_state: {{directory: {state}}}
storage: {{directory: {files}, downloads: true}}
plugins: {{load: [pcq, pla]}}
scrape: {{interval: 1s}}
identities:
  corp: {{kind: ntlm, domain: SIM, username: metrics, password_file: {good}, allow_hosts: [127.0.0.0/8]}}
  old: {{kind: ntlm, domain: SIM, username: other, password_file: {bad}, allow_hosts: [127.0.0.0/8]}}
transports:
  sim: {{smb: {{port: {port}}}}}
  nobody: {{connect_timeout: 1s, smb: {{port: 1}}}}
modules:
  os: {{plugin: pcq, countersets: [{{name: Processor Information}}, {{name: Process V2}}]}}
{alerts}otlp:
  - {{endpoint: "http://127.0.0.1:1", headers: {{x-scope: do-not-show-this}}}}
targets:
  - {{name: web1, host: 127.0.0.1, identity: corp, transport: sim, modules: [os, alerts], labels: {{env: prod, note: "<b>&\n\"x\""}}}}
  - {{name: db1, host: 127.0.0.1, identity: old, transport: sim, modules: [os]}}
  - {{name: db2, host: 127.0.0.1, identity: corp, transport: nobody, modules: [os]}}
  - {{name: {name}, host: nowhere.invalid, identity: corp, transport: sim, modules: [os]}}
"#,
        state = stage.path("rpc-state").display(),
        files = stage.path("files").display(),
        good = good.display(),
        bad = bad.display(),
        port = host.port(),
        alerts = stage::alerts("1s"),
    ))
}

/// A run with a report that tries to be more than text, and with a log whose name does; and an older run.
fn files(directory: &Path) -> Result<()> {
    let set = directory.join("web1").join("Office hours");
    for run in ["000001", "000002"] {
        fs::create_dir_all(set.join(run))?;
        fs::write(set.join(run).join("DataCollector01.csv"), "\"(PDH-CSV 4.0)\"\r\n".repeat(100))?;
    }
    fs::set_permissions(directory, Permissions::from_mode(0o700))?;
    fs::write(set.join("000002").join("<img src=x onerror=alert(1)>.csv"), "1")?;
    fs::write(set.join("000002").join("report.html"), REPORT)?;
    Ok(())
}

fn wait_for_failures(address: SocketAddr) -> Result<()> {
    poll("three targets are down", CHANGE_TIMEOUT, || {
        let page = http::get(address, "/metrics", "text/plain")?.body;
        let is_down = |line: &&str| line.starts_with("perfmon_exporter_target_up{") && line.ends_with(" 0");
        Ok((page.lines().filter(is_down).count() == 3).then_some(()))
    })
}

struct Visit {
    browser: Browser,
    root: String,
    pictures: PathBuf,
    axe: Option<PathBuf>,
}

impl Visit {
    fn open(&self, path: &str) -> Result<()> {
        self.browser.open(&format!("{}{path}", self.root))
    }

    fn text(&self, expression: &str) -> Result<String> {
        let value = self.browser.run(&format!("return {expression}"))?;
        Ok(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// Fails with `law` where the expression is not true.
    fn holds(&self, law: &str, expression: &str) -> Result<()> {
        match self.browser.run(&format!("return {expression}"))? {
            Value::Bool(true) => Ok(()),
            other => {
                Err(format!("{law}: `{expression}` is {other} on {}", self.text("location.href")?).into())
            }
        }
    }

    /// The targets, the search, and what becomes of a hostile name.
    fn fleet(&self) -> Result<()> {
        self.browser.look_as(1280, false, "light")?;
        self.open("")?;
        self.holds(
            "what is wrong has the most room",
            "document.querySelector('td.problem').offsetWidth > innerWidth / 3",
        )?;
        self.holds("the page says what it is", "document.title === 'Targets – perfmon-exporter'")?;
        self.holds("all targets are there", "document.querySelectorAll('tbody tr').length === 4")?;
        self.holds(
            "failing targets come first",
            "[...document.querySelectorAll('tbody tr')].at(-1).innerText.includes('web1')",
        )?;
        self.holds(
            "it says what to do",
            "document.querySelector('#live-targets').innerText.includes('Check that the service is started')",
        )?;
        let shown = HOSTILE.replace('\u{202e}', "[U+202E]");
        let shown = serde_json::to_string(&shown)?;
        self.holds(
            "a name is text",
            &format!("[...document.querySelectorAll('tbody th a')].some(a => a.textContent === {shown})"),
        )?;
        self.holds("nobody's script runs", "window.pwned === undefined && document.scripts.length === 1")?;
        self.browser
            .run("document.querySelector('#q').value = 'db'; document.querySelector('form').submit()")?;
        poll("the search answers", CHANGE_TIMEOUT, || {
            Ok((self
                .text("location.search.includes('q=db') && document.querySelectorAll('tbody tr').length")?
                == "2")
                .then_some(()))
        })?;
        self.open("?state=up")?;
        self.holds("a state is chosen", "document.querySelectorAll('tbody tr').length === 1")?;
        self.open("")?;
        let hostile =
            format!("[...document.querySelectorAll('tbody th a')].find(a => a.textContent === {shown})");
        self.browser.run(&format!("{hostile}.click()"))?;
        poll("the link to a hostile name leads to its target", CHANGE_TIMEOUT, || {
            Ok((self.text(&format!("document.querySelector('h1').textContent === {shown}"))? == "true")
                .then_some(()))
        })
    }

    fn target(&self) -> Result<()> {
        self.open("targets/web1")?;
        self.holds("stages have bars", "document.querySelectorAll('.stages rect.bar').length >= 1")?;
        self.holds(
            "a label's value is text",
            "document.querySelector('.labels').textContent.includes('<b>&␊\"x\"')",
        )?;
        self.open("targets/nobody")?;
        self.holds(
            "an unknown target has its page",
            "document.querySelector('h1').textContent === 'No such target'",
        )?;
        // The browser itself notes a 404 on the console.
        self.browser.console().map(drop)
    }

    /// Values change and lines grow without a reload, until they are paused.
    fn values(&self) -> Result<()> {
        self.open("targets/web1/values?set=Processor+Information")?;
        self.browser.run("window.marked = 1")?;
        let now = "document.querySelector('#live-values').innerText";
        let first = self.text(now)?;
        poll("values change", CHANGE_TIMEOUT, || Ok((self.text(now)? != first).then_some(())))?;
        poll("lines grow", CHANGE_TIMEOUT, || {
            let points = "Math.max(0, ...[...document.querySelectorAll('.chart polyline')].map(line => line.points.length))";
            Ok((self.text(points)?.parse::<u32>()? >= 3).then_some(()))
        })?;
        self.holds("nothing was reloaded", "window.marked === 1")?;
        self.holds(
            "a counter shows what it gains",
            "document.querySelector('#live-values').innerText.includes('/s')",
        )?;
        self.browser.run("document.querySelector('#refresh button').click()")?;
        self.holds("it can be paused", "document.querySelector('[role=status]').textContent === 'Paused'")?;
        self.browser.run("document.querySelector('#refresh button').click()")?;
        self.holds("and goes on", "document.querySelector('[role=status]').textContent !== 'Paused'")
    }

    /// An alert fires before our eyes; its line grows against its threshold, and is said in words.
    fn alerts(&self) -> Result<()> {
        self.open("alerts")?;
        self.browser.run("window.marked = 1")?;
        let chart = |part: &str| format!("document.querySelector('#live-{part} tr:has(.state) svg.against')");
        poll("an alert fires", FIRES_TIMEOUT, || {
            let label = self.text(&format!("{}?.getAttribute('aria-label') ?? ''", chart("alerts")))?;
            Ok((label.contains("fires above 40") && label.contains("between")).then_some(()))
        })?;
        let open = chart("alerts");
        self.holds("its line grows", &format!("{open}.querySelector('polyline').points.length >= 2"))?;
        self.holds("its newest value is across", &format!(
            "{open}.querySelector('circle').cy.baseVal.value < {open}.querySelector('line').y1.baseVal.value"
        ))?;
        self.holds(
            "that side is tinted",
            &format!(
                "{open}.querySelector('rect').getBBox().height > 2 && \
             getComputedStyle({open}.querySelector('rect')).fill !== getComputedStyle({open}).backgroundColor"
            ),
        )?;
        self.holds(
            "the worst of the watched comes first",
            "[...document.querySelectorAll('#live-watched tbody tr')].map(row => row.querySelector('.state').innerText.trim().slice(2)).join() === 'firing,ok'",
        )?;
        self.holds("nothing was reloaded", "window.marked === 1")?;
        self.open("alerts?q=memory#watched")?;
        self.holds(
            "a search finds",
            "document.querySelectorAll('#live-watched tbody tr').length === 1 && \
             document.querySelector('#live-watched tbody').innerText.includes('fires below 100')",
        )
    }

    /// Runs come newest first; their report opens, and is not allowed to do anything.
    fn logs(&self) -> Result<()> {
        self.open("logs")?;
        self.holds(
            "the newest run comes first",
            "[...document.querySelectorAll('section[aria-label=Runs] tbody th strong')].map(run => run.textContent).join() === '000002,000001'",
        )?;
        self.holds(
            "the name of a file is text",
            "[...document.querySelectorAll('details a')].some(a => a.textContent === '<img src=x onerror=alert(1)>.csv')",
        )?;
        self.browser.run(
            "[...document.querySelectorAll('a')].find(a => a.textContent === 'Open report.html').click()",
        )?;
        poll("the report opens", CHANGE_TIMEOUT, || {
            Ok((self.text("document.querySelector('h1')?.textContent ?? ''")? == "Report").then_some(()))
        })?;
        self.holds(
            "its style counts",
            "getComputedStyle(document.querySelector('h1')).color === 'rgb(0, 0, 255)'",
        )?;
        self.holds("its scripts do not", "document.title === 'untouched'")?;
        self.holds("it is a page from nowhere", "window.origin === 'null'")?;
        // The browser notes what the policy forbids on the console.
        self.browser.console().map(drop)
    }

    fn configuration(&self, stage: &Stage<'_>) -> Result<()> {
        self.open("config")?;
        let text = self.text("document.querySelector('pre').textContent")?;
        let file = stage.password_file()?;
        if !text.contains("interval: 1s") {
            return Err(format!("the configuration is not shown: {text}").into());
        }
        // There is no login here, so the places of secrets and their owners are hidden.
        let unfit = ["do-not-show-this", stage::PASSWORD, "metrics", &file.display().to_string()];
        if let Some(unfit) = unfit.into_iter().find(|unfit| text.contains(unfit)) {
            return Err(format!("`{unfit}` is shown: {text}").into());
        }
        Ok(())
    }

    /// The path of a cell that is shown: that of the connection to the host that is up.
    fn rpc_cell(&self) -> Result<String> {
        self.open("rpc-state")?;
        self.holds(
            "connections have the names of hosts",
            "document.querySelector('section[aria-label=Connections]').innerText.includes('127.0.0.1')",
        )?;
        self.text(
            "document.querySelector('section[aria-label=Connections] a[href*=\"/cell?\"]').getAttribute('href')",
        )
    }

    /// Every page, wide and on a phone, light and dark. Answers how many there are.
    fn every_page(&self) -> Result<usize> {
        let cell = self.rpc_cell()?;
        let pages = [
            ("overview", ""),
            ("target", "targets/web1"),
            ("target-down", "targets/db1"),
            ("values", "targets/web1/values"),
            ("search", "targets/web1/values?q=time"),
            ("counterset", "targets/web1/values?set=Processor+Information"),
            ("counter", "targets/web1/values?counter=perfmon_process_v2_handles"),
            ("alerts", "alerts"),
            ("logs", "logs"),
            ("logs-run", "logs?run=web1/Office+hours/000002"),
            ("plugins", "plugins"),
            ("rpc-state", "rpc-state"),
            ("rpc-cell", &cell),
            ("config", "config"),
        ];
        for (name, path) in pages {
            for (width, is_phone, scheme) in
                [(1280, false, "light"), (1280, false, "dark"), (390, true, "light"), (390, true, "dark")]
            {
                self.browser.look_as(width, is_phone, scheme)?;
                self.open(path)?;
                self.browser.picture(&self.pictures.join(format!("{name}-{width}-{scheme}.png")))?;
                self.axe(name)?;
            }
            self.browser.look_as(NARROW, true, "dark")?;
            self.open(path)?;
            self.holds("a page fits on a phone", "document.documentElement.scrollWidth <= innerWidth")?;
            self.holds(
                "a page may stand below any path",
                "[...document.querySelectorAll('[href],[src],[action]')].every(element => \
                 !/^(\\/|[a-z]+:)/.test(element.getAttribute('href') ?? element.getAttribute('src') ?? \
                 element.getAttribute('action')))",
            )?;
            let console = self.browser.console()?;
            if !console.is_empty() {
                return Err(format!("{name}: the console says {}", console.join("; ")).into());
            }
        }
        Ok(pages.len())
    }

    /// Whether axe-core finds accessibility problems on the page.
    fn axe(&self, name: &str) -> Result<()> {
        let Some(file) = &self.axe else { return Ok(()) };
        let script = fs::read_to_string(file)?;
        let found = self.browser.run_async(&format!(
            "const done = arguments[arguments.length - 1]; {script};\n\
             axe.run().then(found => done(found.violations.map(one => one.id + ': ' + \
             one.nodes.slice(0, 3).map(node => node.html).join(' | '))), error => done([String(error)]));"
        ))?;
        match found.as_array() {
            Some(none) if none.is_empty() => Ok(()),
            _ => Err(format!("{name}: axe-core says {found:#}").into()),
        }
    }
}
