//! This Linux machine's own processors, processes and disks under the names of the Windows countersets.

mod procfs;

use std::path::{Path, PathBuf};

use wire::{FileTime, Guid};

use self::procfs::{parse_diskstats, parse_process_stat, parse_stat, parse_uptime, value_of};
use counters::perflib_v1::write::Data;

use crate::model::catalog::objects::{object, process, processor};
use crate::model::catalog::{
    FILE_SYSTEM_DISK_ACTIVITY, PROCESS_V2, PROCESSOR_INFORMATION, Times, Usage, process_row, processor_row,
    with_totals,
};
use crate::model::{Clock, Counterset, Hardware, Moment, PerfObject, Sample, ValueSource};

const PERF_FREQ: u64 = 10_000_000;
/// More processes than this are not told.
const PROCESSES_MAX: usize = 4096;

/// Serves what `/proc` says. A file that cannot be read counts as zeros: a process may end while we look.
#[derive(Debug)]
pub struct Live {
    proc: PathBuf,
    boot: FileTime,
}

impl Live {
    /// Reads when the machine was started.
    ///
    /// # Errors
    /// When `/proc/uptime` cannot be read, that is, when this is no Linux.
    pub fn new() -> std::io::Result<Self> {
        let proc = PathBuf::from("/proc");
        let uptime = parse_uptime(&std::fs::read_to_string(proc.join("uptime"))?)
            .ok_or_else(|| std::io::Error::other("/proc/uptime does not begin with seconds"))?;
        Ok(Self { proc, boot: FileTime(Clock::wall().now().0.saturating_sub(uptime)) })
    }

    fn processors(&self, at: &Moment) -> Vec<Sample> {
        let stat = parse_stat(&read(&self.proc.join("stat")));
        let count = stat.cpus.len().max(1) as u64;
        let row = |cpu: &procfs::Cpu| {
            processor_row(&Times {
                elapsed: at.uptime_100ns(),
                idle: cpu.idle,
                user: cpu.user,
                privileged: cpu.privileged,
                // The machine tells interrupts for all processors together.
                interrupts: stat.interrupts / count,
            })
        };
        with_totals(&stat.cpus.iter().map(row).collect::<Vec<_>>())
    }

    fn processes(&self, at: &Moment) -> Vec<Sample> {
        let Ok(entries) = std::fs::read_dir(&self.proc) else { return Vec::new() };
        let mut pids: Vec<u32> =
            entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
        pids.sort_unstable();
        pids.into_iter().take(PROCESSES_MAX).filter_map(|pid| self.process(pid, at)).collect()
    }

    fn process(&self, pid: u32, at: &Moment) -> Option<Sample> {
        let folder = self.proc.join(pid.to_string());
        let stat = parse_process_stat(&read(&folder.join("stat")))?;
        let status = read(&folder.join("status"));
        let io = read(&folder.join("io"));
        let numbers = process_row(&Usage {
            kernel: stat.kernel,
            user: stat.user,
            virtual_bytes: stat.virtual_bytes,
            virtual_peak: value_of(&status, "VmPeak"),
            page_faults: stat.page_faults,
            working_set: value_of(&status, "VmRSS"),
            working_set_peak: value_of(&status, "VmHWM"),
            private: value_of(&status, "RssAnon"),
            threads: stat.threads,
            priority: stat.priority,
            started: at.boot.0 + stat.since,
            now: at.time.0,
            pid: u64::from(pid),
            parent: stat.parent,
            handles: std::fs::read_dir(folder.join("fd")).map_or(0, |fds| fds.count() as u64),
            operations: [value_of(&io, "syscr"), value_of(&io, "syscw"), 0],
            bytes: [value_of(&io, "read_bytes"), value_of(&io, "write_bytes"), 0],
        });
        Some(Sample::of_numbers(&PROCESS_V2, format!("{}:{pid}", stat.name), pid, &numbers))
    }

    /// Whole disks only: a partition's bytes are its disk's.
    fn disks(&self) -> Vec<Sample> {
        let mut disks = parse_diskstats(&read(&self.proc.join("diskstats")));
        disks.retain(|disk| Path::new("/sys/block").join(&disk.name).exists());
        let total =
            disks.iter().fold([0, 0], |sum, disk| [sum[0] + disk.bytes_read, sum[1] + disk.bytes_written]);
        let named = disks.into_iter().map(|disk| (disk.name, [disk.bytes_read, disk.bytes_written]));
        (0..)
            .zip(named.chain([("_Total".to_owned(), total)]))
            .map(|(id, (name, numbers))| Sample::of_numbers(&FILE_SYSTEM_DISK_ACTIVITY, name, id, &numbers))
            .collect()
    }
}

impl ValueSource for Live {
    fn countersets(&self) -> Vec<&'static Counterset> {
        vec![*PROCESSOR_INFORMATION, *PROCESS_V2, *FILE_SYSTEM_DISK_ACTIVITY]
    }

    fn moment(&self) -> Moment {
        Moment { time: Clock::wall().now(), boot: self.boot, perf_freq: PERF_FREQ }
    }

    fn sample(&self, counterset: Guid, at: &Moment) -> Option<Vec<Sample>> {
        if counterset == PROCESSOR_INFORMATION.guid {
            Some(self.processors(at))
        } else if counterset == PROCESS_V2.guid {
            Some(self.processes(at))
        } else if counterset == FILE_SYSTEM_DISK_ACTIVITY.guid {
            Some(self.disks())
        } else {
            None
        }
    }

    fn objects(&self) -> Vec<&'static PerfObject> {
        vec![object("Process"), object("Processor")]
    }

    fn object_data(&self, object: &PerfObject, at: &Moment) -> Option<Data> {
        match object.name {
            "Process" => Some(process::data(&self.processes(at), &self.processors(at), at.boot.0)),
            "Processor" => Some(processor::data(&self.processors(at))),
            _ => None,
        }
    }

    fn hardware(&self) -> Hardware {
        let processors = parse_stat(&read(&self.proc.join("stat"))).cpus.len();
        Hardware {
            processors: u32::try_from(processors).unwrap_or(u32::MAX),
            memory_bytes: value_of(&read(&self.proc.join("meminfo")), "MemTotal"),
            page_file_bytes: value_of(&read(&self.proc.join("meminfo")), "SwapTotal"),
        }
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}
