//! This Linux machine's own processors, processes and disks under the names of the Windows countersets.

use std::path::{Path, PathBuf};

use counters::perflib_v1::write::Data;
use wire::{FileTime, Guid};

use crate::model::catalog::objects::{object, process, processor};
use crate::model::catalog::{
    FILE_SYSTEM_DISK_ACTIVITY, PROCESS_V2, PROCESSOR_INFORMATION, Times, Usage, process_row, processor_row,
    with_totals,
};
use crate::model::{Clock, Counterset, Hardware, Moment, PerfObject, Sample, ValueSource};

const PERF_FREQ: u64 = 10_000_000;
/// More processes than this are not listed.
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
        let row = |cpu: &Cpu| {
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

// What `/proc` says, parsed. Text in, numbers out; reading the files is the caller's.

/// `/proc` counts time in hundredths of a second on every Linux that Rust runs on.
const INTERVALS_PER_TICK: u64 = 100_000;
/// Sectors of `/proc/diskstats` have this size whatever the disk says.
const SECTOR_BYTES: u64 = 512;

/// One line of `/proc/stat`, in 100 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cpu {
    user: u64,
    privileged: u64,
    idle: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stat {
    cpus: Vec<Cpu>,
    interrupts: u64,
}

fn parse_stat(text: &str) -> Stat {
    let mut stat = Stat::default();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("intr") => stat.interrupts = number(words.next()),
            Some(name) if name.len() > 3 && name.starts_with("cpu") => {
                let ticks: Vec<u64> = words.map(|word| number(Some(word)) * INTERVALS_PER_TICK).collect();
                let at = |index: usize| ticks.get(index).copied().unwrap_or(0);
                stat.cpus.push(Cpu {
                    user: at(0) + at(1),
                    privileged: at(2) + at(5) + at(6),
                    idle: at(3) + at(4),
                });
            }
            _ => {}
        }
    }
    stat
}

/// One disk of `/proc/diskstats`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Disk {
    name: String,
    bytes_read: u64,
    bytes_written: u64,
}

/// Disks that have done anything; loop and RAM devices are none.
fn parse_diskstats(text: &str) -> Vec<Disk> {
    let disk = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let name = *words.get(2)?;
        let sectors = |index: usize| number(words.get(index).copied()) * SECTOR_BYTES;
        let (bytes_read, bytes_written) = (sectors(5), sectors(9));
        let is_disk = !name.starts_with("loop") && !name.starts_with("ram") && bytes_read + bytes_written > 0;
        is_disk.then(|| Disk { name: name.to_owned(), bytes_read, bytes_written })
    };
    text.lines().filter_map(disk).collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ProcessStat {
    name: String,
    parent: u64,
    page_faults: u64,
    /// In units of 100 ns.
    user: u64,
    /// In units of 100 ns.
    kernel: u64,
    priority: u64,
    threads: u64,
    /// In 100 ns since the machine was started.
    since: u64,
    virtual_bytes: u64,
}

/// The name is in parentheses and may hold any character, parentheses too; what follows it is numbers.
fn parse_process_stat(text: &str) -> Option<ProcessStat> {
    let (head, tail) = text.rsplit_once(')')?;
    let name = head.split_once('(')?.1;
    let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
    // Field 3 of the manual page, the state, is the first one after the name.
    let field = |of_manual: usize| number(fields.get(of_manual - 3).copied());
    (fields.len() >= 22).then(|| ProcessStat {
        name: name.to_owned(),
        parent: field(4),
        page_faults: field(10) + field(12),
        user: field(14) * INTERVALS_PER_TICK,
        kernel: field(15) * INTERVALS_PER_TICK,
        priority: field(18),
        threads: field(20),
        since: field(22) * INTERVALS_PER_TICK,
        virtual_bytes: field(23),
    })
}

/// The number after `key` in a file of `key: number` lines; 0 where it is not there. Kilobytes become bytes.
fn value_of(text: &str, key: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    let mut words = line.unwrap_or_default().split_ascii_whitespace();
    let value = number(words.next());
    if words.next() == Some("kB") { value * 1024 } else { value }
}

/// Seconds since the machine was started, in 100 ns, from `/proc/uptime`.
fn parse_uptime(text: &str) -> Option<u64> {
    let (seconds, hundredths) = text.split_ascii_whitespace().next()?.split_once('.')?;
    Some(seconds.parse::<u64>().ok()? * 10_000_000 + hundredths.parse::<u64>().ok()? * INTERVALS_PER_TICK)
}

/// Negative and missing numbers count as 0.
fn number(word: Option<&str>) -> u64 {
    word.and_then(|word| word.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    // The forms are those of proc(5); the figures are taken from a Debian machine.
    #[test]
    fn processor_times_are_counted_by_who_used_them() {
        let stat =
            parse_stat("cpu  9 9 9 9 9 9 9\ncpu0 100 20 50 1000 30 4 6 0 0 0\nintr 4711 1 2\nctxt 1\n");
        let cpu = Cpu { user: 120 * 100_000, privileged: 60 * 100_000, idle: 1030 * 100_000 };
        assert_eq!(stat, Stat { cpus: vec![cpu], interrupts: 4711 });
    }

    #[test]
    fn a_process_name_may_hold_parentheses_and_spaces() {
        let text = "77 (a) b (c)) S 1 77 77 0 -1 4194560 500 0 3 0 11 7 0 0 20 0 5 0 4242 9000000 300 18446744073709551615";
        let stat = parse_process_stat(text).unwrap();
        assert_eq!((stat.name.as_str(), stat.parent, stat.page_faults), ("a) b (c)", 1, 503));
        assert_eq!((stat.user, stat.kernel, stat.threads), (1_100_000, 700_000, 5));
        assert_eq!((stat.since, stat.virtual_bytes), (424_200_000, 9_000_000));
        assert_eq!(parse_process_stat("77 (cut S 1"), None);
    }

    #[test]
    fn sectors_become_bytes_and_loop_devices_are_no_disks() {
        let text = "   8 0 sda 10 0 2 0 20 0 4 0 0 0 0\n   7 0 loop0 1 0 2 0 0 0 0 0 0 0 0\n";
        let disk = Disk { name: "sda".to_owned(), bytes_read: 1024, bytes_written: 2048 };
        assert_eq!(parse_diskstats(text), [disk]);
    }

    #[test]
    fn kilobytes_become_bytes() {
        assert_eq!(value_of("Name:\tbash\nVmRSS:\t    8 kB\nThreads:\t1\n", "VmRSS"), 8192);
        assert_eq!(value_of("rchar: 5\nread_bytes: 7\n", "read_bytes"), 7);
        assert_eq!(value_of("", "VmRSS"), 0);
        assert_eq!(parse_uptime("12.34 5.6\n"), Some(123_400_000));
    }
}
