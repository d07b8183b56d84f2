//! What a process holds, as the kernel counts it.

use std::fs;

use crate::Result;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Usage {
    pub(super) resident_bytes: f64,
    pub(super) threads: f64,
    pub(super) descriptors: f64,
}

impl Usage {
    pub(super) fn of(id: u32) -> Result<Self> {
        let status = fs::read_to_string(format!("/proc/{id}/status"))?;
        let entry = |name: &str| -> Option<f64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().trim_end_matches("kB").trim().parse().ok()
        };
        let resident = entry("VmRSS:").ok_or("no VmRSS: the process has ended")?;
        #[expect(clippy::cast_precision_loss, reason = "a few thousand at most")]
        Ok(Self {
            resident_bytes: resident * 1024.0,
            threads: entry("Threads:").ok_or("no Threads in status")?,
            descriptors: fs::read_dir(format!("/proc/{id}/fd"))?.count() as f64,
        })
    }
}
