//! `cargo xtask demo`: builds all, starts a simulated Windows host and the exporter on loopback, and stays.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;

use crate::Result;
use crate::process::end_on_signal;
use crate::stage::{self, Stage, Target};
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
}

const TARGET: &str = "windows-demo";
const SAMPLE_LINES: usize = 12;

pub(crate) fn run(options: &Options) -> Result<()> {
    let workspace = Workspace::load_with(Profile::Demo)?;
    println!("Building; the first time this takes some minutes.");
    workspace.build_programs()?;
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

/// One sample of each of some families: first of the countersets that a person looks for.
fn print_sample(page: &str) {
    let (samples, families) = samples(page);
    samples.iter().for_each(|line| println!("{line}"));
    println!("… {families} families in all");
}

/// The first sample of some families that carry the host's counters, and how many such families there are.
fn samples(page: &str) -> (Vec<&str>, usize) {
    let mut families = Vec::new();
    let mut samples = Vec::new();
    for line in page.lines().filter(|line| !line.starts_with('#') && !line.starts_with("perfmon_exporter_")) {
        let end = if line.starts_with('{') { line.find([',', '}']) } else { line.find(['{', ' ']) };
        let family = &line[..end.unwrap_or(line.len())];
        if !families.contains(&family) {
            families.push(family);
            samples.push(line);
        }
    }
    let wanted = |counterset: &str| {
        let is_of = move |line: &&str| line.to_lowercase().replace(['_', ' '], "").contains(counterset);
        samples.clone().into_iter().filter(is_of).take(SAMPLE_LINES / FIRST.len()).collect::<Vec<_>>()
    };
    let mut shown: Vec<&str> = FIRST.iter().flat_map(|counterset| wanted(counterset)).collect();
    let others = samples.into_iter().filter(|line| !shown.contains(line)).take(SAMPLE_LINES - shown.len());
    let others: Vec<&str> = others.collect();
    shown.extend(others);
    (shown, families.len())
}

/// What a person looks for first.
const FIRST: [&str; 4] = ["memory", "logicaldisk", "networkinterface", "processorinformation"];

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
        page += "perfmon_memory_available_bytes 1\n{\"Processor Information.% User Time\",a=\"0,0\"} 1\n";
        let (samples, families) = samples(&page);
        assert_eq!((samples.len(), families), (SAMPLE_LINES, 22));
        assert!(samples[0].contains("memory") && samples[1].contains("Processor Information"), "{samples:?}");
    }
}
