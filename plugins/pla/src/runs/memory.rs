//! Memory for records that wait, of all targets together.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use counter_log::writer::MemoryPool;
use plugin_sdk::{LibrarySettings, Problem};
use serde::Deserialize;

use crate::config::Megabytes;

/// The settings of the whole plugin: `plugins.settings.pla`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a mapping such as `{log_memory: 256MB}`")]
pub(crate) struct LibraryOptions {
    /// For records of all logs that wait. Without it, a part of what the process may have.
    log_memory: Option<Megabytes>,
}

static OPTIONS: OnceLock<LibraryOptions> = OnceLock::new();
static POOL: OnceLock<Arc<MemoryPool>> = OnceLock::new();

impl LibrarySettings for LibraryOptions {
    fn configure(self) -> Result<(), Vec<Problem>> {
        if *OPTIONS.get_or_init(|| self) == self {
            return Ok(());
        }
        Err(vec![Problem::new("", "the process has other settings of this plugin: restart it")])
    }
}

/// What all logs of the process share.
pub(super) fn pool() -> Arc<MemoryPool> {
    let make = || {
        let configured = OPTIONS.get().and_then(|options| options.log_memory);
        let bytes = configured.map_or_else(|| part_of(limit(Path::new("/"))), |size| u64::from(size.0) << 20);
        Arc::new(MemoryPool::new(usize::try_from(bytes).unwrap_or(usize::MAX)))
    };
    Arc::clone(POOL.get_or_init(make))
}

/// What records may take where the settings do not say it.
fn part_of(limit: Option<u64>) -> u64 {
    limit.map_or(UNKNOWN, |bytes| (bytes / PART).clamp(BYTES_MIN, BYTES_MAX))
}

/// The memory that this process may have: that of the machine, or of a control group that it is in.
fn limit(root: &Path) -> Option<u64> {
    let read = |path: &Path| fs::read_to_string(root.join(path)).unwrap_or_default();
    let meminfo = read(Path::new("proc/meminfo"));
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")?.strip_suffix("kB"));
    let machine = total.and_then(|kilobytes| kilobytes.trim().parse::<u64>().ok()?.checked_mul(1 << 10));
    let groups = read(Path::new("proc/self/cgroup"));
    let files = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?);
        let (base, file) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|one| one == "memory") => {
                ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let group = PathBuf::from(group.trim_start_matches('/'));
        // Each group is within the limits of those above.
        let all: Vec<PathBuf> =
            group.ancestors().map(|group| Path::new(base).join(group).join(file)).collect();
        Some(all)
    });
    let groups = files.flatten().filter_map(|file| read(&file).trim().parse().ok());
    machine.into_iter().chain(groups).min()
}

/// The rest is for the values of the targets, and for everything else.
const PART: u64 = 4;
const BYTES_MIN: u64 = 16 << 20;
const BYTES_MAX: u64 = 1 << 30;
/// Where the system says nothing.
const UNKNOWN: u64 = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_limit_of_machine_and_groups_counts_and_records_have_a_part_of_it() {
        for (groups, files, expected) in [
            ("", &[][..], Some(8 << 30)),
            ("0::/\n", &[("memory.max", "536870912\n")], Some(512 << 20)),
            ("0::/a/b\n", &[("a/b/memory.max", "max\n"), ("a/memory.max", "1073741824\n")], Some(1 << 30)),
            ("0::/../x\n", &[("memory.max", "max\n")], Some(8 << 30)),
            (
                "5:cpu,memory:/docker/1\n1:name=systemd:/\n",
                &[("memory/docker/1/memory.limit_in_bytes", "268435456\n")],
                Some(256 << 20),
            ),
        ] {
            let root = tempfile::tempdir().expect("a folder");
            let write = |path: &str, text: &str| {
                let path = root.path().join(path);
                fs::create_dir_all(path.parent().expect("it is below the root")).expect("a folder");
                fs::write(path, text).expect("a file");
            };
            write("proc/meminfo", "MemTotal:        8388608 kB\nMemFree:  1 kB\n");
            write("proc/self/cgroup", groups);
            files.iter().for_each(|(path, text)| write(&format!("sys/fs/cgroup/{path}"), text));
            assert_eq!(limit(root.path()), expected, "{groups}");
        }
        assert_eq!(limit(Path::new("/nowhere")), None);
        let parts = [None, Some(8 << 20), Some(512 << 20), Some(64 << 30)].map(part_of);
        assert_eq!(parts, [256 << 20, 16 << 20, 128 << 20, 1 << 30]);
    }
}
