use std::cell::Cell;
use std::fs;
use std::os::unix::fs::symlink;

use counter_log::data_manager::{DataManager, Error, FolderLimits, Limit, Managed, ManagerSettings, Request};
use ms_pla::{DataManagerSteps, ResourcePolicy};
use wire::HResult;

use crate::data_manager::place::{MB, Place, Undeletable, enabled, now, texts};

fn limited(limits: FolderLimits, policy: ResourcePolicy) -> ManagerSettings {
    ManagerSettings { limits, policy, ..enabled() }
}

fn oldest(limits: FolderLimits) -> ManagerSettings {
    limited(limits, ResourcePolicy::DELETE_OLDEST)
}

fn run(place: &Place, settings: ManagerSettings, current: Option<&str>) -> Managed {
    let root = place.root();
    DataManager::new(settings)
        .run(&Request { is_in_use: &|name| Some(name) == current, ..Request::new(&root, now()) })
}

fn removed(managed: &Managed) -> Vec<(&str, Limit)> {
    managed.removed.iter().map(|removed| (&removed.folder[..], removed.by)).collect()
}

/// Folders whose names are in the order in which they are made.
fn five_runs(place: &Place) {
    for (number, bytes) in [(1, 10), (2, 500), (3, 20), (4, 400), (5, 30)] {
        place.write(&format!("run{number}/log.csv"), &vec![1; bytes]);
    }
}

#[test]
fn too_many_folders_go_the_oldest_first() {
    let place = Place::new();
    five_runs(&place);
    let managed = run(&place, oldest(FolderLimits { folders_max: 3, ..FolderLimits::default() }), None);
    assert_eq!(removed(&managed), [("run1", Limit::FolderCount), ("run2", Limit::FolderCount)]);
    assert_eq!((managed.folders, managed.bytes, managed.bytes_freed), (3, 450, 510));
    assert_eq!(place.names("set"), ["run3", "run4", "run5"]);
    let again = run(&place, oldest(FolderLimits { folders_max: 3, ..FolderLimits::default() }), None);
    assert!(again.removed.is_empty() && again.failures.is_empty());
}

#[test]
fn too_many_bytes_go_the_largest_first() {
    let place = Place::new();
    for (number, megabytes) in [(1, 1), (2, 3), (3, 2), (4, 1)] {
        place.write(&format!("run{number}/log.csv"), &vec![0; megabytes * MB]);
    }
    let limits = FolderLimits { size_max_mb: 2, ..FolderLimits::default() };
    let managed = run(&place, limited(limits, ResourcePolicy::DELETE_LARGEST), None);
    assert_eq!(removed(&managed), [("run2", Limit::Size), ("run3", Limit::Size)]);
    assert_eq!(place.names("set"), ["run1", "run4"]);
    // Two MB are within a limit of two.
    assert!(managed.failures.is_empty());
}

#[test]
fn the_folder_of_a_run_that_goes_on_is_not_touched() {
    let place = Place::new();
    five_runs(&place);
    let limits = FolderLimits { folders_max: 1, ..FolderLimits::default() };
    let managed = run(&place, oldest(limits), Some("run2"));
    assert_eq!(managed.removed.len(), 4);
    assert_eq!(place.names("set"), ["run2"]);
    place.write("run2/large", &vec![0; 2 * MB]);
    let limits = FolderLimits { size_max_mb: 1, ..FolderLimits::default() };
    let managed = run(&place, oldest(limits), Some("run2"));
    assert_eq!(place.names("set"), ["run2"]);
    assert!(matches!(managed.failures[0].error, Error::StillAbove { limit: Limit::Size, .. }));
}

#[test]
fn a_full_disk_costs_all_finished_runs_but_the_newest() {
    let place = Place::new();
    five_runs(&place);
    let limits = FolderLimits { free_disk_min_mb: u32::MAX, ..FolderLimits::default() };
    let managed = run(&place, oldest(limits), Some("run5"));
    assert_eq!(
        removed(&managed),
        ["run1", "run2", "run3"].map(|run| (run, Limit::FreeDisk)),
        "run4 is the newest finished one"
    );
    assert_eq!(place.names("set"), ["run4", "run5"]);
    assert_eq!(managed.failures[0].error.hresult(), HResult::PLA_E_NO_MIN_DISK);
    let said = "MinFreeDisk does not hold after everything that may be deleted was deleted: \
        the newest folder is kept, and the rest of the disk is used by others: free some space there";
    assert_eq!(texts(&managed.failures), [said]);
}

#[test]
fn nothing_outside_of_the_root_is_deleted() {
    let place = Place::new();
    fs::write(place.path("outside/precious"), b"x").unwrap();
    place.write("run/log.csv", b"1");
    symlink(place.path("outside"), place.path("set/run/folder")).unwrap();
    symlink(place.path("outside/precious"), place.path("set/run/file")).unwrap();
    symlink("../../outside", place.path("set/run/up")).unwrap();
    fs::hard_link(place.path("outside/precious"), place.path("set/run/hard")).unwrap();
    symlink(place.path("outside"), place.path("set/linked")).unwrap();
    place.write("other/log.csv", &vec![0; 2 * MB]);
    let limits = FolderLimits { size_max_mb: 1, folders_max: 1, ..FolderLimits::default() };
    let managed = run(&place, limited(limits, ResourcePolicy::DELETE_LARGEST), None);
    assert_eq!(removed(&managed), [("other", Limit::FolderCount)]);
    place.write("new/log.csv", b"");
    let managed = run(&place, limited(limits, ResourcePolicy::DELETE_LARGEST), None);
    assert_eq!(removed(&managed), [("run", Limit::FolderCount)]);
    assert_eq!(place.names("set"), ["linked", "new"]);
    assert_eq!(fs::read(place.path("outside/precious")).unwrap(), b"x");
}

#[test]
fn a_folder_that_cannot_be_deleted_does_not_stop_the_others() {
    let place = Place::new();
    five_runs(&place);
    let guard = Undeletable::new(&place.path("set/run1/log.csv"));
    let limits = FolderLimits { folders_max: 3, ..FolderLimits::default() };
    let managed = run(&place, oldest(limits), None);
    drop(guard);
    assert_eq!(removed(&managed), [("run2", Limit::FolderCount), ("run3", Limit::FolderCount)]);
    assert_eq!(place.names("set"), ["run1", "run4", "run5"], "it keeps its name");
    assert_eq!(managed.failures.len(), 1);
    assert_eq!(managed.failures[0].folder.as_deref(), Some("run1"));
    let text = managed.failures[0].error.to_string();
    assert!(
        text.starts_with("delete folder \"run1\"") || text.starts_with("delete \"run1/log.csv\""),
        "{text}"
    );
}

#[test]
fn a_deletion_that_was_stopped_is_finished_by_the_next_run() {
    let place = Place::new();
    for number in 0..2000 {
        place.write(&format!("run1/inner/{number}"), b"1");
    }
    place.write("run2/log.csv", b"1");
    let limits = FolderLimits { folders_max: 1, ..FolderLimits::default() };
    let root = place.root();
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 6
    };
    let manager = DataManager::new(oldest(limits));
    let managed = manager.run(&Request { stop: &stop, ..Request::new(&root, now()) });
    assert!(managed.is_stopped && managed.removed.is_empty());
    let left = place.names("set/.removing-0/inner").len();
    assert!(left > 0 && left < 2000, "{left} files are left");
    let managed = run(&place, oldest(limits), None);
    assert!(managed.removed.is_empty(), "the limit holds already");
    assert_eq!(managed.bytes_freed, left as u64);
    assert_eq!(place.names("set"), ["run2"]);
}

#[test]
fn a_manager_that_is_disabled_or_has_other_steps_does_nothing() {
    let place = Place::new();
    five_runs(&place);
    let limits = FolderLimits { folders_max: 1, ..FolderLimits::default() };
    let disabled = ManagerSettings { is_enabled: false, checks_before_running: true, ..oldest(limits) };
    assert!(run(&place, disabled.clone(), None).removed.is_empty());
    assert!(DataManager::new(disabled).check_before_running(&place.root()).is_ok());
    let root = place.root();
    let steps = DataManagerSteps::CREATE_REPORT | DataManagerSteps::FOLDER_ACTIONS;
    let managed = DataManager::new(oldest(limits)).run(&Request { steps, ..Request::new(&root, now()) });
    assert!(managed.removed.is_empty());
    assert_eq!(managed.folders, 5);
}

#[test]
fn a_start_fails_with_the_results_of_the_protocol() {
    let place = Place::new();
    five_runs(&place);
    let check = |limits, checks_before_running| {
        let settings = ManagerSettings { checks_before_running, ..oldest(limits) };
        DataManager::new(settings).check_before_running(&place.root())
    };
    let four = FolderLimits { folders_max: 4, ..FolderLimits::default() };
    let error = check(four, true).unwrap_err();
    assert_eq!(error.hresult(), HResult(0x8030_0045));
    assert_eq!(
        error.to_string(),
        "the set has 5 folders, and its limit is 4: delete folders, run the data manager, or raise the limit"
    );
    assert!(check(four, false).is_ok());
    assert!(check(FolderLimits { folders_max: 5, ..four }, true).is_ok(), "as many as after a run");
    let disk = FolderLimits { free_disk_min_mb: u32::MAX, ..FolderLimits::default() };
    let error = check(disk, true).unwrap_err();
    assert_eq!(error.hresult(), HResult(0x8030_0070));
    assert!(error.to_string().contains("the set wants 4294967295 MB"), "{error}");
    place.write("run1/large", &vec![0; 2 * MB]);
    assert!(check(FolderLimits { size_max_mb: 1, ..FolderLimits::default() }, true).is_ok());
}
