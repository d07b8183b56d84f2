//! The directory for files of targets: which sources get it, when it is refused, and who may have the files.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::program::{Exporter, Folder};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.plugin("keeping", "keeping_pulse.c").plugin("pulse", "stubborn_pulse.c");
    folder
}

fn config(storage: &str) -> String {
    format!(
        "web: {{listen: ['127.0.0.1:0'], enable_lifecycle: true}}
plugins: {{path: ., load: [keeping, pulse]}}
scrape: {{interval: 1s}}
probe: {{allow_targets: ['127.0.0.0/8']}}
{storage}
modules:
  keep: {{plugin: keeping}}
  beat: {{plugin: pulse}}
targets:
  - {{name: 'web/1', host: 127.0.0.2, modules: [keep]}}
  - {{name: other, host: 127.0.0.3, modules: [beat]}}
"
    )
}

fn at(folder: &Folder, directory: &str, more: &str) -> String {
    config(&format!("storage: {{directory: {}{more}}}", folder.path(directory).display()))
}

/// What the plugins said from now on until there is a line about this target, about that target.
fn said_of(exporter: &mut Exporter, what: &str) -> String {
    let line = exporter.wait_for_line(what).replace('\\', "");
    let (_, settings) = line.split_once(" of ").unwrap();
    settings.rsplit_once('}').unwrap().0.to_owned() + "}"
}

#[test]
fn a_source_that_keeps_files_gets_the_directory_of_its_target_and_hears_of_changes() {
    let folder = folder();
    let directory = |name: &str| {
        let directory = folder.path(name);
        format!("{{\"storage\":{{\"directory\":\"{}/web%2F1\",\"interval_ms\":1000}}}}", directory.display())
    };
    folder.write("perfmon.yml", &at(&folder, "files", ""));
    let mut program = crate::program::exporter();
    let child = program.current_dir(folder.path(".")).args(["--config", "perfmon.yml"]);
    let child = child.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut exporter = Exporter::of(child, ([127, 0, 0, 1], 0).into());
    let line = exporter.wait_for_line("Listening");
    let address = line.split("address=").nth(1).unwrap().split_whitespace().next().unwrap();
    exporter.address = address.trim_matches('"').parse().unwrap();
    assert_eq!(said_of(&mut exporter, "Made web/1"), directory("files"));
    assert_eq!(said_of(&mut exporter, "Made other"), "{}", "its source keeps none");
    exporter.wait_for_line("Ready");
    assert!(folder.path("files").is_dir(), "the exporter made it");
    assert!(!folder.path("files/web%2F1").exists(), "the source makes that");
    // A probe has an instance of its own, which must not write the same files.
    let probed = exporter.get("/probe?target=127.0.0.9&module=keep");
    assert_eq!(probed.status, 200, "{}", probed.body);
    assert_eq!(said_of(&mut exporter, "Made 127.0.0.9"), "{}");
    let reload = |text: &str| {
        folder.write("perfmon.yml", text);
        exporter.reload().body
    };
    let changed = "reloaded: 2 targets, 0 added, 1 changed, 0 removed\n";
    assert_eq!(reload(&at(&folder, "moved", "")), changed);
    assert_eq!(reload(&at(&folder, "moved", ", downloads: true")), changed.replace("1 changed", "0 changed"));
    assert_eq!(reload(&config("")), changed);
    assert_eq!(said_of(&mut exporter, "Changed web/1"), directory("moved"));
    assert_eq!(said_of(&mut exporter, "Changed web/1"), "{}");
}

#[test]
fn a_directory_in_which_no_files_can_be_kept_is_refused_with_its_place() {
    let folder = folder();
    fs::create_dir(folder.path("real")).unwrap();
    symlink(folder.path("real"), folder.path("link")).unwrap();
    fs::create_dir(folder.path("open")).unwrap();
    fs::set_permissions(folder.path("open"), PermissionsExt::from_mode(0o777)).unwrap();
    folder.write("file", "");
    let exporter = folder.serve(&config(""));
    for (directory, why) in [
        ("link", "is a symbolic link"),
        ("open", "other users can write"),
        ("file", "is not a directory"),
        ("missing/files", "there is no directory"),
    ] {
        let text = at(&folder, directory, "");
        folder.write("perfmon.yml", &text);
        let answer = exporter.reload();
        assert_ne!(answer.status, 200);
        assert!(answer.body.contains("perfmon.yml:5:22: storage.directory: "), "{}", answer.body);
        assert!(answer.body.contains(why), "{}", answer.body);
        // A check may run elsewhere and as somebody else, so that it only warns.
        let checked = folder.run(&["check-config", "perfmon.yml"]);
        let said = String::from_utf8(checked.stdout).unwrap();
        assert!(checked.status.success() && said.contains("warning: storage.directory"), "{said}");
    }
    folder.write("perfmon.yml", &at(&folder, "link", ""));
    let started = folder.run(&["--config", "perfmon.yml"]);
    assert!(!started.status.success());
    let said = String::from_utf8(started.stderr).unwrap();
    assert!(said.contains("perfmon.yml:5:22: storage.directory") && said.contains("symbolic link"), "{said}");
}

#[test]
fn a_module_cannot_name_a_directory_of_its_own() {
    let folder = folder();
    let text = config("").replace("{plugin: keeping}", "{plugin: keeping, storage: {directory: /etc}}");
    folder.write("perfmon.yml", &text);
    let checked = folder.run(&["check-config", "perfmon.yml"]);
    let said = String::from_utf8(checked.stderr).unwrap();
    assert!(
        said.contains("perfmon.yml:7:27: modules.keep: `storage` belongs to the configuration as a whole"),
        "{said}"
    );
}

/// A run with a file of this size, and a report.
fn with_files(folder: &Folder, bytes: usize) {
    let run = folder.path("files/web%2F1/Office hours/000001");
    fs::create_dir_all(&run).unwrap();
    fs::set_permissions(folder.path("files"), PermissionsExt::from_mode(0o700)).unwrap();
    fs::write(run.join("a b.csv"), "0123456789".repeat(bytes / 10)).unwrap();
    fs::write(run.join("report.html"), "<h1>Report</h1><script>alert(1)</script>").unwrap();
}

const RUN: &str = "/logs/files/web%252F1/Office%20hours/000001";

#[test]
fn files_are_sent_only_where_the_configuration_says_so() {
    let folder = folder();
    with_files(&folder, 100);
    let exporter = folder.serve(&at(&folder, "files", ""));
    let file = format!("{RUN}/a%20b.csv");
    let page = exporter.get("/logs").body;
    assert!(page.contains("a b.csv") && !page.contains("/files/"), "{page}");
    let refused = exporter.get(&file);
    assert_eq!(refused.status, 403);
    assert!(refused.body.contains("`storage.downloads: true`"), "{}", refused.body);
    folder.write("perfmon.yml", &at(&folder, "files", ", downloads: true"));
    assert_eq!(exporter.reload().status, 200);
    let page = exporter.get("/logs").body;
    assert!(page.contains(&format!("href=\"{}\" download", &file[1..])), "{page}");
    let sent = exporter.get(&file);
    assert_eq!((sent.status, sent.body.len()), (200, 100));
    for header in
        ["content-length: 100", "content-type: text/csv", "attachment; filename=\"a b.csv\"", "nosniff"]
    {
        assert!(sent.head.contains(header), "{header}\n{}", sent.head);
    }
    let report = exporter.get(&format!("{RUN}/report.html"));
    assert!(report.head.contains("content-type: text/html; charset=utf-8"), "{}", report.head);
    assert!(
        report.head.contains("default-src 'none';") && report.head.contains("; sandbox"),
        "{}",
        report.head
    );
    folder.write("perfmon.yml", &config(""));
    assert_eq!(exporter.reload().status, 200);
    assert_eq!(exporter.get(&file).status, 404);
    assert!(!exporter.get("/").body.contains("href=\"logs\""));
}

#[test]
fn a_part_of_a_file_is_sent_while_the_file_is_the_same() {
    let folder = folder();
    with_files(&folder, 100);
    let exporter = folder.serve(&at(&folder, "files", ", downloads: true"));
    let ask = |method: &str, headers: &str| {
        exporter.ask(&format!(
            "{method} {RUN}/a%20b.csv HTTP/1.1\r\nHost: here\r\nConnection: close\r\n{headers}\r\n"
        ))
    };
    let part = ask("GET", "Range: bytes=95-\r\n");
    assert_eq!((part.status, part.body.as_str()), (206, "56789"));
    assert!(part.head.contains("content-range: bytes 95-99/100"), "{}", part.head);
    let etag = part.head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
    let again = ask("GET", &format!("Range: bytes=0-1\r\nIf-Range: {etag}\r\n"));
    assert_eq!((again.status, again.body.as_str()), (206, "01"));
    let beyond = ask("GET", "Range: bytes=100-\r\n");
    assert_eq!(beyond.status, 416);
    assert!(beyond.head.contains("content-range: bytes */100"), "{}", beyond.head);
    let head = ask("HEAD", "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert!(head.head.contains("content-length: 100"), "{}", head.head);
    fs::write(folder.path("files/web%2F1/Office hours/000001/a b.csv"), "new").unwrap();
    let other = ask("GET", &format!("Range: bytes=0-1\r\nIf-Range: {etag}\r\n"));
    assert_eq!((other.status, other.body.as_str()), (200, "new"), "the file has changed");
}

#[test]
fn no_trick_in_a_path_leads_to_another_file() {
    let folder = folder();
    with_files(&folder, 10);
    folder.write("secret", "hunter2");
    let run = folder.path("files/web%2F1/Office hours/000001");
    symlink(folder.path("secret"), run.join("link.csv")).unwrap();
    symlink(folder.path("."), folder.path("files/up")).unwrap();
    folder.write("files/top.csv", "hunter2");
    fs::write(run.join(".hidden.csv"), "hunter2").unwrap();
    fs::write(run.join("log.parquet.part"), "hunter2").unwrap();
    let exporter = folder.serve(&at(&folder, "files", ", downloads: true"));
    let page = exporter.get("/logs").body;
    assert!(
        ["link.csv", "hidden", "secret", "top.csv", ".part"].iter().all(|name| !page.contains(name)),
        "{page}"
    );
    for trick in [
        format!("{RUN}/link.csv"),
        format!("{RUN}/.hidden.csv"),
        format!("{RUN}/log.parquet.part"),
        format!("{RUN}/../../../../secret"),
        format!("{RUN}/%2e%2e/%2e%2e/%2e%2e/%2e%2e/secret"),
        format!("{RUN}/..%2f..%2f..%2f..%2fsecret"),
        format!("{RUN}/..%5c..%5c..%5c..%5csecret"),
        format!("{RUN}/a%20b.csv%00.html"),
        format!("{RUN}/"),
        format!("{RUN}//etc/passwd"),
        RUN.to_owned(),
        "/logs/files/up/secret".to_owned(),
        "/logs/files/up/files/top.csv".to_owned(),
        "/logs/files/top.csv".to_owned(),
        "/logs/files//etc/passwd".to_owned(),
        "/logs/files/%2fetc/passwd/x".to_owned(),
        "/logs/files/".to_owned(),
        // A link that is put there after the page was shown is no other case: names are opened, not believed.
        "/logs/files/web%252F1/Office%20hours/%2E/000001/link.csv".to_owned(),
    ] {
        let answer = exporter.get(&trick);
        assert_eq!(answer.status, 404, "{trick}: {}", answer.head);
        assert!(!answer.body.contains("hunter2") && !answer.body.contains("root:"), "{trick}");
    }
    // Not even a proxy that passes on other bytes than letters has another answer.
    let backslash = exporter.get(&format!("{RUN}/..\\..\\secret"));
    assert!([400, 404].contains(&backslash.status), "{}", backslash.head);
}

#[test]
fn a_file_that_shrinks_while_it_is_sent_ends_the_connection_and_nothing_else() {
    let folder = folder();
    let bytes = 64 << 20;
    with_files(&folder, bytes);
    let exporter = folder.serve(&at(&folder, "files", ", downloads: true"));
    let mut stream = exporter.connect();
    write!(stream, "GET {RUN}/a%20b.csv HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
    let mut first = [0; 4_096];
    stream.read_exact(&mut first).unwrap();
    let file = fs::File::options().write(true).open(folder.path("files/web%2F1/Office hours/000001/a b.csv"));
    file.unwrap().set_len(10).unwrap();
    let mut rest = Vec::new();
    // It ends early: with an end, or with an error.
    let _ = stream.read_to_end(&mut rest);
    assert!(rest.len() < bytes - 4_096, "{}", rest.len());
    assert_eq!(exporter.get(&format!("{RUN}/a%20b.csv")).body, "0123456789");
}

#[test]
fn readers_that_are_slow_keep_no_others_from_their_files_and_pages() {
    let folder = folder();
    with_files(&folder, 64 << 20);
    let exporter = folder.serve(&at(&folder, "files", ", downloads: true"));
    let slow: Vec<_> = (0..8)
        .map(|_| {
            let mut stream = exporter.connect();
            write!(stream, "GET {RUN}/a%20b.csv HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
            let mut first = [0; 1_024];
            stream.read_exact(&mut first).unwrap();
            stream
        })
        .collect();
    // All of them are of one address. A file that nobody takes is ended for another one.
    assert_eq!(exporter.get(&format!("{RUN}/report.html")).status, 200);
    assert_eq!(exporter.get("/logs").status, 200);
    drop(slow);
}
