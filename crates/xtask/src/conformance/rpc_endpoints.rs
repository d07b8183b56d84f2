//! The exporter's source `rpc_endpoints` at Samba's RPC servers: its endpoint mapper, and the management interface at each of
//! their ports.

use std::fs;
use std::path::Path;

use super::samba::{DOMAIN, RpcServers, USER};
use crate::Outcome;
use crate::Result;
use crate::process::{Running, poll};
use crate::stage::{FIRST_COLLECTION_TIMEOUT, START_TIMEOUT, Stage, address_in_log};
use crate::workspace::{Workspace, capture};

pub(crate) fn at_samba(workspace: &Workspace) -> Result<Outcome> {
    let (servers, stage) = (RpcServers::start()?, Stage::new(workspace)?);
    let file = stage.path("perfmon.yml");
    fs::write(&file, configuration(&servers.password_file()?))?;
    let mut command = servers.command(&workspace.program("perfmon-exporter"));
    let mut exporter = Running::start("perfmon-exporter", command.arg("--config").arg(file))?;
    let address = exporter.wait_for("listening address", START_TIMEOUT, address_in_log)?;
    let page = poll("all servers of Samba are up", FIRST_COLLECTION_TIMEOUT, || {
        let mut curl = servers.command(Path::new("curl"));
        let page = capture(curl.args(["--silent", "--fail", &format!("http://{address}/metrics")]))?;
        // Samba starts them when they are called, which takes longer than a collection.
        let mut up =
            page.lines().filter(|line| line.starts_with("perfmon_rpc_remote_endpoint_up{")).peekable();
        Ok((up.peek().is_some() && up.all(|line| line.ends_with(" 1"))).then_some(page))
    });
    let page = page.map_err(|error| exporter.complaint(&error.to_string()))?;
    let found = expect(&page).map_err(|why| format!("{why}:\n{page}"))?;
    exporter.end()?;
    servers.end()?;
    Ok(Outcome::Ran(found))
}

fn configuration(password_file: &Path) -> String {
    format!(
        "web: {{listen: ['127.0.0.1:0']}}\nplugins: {{load: [rpc_state]}}\nscrape: {{interval: 3s}}\n\
         identities:\n  one: {{kind: ntlm, domain: {DOMAIN}, username: {USER}, password_file: {}, \
         allow_hosts: [127.0.0.1]}}\n\
         modules: {{rpc: {{plugin: rpc_state, source: rpc_endpoints}}}}\n\
         targets:\n  - {{name: samba, host: 127.0.0.1, identity: one, modules: [rpc]}}\n",
        password_file.display()
    )
}

/// Samba's servers each tell their interfaces and that they listen, and refuse their statistics; all are found through a map
/// with all kinds of entries.
fn expect(page: &str) -> Result<String> {
    let series = |name: &str| -> Vec<(&str, &str)> {
        let of_name = |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with('{'));
        page.lines().filter(of_name).filter_map(|line| line.rsplit_once(' ')).collect()
    };
    for sequence in ["ncacn_ip_tcp", "ncacn_np", "ncalrpc"] {
        let label = format!("protocol_sequence=\"{sequence}\"");
        let entries = series("perfmon_rpc_endpoint_map_entries");
        let found = entries.iter().find(|(labels, _)| labels.contains(&label));
        if found.and_then(|(_, value)| value.parse().ok()).unwrap_or(0.0) < 3.0 {
            return Err(format!("the map has too few entries of {sequence}").into());
        }
    }
    let winreg = "interface=\"338cd001-2244-31f1-aaaa-900038001003\"";
    let interfaces = series("perfmon_rpc_endpoint_map_interface_info");
    if !interfaces.iter().any(|(labels, _)| labels.contains(winreg) && labels.contains("ncacn_ip_tcp")) {
        return Err("winreg has no port".into());
    }
    let [up, listening, offered] =
        ["up", "listening", "interfaces"].map(|item| series(&format!("perfmon_rpc_remote_endpoint_{item}")));
    let is_one =
        |series: &[(&str, &str)]| !series.is_empty() && series.iter().all(|(_, value)| *value == "1");
    if !is_one(&up) || !is_one(&listening) || offered.len() != up.len() {
        return Err("a server did not answer".into());
    }
    let counted = series("perfmon_rpc_remote_endpoint_calls_in_total");
    let failures = series("perfmon_rpc_remote_endpoint_failure_info");
    let refused = failures.iter().filter(|(labels, _)| labels.contains("call=\"inq_stats\"")).count();
    if refused != failures.len() || counted.len() + refused != up.len() {
        return Err("a server neither answers nor refuses its statistics".into());
    }
    Ok(format!(
        "{} servers, {} of them with statistics, {} interfaces",
        up.len(),
        counted.len(),
        interfaces.len()
    ))
}
