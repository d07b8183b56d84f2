//! A log as Parquet: the file, and beside it the journal of records that are not in a row group yet.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use cap_std::fs::Dir;
use jiff::{SignedDuration, Timestamp};

use super::failure::{failure, refused};
use super::growing::{Growing, write_all_at};
use crate::parquet::journal::{self, JOURNAL_BYTES_MAX, Journal};
use crate::parquet::{Error, ROW_GROUP_VALUES, START, Table};
use crate::{LogHeader, Row, SinkError};

/// What the name of a journal has after that of its file.
pub(super) const JOURNAL_SUFFIX: &str = ".part";

/// A file and its journal.
#[derive(Debug)]
pub(super) struct ParquetFile {
    folder: Dir,
    name: String,
    columns: usize,
    pub(super) journal: Growing,
    /// How many records the journal has, and when the first of them was.
    records: usize,
    began: Option<Timestamp>,
    /// Where the row groups of the file end.
    end: u64,
    row_groups: usize,
}

impl ParquetFile {
    /// Begins a file without records, and its journal.
    pub(super) fn begin(folder: &Dir, name: &str, header: &LogHeader) -> Result<Self, SinkError> {
        let table = Table::new(header).map_err(|error| wrong(name, &error))?;
        let begin = |folder: &Dir| -> io::Result<(Dir, File)> {
            Ok((folder.try_clone()?, safe_files::create(folder, name)?))
        };
        let (folder, file) = begin(folder).map_err(|error| failure(format_args!("begin {name}"), &error))?;
        let begun = begin_file(&file, &table, name)
            .and_then(|footer| new_journal(&folder, name, header, table.end(), &footer))
            .inspect_err(|_| {
                // The failure that counts is the first one.
                let _ = super::remove_file(&folder, name);
            })?;
        let columns = header.columns.len();
        Ok(Self {
            folder,
            name: name.to_owned(),
            columns,
            journal: begun,
            records: 0,
            began: None,
            end: table.end(),
            row_groups: 0,
        })
    }

    /// The size of the file with its journal.
    pub(super) const fn bytes(&self) -> u64 {
        self.end + self.journal.length()
    }

    /// Whether there is a record.
    pub(super) fn has_rows(&self) -> bool {
        self.records > 0 || self.end > START.len() as u64
    }

    /// Records were added to the journal.
    pub(super) fn added(&mut self, records: usize, first: Timestamp) {
        self.records += records;
        self.began = self.began.or((records > 0).then_some(first));
    }

    /// How many records there is room for in the journal before the next row group.
    pub(super) fn room(&self) -> usize {
        (ROW_GROUP_VALUES / self.columns.max(1)).max(1).saturating_sub(self.records)
    }

    /// Whether the records of the journal become a row group before this one.
    pub(super) fn is_due(&self, row: Row<'_>) -> bool {
        let is_old = self.began.is_some_and(|began| row.time.duration_since(began) >= ROW_GROUP_TIME);
        self.records > 0 && (is_old || self.room() == 0)
    }

    /// Whether another file should be begun: each row group makes the footer longer, which is written with each.
    pub(super) const fn is_full(&self) -> bool {
        self.row_groups >= ROW_GROUPS_MAX
    }

    /// Makes a row group of the journal, and begins another journal. Returns by how much the file grew.
    pub(super) fn make_row_group(&mut self) -> Result<u64, SinkError> {
        let read = read_journal(self.journal.file(), &self.name)?;
        let table = add_row_group(&self.folder, &self.name, &read)?;
        let footer = table.footer().map_err(|error| wrong(&self.name, &error))?;
        self.journal = new_journal(&self.folder, &self.name, &read.header, table.end(), &footer)?;
        let grown = table.end().saturating_sub(self.end);
        (self.records, self.began, self.end) = (0, None, table.end());
        self.row_groups += 1;
        Ok(grown)
    }

    /// Makes the last row group. The journal is gone then. Returns by how much the file grew.
    pub(super) fn finish(&self) -> Result<u64, SinkError> {
        let read = read_journal(self.journal.file(), &self.name)?;
        let table = add_row_group(&self.folder, &self.name, &read)?;
        remove_journal(&self.folder, &self.name)?;
        Ok(table.end().saturating_sub(self.end))
    }
}

/// A footer of about 30 MB.
const ROW_GROUPS_MAX: usize = 10_000;

/// After so much time a row group is made, so that a file of few counters can be read while it grows.
const ROW_GROUP_TIME: SignedDuration = SignedDuration::from_mins(15);

/// Brings a file to its end that was left with a journal. Returns the number of records in the journal.
pub(super) fn recover(folder: &Dir, name: &str) -> Result<u64, SinkError> {
    let opened = open_journal(folder, name)?;
    let (_, read) = opened.ok_or_else(|| refused(format!("{name} has no journal")))?;
    add_row_group(folder, name, &read)?;
    remove_journal(folder, name)?;
    Ok(read.records.len() as u64)
}

fn remove_journal(folder: &Dir, name: &str) -> Result<(), SinkError> {
    let journal = journal_name(name);
    let removed =
        super::remove_file(folder, &unready(&journal)).and_then(|()| super::remove_file(folder, &journal));
    removed.map_err(|error| failure(format_args!("remove {journal}"), &error))
}

pub(super) fn journal_name(name: &str) -> String {
    format!("{name}{JOURNAL_SUFFIX}")
}

/// The name of a journal until it has a header.
fn unready(journal: &str) -> String {
    format!("{journal}.new")
}

fn begin_file(file: &File, table: &Table, name: &str) -> Result<Vec<u8>, SinkError> {
    let footer = table.footer().map_err(|error| wrong(name, &error))?;
    let bytes = [START.as_slice(), &footer].concat();
    match write_all_at(file, &bytes, 0) {
        (_, None) => Ok(footer),
        (_, Some(error)) => Err(failure(format_args!("write the begin of {name}"), &error)),
    }
}

/// A journal is written under another name, and gets its name when it is whole.
fn new_journal(
    folder: &Dir,
    name: &str,
    header: &LogHeader,
    end: u64,
    footer: &[u8],
) -> Result<Growing, SinkError> {
    let begin = journal::begin(header, end, footer).map_err(|error| wrong(name, &error))?;
    let journal = journal_name(name);
    let unready = unready(&journal);
    let write = || {
        super::remove_file(folder, &unready)?;
        let file = safe_files::create(folder, &unready)?;
        if let (_, Some(error)) = write_all_at(&file, &begin, 0) {
            super::remove_file(folder, &unready)?;
            return Err(error);
        }
        folder.rename(&unready, folder, &journal)?;
        Ok(Growing::new(file, begin.len() as u64))
    };
    write().map_err(|error| failure(format_args!("begin {journal}"), &error))
}

/// The journal of a file that is there, and what is in it; nothing if there is none.
fn open_journal(folder: &Dir, name: &str) -> Result<Option<(File, Journal)>, SinkError> {
    let journal = journal_name(name);
    match safe_files::open_to_write(folder, &journal).map_err(io::Error::from) {
        Ok(file) => read_journal(&file, name).map(|read| Some((file, read))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failure(format_args!("open {journal}"), &error)),
    }
}

fn read_journal(file: &File, name: &str) -> Result<Journal, SinkError> {
    let read = || {
        let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
        if length > JOURNAL_BYTES_MAX {
            return Err(io::Error::other("it is too long for a journal"));
        }
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| failure(format_args!("read {name}{JOURNAL_SUFFIX}"), &error))?;
    journal::read(&bytes).map_err(|error| wrong(&journal_name(name), &error))
}

/// Writes the records of a journal over the footer, and a new footer. It has the same outcome if it is done again.
fn add_row_group(folder: &Dir, name: &str, read: &Journal) -> Result<Table, SinkError> {
    let (file, mut table) = open_table(folder, name, read)?;
    let end = table.end();
    let footer = table.footer().map_err(|error| wrong(name, &error))?;
    let mut bytes = if read.records.is_empty() { Ok(Vec::new()) } else { table.add(&read.records) }
        .map_err(|error| wrong(name, &error))?;
    bytes.extend(table.footer().map_err(|error| wrong(name, &error))?);
    // The journal is the only copy until the row group is on the disk.
    replace_from(&file, end, &bytes).and_then(|()| file.sync_data()).map_err(|error| {
        // With the footer of before, the file is what it was. If that fails too, the journal still has it.
        let _ = replace_from(&file, end, &footer);
        failure(format_args!("write a row group of {name}"), &error)
    })?;
    Ok(table)
}

/// The file as the journal describes it; if somebody has removed it, another one.
fn open_table(folder: &Dir, name: &str, read: &Journal) -> Result<(File, Table), SinkError> {
    match safe_files::open_to_write(folder, name).map_err(io::Error::from) {
        Ok(file) => {
            let length = file.metadata().map(|metadata| metadata.len());
            let length = length.map_err(|error| failure(format_args!("open {name}"), &error))?;
            if length < read.end {
                return Err(refused(format!(
                    "{name} is shorter than {name}{JOURNAL_SUFFIX} says; move both away"
                )));
            }
            if !is_parquet(&file).map_err(|error| failure(format_args!("read {name}"), &error))? {
                return Err(refused(format!(
                    "{name} is no Parquet file any more; move it and {name}{JOURNAL_SUFFIX} away"
                )));
            }
            let table = Table::with_footer(&read.header, &read.footer, read.end);
            table.map(|table| (file, table)).map_err(|error| wrong(name, &error))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let table = Table::new(&read.header).map_err(|error| wrong(name, &error))?;
            let file = safe_files::create(folder, name)
                .map_err(|error| failure(format_args!("begin {name}"), &error.into()))?;
            begin_file(&file, &table, name)?;
            Ok((file, table))
        }
        Err(error) => Err(failure(format_args!("open {name}"), &error)),
    }
}

/// Lets a file end with `bytes`, which begin at `offset`.
fn replace_from(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    match write_all_at(file, bytes, offset) {
        (_, None) => file.set_len(offset + bytes.len() as u64),
        (_, Some(error)) => Err(error),
    }
}

fn wrong(name: &str, error: &Error) -> SinkError {
    let next = match error {
        Error::Parquet(_) | Error::Journal(_) => "; move it away",
        // They say what to do.
        Error::Columns { .. } | Error::Names { .. } => "",
    };
    refused(format!("{name}: {error}{next}"))
}

fn is_parquet(file: &File) -> io::Result<bool> {
    let mut start = [0; START.len()];
    file.read_exact_at(&mut start, 0)?;
    Ok(start == START)
}
