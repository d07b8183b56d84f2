use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tracing::warn;
use windows_sim::service::pcq;
use windows_sim::{Accounts, WindowsHost};

/// How often the figures are looked at.
const INTERVAL: Duration = Duration::from_millis(100);

/// Keeps `file` up to date. Runs until it is dropped.
pub(crate) async fn keep(file: PathBuf, accounts: Arc<Accounts>, hosts: Vec<Arc<WindowsHost>>) {
    let mut written = String::new();
    loop {
        let text = format!("{:#}\n", figures(&accounts, &hosts));
        if text != written {
            if let Err(error) = replace(&file, &text) {
                warn!(file = %file.display(), %error, "Figures not written");
            }
            written = text;
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// A reader never sees half a file.
fn replace(file: &std::path::Path, text: &str) -> io::Result<()> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(".new");
    std::fs::write(&beside, text)?;
    std::fs::rename(&beside, file)
}

/// Logons by account, and what all hosts together have seen; `calls` are those of [MS-PCQ], by opnum.
fn figures(accounts: &Accounts, hosts: &[Arc<WindowsHost>]) -> Value {
    let logons: Map<String, Value> = accounts
        .attempts()
        .into_iter()
        .map(|(name, seen)| (name, json!({"accepted": seen.accepted, "refused": seen.refused})))
        .collect();
    let counts = || hosts.iter().map(|host| host.counts());
    let calls: Vec<u64> =
        (0..8).map(|opnum| counts().map(|counts| counts.calls(pcq::NAME, opnum)).sum()).collect();
    json!({
        "accounts": logons,
        "hosts": hosts.len(),
        "connections": counts().map(|counts| counts.connections.load(Ordering::Relaxed)).sum::<u64>(),
        "open_connections": counts().map(|counts| counts.open_connections.load(Ordering::Relaxed)).sum::<u32>(),
        "pipes": counts().map(|counts| counts.pipes.load(Ordering::Relaxed)).sum::<u64>(),
        "refused_opens": counts().map(|counts| counts.refused_opens.load(Ordering::Relaxed)).sum::<u64>(),
        "calls": calls,
    })
}
