//! `cargo xtask demo`: builds all, starts a simulated Windows host and the exporter on loopback, and stays.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;

use crate::Result;
use crate::judges::stage::{self, Stage, Target};
use crate::process::end_on_signal;
use crate::workspace::{Workspace, build_release};

/// How the demonstration is shown.
#[derive(Args)]
pub(crate) struct Options {
    /// Where the exporter listens
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:9483")]
    listen: SocketAddr,
    /// How metrics are named: native or verbatim
    #[arg(long, value_name = "PROFILE", default_value = "native", value_parser = ["native", "verbatim"])]
    naming: String,
}

const TARGET: &str = "windows-demo";
const SAMPLE_LINES: usize = 12;

pub(crate) fn run(options: &Options) -> Result<()> {
    let workspace = Workspace::load()?;
    println!("Building in release; the first time this takes some minutes.");
    build_release(&workspace.root)?;
    let ended = end_on_signal()?;
    let stage = Stage::new(&workspace)?;
    let password_file = stage.password_file()?;
    let (mut simulator, host) = stage.simulator(&[])?;
    let target =
        Target { name: TARGET, address: host, account: stage::ACCOUNT, password_file: &password_file };
    let configuration = stage::configuration_of(options.listen, "5s", &[target])
        + &format!("normalize: {{naming: {}}}\n", options.naming);
    let (mut exporter, address) = stage.exporter_with(&configuration)?;
    let page = stage::page_when_up(&mut exporter, address, TARGET)?;
    println!("\nsimulated Windows host  smb://{host} (account {})", stage::ACCOUNT);
    println!("metrics                 http://{address}/metrics");
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

/// One sample of each of the first families that carry the host's counters.
fn print_sample(page: &str) {
    let mut families = Vec::new();
    for line in page.lines().filter(|line| !line.starts_with('#') && !line.starts_with("perfmon_exporter_")) {
        let family = line.split(['{', ' ']).next().unwrap_or_default();
        if !families.contains(&family) {
            families.push(family);
            if families.len() <= SAMPLE_LINES {
                println!("{line}");
            }
        }
    }
    println!("… {} families in all", families.len());
}
