//! What the log says when a whole fleet is down for one password.

use crate::command_plugin::{Installed, Sim, config};

#[test]
fn a_refused_password_of_sixty_targets_is_a_handful_of_lines() {
    let (installed, sim) = (Installed::new(), Sim::new());
    let mut more = String::new();
    for number in 2..=60 {
        more += &format!(
            "  - {{name: web{number}, host: 127.0.0.1, identity: corp, transport: here, modules: [os]}}\n"
        );
    }
    let file = config(sim.port, &more).replace("password_file: password", "password_file: wrong");
    installed.folder.write("perfmon.yml", &format!("web: {{listen: ['127.0.0.1:0']}}\n{file}"));
    let mut exporter = installed.folder.begin(&mut installed.command(&[]), &[]);
    let log = exporter.read_log();
    exporter.wait_for_page(|page| {
        let counts = |line: &&str| {
            line.starts_with("perfmon_exporter_failures_total{") && line.contains("wrong_credentials")
        };
        page.lines().filter(counts).count() >= 59
    });
    exporter.terminate();
    exporter.wait();
    let log = log.join().unwrap();
    let lines = |part: &str| log.lines().filter(|line| line.contains(part)).count();
    assert_eq!(lines("ERROR"), 1, "{log}");
    // The one that tried the password, the first that did not get it, and the tenth with the number of them. All have
    // one address, which takes eight collections at a time: a slow machine turns some away once, for that reason.
    let turned_away =
        log.lines().filter(|line| line.contains("Target is down") && line.contains(r#"reason="busy""#));
    assert_eq!(lines("Target is down") - turned_away.count(), 2, "{log}");
    let of_all: Vec<&str> = log.lines().filter(|line| line.contains("Targets of one identity")).collect();
    assert_eq!(of_all.len(), 1, "{log}");
    assert!(of_all[0].contains(r#"identity="corp" targets=10 "#), "{}", of_all[0]);
    assert_eq!(sim.logons(), (0, 1));
}
