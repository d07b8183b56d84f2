//! A folder of a run with 100,000 files.

use counter_log::data_manager::{DataManager, FolderLimits, Limit, ManagerSettings, Request};
use ms_pla::FolderActionSteps;

use crate::data_manager::place::{Place, acting, now, texts};

const FILES: u64 = 100_000;
/// As many as the format of a cabinet file can count.
const FILES_OF_CABINET: u64 = 65_535;

#[test]
fn a_folder_with_100_000_files_is_packed_emptied_and_deleted() {
    let place = Place::in_memory();
    for number in 0..FILES {
        // In one folder, as logs are, and in many small ones.
        let path = if number < FILES / 2 {
            format!("run/{number}.csv")
        } else {
            format!("run/{}/{number}", number % 100)
        };
        place.write(&path, b"1");
    }
    let steps = FolderActionSteps::CREATE_CAB | FolderActionSteps::DELETE_DATA;
    let managed = DataManager::new(acting(steps)).run(&Request::new(&place.root(), now()));
    assert_eq!(texts(&managed.failures), [""; 0]);
    let done: Vec<_> = managed.actions.iter().map(|action| (action.step, action.files)).collect();
    assert_eq!(
        done,
        [
            (FolderActionSteps::CREATE_CAB, FILES_OF_CABINET),
            (FolderActionSteps::CREATE_CAB, FILES - FILES_OF_CABINET),
            (FolderActionSteps::DELETE_DATA, FILES)
        ]
    );
    assert_eq!(place.names("set/run"), [".folder-actions", "run.cab", "run.part2.cab"]);
    for number in 0..FILES {
        place.write(&format!("run/{number}.csv"), b"12");
    }
    place.write("run2/log.csv", &vec![0; 2 << 20]);
    let limits = FolderLimits { size_max_mb: 3, ..FolderLimits::default() };
    let policy = ms_pla::ResourcePolicy::DELETE_OLDEST;
    let manager =
        DataManager::new(ManagerSettings { is_enabled: true, limits, policy, ..ManagerSettings::default() });
    let managed = manager.run(&Request::new(&place.root(), now()));
    let removed: Vec<_> =
        managed.removed.iter().map(|removed| (&removed.folder[..], removed.by, removed.files)).collect();
    assert_eq!((removed, texts(&managed.failures)), (vec![("run", Limit::Size, FILES + 3)], vec![]));
    assert_eq!(place.names("set"), ["run2"]);
}
