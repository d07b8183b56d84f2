use std::io::{BufReader, Read, Seek, SeekFrom};

use flate2::{Decompress, FlushDecompress};

use super::layout::{BLOCK_BYTES, CabinetFolder, Compression, Entry, ExtractLimits, Layout};
use crate::data_manager::{Error, Result};

/// Bytes of a block before that: the format permits that it became larger.
const PACKED_BYTES_MAX: usize = BLOCK_BYTES + 6144;
const BLOCK_HEADER_BYTES: usize = 8;
const MSZIP_SIGNATURE: &[u8] = b"CK";

/// A cabinet file whose names, sizes and offsets were checked.
pub struct Cabinet<R> {
    source: BufReader<R>,
    name: String,
    layout: Layout,
}

impl<R: Read + Seek> Cabinet<R> {
    /// Reads what a cabinet file says of its files, and checks it. `name` is for messages.
    ///
    /// # Errors
    /// [`Error::Cabinet`] if it is refused.
    pub fn open(source: R, name: &str, limits: &ExtractLimits) -> Result<Self> {
        let mut source = BufReader::new(source);
        let layout = Layout::read(&mut source, limits).map_err(|reason| Error::cabinet(name, reason))?;
        Ok(Self { source, name: name.to_owned(), layout })
    }

    /// Its files, in the order in which [`Self::read`] reads them.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.layout.entries
    }

    /// Reads all files once, in pieces of at most 32 KiB. `sink` gets the index of a file and its next bytes; a file
    /// without bytes comes as one empty piece.
    ///
    /// # Errors
    /// [`Error::Cabinet`] if data is damaged; what `sink` returns; [`Error::Stopped`].
    pub fn read(
        &mut self,
        stop: &dyn Fn() -> bool,
        sink: &mut dyn FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut first = 0;
        while let Some(entry) = self.layout.entries.get(first) {
            let folder = entry.folder;
            let count =
                self.layout.entries[first..].iter().take_while(|entry| entry.folder == folder).count();
            let blocks = Blocks::new(
                &mut self.source,
                &self.layout.folders[usize::from(folder)],
                self.layout.block_reserve,
                self.layout.total_bytes,
            );
            let entries = &self.layout.entries[first..first + count];
            read_folder(blocks, &self.name, entries, stop, &mut |index, bytes| sink(first + index, bytes))?;
            first += count;
        }
        Ok(())
    }
}

fn read_folder(
    mut blocks: Blocks<'_, impl Read + Seek>,
    name: &str,
    entries: &[Entry],
    stop: &dyn Fn() -> bool,
    sink: &mut dyn FnMut(usize, &[u8]) -> Result<()>,
) -> Result<()> {
    for (index, entry) in entries.iter().enumerate() {
        if entry.bytes == 0 {
            sink(index, &[])?;
        }
        let (mut from, end) = (u64::from(entry.offset), u64::from(entry.offset) + u64::from(entry.bytes));
        while from < end {
            // A block may have the end of one file and the beginning of the next.
            while blocks.end() <= from {
                if stop() {
                    return Err(Error::Stopped);
                }
                blocks.next().map_err(|reason| Error::cabinet(name, reason))?;
            }
            let piece = blocks.bytes(from, end);
            sink(index, piece)?;
            from += piece.len() as u64;
        }
    }
    Ok(())
}

/// The blocks of one folder, one after another.
struct Blocks<'a, R> {
    source: &'a mut R,
    folder: &'a CabinetFolder,
    reserve: u8,
    total_bytes: u64,
    offset: u64,
    number: u16,
    inflate: Decompress,
    packed: Vec<u8>,
    /// The block, after the bytes before it that it may refer to.
    unpacked: Vec<u8>,
    /// Where the block begins in `unpacked`, and in the folder.
    begin: usize,
    begin_in_folder: u64,
}

impl<'a, R: Read + Seek> Blocks<'a, R> {
    fn new(source: &'a mut R, folder: &'a CabinetFolder, reserve: u8, total_bytes: u64) -> Self {
        Self {
            source,
            folder,
            reserve,
            total_bytes,
            offset: folder.data_offset,
            number: 0,
            inflate: Decompress::new(false),
            packed: Vec::with_capacity(PACKED_BYTES_MAX),
            unpacked: Vec::with_capacity(2 * BLOCK_BYTES + 1),
            begin: 0,
            begin_in_folder: 0,
        }
    }

    /// Where the block ends in the folder.
    fn end(&self) -> u64 {
        self.begin_in_folder + (self.unpacked.len() - self.begin) as u64
    }

    /// The bytes of the block from `from`, which is in it, up to `end`.
    fn bytes(&self, from: u64, end: u64) -> &[u8] {
        let block = &self.unpacked[self.begin..];
        // The differences are at most the length of the block.
        let from = usize::try_from(from - self.begin_in_folder).unwrap_or(block.len()).min(block.len());
        let end = usize::try_from(end - self.begin_in_folder).unwrap_or(block.len()).min(block.len());
        &block[from..end]
    }

    fn next(&mut self) -> std::result::Result<(), String> {
        let number = self.number;
        self.read_block(number).map_err(|reason| format!("block {number} of its data {reason}"))
    }

    fn read_block(&mut self, number: u16) -> std::result::Result<(), String> {
        if number >= self.folder.blocks {
            return Err("is missing".to_owned());
        }
        let data_offset = self.offset + BLOCK_HEADER_BYTES as u64 + u64::from(self.reserve);
        if data_offset > self.total_bytes {
            return Err("is cut off".to_owned());
        }
        self.source.seek(SeekFrom::Start(self.offset)).map_err(|error| error.to_string())?;
        let mut header = [0; BLOCK_HEADER_BYTES];
        self.source.read_exact(&mut header).map_err(|error| format!("cannot be read: {error}"))?;
        let [s0, s1, s2, s3, p0, p1, u0, u1] = header;
        let mut reserved = vec![0; self.reserve.into()];
        self.source.read_exact(&mut reserved).map_err(|error| format!("cannot be read: {error}"))?;
        let (packed, unpacked) =
            (usize::from(u16::from_le_bytes([p0, p1])), usize::from(u16::from_le_bytes([u0, u1])));
        if packed > PACKED_BYTES_MAX || unpacked > BLOCK_BYTES || unpacked == 0 {
            return Err(format!("has {packed} bytes that shall become {unpacked}"));
        }
        if data_offset + packed as u64 > self.total_bytes {
            return Err("is cut off".to_owned());
        }
        self.packed.resize(packed, 0);
        self.source.read_exact(&mut self.packed).map_err(|error| format!("cannot be read: {error}"))?;
        let stored = u32::from_le_bytes([s0, s1, s2, s3]);
        let data = checksum(&self.packed, 0);
        // Some writers leave the reserved bytes out.
        let is_right = checksum(&header[4..], data) == stored
            || checksum(&[&header[4..], &reserved].concat(), data) == stored;
        if stored != 0 && !is_right {
            return Err("has a wrong checksum".to_owned());
        }
        self.offset = data_offset + packed as u64;
        self.unpack(unpacked)?;
        self.number += 1;
        Ok(())
    }

    fn unpack(&mut self, bytes: usize) -> std::result::Result<(), String> {
        self.begin_in_folder = self.end();
        // What a block may refer to is as long as a block.
        let kept = self.unpacked.len().saturating_sub(BLOCK_BYTES);
        self.unpacked.drain(..kept);
        self.begin = self.unpacked.len();
        if self.folder.compression == Compression::None {
            if self.packed.len() != bytes {
                return Err(format!("has {} bytes and says that it has {bytes}", self.packed.len()));
            }
            self.unpacked.extend_from_slice(&self.packed);
            return Ok(());
        }
        let packed = self.packed.strip_prefix(MSZIP_SIGNATURE).ok_or("does not begin with CK")?;
        self.inflate.reset(false);
        if !self.unpacked.is_empty() {
            self.inflate.set_dictionary(&self.unpacked).map_err(|error| error.to_string())?;
        }
        // One byte more shows a block that is longer than it says.
        self.unpacked.resize(self.begin + bytes + 1, 0);
        let inflated =
            self.inflate.decompress(packed, &mut self.unpacked[self.begin..], FlushDecompress::Finish);
        let is_right = inflated.is_ok() && self.inflate.total_out() == bytes as u64;
        self.unpacked.truncate(self.begin + if is_right { bytes } else { 0 });
        if is_right { Ok(()) } else { Err("cannot be unpacked: it is damaged".to_owned()) }
    }
}

/// The checksum of cabinet files: words of four bytes, of which the last one is in reverse if it is short.
fn checksum(bytes: &[u8], seed: u32) -> u32 {
    let mut words = bytes.chunks_exact(4);
    let mut sum = seed;
    for word in &mut words {
        // A chunk of four has four bytes.
        sum ^= u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
    }
    sum ^ words.remainder().iter().fold(0, |rest, byte| rest << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn the_example_of_the_format_s_document_has_its_checksum() {
        let data =
            b"#include <stdio.h>\r\n\r\nvoid main(void)\r\n{\r\n    printf(\"Hello, world!\\n\");\r\n}\r\n\
            #include <stdio.h>\r\n\r\nvoid main(void)\r\n{\r\n    printf(\"Welcome!\\n\");\r\n}\r\n\r\n";
        assert_eq!(checksum(b"\x97\0\x97\0", checksum(data, 0)), 0x30a6_5abd);
    }
}
