//! A policy over 10,000 folders with 5 files each: which folders there are, how large they are, and which go.
//!
//! `cargo bench -p counter-log --bench folders` prints the table, for folders in memory and on the disk of the temporary folder. Guarded number: 1 s
//! for a run that finds all limits kept, on both; and in memory for one that deletes half of the folders. How long a disk takes to
//! delete 25,000 files is a matter of the disk. Listing the same folders with `std::fs` is beside it.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use counter_log::data_manager::{DataManager, FolderLimits, ManagerSettings, Request};
use ms_pla::ResourcePolicy;

const FOLDERS: u32 = 10_000;
const FILES: usize = 5;
const BUDGET: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let memory = Path::new("/dev/shm");
    let are_kept = [
        !memory.is_dir() || {
            let (kept, deleted) = measure(memory);
            kept < BUDGET && deleted < BUDGET
        },
        measure(&std::env::temp_dir()).0 < BUDGET,
    ];
    if are_kept.iter().all(|is_kept| *is_kept) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The time of a run that finds all limits kept, and of one that deletes half of the folders.
fn measure(place: &Path) -> (Duration, Duration) {
    println!("{FOLDERS} folders with {FILES} files each in {}", place.display());
    let temporary = tempfile::tempdir_in(place).unwrap();
    for folder in 0..FOLDERS {
        let folder = temporary.path().join(format!("run_{folder:06}"));
        fs::create_dir(&folder).unwrap();
        for file in 0..FILES {
            fs::write(folder.join(format!("log{file}.csv")), b"1,2,3\r\n").unwrap();
        }
    }
    let root = Dir::open_ambient_dir(temporary.path(), ambient_authority()).unwrap();
    timed("std::fs lists them", || assert_eq!(list(temporary.path()), u64::from(FOLDERS) * 35));
    timed("check before a run", || manager(FOLDERS).check_before_running(&root).unwrap());
    let kept = timed("all limits hold", || assert_eq!(run(&root, FOLDERS), 0));
    let deleted = timed("half of them go", || assert_eq!(run(&root, FOLDERS / 2), FOLDERS as usize / 2));
    (kept, deleted)
}

fn manager(folders_max: u32) -> DataManager {
    DataManager::new(ManagerSettings {
        is_enabled: true,
        checks_before_running: true,
        limits: FolderLimits { folders_max, size_max_mb: 1024, ..FolderLimits::default() },
        policy: ResourcePolicy::DELETE_OLDEST,
        ..ManagerSettings::default()
    })
}

fn run(root: &Dir, folders_max: u32) -> usize {
    let managed = manager(folders_max).run(&Request::new(root, jiff::Timestamp::now()));
    assert!(managed.failures.is_empty());
    managed.removed.len()
}

fn list(root: &Path) -> u64 {
    let folders = fs::read_dir(root).unwrap().map(|folder| folder.unwrap().path());
    let sizes = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
    sizes.map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

fn timed(what: &str, work: impl FnOnce()) -> Duration {
    let begin = Instant::now();
    work();
    let took = begin.elapsed();
    println!("{what:<24} {:>9.3} ms", took.as_secs_f64() * 1000.0);
    took
}
