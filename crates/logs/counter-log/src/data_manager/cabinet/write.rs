use std::io::{Read, Seek, Write};

use cab::{CabinetBuilder, CompressionType};
use jiff::Timestamp;
use time::{OffsetDateTime, PrimitiveDateTime};

use crate::data_manager::{Error, Result};

/// Bytes of a cabinet file: its offsets are signed in most programs.
const CABINET_BYTES_MAX: u64 = 0x7fff_ffff;
/// Files of a cabinet file.
const FILES_MAX: usize = 0xffff;
/// The header of a cabinet file and its only folder.
const HEADER_BYTES: u64 = 36 + 8;
/// An entry of the list of files, without its name and the zero after it.
const ENTRY_BYTES: u64 = 16;
/// Bytes that a block of data has at most besides its data: header, signature, and the header of data that is not compressed.
const BLOCK_OVERHEAD_BYTES: u64 = 8 + 2 + 5;
const BLOCK_BYTES: u64 = 32 * 1024;
const COPY_BYTES: usize = 64 * 1024;
/// The years that a cabinet file can say, in seconds of Unix: from 1980 to 2107.
const SECONDS_MIN: i64 = 315_532_800;
const SECONDS_MAX: i64 = 4_354_819_198;

/// A file that is put into a cabinet file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// Its path, with `/` between its parts.
    pub path: String,
    /// Its bytes. As many are read, neither more nor fewer.
    pub bytes: u64,
    /// When it was modified. Cabinet files have local times without a zone; it is written in UTC.
    pub modified: Timestamp,
}

/// How large a cabinet file may become. What is more goes into a further one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartLimits {
    /// Files of one cabinet file.
    pub files_max: usize,
    /// Bytes of one cabinet file, if nothing in it can be compressed.
    pub bytes_max: u64,
}

impl Default for PartLimits {
    fn default() -> Self {
        Self { files_max: FILES_MAX, bytes_max: CABINET_BYTES_MAX }
    }
}

/// Which files go into which cabinet file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The files of each cabinet file.
    pub parts: Vec<Vec<NewFile>>,
    /// Files that a cabinet file cannot have, and why.
    pub left_out: Vec<(NewFile, String)>,
}

impl Plan {
    /// Puts files into as few cabinet files as their order permits. Each of these can be read without the others.
    #[must_use]
    pub fn new(files: Vec<NewFile>, limits: &PartLimits) -> Self {
        let (bytes_max, files_max) =
            (limits.bytes_max.min(CABINET_BYTES_MAX), limits.files_max.clamp(1, FILES_MAX));
        let mut plan = Self::default();
        let mut part = Vec::new();
        let mut bytes = HEADER_BYTES;
        for file in files {
            if let Err(reason) = super::name_to_cabinet(&file.path) {
                plan.left_out.push((file, reason));
                continue;
            }
            let packed = packed_bytes_max(&file);
            if HEADER_BYTES.saturating_add(packed) > bytes_max {
                let reason = format!("has {} bytes, which are too many for a cabinet file", file.bytes);
                plan.left_out.push((file, reason));
                continue;
            }
            if part.len() == files_max || bytes + packed > bytes_max {
                plan.parts.push(std::mem::take(&mut part));
                bytes = HEADER_BYTES;
            }
            bytes += packed;
            part.push(file);
        }
        if !part.is_empty() {
            plan.parts.push(part);
        }
        plan
    }
}

/// Bytes that a file takes at most in a cabinet file.
fn packed_bytes_max(file: &NewFile) -> u64 {
    let blocks = file.bytes / BLOCK_BYTES + 2;
    let data = file.bytes.saturating_add(blocks.saturating_mul(BLOCK_OVERHEAD_BYTES));
    data.saturating_add(ENTRY_BYTES + file.path.len() as u64 + 1)
}

/// Writes a cabinet file with the files of one part, compressed by MSZIP. `open` opens a file that is put in it.
///
/// # Errors
/// What `open` returns; a file that cannot be read or has fewer bytes than it had; the target cannot be written;
/// [`Error::Stopped`].
pub fn write<W: Write + Seek, R: Read>(
    target: W,
    name: &str,
    files: &[NewFile],
    open: &mut dyn FnMut(&NewFile) -> Result<R>,
    stop: &dyn Fn() -> bool,
) -> Result<W> {
    let mut builder = CabinetBuilder::new();
    let folder = builder.add_folder(CompressionType::MsZip);
    for file in files {
        let path =
            super::name_to_cabinet(&file.path).map_err(|reason| Error::left_alone(&file.path, reason))?;
        folder.add_file(path).set_datetime(date_time(file.modified));
    }
    let mut writer = builder.build(target).map_err(|error| Error::io("write cabinet file", name, error))?;
    let mut buffer = vec![0; COPY_BYTES];
    for file in files {
        let next = writer.next_file().map_err(|error| Error::io("write cabinet file", name, error))?;
        let Some(mut entry) = next else { break };
        let mut source = open(file)?;
        let mut left = file.bytes;
        while left > 0 {
            if stop() {
                return Err(Error::Stopped);
            }
            let wanted = usize::try_from(left).map_or(COPY_BYTES, |left| left.min(COPY_BYTES));
            let read =
                source.read(&mut buffer[..wanted]).map_err(|error| Error::io("read", &file.path, error))?;
            if read == 0 {
                let reason = "became shorter while it was put into a cabinet file: is it still written?";
                return Err(Error::left_alone(&file.path, reason));
            }
            entry.write_all(&buffer[..read]).map_err(|error| Error::io("write cabinet file", name, error))?;
            left -= read as u64;
        }
    }
    writer.finish().map_err(|error| Error::io("write cabinet file", name, error))
}

/// The time, or the nearest one that a cabinet file can say; its seconds are even.
fn date_time(time: Timestamp) -> PrimitiveDateTime {
    let seconds = cabinet_seconds(time);
    let time = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    PrimitiveDateTime::new(time.date(), time.time())
}

/// The second of Unix that a cabinet file says for a time.
pub(crate) fn cabinet_seconds(time: Timestamp) -> i64 {
    time.as_second().clamp(SECONDS_MIN, SECONDS_MAX) & !1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, bytes: u64) -> NewFile {
        NewFile { path: path.to_owned(), bytes, modified: Timestamp::UNIX_EPOCH }
    }

    #[test]
    fn what_does_not_fit_goes_into_a_further_cabinet_or_is_left_out() {
        let limits = PartLimits { files_max: 2, bytes_max: 1000 };
        let files =
            vec![file("a", 1), file("b", 1), file("c", 800), file("d", 2000), file("e:", 1), file("f", 500)];
        let plan = Plan::new(files, &limits);
        let parts: Vec<Vec<&str>> =
            plan.parts.iter().map(|part| part.iter().map(|file| &file.path[..]).collect()).collect();
        assert_eq!(parts, [vec!["a", "b"], vec!["c"], vec!["f"]]);
        let left_out: Vec<_> =
            plan.left_out.iter().map(|(file, reason)| (&file.path[..], &reason[..])).collect();
        assert_eq!(left_out[0], ("d", "has 2000 bytes, which are too many for a cabinet file"));
        assert_eq!(left_out[1], ("e:", "has the character ':'"));
    }

    #[test]
    fn files_of_the_largest_size_stay_within_the_format() {
        let limits = PartLimits::default();
        let plan =
            Plan::new(vec![file("a", 2_146_000_000), file("b", 1_000_000), file("c", 0x7fff_8000)], &limits);
        assert_eq!((plan.parts.len(), plan.left_out.len()), (2, 1));
        let plan = Plan::new(vec![file("a", u64::MAX)], &limits);
        assert_eq!((plan.parts.len(), plan.left_out.len()), (0, 1));
    }

    #[test]
    fn times_are_those_that_a_cabinet_can_say() {
        let seconds = |second| cabinet_seconds(Timestamp::from_second(second).unwrap());
        assert_eq!(seconds(0), SECONDS_MIN);
        assert_eq!(seconds(1_700_000_001), 1_700_000_000);
        assert_eq!(seconds(9_000_000_000), SECONDS_MAX);
        assert_eq!(date_time(Timestamp::MAX).year(), 2107);
        assert_eq!(date_time(Timestamp::MIN).year(), 1980);
    }
}
