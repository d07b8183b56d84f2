//! What the program says before it serves anything.

use std::process::{Command, Output};

use expect_test::{Expect, expect};

use crate::program::Folder;

/// Exit code, standard output and standard error, less the folder's name.
fn shown(folder: &Folder, output: &Output) -> String {
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.replace(folder.path("").to_str().unwrap(), "FOLDER/")
    };
    format!("{}\n{}{}", output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn check(folder: &Folder, arguments: &[&str], expected: &Expect) {
    expected.assert_eq(&shown(folder, &folder.run(arguments)));
}

fn config(plugin: &str) -> String {
    format!(
        "plugins: {{path: ., load: [{plugin}]}}\nmodules:\n  os:\n    plugin: {plugin}\n    animals:\n      \
         - {{name: cow}}\n      - {{name: horse, food: hey}}\ntargets:\n  - {{host: a, modules: [os]}}\n"
    )
}

/// The reader of the output may go at any time, as behind `| head -1`, and with `2>&1` so may that of the errors.
#[test]
fn a_command_whose_reader_has_gone_ends_quietly() {
    let folder = Folder::new();
    folder.plugin("pulse", "pulse.c").write("good.yml", &config("pulse"));
    folder.write("rules.yml", "groups: [{name: a, rules: [{record: x, expr: windows_os_info}]}]\n");
    std::fs::create_dir(folder.path("state")).unwrap();
    let pulse = folder.path("libplugin_pulse.so");
    let commands: [&[&str]; 11] = [
        &["--help"],
        &["--version"],
        &["explain"],
        &["explain", "timeout"],
        &["explain", "timeuot"],
        &["check-config", "good.yml"],
        &["check-config", "good.yml", "--online"],
        &["check-config", "missing.yml"],
        &["plugin", "check", pulse.to_str().unwrap()],
        &["rpc-state", "--directory", "state", "-a"],
        &["init", "--host", "web1", "--username", "me", "--password-file", "rules.yml"],
    ];
    for arguments in commands {
        check_reader_gone(|| {
            let _ = std::fs::remove_file(folder.path("perfmon.yml"));
            let mut command = crate::program::exporter();
            command.args(arguments).current_dir(folder.path(""));
            command
        });
    }
    // A full disk is another matter.
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = crate::program::exporter().arg("explain").stdout(full).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(told.starts_with("the output is not complete: ") && told.contains("make room"), "{told}");
}

/// A command ends as it does otherwise, and quietly, where nobody reads what it prints.
pub(crate) fn check_reader_gone(command: impl Fn() -> Command) {
    let expected = command().output().unwrap().status.code();
    for is_error_gone in [false, true] {
        let gone = || {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            writer
        };
        let mut command = command();
        command.stdout(gone());
        if is_error_gone {
            command.stderr(gone());
        }
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!told.contains("panicked") && !told.contains("Broken pipe"), "{command:?}: {told}");
        assert_eq!(output.status.code(), expected, "{command:?}: {told}");
    }
}

#[test]
fn what_a_file_is_called_cannot_command_a_terminal() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("state")).unwrap();
    std::fs::write(folder.path("state/\u{1b}[31mX\u{7}\u{202e}.cells"), "x".repeat(64)).unwrap();
    std::fs::set_permissions(folder.path("state"), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .unwrap();
    let odd = "\u{1b}[31mX\u{202e}";
    for arguments in [
        &["rpc-state", "--directory", "state", "-a"][..],
        &["check-config", odd],
        &["explain", odd],
        &["plugin", "check", odd],
        &["--config", odd],
        &["query", "--config", odd, "--target", odd],
    ] {
        let output = folder.run(arguments);
        let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(told.contains('X'), "{arguments:?}: {told}");
        assert!(!told.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{arguments:?}: {told:?}");
    }
}

#[test]
fn compat_is_a_command_of_the_tool_now() {
    let folder = Folder::new();
    for arguments in [&["compat"][..], &["compat", "--format", "json", "a.json"], &["compat", "--help"]] {
        let output = folder.run(arguments);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), output.stdout.as_slice()),
            (Some(2), &b""[..]),
            "{arguments:?}: {told}"
        );
        assert!(told.contains("perfmon-tool compat") && told.lines().count() == 1, "{arguments:?}: {told}");
    }
}

#[test]
fn what_stands_in_the_wrong_place_is_told_the_right_one() {
    let folder = Folder::new();
    for key in ["interval: 5s", "deadline: 5s", "max_series: 5", "stale_after: 5s"] {
        folder.write("a.yml", &format!("target_defaults: {{{key}}}\n"));
        let output = folder.run(&["check-config", "a.yml"]);
        let told = String::from_utf8(output.stderr).unwrap();
        let (name, _) = key.split_once(':').unwrap();
        assert!(told.contains(&format!("target_defaults: unknown key `{name}`")), "{told}");
        assert!(told.contains(&format!("`scrape: {{{name}: …}}`")), "{told}");
    }
}

#[test]
fn a_host_that_a_command_is_given_is_one_or_is_told_what_to_write() {
    let folder = Folder::new();
    folder.built_plugin("pcq");
    folder.write("secret", "x");
    folder.write(
        "perfmon.yml",
        "plugins: {path: ., load: [pcq]}\ntargets: [{name: 'Web 1', host: 127.0.0.1, modules: [m]}]\n\
         modules: {m: {plugin: pcq, countersets: [{name: Memory}]}}\n\
         identities: {corp: {kind: ntlm, username: a, password_file: secret, allow_hosts: ['127.0.0.0/8']}}\n\
         target_defaults: {identity: corp}\n",
    );
    let account = ["--username", "me", "--password-file", "secret"];
    let configured = ["--config", "perfmon.yml"];
    for way in [&account[..], &configured] {
        for (target, meant) in [
            (r"\\web1", "`web1`"),
            ("web1:445", "`web1`; a port goes into an option of the command, such as --port"),
            ("http://web1:9182/x", "`web1`; a port"),
            ("web1 ", "`web1`"),
            ("", "alone"),
        ] {
            let arguments = [&["query", "--target", target], way, &[r"\Memory\Available Bytes"]].concat();
            let output = folder.run(&arguments);
            let told = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{target}: {told}");
            assert!(
                told.contains("write the name or the address alone") && told.contains(meant),
                "{target}: {told}"
            );
        }
    }
    let arguments =
        [&["query", "--target", "web 1", "--port", "1"], &configured[..], &[r"\Memory\Available Bytes"]];
    let told = String::from_utf8(folder.run(&arguments.concat()).stderr).unwrap();
    assert!(told.contains("connection_refused"), "a target of the configuration has any name: {told}");
    let arguments =
        ["query", "--target", "127.0.0.1", "--username", "SIM/me", "--password-file", "secret", "x"];
    let told = String::from_utf8(folder.run(&arguments).stderr).unwrap();
    assert!(told.contains(r"`SIM/me` is not a valid account; write `SIM\me`"), "{told}");
}

#[test]
fn a_good_file_is_ok() {
    let folder = Folder::new();
    folder.plugin("pulse", "pulse.c").write("good.yml", &config("pulse"));
    check(
        &folder,
        &["check-config", "good.yml"],
        &expect![[r#"
        0
        good.yml: OK: targets 1, modules 1, identities 0, plugins pulse
    "#]],
    );
}

#[test]
fn what_a_plugin_does_not_accept_is_shown_with_line_and_column() {
    let folder = Folder::new();
    folder.plugin("picky", "picky.c").write("picky.yml", &config("picky"));
    check(
        &folder,
        &["check-config", "picky.yml"],
        &expect![[r#"
        1
        picky.yml:7:23: modules.os.animals[1].food: unknown food `hey`; did you mean `hay`?
    "#]],
    );
}

#[test]
fn what_a_plugin_accepts_and_does_not_do_is_a_warning() {
    let folder = Folder::new();
    folder.plugin("wary", "wary.c").write("wary.yml", &config("wary"));
    check(
        &folder,
        &["check-config", "wary.yml"],
        &expect![[r#"
        0
        wary.yml:7:23: warning: modules.os.animals[1].food: stale food `hey`; did you mean `hay`?
        wary.yml: OK: targets 1, modules 1, identities 0, plugins wary
    "#]],
    );
    // So it is of its settings as a whole.
    let settings =
        "plugins:\n  path: .\n  load: [wary]\n  settings:\n    wary: {animals: [{}, {food: hey}]}\n";
    let modules =
        "modules:\n  os: {plugin: wary, animals: [{}, {food: hey}]}\ntargets: [{host: a, modules: [os]}]\n";
    folder.write("whole.yml", &format!("{settings}{modules}"));
    check(
        &folder,
        &["check-config", "whole.yml"],
        &expect![[r#"
        0
        whole.yml:5:27: warning: plugins.settings.wary.animals[1].food: stale food `hey`; did you mean `hay`?
        whole.yml:7:37: warning: modules.os.animals[1].food: stale food `hey`; did you mean `hay`?
        whole.yml: OK: targets 1, modules 1, identities 0, plugins wary
    "#]],
    );
}

#[test]
fn a_module_names_the_source_of_a_plugin_that_has_several() {
    let folder = Folder::new();
    folder.plugin("pair", "pair.c");
    let says = |source: &str, expected: Expect| {
        let text = format!(
            "plugins: {{path: ., load: [pair]}}\nmodules:\n  zoo: {{plugin: pair{source}}}\n\
             targets: [{{host: a, modules: [zoo]}}]\n"
        );
        folder.write("pair.yml", &text);
        check(&folder, &["check-config", "pair.yml"], &expected);
    };
    says(
        ", source: plant",
        expect![[r#"
            0
            pair.yml: OK: targets 1, modules 1, identities 0, plugins pair
        "#]],
    );
    says(
        ", source: animal",
        expect![[r#"
        1
        pair.yml:3:8: modules.zoo: no animal is here
    "#]],
    );
    says(
        ", source: plnat",
        expect![[r#"
        1
        pair.yml:3:23: modules.zoo: plugin `pair` has no source `plnat`; it has `animal`, `plant`; did you mean `plant`?
    "#]],
    );
    says(
        "",
        expect![[r#"
        1
        pair.yml:3:9: modules.zoo: plugin `pair` has several sources and none of its own name: `animal`, `plant`; name one of them with `source`
    "#]],
    );
}

#[test]
fn a_missing_plugin_is_named_with_what_there_is() {
    let folder = Folder::new();
    folder.plugin("pulse", "pulse.c").write("missing.yml", &config("pcq"));
    check(
        &folder,
        &["check-config", "missing.yml"],
        &expect![[r#"
        1
        missing.yml:1:27: plugins.load[0]: load plugin ./libplugin_pcq.so: no such file; . holds libplugin_pulse.so; install the plugin there or correct `plugins.load` or `plugins.path`
    "#]],
    );
}

#[test]
fn a_plugin_of_another_major_version_is_refused() {
    let folder = Folder::new();
    folder.plugin("old", "wrong_major.c").write("old.yml", &config("old"));
    check(
        &folder,
        &["check-config", "old.yml"],
        &expect![[r#"
        1
        old.yml:1:27: plugins.load[0]: load plugin ./libplugin_old.so: expected plugin ABI 1.0, found 2.0; install the plugin that was built for this version of the program
    "#]],
    );
}

#[test]
fn settings_of_a_plugin_as_a_whole_are_asked_about() {
    let folder = Folder::new();
    folder.plugin("keeper", "library_settings.c").plugin("pulse", "pulse.c");
    let plugins = "plugins:\n  path: .\n  load: [keeper, pulse]\n  settings:\n";
    let settings = "    keeper: {sick: true}\n    pulse: {food: hay}\n";
    folder.write("sick.yml", &format!("{plugins}{settings}targets: []\n"));
    folder.write("absent.yml", &format!("{plugins}    absent: {{}}\ntargets: []\n"));
    check(
        &folder,
        &["check-config", "sick.yml"],
        &expect![[r#"
        1
        sick.yml:5:14: plugins.settings.keeper.sick: get well
        sick.yml:6:12: plugins.settings.pulse: the plugin takes no settings; leave them out
    "#]],
    );
    check(
        &folder,
        &["check-config", "absent.yml"],
        &expect![[r#"
        1
        absent.yml:5:13: plugins.settings.absent: plugin `absent` is not in `plugins.load`
    "#]],
    );
}

#[test]
fn serving_a_broken_file_ends_with_1_and_the_reason_in_the_log() {
    let folder = Folder::new();
    folder.write("broken.yml", "tragets: []\n");
    let output = folder.run(&["--config", "broken.yml"]);
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert!(log.contains("broken.yml:1:1: unknown key `tragets`; did you mean `targets`?"), "{log}");
}

#[test]
fn a_port_that_is_taken_ends_with_1_and_names_it() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let folder = Folder::new();
    folder.write("taken.yml", &format!("web: {{listen: [\"{address}\"]}}\ntargets: []\n"));
    let output = folder.run(&["--config", "taken.yml"]);
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert!(log.contains(&format!("listen on {address}")), "{log}");
}

#[test]
fn a_password_file_without_a_password_is_no_good_configuration() {
    let folder = Folder::new();
    folder.write("empty", "\n");
    let identity =
        |file: &str| format!("{{kind: ntlm, username: a, password_file: {file}, allow_hosts: ['*']}}");
    let (missing, empty) = (identity("nowhere"), identity("empty"));
    folder.write("secret.yml", &format!("identities:\n  corp: {missing}\n  dmz: {empty}\ntargets: []\n"));
    check(
        &folder,
        &["check-config", "secret.yml"],
        &expect![[r#"
        1
        secret.yml:2:9: identities.corp.password_file: password file nowhere cannot be read: No such file or directory (os error 2); write the password into nowhere
        secret.yml:3:8: identities.dmz.password_file: password file empty is empty; write the password into empty
    "#]],
    );
}

#[test]
fn a_password_that_others_can_read_is_a_warning() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let mode = |mode| {
        let file = folder.write("password", "made up");
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    folder.write(
        "secret.yml",
        "identities:\n  corp: {kind: ntlm, username: a, password_file: password, allow_hosts: ['*']}\n  \
         env: {kind: ntlm, username: a, password_env: PERFMON_TEST_NO_SUCH, allow_hosts: ['*']}\n\
         credentials: {state_dir: state}\ntargets: []\n",
    );
    mode(0o604);
    check(
        &folder,
        &["check-config", "secret.yml"],
        &expect![[r#"
        0
        secret.yml: warning: identity `corp`: password file password is open to all users of this machine; run `chmod 600 password`
        secret.yml: warning: identity `env`: the environment has no variable `PERFMON_TEST_NO_SUCH`
        secret.yml: OK: targets 0, modules 0, identities 2, no plugins
    "#]],
    );
    mode(0o640);
    check(
        &folder,
        &["check-config", "secret.yml"],
        &expect![[r#"
        0
        secret.yml: warning: identity `env`: the environment has no variable `PERFMON_TEST_NO_SUCH`
        secret.yml: OK: targets 0, modules 0, identities 2, no plugins
    "#]],
    );
}

#[test]
fn a_configuration_that_is_no_file_is_refused_at_once() {
    let folder = Folder::new();
    let socket = folder.path("socket.yml");
    let _listener = std::os::unix::net::UnixListener::bind(socket).unwrap();
    for (path, kind) in [(".", "a folder"), ("/dev/zero", "a device"), ("socket.yml", "a socket")] {
        let output = folder.run(&["--config", path]);
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{log}");
        assert!(log.contains(&format!("{path}: is {kind}, not a file; name a readable file")), "{log}");
    }
}

#[test]
fn a_command_that_does_not_exist_names_the_nearest_one() {
    let folder = Folder::new();
    let output = folder.run(&["chek-config", "x.yml"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("check-config"), "{text}");
}

#[test]
fn no_arguments_say_what_to_do() {
    check(
        &Folder::new(),
        &[],
        &expect![[r#"
        2
        name the configuration: perfmon-exporter --config FILE (--help shows more)
    "#]],
    );
}

#[test]
fn help_has_examples_and_exit_codes() {
    let output = Folder::new().run(&["--help"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0));
    for part in ["--config <FILE>", "check-config", "Examples:", "Exit codes:", "password_file"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn plugin_check_answers_by_its_exit_code() {
    let folder = Folder::new();
    folder.plugin("pulse", "pulse.c").plugin("old", "wrong_major.c");
    assert_eq!(folder.run(&["plugin", "check", "libplugin_pulse.so"]).status.code(), Some(0));
    let old = folder.run(&["plugin", "check", "libplugin_old.so"]);
    assert_eq!(old.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&old.stdout).contains("expected plugin ABI 1."));
}
