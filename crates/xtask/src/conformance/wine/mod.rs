//! Wine's NDR reads and writes the messages of the COM+ tracker, opnums 4 to 8 of [MS-COMT].
//!
//! widl makes stubs of an IDL file, with which two small programs are built. Wine runs one of them as the server of our
//! client, and the other as a client of our server. Both sides print what they send and what arrives, value by value, and
//! must print the same: then each has read what the other has written. The headers of objects, ORPCTHIS and ORPCTHAT, are
//! parameters in the IDL file, since Wine's own DCOM would read and write them without NDR.
//!
//! It does not judge the PDUs. Wine gives all of them call id 1, and our client takes them for answers of other calls than
//! its own; so the example that is our client corrects them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::peers::is_root;
use crate::peers::wine::{GCC, HEADERS, LIBRARIES, WIDL, WINE};
use crate::process::Running;
use crate::workspace::{Workspace, capture};
use crate::{Outcome, Result};

const START_TIMEOUT: Duration = Duration::from_secs(30);
/// In a network where nothing else listens.
const PORT: &str = "49555";
const CALLS_MIN: [(&str, usize); 5] = [
    ("GetContainerData", 6),
    ("GetComponentDataByContainer", 5),
    ("GetComponentDataByContainerAndCLSID", 3),
    ("IsSupported", 3),
    ("DumpProcess", 6),
];

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    if !is_root() {
        let why =
            "Wine's servers listen on every address, and only root may give them a network of their own";
        return Ok(Outcome::Skipped(why.to_owned()));
    }
    let folder = tempfile::tempdir()?;
    let programs = Programs::build(&workspace.root.join("crates/xtask/peers/wine"), folder.path())?;
    let ours = workspace.program("examples/com_plus_tracker");
    let asked = we_ask(&programs, &ours, folder.path()).map_err(|error| format!("Wine's server: {error}"))?;
    let answered =
        wine_asks(&programs, &ours, folder.path()).map_err(|error| format!("Wine's client: {error}"))?;
    Ok(Outcome::Ran(format!("as a server {asked}, as a client {answered}, all alike")))
}

/// Our client calls Wine's server, in a network that has nothing but loopback.
fn we_ask(programs: &Programs, ours: &Path, folder: &Path) -> Result<String> {
    let transcripts = Transcripts::new(folder, "we_ask");
    let mut server = transcripts.of_wine(programs.run_alone("server.exe").arg(PORT));
    let mut server = Running::start("server.exe", &mut server)?;
    server.wait_for("a port of Wine's server", START_TIMEOUT, |line| {
        line.contains("listening").then_some(())
    })?;
    let mut client = Command::new("nsenter");
    client.arg(format!("--net=/proc/{}/ns/net", server.id()));
    client.arg(ours).args(["call", &format!("127.0.0.1:{PORT}")]);
    let ended = capture(&mut transcripts.of_ours(&client));
    judge(ended, server, &transcripts)
}

/// Wine's client calls our server.
fn wine_asks(programs: &Programs, ours: &Path, folder: &Path) -> Result<String> {
    let transcripts = Transcripts::new(folder, "wine_asks");
    let mut server =
        Running::start("com_plus_tracker", &mut transcripts.of_ours(Command::new(ours).arg("serve")))?;
    let port = server.wait_for("a port of our server", START_TIMEOUT, |line| {
        Some(line.strip_prefix("listening on 127.0.0.1:")?.to_owned())
    })?;
    let ended = capture(&mut transcripts.of_wine(programs.run("client.exe").args(["127.0.0.1", &port])));
    judge(ended, server, &transcripts)
}

/// What was compared. Where a call failed, the last lines that were printed may say what was read before it.
fn judge(ended: Result<String>, mut server: Running, transcripts: &Transcripts) -> Result<String> {
    let compared = transcripts.compare(&CALLS_MIN);
    match ended {
        Ok(_) => compared,
        Err(error) => {
            let compared = compared.unwrap_or_else(|difference| difference.to_string());
            Err(server.complaint(&format!("{compared}: {error}")))
        }
    }
}

// Two programs with stubs of widl, which Wine runs.

/// What Wine's headers and Debian's compiler for Windows name differently.
const DEFINITIONS: [&str; 4] =
    ["-DPrev=prev", "-DEH_UNWINDING=2", "-DEH_EXIT_UNWIND=4", "-DEH_NESTED_CALL=0x10"];

/// Options of `unshare`: Wine starts servers of its own, which end with the program.
const PROCESSES: [&str; 4] = ["--pid", "--fork", "--kill-child", "--mount-proc"];
const RUN_SECONDS_MAX: &str = "60";

/// The programs, and a configuration of Wine.
struct Programs {
    folder: PathBuf,
    prefix: PathBuf,
}

impl Programs {
    /// Builds them below `folder`.
    fn build(sources: &Path, folder: &Path) -> Result<Self> {
        let folder = folder.join("programs");
        fs::create_dir(&folder)?;
        let mut widl = Command::new(WIDL);
        widl.current_dir(&folder).arg(format!("-I{HEADERS}/wine/windows"));
        capture(widl.args(["-h", "-s", "-c"]).arg(sources.join("tracker.idl")))?;
        for (program, stubs) in [("server", "tracker_s.c"), ("client", "tracker_c.c")] {
            let mut gcc = Command::new(GCC);
            gcc.current_dir(&folder).args(["-O1", "-w", "-I."]).arg("-I").arg(sources).args(DEFINITIONS);
            gcc.args(["-idirafter", HEADERS, "-o", &format!("{program}.exe"), stubs]);
            gcc.arg(sources.join(format!("{program}.c"))).arg(format!("{LIBRARIES}/libwinecrt0.a"));
            capture(gcc.args(["-lrpcrt4", "-lole32", "-luuid", "-lntdll"]))?;
        }
        let prefix = folder.join("prefix");
        make_prefix(&prefix)?;
        Ok(Self { folder, prefix })
    }

    /// A program that ends soon, and with it all that Wine started for it.
    fn run(&self, program: &str) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", RUN_SECONDS_MAX, "unshare"]).args(PROCESSES).arg(WINE);
        self.configure(&mut command, program);
        command
    }

    /// A program in a network of its own, in which there is only loopback. It ends like the other.
    fn run_alone(&self, program: &str) -> Command {
        let mut command = Command::new("unshare");
        command.args(PROCESSES).args(["--net", "sh", "-c", r#"ip link set lo up && exec "$0" "$@""#, WINE]);
        self.configure(&mut command, program);
        command
    }

    fn configure(&self, command: &mut Command, program: &str) {
        command.arg(self.folder.join(program));
        command.env("WINEPREFIX", &self.prefix).env("WINEARCH", "win64").env("WINEDEBUG", "-all");
        // The prefix is complete as far as these programs need it.
        command.env("DISPLAY", "").env("WINEDLLOVERRIDES", "wineboot.exe=");
    }
}

/// A prefix that has links to Wine's libraries and nothing else. Wine itself would make one of 700 MB, in 16 seconds.
fn make_prefix(prefix: &Path) -> Result<()> {
    let system = prefix.join("drive_c/windows/system32");
    fs::create_dir_all(&system)?;
    for library in fs::read_dir(LIBRARIES)? {
        let library = library?;
        if library.path().extension().is_some_and(|extension| extension == "dll") {
            symlink(library.path(), system.join(library.file_name()))?;
        }
    }
    Ok(())
}

// What both sides printed of the same calls: `request METHOD`, `arguments`, `reply METHOD`, `results` and a line for each
// structure, of words `FIELD=VALUE`.

const WORD_SHOWN_MAX: usize = 100;

/// The files of both sides.
struct Transcripts {
    ours: PathBuf,
    wine: PathBuf,
}

impl Transcripts {
    fn new(folder: &Path, direction: &str) -> Self {
        let file = |side| folder.join(format!("{direction}.{side}"));
        Self { ours: file("ours"), wine: file("wine") }
    }

    /// The command of our side; it prints to its file.
    fn of_ours(&self, command: &Command) -> Command {
        to_file(&self.ours, command)
    }

    /// The same of Wine's side.
    fn of_wine(&self, command: &Command) -> Command {
        to_file(&self.wine, command)
    }

    /// What was compared, if both sides printed the same, and each method was called as often as `calls_min` says.
    fn compare(&self, calls_min: &[(&str, usize)]) -> Result<String> {
        compare(&fs::read_to_string(&self.ours)?, &fs::read_to_string(&self.wine)?, calls_min)
    }
}

fn to_file(file: &Path, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"exec "$@" > "$0""#]).arg(file).arg(command.get_program()).args(command.get_args());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

fn compare(ours: &str, wine: &str, calls_min: &[(&str, usize)]) -> Result<String> {
    let (ours, wine): (Vec<&str>, Vec<&str>) = (ours.lines().collect(), wine.lines().collect());
    let mut pairs = ours.iter().zip(&wine).enumerate();
    if let Some((at, (ours, wine))) = pairs.find(|(_, (ours, wine))| ours != wine) {
        return Err(format!("line {}: {}", at + 1, difference(ours, wine)).into());
    }
    if ours.len() != wine.len() {
        return Err(format!("we have {} lines, Wine has {}", ours.len(), wine.len()).into());
    }
    let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
    for method in ours.iter().filter_map(|line| line.strip_prefix("reply ")?.split(' ').next()) {
        *calls.entry(method).or_default() += 1;
    }
    let is_missing = |(method, least): &&(&str, usize)| calls.get(method).is_none_or(|calls| calls < least);
    if let Some((method, least)) = calls_min.iter().find(is_missing) {
        return Err(format!("{method} must be called {least} times at least: {calls:?}").into());
    }
    let values = ours.iter().flat_map(|line| line.split(' ')).filter(|word| word.contains('=')).count();
    Ok(format!("{} calls with {values} values", calls.values().sum::<usize>()))
}

/// The first words that differ, after the first word of the line.
fn difference(ours: &str, wine: &str) -> String {
    let mut words = ours.split(' ').zip(wine.split(' ')).filter(|(ours, wine)| ours != wine);
    let (our_word, wine_word) = words.next().unwrap_or((ours, wine));
    let begin = |word: &str| word.chars().take(WORD_SHOWN_MAX).collect::<String>();
    let structure = ours.split(' ').next().unwrap_or_default();
    format!("{structure}: we have `{}`, Wine has `{}`", begin(our_word), begin(wine_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str =
        "request IsSupported version=5.7 flags=0\nreply IsSupported flags=0\nresults status=00000001\n";

    fn check(wine: &str, calls: usize, expected: &std::result::Result<&str, &str>) {
        let found = compare(OURS, wine, &[("IsSupported", calls)]).map_err(|error| error.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), *expected);
    }

    #[test]
    fn equal_transcripts_are_counted() {
        check(OURS, 1, &Ok("1 calls with 4 values"));
    }

    #[test]
    fn the_first_difference_is_named() {
        let wine = OURS.replace("flags=0\nresults", "flags=7\nresults");
        check(&wine, 1, &Err("line 2: reply: we have `flags=0`, Wine has `flags=7`"));
    }

    #[test]
    fn a_side_that_printed_less_is_an_error() {
        let wine = OURS.replace("results status=00000001\n", "");
        check(&wine, 1, &Err("we have 3 lines, Wine has 2"));
    }

    #[test]
    fn a_method_that_was_called_too_rarely_is_an_error() {
        check(OURS, 2, &Err("IsSupported must be called 2 times at least: {\"IsSupported\": 1}"));
    }
}
