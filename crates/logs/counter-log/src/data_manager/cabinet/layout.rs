//! What a cabinet file says of its folders and files, before any data is read.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

const SIGNATURE: &[u8] = b"MSCF";
const HEADER_BYTES: usize = 36;
const FOLDER_BYTES: usize = 8;
const HAS_PREVIOUS: u16 = 1;
const HAS_NEXT: u16 = 2;
const HAS_RESERVE: u16 = 4;
/// Bytes of a block after it was unpacked; all blocks of a folder but the last have as many.
pub(crate) const BLOCK_BYTES: usize = 32 * 1024;
/// Bytes of a name and the zero after it.
const NAME_BYTES_MAX: usize = 256;

/// How much of a cabinet file is unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtractLimits {
    pub files_max: u16,
    /// Bytes of all files together.
    pub bytes_max: u64,
}

impl Default for ExtractLimits {
    fn default() -> Self {
        Self { files_max: u16::MAX, bytes_max: 8 * 1024 * 1024 * 1024 }
    }
}

/// A file of a cabinet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path, with `/` between its parts. No part is `..`, a device of Windows, or empty.
    pub path: String,
    pub bytes: u32,
    /// When it was modified, if that is a date. Cabinet files have local times without a zone, which are read as UTC.
    pub modified: Option<Timestamp>,
    pub(crate) folder: u16,
    pub(crate) offset: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    MsZip,
}

pub(crate) struct CabinetFolder {
    pub(crate) data_offset: u64,
    pub(crate) blocks: u16,
    pub(crate) compression: Compression,
}

pub(crate) struct Layout {
    /// Bytes of the cabinet file; what is after them is not part of it.
    pub(crate) total_bytes: u64,
    pub(crate) folders: Vec<CabinetFolder>,
    /// INVARIANT: by folder and offset, without overlaps, within the blocks of the folder; no path twice in any case.
    pub(crate) entries: Vec<Entry>,
    /// Bytes of each block that mean nothing here.
    pub(crate) block_reserve: u8,
}

impl Layout {
    pub(crate) fn read(source: &mut (impl Read + Seek), limits: &ExtractLimits) -> Result<Self, String> {
        let length = source.seek(SeekFrom::End(0)).map_err(|error| error.to_string())?;
        source.seek(SeekFrom::Start(0)).map_err(|error| error.to_string())?;
        let mut fields = Fields { source, left: length };
        let header: [u8; HEADER_BYTES] = fields.take("header")?;
        let header = Header::read(&header, length, limits)?;
        // What is counted below lies within the cabinet.
        fields.left = header.total_bytes - HEADER_BYTES as u64;
        let (mut folder_reserve, mut block_reserve) = (0, 0);
        if header.flags & HAS_RESERVE != 0 {
            let [low, high, folder, block] = fields.take("sizes of reserved areas")?;
            fields.skip(u16::from_le_bytes([low, high]).into())?;
            (folder_reserve, block_reserve) = (folder, block);
        }
        let folders = fields.folders(header.folders, folder_reserve, header.total_bytes)?;
        fields.seek(header.files_offset, header.total_bytes)?;
        let mut entries = Vec::with_capacity(header.files.into());
        for _ in 0..header.files {
            entries.push(fields.entry()?);
        }
        check(&mut entries, &folders, limits)?;
        Ok(Self { total_bytes: header.total_bytes, folders, entries, block_reserve })
    }
}

struct Header {
    total_bytes: u64,
    files_offset: u64,
    folders: u16,
    files: u16,
    flags: u16,
}

impl Header {
    fn read(bytes: &[u8; HEADER_BYTES], length: u64, limits: &ExtractLimits) -> Result<Self, String> {
        let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let u32_at = |at: usize| u32::from(u16_at(at)) | u32::from(u16_at(at + 2)) << 16;
        if &bytes[..4] != SIGNATURE {
            return Err("it does not begin with MSCF, so it is no cabinet file".to_owned());
        }
        if bytes[25] != 1 || bytes[24] > 3 {
            return Err(format!("its version is {}.{}, and only 1.0 to 1.3 are read", bytes[25], bytes[24]));
        }
        let total_bytes = u64::from(u32_at(8));
        if total_bytes > length || total_bytes < HEADER_BYTES as u64 {
            return Err(format!("it has {length} bytes, and says that it has {total_bytes}: it was cut off"));
        }
        let (folders, files, flags) = (u16_at(26), u16_at(28), u16_at(30));
        if flags & (HAS_PREVIOUS | HAS_NEXT) != 0 || u16_at(34) != 0 {
            return Err(
                "it is one of several cabinet files that belong together, which are not read".to_owned()
            );
        }
        if files == 0 || files > limits.files_max {
            return Err(format!("it has {files} files, and from 1 to {} are read", limits.files_max));
        }
        Ok(Self { total_bytes, files_offset: u32_at(16).into(), folders, files, flags })
    }
}

/// A source of which only so many bytes are read.
struct Fields<'a, R> {
    source: &'a mut R,
    left: u64,
}

impl<R: Read + Seek> Fields<'_, R> {
    fn take<const N: usize>(&mut self, what: &str) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        self.left = self.left.checked_sub(N as u64).ok_or_else(|| format!("its {what} is cut off"))?;
        self.source.read_exact(&mut bytes).map_err(|error| format!("its {what} cannot be read: {error}"))?;
        Ok(bytes)
    }

    fn skip(&mut self, bytes: u64) -> Result<(), String> {
        self.left = self.left.checked_sub(bytes).ok_or("a reserved area is cut off")?;
        let bytes = i64::try_from(bytes).map_err(|error| error.to_string())?;
        self.source.seek(SeekFrom::Current(bytes)).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn seek(&mut self, offset: u64, total_bytes: u64) -> Result<(), String> {
        self.left = total_bytes.checked_sub(offset).ok_or("the list of its files is behind its end")?;
        self.source.seek(SeekFrom::Start(offset)).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn folders(&mut self, count: u16, reserve: u8, total_bytes: u64) -> Result<Vec<CabinetFolder>, String> {
        if u64::from(count) * (FOLDER_BYTES as u64 + u64::from(reserve)) > self.left {
            return Err(format!("the list of its {count} folders is cut off"));
        }
        let mut folders = Vec::with_capacity(count.into());
        for number in 0..count {
            let bytes: [u8; FOLDER_BYTES] = self.take("list of folders")?;
            self.skip(reserve.into())?;
            let [o0, o1, o2, o3, b0, b1, c0, _] = bytes;
            let compression = match c0 & 0x0f {
                0 => Compression::None,
                1 => Compression::MsZip,
                2 => {
                    return Err(
                        "it is compressed by Quantum, which is not read: unpack it on Windows".to_owned()
                    );
                }
                3 => {
                    return Err(
                        "it is compressed by LZX, which is not read: unpack it with cabextract".to_owned()
                    );
                }
                other => return Err(format!("its folder {number} has the unknown compression {other}")),
            };
            let data_offset = u64::from(u32::from_le_bytes([o0, o1, o2, o3]));
            if data_offset > total_bytes {
                return Err(format!("the data of its folder {number} is behind its end"));
            }
            folders.push(CabinetFolder { data_offset, blocks: u16::from_le_bytes([b0, b1]), compression });
        }
        Ok(folders)
    }

    fn entry(&mut self) -> Result<Entry, String> {
        let bytes: [u8; 16] = self.take("list of files")?;
        let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let u32_at = |at: usize| u32::from(u16_at(at)) | u32::from(u16_at(at + 2)) << 16;
        let mut name = Vec::new();
        loop {
            match self.take("list of files")? {
                [0] => break,
                [_] if name.len() + 1 == NAME_BYTES_MAX => return Err("a name has no end".to_owned()),
                [byte] => name.push(byte),
            }
        }
        Ok(Entry {
            path: super::name_from_cabinet(&name)?,
            bytes: u32_at(0),
            modified: modified(u16_at(10), u16_at(12)),
            folder: u16_at(8),
            offset: u32_at(4),
        })
    }
}

/// Checks what entries say of each other, and sorts them.
fn check(entries: &mut [Entry], folders: &[CabinetFolder], limits: &ExtractLimits) -> Result<(), String> {
    let mut sum = 0;
    for entry in entries.iter() {
        let end = u64::from(entry.offset) + u64::from(entry.bytes);
        let folder = folders.get(usize::from(entry.folder));
        let folder = folder.ok_or_else(|| format!("the file {:?} is in no folder of it", entry.path))?;
        if end > u64::from(folder.blocks) * BLOCK_BYTES as u64 {
            return Err(format!("the file {:?} is longer than the data of its folder", entry.path));
        }
        sum += u64::from(entry.bytes);
    }
    if sum > limits.bytes_max {
        return Err(format!("its files have {sum} bytes, and at most {} are unpacked", limits.bytes_max));
    }
    // Empty files come before the one at the same offset.
    entries.sort_by_key(|entry| (entry.folder, entry.offset, entry.bytes));
    for pair in entries.windows(2) {
        let end = u64::from(pair[0].offset) + u64::from(pair[0].bytes);
        if pair[0].folder == pair[1].folder && end > u64::from(pair[1].offset) {
            return Err(format!("the files {:?} and {:?} have the same data", pair[0].path, pair[1].path));
        }
    }
    check_paths(entries)
}

/// Windows has no two files whose names differ by case only, and nothing in a file.
fn check_paths(entries: &[Entry]) -> Result<(), String> {
    let mut paths: HashMap<String, bool> = HashMap::with_capacity(entries.len());
    for entry in entries {
        let path = entry.path.to_lowercase();
        for (at, _) in path.match_indices('/') {
            if paths.insert(path[..at].to_owned(), false) == Some(true) {
                return Err(format!("the name {:?} is below a file", entry.path));
            }
        }
        match paths.insert(path, true) {
            None => {}
            Some(true) => return Err(format!("the name {:?} is there twice", entry.path)),
            Some(false) => return Err(format!("the name {:?} is a file and a folder", entry.path)),
        }
    }
    Ok(())
}

fn modified(date: u16, time: u16) -> Option<Timestamp> {
    // Each is masked to fewer bits than its type has.
    let field = |value: u16, shift: u16, bits: u16| i8::try_from(value >> shift & ((1 << bits) - 1)).ok();
    let year = i16::try_from(1980 + (date >> 9)).ok()?;
    let (month, day) = (field(date, 5, 4)?, field(date, 0, 5)?);
    let (hour, minute, second) = (field(time, 11, 5)?, field(time, 5, 6)?, field(time, 0, 5)? * 2);
    let time = DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
    Offset::UTC.to_timestamp(time).ok()
}
