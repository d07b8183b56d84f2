//! What the exporter knows of secrets when it ends.

use crate::command_plugin::{Installed, Sim, config};

#[test]
fn a_refusal_right_before_the_end_is_known_after_a_restart() {
    let (installed, sim) = (Installed::new(), Sim::new());
    let more = "credentials: {state_dir: state}\nweb: {listen: ['127.0.0.1:0']}\nscrape: {interval: 1s}\n";
    let text = config(sim.port, more).replace("password_file: password", "password_file: wrong");
    installed.folder.write("perfmon.yml", &text);
    let mut exporter = installed.folder.begin(&mut installed.command(&[]), &[]);
    let down = "perfmon_exporter_target_up{target=\"web1\"} 0\n";
    exporter.wait_for_page(|page| page.contains(down));
    exporter.terminate();
    assert!(exporter.wait().success());
    let state = std::fs::read_to_string(installed.folder.path("state/credentials.json")).unwrap();
    assert!(state.contains("rejected"), "{state}");

    let exporter = installed.folder.begin(&mut installed.command(&[]), &[]);
    exporter.wait_for_page(|page| page.contains(down));
    assert_eq!(sim.logons(), (0, 1));
}
