//! What the program says where people make mistakes, as they see it: the whole text.

use expect_test::{Expect, expect};

use crate::command_plugin::{Installed, told};

/// A configuration with the parts that a test does not change.
const GOOD: &str = "\
plugins: {load: [pcq]}
identities:
  corp: {kind: ntlm, domain: CORP, username: svc, password_file: password, allow_hosts: ['*.corp', 10.0.0.0/8]}
  lab: {kind: ntlm, username: svc, password_file: password, allow_hosts: ['*.lab']}
modules:
  os: {plugin: pcq, countersets: [{name: Process V2}]}
";

/// What `check-config` says of the file, and to what it comes.
fn check(installed: &Installed, file: &str, expected: &Expect) {
    installed.folder.write("perfmon.yml", file);
    let (code, out, err) = told(&installed.run(&["check-config", "perfmon.yml"]));
    let warnings: String = out
        .lines()
        .filter(|line| !line.contains("credentials.state_dir"))
        .map(|line| format!("{line}\n"))
        .collect();
    expected.assert_eq(&format!("{warnings}{err}exit code {code}\n"));
}

#[test]
fn a_target_without_an_identity_is_told_before_it_is_asked() {
    let installed = Installed::new();
    std::fs::create_dir(installed.folder.path("t.d")).unwrap();
    installed
        .folder
        .write("t.d/more.yml", "- targets: [web2.lab, web3.example]\n  labels: {__param_module: os}\n");
    let file =
        format!("{GOOD}targets:\n  - {{host: web1.corp, modules: [os]}}\ntarget_files: ['t.d/*.yml']\n");
    check(
        &installed,
        &file,
        &expect![[r#"
        perfmon.yml:8:5: targets[0] (web1.corp): has no identity, and module `os` logs on to its host; write `identity: corp` at the target or in `target_defaults`
        t.d/more.yml:1:13: [0].targets[0]: has no identity, and module `os` logs on to its host; write `identity: lab` at the target or in `target_defaults`
        t.d/more.yml:1:23: [0].targets[1]: has no identity, and module `os` logs on to its host; add `web3.example` to the `allow_hosts` of one of the identities (`corp`, `lab`), and name that
        exit code 1
    "#]],
    );
    let none = "plugins: {load: [pcq]}\nmodules:\n  os: {plugin: pcq, countersets: [{name: Process V2}]}\n\
                targets: [{host: web1, modules: [os]}]\n";
    check(
        &installed,
        none,
        &expect![[r#"
        perfmon.yml:4:11: targets[0] (web1): has no identity, and module `os` logs on to its host; add one under `identities`, and write `identity: NAME` at the target or in `target_defaults`
        exit code 1
    "#]],
    );
    // A server does not begin either.
    let (code, _, err) = told(&installed.run(&["--config", "perfmon.yml"]));
    assert_eq!(code, 1);
    assert!(err.contains("Configuration refused") && err.contains("has no identity"), "{err}");
}

#[test]
fn a_target_of_a_file_without_an_identity_is_refused_and_a_probe_says_what_is_missing() {
    let installed = Installed::new();
    let file = format!(
        "web: {{listen: ['127.0.0.1:0']}}\n{GOOD}target_files: [t.yml]\nprobe: {{allow_targets: ['*.corp']}}\n"
    );
    installed.folder.write("t.yml", "- targets: [web1.corp]\n  labels: {__param_module: os}\n");
    installed.folder.write("perfmon.yml", &file);
    let mut exporter = installed.folder.begin(&mut installed.command(&[]), &[]);
    let probe = exporter.get("/probe?target=web2.corp&module=os");
    assert_eq!(probe.status, 400, "{}", probe.body);
    assert_eq!(
        probe.body.trim_end(),
        "module `os` logs on to the host: `identity` is missing, and `target_defaults` has none; there is `corp`, `lab`"
    );
    let page = exporter.get("/metrics").body;
    assert!(page.contains("perfmon_exporter_target_file_refused_targets{file=\"t.yml\"} 1\n"), "{page}");
    assert!(!page.contains("target_up"), "{page}");
    exporter.terminate();
    exporter.wait();
}
