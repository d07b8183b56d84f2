//! What the program says where people make mistakes, as they see it: the whole text.

use expect_test::{Expect, expect};

use crate::command_plugin::{Installed, told};

/// A configuration with the parts that a test does not change.
pub(crate) const GOOD: &str = "\
plugins: {load: [pcq]}
identities:
  corp: {kind: ntlm, domain: CORP, username: svc, password_file: password, allow_hosts: ['*.corp', 10.0.0.0/8]}
  lab: {kind: ntlm, username: svc, password_file: password, allow_hosts: ['*.lab']}
modules:
  os: {plugin: pcq, countersets: [{name: Process V2}]}
";

/// What `check-config` says of the file, and to what it comes.
pub(crate) fn check(installed: &Installed, file: &str, expected: &Expect) {
    installed.folder.write("perfmon.yml", file);
    let (code, out, err) = told(&installed.run(&["check-config", "perfmon.yml"]));
    let warnings: String = out
        .lines()
        .filter(|line| !line.contains("credentials.state_dir") && !line.contains("run `chmod 600"))
        .map(|line| format!("{line}\n"))
        .collect();
    let text = format!("{warnings}{err}exit code {code}\n");
    let folder = installed.folder.path("perfmon.yml");
    let folder = folder.parent().unwrap().to_str().unwrap();
    expected.assert_eq(&text.replace(folder, "FOLDER"));
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

/// A configuration that is good but for what a test puts into it.
pub(crate) fn with(change: impl Fn(&str) -> String) -> String {
    change(&format!("{GOOD}targets:\n  - {{host: web1.corp, identity: corp, modules: [os]}}\n"))
}

#[test]
fn an_account_may_be_written_as_windows_writes_it() {
    let installed = Installed::new();
    let account = |account: &str| with(|good| good.replace("domain: CORP, username: svc", account));
    check(
        &installed,
        &account(r"username: CORP\probe"),
        &expect![[r#"
            perfmon.yml: OK: targets 1, modules 1, identities 2, plugins pcq
            exit code 0
        "#]],
    );
    check(
        &installed,
        &account(r"domain: corp, username: CORP\probe"),
        &expect![[r#"
            perfmon.yml: OK: targets 1, modules 1, identities 2, plugins pcq
            exit code 0
        "#]],
    );
    check(
        &installed,
        &account(r"domain: LAB, username: CORP\probe"),
        &expect![[r#"
        perfmon.yml:3:45: identities.corp.username: is of domain `CORP`, and `domain` says `LAB`; write `username: probe`, or correct `domain`
        exit code 1
    "#]],
    );
    check(
        &installed,
        &account(r"username: \probe"),
        &expect![[r#"
        perfmon.yml:3:32: identities.corp.username: `\probe` is not a valid account; write `DOMAIN\USER`, or `domain: DOMAIN` and `username: USER`
        exit code 1
    "#]],
    );
}

#[test]
fn an_address_with_a_wildcard_is_told_its_network() {
    let installed = Installed::new();
    let hosts = |text: &str| with(|good| good.replace("10.0.0.0/8", text));
    check(
        &installed,
        &hosts("'127.0.0.*'"),
        &expect![[r#"
        perfmon.yml:3:100: identities.corp.allow_hosts[1]: `127.0.0.*` is neither a host name pattern nor a network; write 127.0.0.0/24 for a network
        exit code 1
    "#]],
    );
    check(
        &installed,
        &hosts("'10.*'"),
        &expect![[r#"
        perfmon.yml:3:100: identities.corp.allow_hosts[1]: `10.*` is neither a host name pattern nor a network; write 10.0.0.0/8 for a network
        exit code 1
    "#]],
    );
    check(
        &installed,
        &hosts("10.0.0.300"),
        &expect![[r#"
        perfmon.yml:3:100: identities.corp.allow_hosts[1]: `10.0.0.300` is neither a host name pattern nor a network; write '*.corp.example.com', 10.0.0.0/8 or one address
        exit code 1
    "#]],
    );
}

#[test]
fn a_host_that_two_targets_ask_is_warned_of() {
    let installed = Installed::new();
    installed
        .folder
        .write("t.yml", "- targets: [WEB1.corp.]\n  labels: {__param_module: os, __param_name: c}\n");
    let more = "  - {name: b, host: Web1.corp, modules: [os]}\ntarget_files: [t.yml]\n\
                target_defaults: {identity: corp}\n";
    check(
        &installed,
        &with(|good| format!("{good}{more}")),
        &expect![[r#"
            perfmon.yml:9:5: warning: targets[1] (b): collects from host `Web1.corp`, as target `web1.corp` on line 8 does; name all modules at one of them, unless both are meant
            perfmon.yml: warning: target `c` of a target file: collects from host `WEB1.corp.`, as target `web1.corp` on line 8 does; name all modules at one of them, unless both are meant
            perfmon.yml: OK: targets 3, modules 1, identities 2, plugins pcq
            exit code 0
        "#]],
    );
}

#[test]
fn targets_with_one_instance_are_warned_of_once_with_file_and_line_of_both() {
    let installed = Installed::new();
    installed.folder.write(
        "t.yml",
        "- targets: [web9.corp]\n  labels: {__param_module: os, instance: front}\n\
         - targets: [web10.corp]\n  labels: {__param_module: os, instance: web1.corp}\n",
    );
    let more = "  - {name: b, host: web2.corp, modules: [os], labels: {instance: front}}\n\
                \x20 - {name: c, host: web3.corp, modules: [os], labels: {instance: front}}\n\
                \x20 - {name: d, host: web4.corp, modules: [os], labels: {instance: ''}}\n\
                \x20 - {name: e, host: web5.corp, modules: [os], labels: {instance: ''}}\n\
                target_files: [t.yml]\ntarget_defaults: {identity: corp}\n";
    check(
        &installed,
        &with(|good| format!("{good}{more}")),
        &expect![[r#"
        perfmon.yml:10:5: warning: target `c`: has the `instance` `front`, as target `b` (perfmon.yml:9:5) and 1 more; Prometheus treats them as one target; give each a different label `instance`
        t.yml:3:13: warning: target `web10.corp`: has the `instance` `web1.corp`, as target `web1.corp` (perfmon.yml:8:5); Prometheus treats them as one target; give each a different label `instance`
        perfmon.yml: OK: targets 7, modules 1, identities 2, plugins pcq
        exit code 0
    "#]],
    );
    // The server says the same where it loads the file, and not again while it lasts, whatever else changes.
    let file =
        |more| with(|good| format!("web: {{listen: ['127.0.0.1:0'], enable_lifecycle: true}}\n{good}{more}"));
    installed.folder.write("perfmon.yml", &file(""));
    let mut exporter = installed.folder.begin(&mut installed.command(&[]), &[]);
    let log = exporter.read_log();
    installed.folder.write("perfmon.yml", &file(more));
    assert_eq!(exporter.reload().status, 200);
    assert_eq!(exporter.reload().status, 200);
    installed.folder.write("perfmon.yml", &file(&format!("{more}scrape: {{interval: 20s}}\n")));
    assert_eq!(exporter.reload().status, 200);
    exporter.terminate();
    exporter.wait();
    let log = log.join().unwrap();
    let lines: Vec<&str> = log
        .lines()
        .filter_map(|line| Some(line.split_once("WARN ")?.1))
        .filter(|line| line.contains("share"))
        .collect();
    expect![[r#"
        Targets share a label `instance` problem="perfmon.yml:11:5: target `c`: has the `instance` `front`, as target `b` (perfmon.yml:10:5) and 1 more; Prometheus treats them as one target; give each a different label `instance`"
        Targets share a label `instance` problem="t.yml:3:13: target `web10.corp`: has the `instance` `web1.corp`, as target `web1.corp` (perfmon.yml:9:5); Prometheus treats them as one target; give each a different label `instance`""#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn a_refused_connection_is_told_with_address_port_and_firewall_rule() {
    let installed = Installed::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    installed.folder.write("perfmon.yml", &crate::command_plugin::config(port, ""));
    let (code, out, _) = told(&installed.run(&["check-config", "perfmon.yml", "--online"]));
    assert_eq!(code, 1);
    let expected = format!(
        "web1: down (127.0.0.1, port {port})\n  module os: tcp: connection_refused: 127.0.0.1:{port}: connection refused\n  \
         next: Check that the service is started and that the host's firewall allows its port (SMB: TCP 445, rule `File and Printer Sharing (SMB-In)`).\n  help: perfmon-exporter explain connection_refused\n"
    );
    assert!(out.contains(&expected), "{out}");
}

#[test]
fn a_refused_connection_names_the_host_as_configured_in_check_config_in_the_log_and_on_the_page() {
    let installed = Installed::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let file = crate::command_plugin::config(port, "")
        .replace("host: 127.0.0.1", "host: LocalHost")
        .replace("allow_hosts: [127.0.0.1]", "allow_hosts: [localhost]");
    installed.folder.write("perfmon.yml", &format!("web: {{listen: ['127.0.0.1:0']}}\n{file}"));
    let (_, out, _) = told(&installed.run(&["check-config", "perfmon.yml", "--online"]));
    let named = |text: &str| {
        let (_, rest) = text.split_once(&format!("LocalHost:{port} (")).unwrap_or_else(|| panic!("{text}"));
        let (addresses, message) = rest.split_once("): ").unwrap();
        assert!(addresses.split(", ").any(|address| address == "127.0.0.1"), "{addresses}");
        assert!(message.starts_with("connection refused"), "{message}");
    };
    named(&out);
    let mut exporter = installed.folder.begin(&mut installed.command(&[]), &[]);
    named(exporter.wait_for_line("Target is down").split_once(" detail=").unwrap().1);
    named(&exporter.get("/targets/web1").body);
    exporter.terminate();
    exporter.wait();
}

#[test]
fn what_a_plugin_says_of_settings_is_told_plainly() {
    let installed = Installed::new();
    let (code, out, _) = told(&installed.run(&["plugin", "check", "libplugin_pcq.so"]));
    assert_eq!(code, 0, "{out}");
    for line in [
        "  it says: the settings: expected a mapping such as `countersets: [{name: Processor Information}]`, found a list\n",
        "  it says: the settings at `/no such setting`: unknown key `no such setting`; there is `countersets`, `language`, \
         `detail`, `host_info`, `max_services`, `transport`\n",
    ] {
        assert!(out.contains(line), "{line}{out}");
    }
    // A web configuration means nothing there.
    let (code, _, err) =
        told(&installed.run(&["plugin", "check", "libplugin_pcq.so", "--web.config.file", "a"]));
    assert_eq!(code, 2);
    assert!(err.contains("unexpected argument '--web.config.file'"), "{err}");
}

#[test]
fn the_words_of_a_failure_are_explained() {
    let installed = Installed::new();
    let explain = |words: &[&str]| told(&installed.run(&[&["explain"], words].concat()));
    let (code, out, _) = explain(&["wrong_credentials"]);
    assert_eq!(code, 0);
    expect![[r#"
        wrong_credentials (reason)
          The user name or the password was refused.
          next: Correct the identity's user name and secret; until they change, they are rarely tried again.
    "#]]
    .assert_eq(&out);
    // As it is in the log and in what `check-config --online` prints.
    assert_eq!(explain(&["auth: wrong_credentials"]), (0, out, String::new()));
    let (_, out, _) = explain(&["auth"]);
    assert_eq!(out, "auth (stage)\n  The identity logs on.\n");
    let (code, out, _) = explain(&["shared_base"]);
    assert!(
        code == 0 && out.starts_with("shared_base "),
        "what is left out of pages is explained, too: {out}"
    );
    let (code, out, _) = explain(&[]);
    assert_eq!(code, 0);
    for reason in plugin_abi::GeneralReason::ALL {
        assert!(
            out.contains(&format!("  {:24}  {}\n", reason.as_str(), reason.sentence())),
            "{reason}: {out}"
        );
    }
    for stage in plugin_abi::Stage::ALL {
        assert!(out.contains(&format!("  {:24}  ", stage.as_str())), "{stage}: {out}");
    }
    let (code, _, err) = explain(&["wrong_credential"]);
    assert_eq!(
        (code, err.as_str()),
        (2, "there is no reason or stage `wrong_credential`; did you mean `wrong_credentials`?\n")
    );
}
