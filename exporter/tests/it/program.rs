//! The program itself: a child process, its log, its pages.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tempfile::TempDir;

/// Nothing here takes long; a test that waits for what never comes ends.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with plugins and a configuration.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Compiles a plugin of ours, of `plugin-api/examples` or of its zoo, as the plugin `name`.
    pub(crate) fn plugin(&self, name: &str, source: &str) -> &Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let examples = here.join("../plugin-api/examples");
        let zoo = examples.join("zoo");
        let folders = [here.join("tests/it/plugins"), examples, zoo];
        let file = folders.iter().map(|folder| folder.join(source)).find(|file| file.exists());
        let library = self.path(&format!("libplugin_{name}.so"));
        test_support::plugin::compile(&file.unwrap(), &library, &[]);
        self
    }

    /// A plugin of the project, as it was built.
    pub(crate) fn built_plugin(&self, name: &str) {
        let name = format!("libplugin_{name}.so");
        let program = Path::new(env!("CARGO_BIN_EXE_perfmon-exporter"));
        self.place(&program.with_file_name("deps").join(&name), &name);
    }

    /// The same file in this folder, by this name.
    pub(crate) fn place(&self, from: &Path, name: &str) -> PathBuf {
        let to = self.path(name);
        // A link is enough, where both are on one disk.
        std::fs::hard_link(from, &to).or_else(|_| std::fs::copy(from, &to).map(drop)).unwrap();
        to
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    pub(crate) fn write(&self, file: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(file), text).unwrap();
        self.path(file)
    }

    /// What the program says to these arguments, run to its end in this folder. One that does not end is ended, with
    /// the code 124.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        Command::new("timeout")
            .arg("--foreground")
            .arg(PATIENCE.as_secs().to_string())
            .arg(env!("CARGO_BIN_EXE_perfmon-exporter"))
            .current_dir(self.0.path())
            .args(arguments)
            .output()
            .unwrap()
    }

    /// The program at work on `config`, once it is ready.
    pub(crate) fn serve(&self, config: &str) -> Exporter {
        self.write("perfmon.yml", config);
        self.begin(&mut exporter(), &[])
    }

    /// `program` with `perfmon.yml` and these arguments, once it is ready.
    pub(crate) fn begin(&self, program: &mut Command, arguments: &[&str]) -> Exporter {
        let program = program.current_dir(self.0.path()).args(["--config", "perfmon.yml"]).args(arguments);
        let child = program.stderr(Stdio::piped()).spawn().unwrap();
        let mut exporter = Exporter::of(child, SocketAddr::from(([127, 0, 0, 1], 0)));
        let line = exporter.wait_for_line("Listening");
        // As text or as JSON.
        let address = line.split("address").nth(1).unwrap().trim_start_matches(['"', '=', ':']);
        let address = address.split(|c: char| c.is_whitespace() || c == '"').next().unwrap();
        exporter.address = address.parse().unwrap();
        exporter.wait_for_line("Ready");
        exporter
    }
}

/// The program, without the directory that this machine may have for the state of RPC calls.
pub(crate) fn exporter() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_perfmon-exporter"));
    program.env_remove("RUNTIME_DIRECTORY").env_remove("XDG_RUNTIME_DIR");
    program
}

/// A running exporter; ended when it is dropped.
pub(crate) struct Exporter {
    child: Child,
    log: BufReader<ChildStderr>,
    pub(crate) address: SocketAddr,
}

/// What a server answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Exporter {
    /// A child that was begun with its standard error piped, and serves, or will serve, at `address`.
    pub(crate) fn of(mut child: Child, address: SocketAddr) -> Self {
        let log = BufReader::new(child.stderr.take().unwrap());
        Self { child, log, address }
    }

    /// Reads the log until a line holds `part`.
    pub(crate) fn wait_for_line(&mut self, part: &str) -> String {
        let (mut seen, end) = (String::new(), Instant::now() + PATIENCE);
        loop {
            let mut line = String::new();
            assert!(self.has_log_by(end), "no `{part}` came in time:\n{seen}");
            assert!(self.log.read_line(&mut line).unwrap() > 0, "the log ended without `{part}`:\n{seen}");
            if line.contains(part) {
                return line;
            }
            seen += &line;
        }
    }

    /// Waits for more of the log, or its end; false at `end`.
    fn has_log_by(&self, end: Instant) -> bool {
        let left = Timespec::try_from(end.saturating_duration_since(Instant::now())).unwrap();
        let mut polled = [PollFd::new(self.log.get_ref(), PollFlags::IN)];
        !self.log.buffer().is_empty() || poll(&mut polled, Some(&left)).unwrap() > 0
    }

    /// Reads the rest of the log while other things happen: a program that logs much waits for its reader.
    pub(crate) fn read_log(&mut self) -> std::thread::JoinHandle<String> {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(writer);
        let nothing = BufReader::new(ChildStderr::from(std::os::fd::OwnedFd::from(reader)));
        let mut log = std::mem::replace(&mut self.log, nothing);
        std::thread::spawn(move || {
            let mut rest = String::new();
            log.read_to_string(&mut rest).unwrap();
            rest
        })
    }

    /// What is left of the log; to be called when the process has ended.
    pub(crate) fn rest_of_log(&mut self) -> String {
        let mut rest = String::new();
        self.log.read_to_string(&mut rest).unwrap();
        rest
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"))
    }

    /// Sends `request` as it is and reads to the end of the connection.
    pub(crate) fn ask(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let is_chunked = head.contains("transfer-encoding: chunked");
        let body = if is_chunked { unchunk(body) } else { body.to_owned() };
        Answer { status, head: head.to_owned(), body }
    }

    /// Reads `/metrics` until a page is as it should be; answers it.
    pub(crate) fn wait_for_page(&self, is_it: impl Fn(&str) -> bool) -> String {
        let began = std::time::Instant::now();
        loop {
            let page = self.get("/metrics").body;
            if is_it(&page) {
                return page;
            }
            assert!(began.elapsed() < PATIENCE, "it never came:\n{page}");
        }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Asks it to end, as a supervisor does.
    pub(crate) fn terminate(&self) {
        self.signal("TERM");
    }

    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name]).arg(self.child.id().to_string()).status();
        assert!(status.unwrap().success());
    }

    /// Asks for a reload as Prometheus' users do.
    pub(crate) fn reload(&self) -> Answer {
        self.ask("POST /-/reload HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn unchunk(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        text += &rest[..size];
        body = rest[size..].trim_start_matches("\r\n");
        if size == 0 {
            break;
        }
    }
    text
}
