//! The files of one log, one after the other. All of it may wait for the disk.

use std::sync::Arc;

use cap_std::fs::Dir;
use jiff::Timestamp;
use safe_files::is_file_name;

use super::failure::{failure, refused};
use super::growing::{Encoded, Growing};
use super::parquet::{ParquetFile, journal_name};
use super::text::TextFile;
use super::{Begin, Existing, FileFormat, FileProgress, beside, free_name};
use crate::parquet::journal;
use crate::{Batch, SinkError, SinkErrorKind, TextFormat, Written};

#[derive(Debug)]
pub(super) struct FileSeries {
    begin: Begin,
    /// Whether the next file replaces an existing one of its name.
    existing: Existing,
    progress: Arc<FileProgress>,
    open: Option<Open>,
    batch: Batch,
    encoded: Encoded,
}

/// The file that is written.
#[derive(Debug)]
struct Open {
    folder: Dir,
    name: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text(TextFile),
    Parquet(ParquetFile),
}

/// About so many bytes are written at a time.
const CHUNK: usize = 1 << 20;

impl FileSeries {
    pub(super) fn new(begin: Begin, progress: Arc<FileProgress>) -> Self {
        let (existing, columns) = (begin.options.existing, begin.header.columns.len());
        Self {
            begin,
            existing,
            progress,
            open: None,
            batch: Batch::new(columns),
            encoded: Encoded::default(),
        }
    }

    /// Takes the records that [`Self::write`] writes.
    pub(super) fn take(&mut self, batch: &Batch) {
        self.batch.copy_from(batch);
    }

    pub(super) fn write(&mut self) -> Written {
        let mut written = Written::default();
        while written.records < self.batch.len() && written.failure.is_none() {
            if let Err(failure) = self.write_some(&mut written) {
                written.failure = Some(failure);
            }
        }
        written
    }

    /// Writes as many records as go into the file at once, at least one.
    fn write_some(&mut self, written: &mut Written) -> Result<(), SinkError> {
        let Some(first) = self.batch.row(written.records).map(|row| row.time) else { return Ok(()) };
        self.leave_changed_file();
        if self.open.is_none() {
            let open = self.begin_file(first)?;
            self.progress.begun(&open.name);
            self.existing = Existing::Keep;
            self.open = Some(open);
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        if let (Kind::Parquet(file), Some(row)) = (&mut open.kind, self.batch.row(written.records))
            && file.is_due(row)
        {
            match file.make_row_group() {
                Ok(bytes) => written.bytes += bytes,
                Err(failure) => {
                    // Somebody has changed the file or its journal: both are left, and the next records begin another one.
                    if failure.kind == SinkErrorKind::Refused {
                        self.open = None;
                    }
                    return Err(failure);
                }
            }
        }
        let file_max = self.begin.options.circular_bytes_max.map(|bytes| bytes / 2);
        let is_at_its_end = open.encode(&self.batch, written.records, file_max, &mut self.encoded);
        let (records, error) = open.growing().append(&self.encoded);
        if let Kind::Parquet(file) = &mut open.kind {
            file.added(records, first);
        } else {
            written.bytes += self.encoded.bytes_of(records) as u64;
        }
        written.records += records;
        self.progress.grown(open.bytes());
        match error {
            Some(error) => Err(failure(format_args!("write {}", open.name), &error)),
            None if is_at_its_end => {
                written.bytes += self.begin_again()?;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// A file that is not as it was left is not touched any more.
    fn leave_changed_file(&mut self) {
        if self.open.as_mut().is_some_and(|open| !open.growing().is_as_it_was()) {
            self.open = None;
        }
    }

    /// Keeps the file of a circular log as the previous one, or leaves one that is full. Returns by how much that grew.
    fn begin_again(&mut self) -> Result<u64, SinkError> {
        let Some(open) = &self.open else { return Ok(0) };
        let grown = open.finish()?;
        if self.begin.options.circular_bytes_max.is_some() {
            let previous = beside(&open.name, "(previous)");
            let kept = open.folder.rename(&open.name, &open.folder, &previous);
            kept.map_err(|error| failure(format_args!("rename {} to {previous}", open.name), &error))?;
        }
        self.open = None;
        Ok(grown)
    }

    /// Ends the file. Returns by how much it grew.
    pub(super) fn finish(&mut self) -> Result<u64, SinkError> {
        let mut grown = 0;
        if let Some(open) = &mut self.open
            && open.growing().is_as_it_was()
        {
            grown = open.finish()?;
        }
        self.open = None;
        Ok(grown)
    }

    fn begin_file(&self, start: Timestamp) -> Result<Open, SinkError> {
        let Begin { folder, name, options, .. } = &self.begin;
        if !is_file_name(name) {
            return Err(refused(format!("{name:?} is no name of a file; use one without a slash")));
        }
        let opened = folder().map_err(|error| failure(format_args!("open the folder of {name}"), &error))?;
        let is_parquet = options.format == FileFormat::Parquet;
        let is_taken = |name: &str| {
            Ok(super::has_file(&opened, name)?
                || is_parquet && super::has_file(&opened, &journal_name(name))?)
        };
        if self.existing == Existing::Replace {
            let journal = if is_parquet { super::remove_file(&opened, &journal_name(name)) } else { Ok(()) };
            let removed = journal.and_then(|()| super::remove_file(&opened, name));
            removed.map_err(|error| failure(format_args!("replace {name}"), &error))?;
        }
        let free = free_name(name, is_taken)?;
        let header = &self.begin.header;
        let kind = match text_format(options.format) {
            Some(format) => Kind::Text(TextFile::begin(&opened, &free, format, header, start)?),
            None => Kind::Parquet(ParquetFile::begin(&opened, &free, header)?),
        };
        Ok(Open { folder: opened, name: free, kind })
    }
}

impl Open {
    fn growing(&mut self) -> &mut Growing {
        match &mut self.kind {
            Kind::Text(text) => &mut text.file,
            Kind::Parquet(parquet) => &mut parquet.journal,
        }
    }

    fn bytes(&self) -> u64 {
        match &self.kind {
            Kind::Text(text) => text.file.length(),
            Kind::Parquet(parquet) => parquet.bytes(),
        }
    }

    /// Puts the next records of `batch` into `encoded`. Returns whether the file ends with them: one more would make it longer
    /// than `file_max`, but for the first.
    fn encode(&self, batch: &Batch, first: usize, file_max: Option<u64>, encoded: &mut Encoded) -> bool {
        encoded.clear();
        let (has_rows, room) = match &self.kind {
            Kind::Text(text) => (text.has_rows(), usize::MAX),
            Kind::Parquet(parquet) => (parquet.has_rows(), parquet.room()),
        };
        while encoded.bytes() < CHUNK && encoded.records() < room {
            let Some(row) = batch.row(first + encoded.records()) else { return false };
            match &self.kind {
                Kind::Text(text) => encoded.add(|bytes| text.log.write_row(row, bytes)),
                Kind::Parquet(_) => encoded.add(|bytes| journal::put_record(row, bytes)),
            }
            let is_too_long = file_max.is_some_and(|max| self.bytes() + encoded.bytes() as u64 > max);
            if is_too_long && (has_rows || encoded.records() > 1) {
                encoded.remove_last();
                return true;
            }
        }
        matches!(&self.kind, Kind::Parquet(parquet) if parquet.is_full())
    }

    /// Brings the file to its end, and to the disk. Returns by how much it grew.
    fn finish(&self) -> Result<u64, SinkError> {
        match &self.kind {
            Kind::Text(text) => {
                let kept = text.file.file().sync_data().map(|()| 0);
                kept.map_err(|error| failure(format_args!("write {} to the disk", self.name), &error))
            }
            Kind::Parquet(parquet) => parquet.finish(),
        }
    }
}

fn text_format(format: FileFormat) -> Option<TextFormat> {
    match format {
        FileFormat::Csv => Some(TextFormat::Csv),
        FileFormat::Tsv => Some(TextFormat::Tsv),
        FileFormat::Parquet => None,
    }
}
