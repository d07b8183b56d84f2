//! `plaSendCab`: cabinet files are copied under another name, synced and compared before they get theirs. Nothing is overwritten.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use ms_pla::FolderActionSteps;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::Job;
use super::record::sync_folder;
use crate::data_manager::tree::{self, OWN};
use crate::data_manager::{Error, Result};

const COPY_BYTES: usize = 64 * 1024;

/// Sends all cabinet files that were not sent. One that cannot be sent is tried again by the next run.
pub(super) fn send_cabinets(job: &mut Job<'_, '_>) -> Result<()> {
    let waiting = job.record.cabinets.iter().enumerate();
    let waiting = waiting.filter(|(_, cabinet)| !cabinet.is_sent && !cabinet.is_deleted);
    let waiting: Vec<_> = waiting.map(|(at, cabinet)| (at, cabinet.name.clone(), cabinet.bytes)).collect();
    if waiting.is_empty() {
        return Ok(());
    }
    let Some(target) = job.request.send_to else {
        let place = &job.action.send_cab_to;
        let reason =
            format!("has cabinet files for {place:?}, and no folder of this machine is mapped to that");
        return Err(Error::left_alone(job.name, reason));
    };
    let target = tree::open_root(target)
        .map_err(|error| Error::io("open the folder for cabinet files", ".", error))?;
    for (at, name, bytes) in waiting {
        match send(job, target.as_fd(), &name) {
            Ok(()) => {}
            Err(Error::Stopped) => return Err(Error::Stopped),
            Err(error) => {
                job.fail(error);
                continue;
            }
        }
        // Indexes are those of the record.
        job.record.cabinets[at].is_sent = true;
        job.checkpoint()?;
        job.record.write(job.folder)?;
        job.done(FolderActionSteps::SEND_CAB, 1, bytes);
    }
    Ok(())
}

fn send(job: &Job<'_, '_>, target: BorrowedFd<'_>, name: &str) -> Result<()> {
    let mut source = tree::open_file(job.folder, name)?;
    if is_there(&mut source, target, name, job.request.stop)? {
        return Ok(());
    }
    let new = format!("{OWN}.{name}");
    let sent = copy(job, &mut source, target, &new, name);
    if sent.is_err() {
        // The failure to send it is what is reported.
        let _ = rustix::fs::unlinkat(target, &new[..], AtFlags::empty());
    }
    sent
}

/// Whether it was sent before, by a run that could not record it.
fn is_there(source: &mut File, target: BorrowedFd<'_>, name: &str, stop: &dyn Fn() -> bool) -> Result<bool> {
    match tree::stat(target, &tree::c_name(name)?) {
        Ok(None) => return Ok(false),
        Ok(Some(_)) => {}
        Err(error) => return Err(Error::io("send", name, error)),
    }
    let mut other = tree::open_file(target, name)?;
    if is_same(source, &mut other, name, stop)? {
        return Ok(true);
    }
    let reason = "is in the folder for cabinet files already, with other bytes: delete or rename one of both";
    Err(Error::left_alone(name, reason))
}

fn copy(job: &Job<'_, '_>, source: &mut File, target: BorrowedFd<'_>, new: &str, name: &str) -> Result<()> {
    let fail = |error: std::io::Error| Error::io("send", name, error);
    let new_name = tree::c_name(new)?;
    match rustix::fs::unlinkat(target, &new_name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(fail(error.into())),
    }
    let mut copy = safe_files::create(target, new).map_err(|error| fail(error.into()))?;
    source.seek(SeekFrom::Start(0)).map_err(fail)?;
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        job.checkpoint()?;
        let read = source.read(&mut buffer).map_err(fail)?;
        if read == 0 {
            break;
        }
        copy.write_all(&buffer[..read]).map_err(fail)?;
    }
    copy.sync_all().map_err(fail)?;
    if !is_same(source, &mut copy, name, job.request.stop)? {
        return Err(Error::left_alone(
            name,
            "is not the same after it was copied: it is sent again by the next run",
        ));
    }
    job.checkpoint()?;
    tree::rename_new(target, &new_name, &tree::c_name(name)?).map_err(|error| fail(error.into()))?;
    job.checkpoint()?;
    sync_folder(target)
}

fn is_same(a: &mut File, b: &mut File, name: &str, stop: &dyn Fn() -> bool) -> Result<bool> {
    let fail = |error: std::io::Error| Error::io("compare", name, error);
    if a.metadata().map_err(fail)?.len() != b.metadata().map_err(fail)?.len() {
        return Ok(false);
    }
    a.seek(SeekFrom::Start(0)).map_err(fail)?;
    b.seek(SeekFrom::Start(0)).map_err(fail)?;
    let (mut left, mut right) = (vec![0; COPY_BYTES], vec![0; COPY_BYTES]);
    loop {
        if stop() {
            return Err(Error::Stopped);
        }
        let read = a.read(&mut left).map_err(fail)?;
        if read == 0 {
            return Ok(true);
        }
        // Both have the same length.
        b.read_exact(&mut right[..read]).map_err(fail)?;
        if left[..read] != right[..read] {
            return Ok(false);
        }
    }
}
