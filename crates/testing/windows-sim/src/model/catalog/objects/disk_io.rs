use counters::perflib_v1::write::Instance;

use super::super::super::population::{SECOND, noise_in};
use super::super::disk;
use super::figures::Figures;
use crate::model::scale;

/// The disks, as Windows names them.
pub(super) const DISKS: [&str; 2] = ["0 C:", "1 D:"];

/// A volume of the host.
pub(super) struct Volume {
    pub(super) name: &'static str,
    /// The number of its disk.
    pub(super) disk: u32,
    pub(super) size_mib: u64,
    pub(super) free_mib: u64,
    pub(super) io: Io,
}

/// What was read and written since the start of the host. Times are in 100 ns, and those of all volumes of a total together.
#[derive(Clone, Copy, Default)]
pub(super) struct Io {
    reads: u64,
    writes: u64,
    read_bytes: u64,
    write_bytes: u64,
    read_time: u64,
    write_time: u64,
    idle_time: u64,
    queue: u64,
    splits: u64,
    /// Of a total: the disks that shares of time are averaged over.
    disks: Option<u64>,
}

/// Bytes of a request.
const REQUEST_BYTES: u64 = 16 << 10;
/// How long a read takes: 0.3 ms.
const READ_100NS: u64 = 3_000;
/// How long a write takes: 0.5 ms.
const WRITE_100NS: u64 = 5_000;

/// The volumes. `C:` has three quarters of the bytes that `FileSystem Disk Activity` has, `D:` the rest; the system's own
/// volume is not used after the start.
pub(super) fn volumes(figures: &Figures<'_>) -> [Volume; 3] {
    let uptime = figures.at.uptime_100ns();
    let [read, written] = disk::bytes(figures.machine, figures.at);
    let seed = figures.machine.seed;
    let c = [read / 4 * 3, written / 4 * 3];
    let volume = |name, disk, size_mib: u64, free_percent: u64, bytes| Volume {
        name,
        disk,
        size_mib,
        // A mebibyte an hour, until a tenth of it is gone.
        free_mib: size_mib * free_percent / 100 - (uptime / SECOND / 3_600).min(size_mib / 100),
        io: Io::of(bytes, uptime, figures.level(u64::from(disk) + 0xd15c, 0, 2)),
    };
    [
        volume("HarddiskVolume1", 0, 499, 92, [0, 0]),
        volume("C:", 0, 102_400, noise_in(seed, 0xd152, 20, 70), c),
        volume("D:", 1, 512_000, noise_in(seed, 0xd153, 20, 70), [read - c[0], written - c[1]]),
    ]
}

impl Io {
    fn of([read_bytes, write_bytes]: [u64; 2], uptime: u64, queue: u64) -> Self {
        let (reads, writes) = (read_bytes / REQUEST_BYTES, write_bytes / REQUEST_BYTES);
        let (read_time, write_time) = (reads * READ_100NS, writes * WRITE_100NS);
        let idle_time = uptime.saturating_sub(read_time + write_time);
        let splits = (reads + writes) / 500;
        Self {
            reads,
            writes,
            read_bytes,
            write_bytes,
            read_time,
            write_time,
            idle_time,
            queue,
            splits,
            disks: None,
        }
    }

    /// Of all volumes of a disk. The disk is idle while none of them is busy.
    pub(super) fn sum(parts: impl Iterator<Item = Self>) -> Self {
        parts
            .reduce(|sum, part| Self {
                reads: sum.reads + part.reads,
                writes: sum.writes + part.writes,
                read_bytes: sum.read_bytes + part.read_bytes,
                write_bytes: sum.write_bytes + part.write_bytes,
                read_time: sum.read_time + part.read_time,
                write_time: sum.write_time + part.write_time,
                idle_time: sum.idle_time.min(part.idle_time),
                queue: sum.queue + part.queue,
                splits: sum.splits + part.splits,
                disks: None,
            })
            .unwrap_or_default()
    }

    /// The total of all disks: all is summed up, and shares of time are averaged.
    pub(super) fn total(parts: &[Self]) -> Self {
        let idle_time = parts.iter().map(|part| part.idle_time).sum::<u64>();
        Self { idle_time, disks: Some(parts.len() as u64), ..Self::sum(parts.iter().copied()) }
    }

    /// An instance with these values in front.
    pub(super) fn instance<const N: usize>(
        &self,
        name: &str,
        figures: &Figures<'_>,
        first: [u64; N],
    ) -> Instance {
        // The bases of times in 100 ns are the time of day; mean times are in ticks of the performance clock.
        let now = figures.at.time.0;
        let ticks = |time| scale(time, figures.at.perf_freq, SECOND);
        let share = |time| time / self.disks.unwrap_or(1).max(1);
        let (all, bytes, time) =
            (self.reads + self.writes, self.read_bytes + self.write_bytes, self.read_time + self.write_time);
        let mut values = first.to_vec();
        values.push(self.queue);
        for time in [time, self.read_time, self.write_time] {
            values.extend([share(time), now, time]);
        }
        for (time, count) in [(time, all), (self.read_time, self.reads), (self.write_time, self.writes)] {
            values.extend([ticks(time), count]);
        }
        values.extend([all, self.reads, self.writes, bytes, self.read_bytes, self.write_bytes]);
        for (bytes, count) in [(bytes, all), (self.read_bytes, self.reads), (self.write_bytes, self.writes)] {
            values.extend([bytes, count]);
        }
        values.extend([share(self.idle_time), now, self.splits]);
        Instance { name: name.to_owned(), values, ..Instance::default() }
    }
}
