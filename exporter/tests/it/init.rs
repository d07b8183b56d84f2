//! `init`: the first configuration, as a person or a script has it written.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Output, Stdio};

use crate::command_plugin::{Installed, PASSWORD, told};

const ACCOUNT: [&str; 5] = ["init", "--host", "web1.example", "--username", r"CORP\svc"];

/// `init` with a standard input that is no terminal.
fn init(installed: &Installed, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut child = installed
        .command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that has ended reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    told(&child.wait_with_output().unwrap())
}

fn read(installed: &Installed, file: &str) -> String {
    fs::read_to_string(installed.folder.path(file)).unwrap()
}

fn mode(installed: &Installed, file: &str) -> u32 {
    fs::metadata(installed.folder.path(file)).unwrap().permissions().mode() & 0o777
}

#[test]
fn what_it_writes_passes_the_check_that_it_names_as_the_next_command() {
    let installed = Installed::new();
    let folder = "it's # a: 'folder'";
    fs::create_dir(installed.folder.path(folder)).unwrap();
    let arguments = [&ACCOUNT[..], &["--allow-hosts", "*.example,10.0.0.0/8", "--output", folder]].concat();
    let (code, out, err) = init(&installed, &arguments, &format!("{PASSWORD}\n"));
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert_eq!(read(&installed, &format!("{folder}/secret")), PASSWORD);
    assert_eq!(mode(&installed, &format!("{folder}/secret")), 0o600);
    let config = read(&installed, &format!("{folder}/perfmon.yml"));
    for part in ["listen: ['127.0.0.1:9483']", "top_n", "['*.example', '10.0.0.0/8']", r"'CORP\svc'"] {
        assert!(config.contains(part), "{part}: {config}");
    }
    assert!(!config.contains(PASSWORD) && !out.contains(PASSWORD));
    // A shell runs the next command as it is printed. No host is asked here.
    let next = out.lines().find_map(|line| line.strip_prefix("next: ")).unwrap();
    let next = next.strip_suffix(" --online").unwrap();
    let folder = installed.folder.path("");
    let output = std::process::Command::new("sh").args(["-c", next]).current_dir(folder).output().unwrap();
    let (code, out, err) = told(&output);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("OK: targets 1, modules 1, identities 1, plugins pcq"), "{out}");
    assert!(!out.contains("chmod"), "{out}");
}

#[test]
fn what_it_writes_is_what_the_unit_the_commands_and_the_documents_name() {
    let installed = Installed::new();
    fs::create_dir(installed.folder.path("new")).unwrap();
    let (code, _, err) = init(&installed, &[&ACCOUNT[..], &["--output", "new"]].concat(), PASSWORD);
    assert_eq!((code, err.as_str()), (0, ""));
    let entries = fs::read_dir(installed.folder.path("new")).unwrap();
    let mut written: Vec<_> = entries.map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
    written.sort();
    let [config, secret] = &written[..] else { panic!("{written:?}") };
    let text = read(&installed, &format!("new/{config}")).replace('\'', "");
    assert!(text.contains(&format!("password_file: {secret} ")), "{text}");

    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = |file: &str| fs::read_to_string(root.join(file)).unwrap();
    let unit = text("deploy/systemd/perfmon-exporter.service");
    let value = |key: &str| unit.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    let (_, path) = value("ExecStart=").split_once(" --config ").unwrap();
    let folder = path.strip_suffix(config).unwrap();
    assert_eq!(value("LoadCredential="), format!("{secret}:{folder}{secret}"));

    // Whatever is named there besides is for somebody's further files.
    let (_, help, _) = told(&installed.run(&["--help"]));
    assert!(help.contains("init --host web1.corp.example.com") && help.contains(path), "{help}");
    let operating = text("docs/operating.md");
    for (file, mode) in [(config, "644"), (secret, "600")] {
        assert!(operating.contains(&format!("install -D -m {mode} {file} {folder}{file}\n")), "{file}");
    }
    for (name, text) in
        [("--help", help), ("docs/commands.md", text("docs/commands.md")), ("README.md", text("README.md"))]
    {
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || "-_./".contains(c));
        let named = text
            .match_indices(folder)
            .map(|(at, _)| text[at..].split(is_end).next().unwrap().trim_end_matches('.'));
        let others: Vec<_> = named.filter(|named| named.ends_with("ml") && *named != path).collect();
        assert!(others.is_empty(), "{name}: {others:?}");
    }
}

#[test]
fn a_password_file_that_is_there_is_named_and_not_copied() {
    let installed = Installed::new();
    let arguments = [&ACCOUNT[..], &["--password-file", "password"]].concat();
    let (code, _, err) = init(&installed, &arguments, "");
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(!installed.folder.path("secret").exists());
    let (code, out, err) = told(&installed.run(&["check-config", "perfmon.yml"]));
    assert_eq!((code, err.as_str()), (0, ""), "{out}");

    let arguments = [&ACCOUNT[..], &["--force", "--password-file", "missing"]].concat();
    let (code, _, err) = init(&installed, &arguments, "");
    assert_eq!(code, 1);
    assert!(err.contains("--password-file missing: ") && err.contains("omit the option"), "{err}");
}

#[test]
fn a_file_that_is_there_is_replaced_with_force_only() {
    let installed = Installed::new();
    for there in ["secret", "perfmon.yml"] {
        installed.folder.write(there, "mine");
        let (code, out, err) = init(&installed, &ACCOUNT, PASSWORD);
        assert_eq!((code, out.as_str()), (1, ""));
        assert!(err.contains(&format!("{there} exists")) && err.contains("--force"), "{err}");
        assert_eq!(read(&installed, there), "mine");
        fs::remove_file(installed.folder.path(there)).unwrap();
    }
    installed.folder.write("perfmon.yml", "mine");
    // Open to all before, and behind a link that must not be followed.
    installed.folder.write("other", "other");
    std::os::unix::fs::symlink(installed.folder.path("other"), installed.folder.path("secret")).unwrap();
    let (code, _, err) = init(&installed, &[&ACCOUNT[..], &["--force"]].concat(), PASSWORD);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!((read(&installed, "secret").as_str(), mode(&installed, "secret")), (PASSWORD, 0o600));
    assert_eq!(read(&installed, "other"), "other");
    assert!(read(&installed, "perfmon.yml").contains("web1.example"));
}

#[test]
fn a_password_file_of_this_run_goes_again_where_the_configuration_cannot_be_written() {
    let installed = Installed::new();
    // Nothing takes the place of a folder.
    fs::create_dir(installed.folder.path("perfmon.yml")).unwrap();
    let forced = [&ACCOUNT[..], &["--force"]].concat();
    let (code, out, err) = init(&installed, &forced, PASSWORD);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("perfmon.yml") && err.contains("which was just written, is removed again"), "{err}");
    assert!(!installed.folder.path("secret").exists());
    // One that was there before stays, be it with the new password.
    installed.folder.write("secret", "mine");
    let (code, _, err) = init(&installed, &forced, PASSWORD);
    assert!(code == 1 && !err.contains("removed again"), "{err}");
    assert_eq!(read(&installed, "secret"), PASSWORD);
}

#[test]
fn an_account_of_kerberos_is_asked_for_no_password_where_it_has_a_keytab() {
    let installed = Installed::new();
    installed.folder.write("svc.keytab", "\u{5}\u{2}");
    let principal = ["init", "--host", "web1.example", "--principal", "svc@CORP.EXAMPLE"];
    let by_keytab =
        [&principal[..], &["--keytab", &installed.folder.path("svc.keytab").display().to_string()]];
    let (code, out, err) = init(&installed, &by_keytab.concat(), "");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let config = read(&installed, "perfmon.yml");
    for part in ["kind: kerberos", "principal: 'svc@CORP.EXAMPLE'", "svc.keytab'", "keytab_file: '/"] {
        assert!(config.contains(part), "{part}: {config}");
    }
    assert!(!installed.folder.path("secret").exists());
    let (code, out, err) = init(&installed, &[&principal[..], &["--force"]].concat(), PASSWORD);
    assert_eq!((code, err.as_str(), read(&installed, "secret")), (0, "", PASSWORD.to_owned()), "{out}");
    assert!(read(&installed, "perfmon.yml").contains("password_file: 'secret'"));
}

#[test]
fn what_is_missing_or_cannot_be_is_said_with_the_next_step_and_nothing_is_written() {
    let installed = Installed::new();
    installed.folder.write("file", "");
    let cases: [(&[&str], &str, i32, &str); 7] = [
        (&["init"], PASSWORD, 2, "--host is missing"),
        (&["init", "--host", "web1"], PASSWORD, 2, "--principal or --username is missing"),
        (&ACCOUNT, "", 1, "send it to the standard input"),
        (&[&ACCOUNT[..], &["--output", "none"]].concat(), PASSWORD, 1, "mkdir -p"),
        (&[&ACCOUNT[..], &["--output", "file"]].concat(), PASSWORD, 1, "is not a folder"),
        (&[&ACCOUNT[..], &["--output", "/proc"]].concat(), PASSWORD, 1, "a folder that you may write to"),
        (&[&ACCOUNT[..], &["--allow-hosts", "10.0.0.0/99"]].concat(), PASSWORD, 1, "allow_hosts"),
    ];
    for (arguments, input, expected, part) in cases {
        let (code, out, err) = init(&installed, arguments, input);
        assert_eq!((code, out.as_str()), (expected, ""), "{arguments:?}: {err}");
        assert!(err.contains(part), "{arguments:?}: {err}");
        assert!(!installed.folder.path("secret").exists() && !installed.folder.path("perfmon.yml").exists());
    }
}

#[test]
fn on_a_terminal_it_asks_and_does_not_show_the_password() {
    let installed = Installed::new();
    let mut program = std::process::Command::new("script");
    program.args(["-qec", "./perfmon-exporter init", "/dev/null"]).current_dir(installed.folder.path(""));
    let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut seen = Vec::new();
    let password = format!("{PASSWORD}\r");
    for (question, answer) in [
        ("Windows host", "web1.example\r"),
        ("Account", "CORP\\svc\r"),
        ("[web1.example]", "\r"),
        ("Password: ", password.as_str()),
    ] {
        let mut byte = [0];
        while !String::from_utf8_lossy(&seen).contains(question) {
            screen.read_exact(&mut byte).unwrap();
            seen.push(byte[0]);
        }
        keys.write_all(answer.as_bytes()).unwrap();
    }
    screen.read_to_end(&mut seen).unwrap();
    drop(keys);
    let (status, seen) = (child.wait().unwrap(), String::from_utf8(seen).unwrap());
    assert!(status.success() && seen.contains("next: ") && !seen.contains(PASSWORD), "{seen}");
    assert_eq!(read(&installed, "secret"), PASSWORD);
    let output: Output = installed.run(&["check-config", "perfmon.yml"]);
    assert!(output.status.success(), "{output:?}");
}
