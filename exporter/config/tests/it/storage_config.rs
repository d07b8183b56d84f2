//! What a user may write under `storage:`, and what is said where it is wrong.

use std::path::Path;

use config::parse;
use expect_test::{Expect, expect};

fn check(text: &str, expected: &Expect) {
    let report = parse("perfmon.yml", text, Path::new("/etc/perfmon")).expect_err("a report");
    expected.assert_eq(&report.to_string());
}

#[test]
fn no_files_are_kept_unless_a_directory_is_named_and_none_are_sent_unless_that_is_said() {
    let storage = |text: &str| parse("perfmon.yml", text, Path::new("/etc")).unwrap().storage;
    assert_eq!(storage("targets: []"), None);
    let written = storage("storage: {directory: /srv/./files/}").unwrap();
    assert_eq!(written.directory.to_str(), Some("/srv/files"));
    let kept = storage("storage: {directory: /srv/files}").unwrap();
    assert_eq!((kept.directory.as_path(), kept.downloads), (Path::new("/srv/files"), false));
    assert!(storage("storage: {directory: /srv/files, downloads: true}").unwrap().downloads);
    // Beside and below other files of the exporter there is room.
    let below = "credentials: {state_dir: /srv}\nrpc_state: {directory: /srv/files2}\nstorage: {directory: /srv/files}";
    assert!(storage(below).is_some());
}

#[test]
fn a_directory_that_cannot_be_meant_is_told_with_its_place_and_a_way_out() {
    check(
        "targets: []\nstorage:\n  directory: files\n",
        &expect![
            "perfmon.yml:3:14: storage.directory: `files` is not an absolute path; write `/etc/perfmon/files`"
        ],
    );
    check(
        "storage: {downloads: true}",
        &expect![
            "perfmon.yml:1:10: storage: `directory` is missing; name a directory for files, such as /var/lib/perfmon-exporter/files"
        ],
    );
    check(
        "storage: {directory: /srv/../etc}",
        &expect![
            "perfmon.yml:1:22: storage.directory: `/srv/../etc` leads through the directory above another one; write the path without `..`"
        ],
    );
    check(
        "storage: {directory: /}",
        &expect![
            "perfmon.yml:1:22: storage.directory: `/` is the root of all files; name a directory that has nothing else in it"
        ],
    );
    check(
        "credentials: {state_dir: /srv/perfmon}\nstorage: {directory: /srv/perfmon/}",
        &expect![
            "perfmon.yml:2:22: storage.directory: `/srv/perfmon/` has the files of `credentials.state_dir` in it; name a directory of its own, such as /var/lib/perfmon-exporter/files"
        ],
    );
    check(
        "rpc_state: {directory: /run/state}\nstorage: {directory: /run, download: true}",
        &expect![[r"
            perfmon.yml:2:22: storage.directory: `/run` has the files of `rpc_state.directory` in it; name a directory of its own, such as /var/lib/perfmon-exporter/files
            perfmon.yml:2:28: storage: unknown key `download`; did you mean `downloads`?"]],
    );
    check(
        "storage: {directory: /etc/perfmon}",
        &expect![
            "perfmon.yml:1:22: storage.directory: `/etc/perfmon` has the configuration in it; name a directory of its own, such as /var/lib/perfmon-exporter/files"
        ],
    );
    check(
        "identities: {corp: {kind: ntlm, username: svc, password_file: /run/secrets/corp, allow_hosts: [a]}}
storage: {directory: /run/secrets}",
        &expect![
            "perfmon.yml:2:22: storage.directory: `/run/secrets` has the files of `identities.corp.password_file` in it; name a directory of its own, such as /var/lib/perfmon-exporter/files"
        ],
    );
}
