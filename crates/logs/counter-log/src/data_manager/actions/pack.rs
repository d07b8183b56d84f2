//! `plaCreateCab`: cabinet files are written under another name, synced, read back and compared before they get theirs.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read};

use ms_pla::FolderActionSteps;
use rustix::fd::BorrowedFd;
use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::Job;
use super::files::{Files, cabinet_name};
use super::record::{CabinetRecord, Packed, sync_folder};
use crate::data_manager::cabinet::{Cabinet, Entry, ExtractLimits, NewFile, PartLimits, Plan, write};
use crate::data_manager::{Error, Result, tree};

/// The cabinet file while it is written.
const NEW_CABINET: &str = ".folder-actions.cab";
/// Cabinet files of one folder.
const CABINETS_MAX: u32 = 10_000;
const COMPARE_BYTES: usize = 32 * 1024;

/// Makes cabinet files of all files that are in none. Names of those that were made go into `compared`.
pub(super) fn create_cabinets(
    job: &mut Job<'_, '_>,
    files: &Files,
    compared: &mut HashSet<String>,
) -> Result<()> {
    let covered = job.covered();
    let missing = files.data.iter().chain(&files.reports).filter(|file| !covered.contains_key(*file));
    let missing =
        missing.map(|file| NewFile { path: file.path.clone(), bytes: file.bytes, modified: file.modified });
    let plan = Plan::new(missing.collect(), &PartLimits::default());
    for (file, reason) in plan.left_out {
        job.fail(Error::left_alone(
            file.path,
            format!("{reason}: it is left out of the cabinet file, and kept"),
        ));
    }
    for path in &files.others {
        job.fail(Error::left_alone(path, "is no regular file: it is left out of the cabinet file"));
    }
    for part in plan.parts {
        let name = free_name(job, files)?;
        let bytes = create_cabinet(job, &name, &part)?;
        compared.insert(name.clone());
        job.done(FolderActionSteps::CREATE_CAB, part.len() as u64, bytes);
        let packed = part.into_iter().map(|file| Packed {
            path: file.path,
            bytes: file.bytes,
            modified: file.modified,
        });
        let cabinet =
            CabinetRecord { name, bytes, is_sent: false, is_deleted: false, files: packed.collect() };
        job.record.cabinets.push(cabinet);
        job.checkpoint()?;
        job.record.write(job.folder)?;
    }
    Ok(())
}

/// The first name that no cabinet file has or had.
fn free_name(job: &Job<'_, '_>, files: &Files) -> Result<String> {
    let is_free = |name: &String| {
        job.record.cabinets.iter().all(|cabinet| cabinet.name != *name)
            && files.cabinets.iter().all(|(cabinet, _)| cabinet != name)
    };
    let mut names = (1..=CABINETS_MAX).map(|number| cabinet_name(job.name, number));
    names.find(is_free).ok_or_else(|| {
        Error::left_alone(job.name, format!("has {CABINETS_MAX} cabinet files already: delete some by hand"))
    })
}

/// Makes one cabinet file, and returns its bytes. It has its name only if it is whole.
fn create_cabinet(job: &Job<'_, '_>, name: &str, part: &[NewFile]) -> Result<u64> {
    let made = write_and_compare(job, name, part);
    if made.is_err() {
        // The failure to make it is what is reported.
        let _ = rustix::fs::unlinkat(job.folder, NEW_CABINET, AtFlags::empty());
    }
    made
}

fn write_and_compare(job: &Job<'_, '_>, name: &str, part: &[NewFile]) -> Result<u64> {
    let fail = |doing, error: std::io::Error| Error::io(doing, name, error);
    job.checkpoint()?;
    match rustix::fs::unlinkat(job.folder, NEW_CABINET, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(fail("write cabinet file", error.into())),
    }
    let target = safe_files::create(job.folder, NEW_CABINET);
    let target = target.map_err(|error| fail("write cabinet file", error.into()))?;
    let folder = job.folder;
    let mut open = |file: &NewFile| tree::open_file(folder, &file.path);
    let written = write(BufWriter::new(target), name, part, &mut open, job.request.stop)?;
    let target = written.into_inner().map_err(|error| fail("write cabinet file", error.into_error()))?;
    target.sync_all().map_err(|error| fail("sync cabinet file", error))?;
    let bytes = target.metadata().map_err(|error| fail("sync cabinet file", error))?.len();
    job.checkpoint()?;
    let equal = equal_files(folder, target, name, &|_| true, job.request.stop)?;
    if let Some(file) = part.iter().find(|file| !equal.contains(&file.path)) {
        let reason =
            "is not the same as in its cabinet file, so that no cabinet file was made: is it still written?";
        return Err(Error::left_alone(&file.path, reason));
    }
    job.checkpoint()?;
    let (from, to) = (tree::c_name(NEW_CABINET)?, tree::c_name(name)?);
    tree::rename_new(folder, &from, &to).map_err(|error| fail("name cabinet file", error.into()))?;
    job.checkpoint()?;
    sync_folder(folder)?;
    Ok(bytes)
}

/// Reads a cabinet file, and returns the files of a folder that have the same bytes as in it.
fn equal_files(
    folder: BorrowedFd<'_>,
    cabinet: File,
    name: &str,
    is_wanted: &dyn Fn(&Entry) -> bool,
    stop: &dyn Fn() -> bool,
) -> Result<HashSet<String>> {
    let limits = ExtractLimits { bytes_max: u64::MAX, ..ExtractLimits::default() };
    let mut cabinet = Cabinet::open(cabinet, name, &limits)?;
    let entries = cabinet.entries().to_vec();
    let mut equal = HashSet::new();
    let mut open: Option<Comparison> = None;
    cabinet.read(stop, &mut |index, bytes| {
        // Indexes are those of the entries.
        let entry = &entries[index];
        if open.as_ref().is_none_or(|comparison| comparison.index != index) {
            let file = if is_wanted(entry) { tree::open_file(folder, &entry.path).ok() } else { None };
            let file = file.map(|file| BufReader::with_capacity(COMPARE_BYTES, file));
            open = Some(Comparison { index, file, left: entry.bytes.into() });
        }
        if let Some(comparison) = &mut open
            && comparison.is_equal_to_the_end(bytes)
        {
            equal.insert(entry.path.clone());
        }
        Ok(())
    })?;
    Ok(equal)
}

/// A file that is compared with the bytes of a cabinet file as they come.
struct Comparison {
    index: usize,
    /// Nothing if a byte was different already.
    file: Option<BufReader<File>>,
    left: u64,
}

impl Comparison {
    /// Whether the next bytes are the same, and the last ones on both sides.
    fn is_equal_to_the_end(&mut self, bytes: &[u8]) -> bool {
        let Some(file) = &mut self.file else { return false };
        let mut read = vec![0; bytes.len()];
        if file.read_exact(&mut read).is_err() || read != bytes {
            self.file = None;
            return false;
        }
        self.left = self.left.saturating_sub(bytes.len() as u64);
        self.left == 0 && matches!(file.read(&mut [0]), Ok(0))
    }
}

/// The paths of those files that may be deleted: they are in a cabinet file with the same bytes, or in one that was sent.
pub(super) fn safe_files(
    job: &mut Job<'_, '_>,
    files: &[Packed],
    compared: &HashSet<String>,
) -> Result<HashSet<String>> {
    let covered = job.covered();
    let mut safe = HashSet::new();
    let mut wanted: HashMap<usize, HashSet<String>> = HashMap::new();
    for file in files {
        match covered.get(file).map(|at| (*at, &job.record.cabinets[*at])) {
            Some((_, cabinet))
                if compared.contains(&cabinet.name) || cabinet.is_deleted && cabinet.is_sent =>
            {
                safe.insert(file.path.clone());
            }
            Some((at, cabinet)) if !cabinet.is_deleted => {
                wanted.entry(at).or_default().insert(file.path.clone());
            }
            Some(_) | None => {
                let reason = "is in no cabinet file that is there or was sent: it is kept";
                job.fail(Error::left_alone(&file.path, reason));
            }
        }
    }
    for (at, paths) in wanted {
        // Indexes are those of the record.
        let name = job.record.cabinets[at].name.clone();
        let equal = tree::open_file(job.folder, &name).and_then(|cabinet| {
            cabinet.sync_all().map_err(|error| Error::io("sync cabinet file", &name, error))?;
            let is_wanted = |entry: &Entry| paths.contains(&entry.path);
            equal_files(job.folder, cabinet, &name, &is_wanted, job.request.stop)
        });
        match equal {
            Ok(equal) => {
                for path in paths.difference(&equal) {
                    job.fail(Error::left_alone(path, "is not the same as in its cabinet file: it is kept"));
                }
                safe.extend(equal);
            }
            Err(Error::Stopped) => return Err(Error::Stopped),
            Err(error) => job.fail(error),
        }
    }
    Ok(safe)
}
