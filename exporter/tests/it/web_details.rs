//! What readers see of a password that cannot be read.

use crate::command_plugin::{Installed, Sim, config};
use crate::program::Exporter;

/// alice's password is `U*U`, a test vector of OpenBSD's bcrypt.
const USERS: &str =
    "basic_auth_users: {alice: $2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW}\n";
const PAGES: [&str; 3] = ["/", "/targets/web1", "/probe?target=web1&debug=true"];
const MESSAGE: &str = "cannot be read: No such file or directory";

/// The program with a target whose password file is not there, once that has failed; and the line of the log.
fn fail(web: &str) -> (Installed, Sim, Exporter, String) {
    let (installed, sim) = (Installed::new(), Sim::new());
    let text = config(sim.port, "web: {listen: ['127.0.0.1:0'], config_file: web.yml}\n")
        .replace("password_file: password", "password_file: nowhere/vault");
    installed.folder.write("perfmon.yml", &text);
    installed.folder.write("web.yml", web);
    let mut exporter = installed.folder.begin(&mut installed.command(&[]), &[]);
    let line = exporter.wait_for_line("Target is down");
    (installed, sim, exporter, line)
}

fn page(exporter: &Exporter, path: &str, header: &str) -> String {
    let answer =
        exporter.ask(&format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{header}Connection: close\r\n\r\n"));
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    assert!(answer.body.contains(MESSAGE), "{path}: {}", answer.body);
    answer.body
}

#[test]
fn readers_without_a_password_do_not_see_where_password_files_are() {
    let (_installed, _sim, exporter, line) = fail("{}\n");
    assert!(line.contains("password file nowhere/vault cannot be read"), "{line}");
    for path in PAGES {
        let page = page(&exporter, path, "");
        assert!(!page.contains("vault"), "{path}: {page}");
    }
}

#[test]
fn readers_with_a_password_see_where_password_files_are() {
    let (_installed, _sim, exporter, _) = fail(USERS);
    for path in PAGES {
        let page = page(&exporter, path, "Authorization: Basic YWxpY2U6VSpV\r\n");
        assert!(page.contains("nowhere/vault cannot be read"), "{path}: {page}");
    }
}
