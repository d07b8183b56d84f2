//! `cargo xtask demo`: builds all, starts a simulated Windows host and the exporter on loopback, and stays.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;

use crate::Result;
use crate::conformance::kdc::{Kdc, REALM};
use crate::process::{end_on_signal, free_port};
use crate::stage::{self, ComPlus, Logon, Stage, Target};
use crate::workspace::{Profile, Workspace};

/// How the demonstration is shown.
#[derive(Args)]
pub(crate) struct Options {
    /// Where the exporter listens
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:9483")]
    listen: SocketAddr,
    /// How metrics are named: native, verbatim, otel, windows_exporter@0.31 and others of docs/naming.md
    #[arg(long, value_name = "PROFILE", default_value = "native")]
    naming: String,
    /// The host takes no NTLM: the exporter logs on by a keytab; a KDC of krb5-kdc and krb5-admin-server runs besides
    #[arg(long)]
    kerberos: bool,
}

const TARGET: &str = "windows-demo";
const SAMPLE_LINES: usize = 13;

pub(crate) fn run(options: &Options) -> Result<()> {
    let workspace = Workspace::load_with(Profile::Demo)?;
    println!("Building; the first time this takes some minutes.");
    workspace.build_programs()?;
    let ended = end_on_signal()?;
    let stage = Stage::new(&workspace)?;
    let password_file = stage.password_file()?;
    let events = free_port()?;
    let realm = if options.kerberos { Some(Realm::start()?) } else { None };
    let of_realm = realm.as_ref().map(Realm::of_host).unwrap_or_default();
    let of_realm: Vec<&str> = of_realm.iter().map(String::as_str).collect();
    let (mut simulator, host, resolver) = stage.simulator_with_com_plus(events, &of_realm)?;
    let logon = realm.as_ref().map_or_else(|| Logon::of_stage(&password_file), Realm::of_exporter);
    let target = Target { name: TARGET, address: host, logon };
    let state = stage.rpc_state();
    let files = stage.path("files");
    let ports = ComPlus { resolver: resolver.port(), events, state: &state, files: &files };
    let configuration = stage::configuration_of_demo(options.listen, "5s", &[target], ports)
        + &format!("normalize: {{naming: {}}}\n", options.naming);
    let (mut exporter, address) = stage.exporter_with(&configuration)?;
    let page = stage::page_when_up(&mut exporter, address, TARGET)?;
    match &realm {
        None => println!("\nsimulated Windows host  smb://{host} (account {})", stage::ACCOUNT),
        Some(Realm { principal, keytab, kdc, .. }) => {
            println!("\nsimulated Windows host  smb://{host}, which takes no NTLM");
            println!("account                 {principal}, by the keytab {}", keytab.display());
            println!("KDC                     its krb5.conf is {}", kdc.krb5_conf().display());
        }
    }
    println!("its COM+ applications   at the object resolver {resolver}");
    println!("its COM+ events         each second at 127.0.0.1:{events}");
    println!("metrics                 http://{address}/metrics");
    println!("alerts                  http://{address}/alerts; one fires for half of each minute");
    println!("counter logs            http://{address}/logs; one set has a report of each minute");
    println!(
        "RPC calls of both       as the target `self`, and by `perfmon-exporter rpc-state --directory {}`",
        state.display()
    );
    println!("status                  http://{address}/\n");
    print_sample(&page);
    println!("\nEnd with Ctrl-C.");
    std::io::stdout().flush()?;
    while !ended.load(Ordering::Relaxed) {
        for running in [&mut exporter, &mut simulator] {
            if let Some(status) = running.ended()? {
                return Err(running.complaint(&format!("ended by itself: {status}")));
            }
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    exporter.end()?;
    simulator.end()?;
    println!("Ended.");
    Ok(())
}

/// A KDC, with an account for the exporter and one for the host.
struct Realm {
    kdc: Kdc,
    principal: String,
    keytab: PathBuf,
    host_keytab: PathBuf,
}

const USER: &str = "metrics";
const SERVICE: &str = "host/windows-demo.peers.example";

impl Realm {
    fn start() -> Result<Self> {
        let without = |error| format!("{error}; install krb5-kdc and krb5-admin-server");
        let kdc = Kdc::start().map_err(without)?;
        let (keytab, host_keytab) = (kdc.add_account(USER)?, kdc.add_service(SERVICE)?);
        Ok(Self { kdc, principal: format!("{USER}@{REALM}"), keytab, host_keytab })
    }

    /// The options of windows-sim.
    fn of_host(&self) -> Vec<String> {
        let keytab = self.host_keytab.display().to_string();
        let account = format!("{REALM}\\{USER}");
        ["--account", &account, "--keytab", &keytab, "--no-ntlm"].map(str::to_owned).to_vec()
    }

    fn of_exporter(&self) -> Logon<'_> {
        let krb5_conf = self.kdc.krb5_conf();
        Logon::Kerberos { principal: &self.principal, keytab: &self.keytab, krb5_conf, service: SERVICE }
    }
}

/// One sample of each of some families: first of those that a person looks for.
fn print_sample(page: &str) {
    let (samples, families) = samples(page);
    samples.iter().for_each(|line| println!("{line}"));
    println!("… {families} families in all");
}

/// A sample of some families of the host, and how many such families there are.
fn samples(page: &str) -> (Vec<&str>, usize) {
    let mut families: Vec<(String, &str)> = Vec::new();
    for line in page.lines().filter(|line| !line.starts_with('#') && !line.starts_with("perfmon_exporter_")) {
        let end = if line.starts_with('{') { line.find([',', '}']) } else { line.find(['{', ' ']) };
        let family =
            line[..end.unwrap_or(line.len())].to_lowercase().replace(|c: char| !c.is_alphanumeric(), "");
        match families.last_mut() {
            Some((last, shown)) if *last == family => {
                // The volume that every host has says more than the hidden one before it.
                if line.contains("=\"C:\"") {
                    *shown = line;
                }
            }
            _ => families.push((family, line)),
        }
    }
    let of = |names: &[&str]| {
        let mut families = families.iter();
        families.find(|(family, _)| names.iter().any(|name| family.ends_with(name))).map(|(_, line)| *line)
    };
    let mut shown: Vec<&str> = FIRST.iter().filter_map(|names| of(names)).collect();
    let others = families.iter().map(|(_, line)| *line).filter(|line| !shown.contains(line));
    let others: Vec<&str> = others.take(SAMPLE_LINES.saturating_sub(shown.len())).collect();
    shown.extend(others);
    (shown, families.len())
}

/// How the families end that a person looks for first, in letters and digits, by the profiles of names.
const FIRST: [&[&str]; 13] = [
    &["osinfo"],
    &["memoryphysicaltotalbytes", "memoryphysicaltotal"],
    &["memoryavailablebytes"],
    &["logicaldiskfreebytes", "logicaldiskfreemegabytes"],
    &["logicaldiskreadbytestotal", "logicaldiskdiskreadbytessectotal"],
    &["networkinterfacereceivedbytestotal", "netbytesreceivedtotal", "networkinterfacebytesreceivedsectotal"],
    &["networkinterfacesentbytestotal", "netbytessenttotal", "networkinterfacebytessentsectotal"],
    &["processorinformationidletimesecondstotal", "cputimetotal", "processorinformationidletimetotal"],
    &["systemcontextswitchestotal", "systemcontextswitchessectotal"],
    &["systemprocesses"],
    &["complusapplicationcallspersecond"],
    &["alertvalue"],
    &["rpcconnectionsentbytestotal"],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_begins_with_what_a_person_looks_for() {
        let mut page = String::from("perfmon_exporter_target_up 1\n# TYPE a counter\n");
        for number in 0..20 {
            page +=
                &format!("perfmon_counter_types_{number} 1\nperfmon_counter_types_{number}{{a=\"1\"}} 1\n");
        }
        page += "perfmon_gpu_adapter_memory_total_committed_bytes 1\nperfmon_memory_available_bytes 1\n";
        page +=
            "{\"LogicalDisk.Free Megabytes\",a=\"Volume1\"} 1\n{\"LogicalDisk.Free Megabytes\",a=\"C:\"} 2\n";
        let (samples, families) = samples(&page);
        assert_eq!((samples.len(), families), (SAMPLE_LINES, 23));
        assert_eq!(samples[0], "perfmon_memory_available_bytes 1");
        assert_eq!(samples[1], "{\"LogicalDisk.Free Megabytes\",a=\"C:\"} 2");
    }
}
