use std::fs;
use std::os::unix::fs::symlink;

use counter_log::data_manager::{
    DataManager, ExtractLimits, FolderAction, Managed, ManagerSettings, Request, extract,
};
use jiff::Timestamp;
use ms_pla::FolderActionSteps;

use crate::data_manager::place::{
    MB, Place, Undeletable, acting, action, enabled, in_days, noise, now, texts, tree,
};

const CREATE: FolderActionSteps = FolderActionSteps::CREATE_CAB;
const DELETE: FolderActionSteps = FolderActionSteps::DELETE_DATA;
const SEND: FolderActionSteps = FolderActionSteps::SEND_CAB;
const DELETE_CAB: FolderActionSteps = FolderActionSteps::DELETE_CAB;
const DELETE_REPORT: FolderActionSteps = FolderActionSteps::DELETE_REPORT;

fn run(place: &Place, settings: &ManagerSettings) -> Managed {
    run_at(place, settings, now())
}

fn run_at(place: &Place, settings: &ManagerSettings, now: Timestamp) -> Managed {
    let (root, sent) = (place.root(), place.dir("sent"));
    DataManager::new(settings.clone()).run(&Request { send_to: Some(&sent), ..Request::new(&root, now) })
}

fn done(managed: &Managed) -> Vec<(&str, FolderActionSteps, u64)> {
    managed.actions.iter().map(|done| (&done.folder[..], done.step, done.files)).collect()
}

fn run1(place: &Place) {
    place.write("run1/log.csv", &noise(1, 100_000));
    place.write("run1/inner/Größe 2.csv", b"2");
    place.write("run1/inner/empty.csv", b"");
    place.write("run1/report.xml", b"<report/>");
    place.write("run1/Report.HTML", b"<html>");
}

/// What is in a cabinet file.
fn unpacked(place: &Place, folder: &str, name: &str) -> std::collections::BTreeMap<String, Vec<u8>> {
    let to = tempfile::tempdir().expect("temporary folders work");
    let target = cap_std::fs::Dir::open_ambient_dir(to.path(), cap_std::ambient_authority())
        .expect("temporary folders work");
    extract(&place.dir(folder), name, &target, &ExtractLimits::default(), &|| false).expect("it can be read");
    tree(to.path())
}

#[test]
fn a_cabinet_has_all_files_and_is_made_once() {
    let place = Place::new();
    run1(&place);
    let before = tree(&place.path("set/run1"));
    let managed = run(&place, &acting(CREATE));
    assert_eq!(texts(&managed.failures), [""; 0]);
    assert_eq!(done(&managed), [("run1", CREATE, 5)]);
    assert_eq!(unpacked(&place, "set/run1", "run1.cab"), before);
    let cabinet = fs::read(place.path("set/run1/run1.cab")).unwrap();
    assert_eq!(managed.actions[0].bytes, cabinet.len() as u64);
    let again = run(&place, &acting(CREATE));
    assert_eq!((done(&again), texts(&again.failures)), (vec![], vec![]));
    assert_eq!(fs::read(place.path("set/run1/run1.cab")).unwrap(), cabinet);
}

#[test]
fn new_and_changed_files_go_into_a_further_cabinet() {
    let place = Place::new();
    run1(&place);
    let _ = run(&place, &acting(CREATE));
    place.write("run1/log.csv", b"another log");
    place.write("run1/new.csv", b"new");
    let managed = run(&place, &acting(CREATE | DELETE));
    assert_eq!(texts(&managed.failures), [""; 0]);
    assert_eq!(done(&managed), [("run1", CREATE, 2), ("run1", DELETE, 4)]);
    let second = unpacked(&place, "set/run1", "run1.part2.cab");
    assert_eq!(second.keys().collect::<Vec<_>>(), ["log.csv", "new.csv"]);
    assert_eq!(second["log.csv"], b"another log");
    assert_eq!(unpacked(&place, "set/run1", "run1.cab")["log.csv"], noise(1, 100_000));
}

#[test]
fn data_are_deleted_but_for_report_and_cabinet() {
    let place = Place::new();
    run1(&place);
    let before = tree(&place.path("set/run1"));
    let managed = run(&place, &acting(CREATE | DELETE));
    assert_eq!(done(&managed), [("run1", CREATE, 5), ("run1", DELETE, 3)]);
    assert_eq!(managed.bytes_freed, 100_001);
    assert_eq!(place.names("set/run1"), [".folder-actions", "Report.HTML", "report.xml", "run1.cab"]);
    assert_eq!(unpacked(&place, "set/run1", "run1.cab"), before);
    let managed = run(&place, &acting(CREATE | DELETE | DELETE_REPORT));
    assert_eq!(done(&managed), [("run1", DELETE_REPORT, 1), ("run1", DELETE_REPORT, 1)]);
    assert_eq!(place.names("set/run1"), [".folder-actions", "run1.cab"]);
}

#[test]
fn without_a_cabinet_all_data_and_links_are_deleted() {
    let place = Place::new();
    run1(&place);
    fs::write(place.path("outside/precious"), b"x").unwrap();
    symlink(place.path("outside"), place.path("set/run1/folder")).unwrap();
    symlink(place.path("outside/precious"), place.path("set/run1/file")).unwrap();
    let managed = run(&place, &acting(DELETE));
    assert_eq!(done(&managed), [("run1", DELETE, 5)]);
    assert_eq!(place.names("set/run1"), ["Report.HTML", "report.xml"]);
    assert_eq!(fs::read(place.path("outside/precious")).unwrap(), b"x");
}

#[test]
fn a_cabinet_is_sent_once_even_if_it_is_taken_away() {
    let place = Place::new();
    run1(&place);
    let all = acting(CREATE | SEND | DELETE_CAB);
    let managed = run(&place, &all);
    assert_eq!(texts(&managed.failures), [""; 0]);
    assert_eq!(done(&managed), [("run1", CREATE, 5), ("run1", SEND, 1), ("run1", DELETE_CAB, 1)]);
    assert_eq!(place.names("sent"), ["run1.cab"]);
    assert!(!place.is_there("run1/run1.cab") && place.is_there("run1/log.csv"));
    assert_eq!(unpacked(&place, "sent", "run1.cab").len(), 5);
    fs::remove_file(place.path("sent/run1.cab")).unwrap();
    assert_eq!(done(&run(&place, &all)), []);
    assert!(place.names("sent").is_empty());
    // The cabinet was sent with the same bytes, so the data can go.
    let managed = run(&place, &acting(CREATE | DELETE | SEND | DELETE_CAB));
    assert_eq!(done(&managed), [("run1", DELETE, 3)]);
}

#[test]
fn a_cabinet_that_cannot_be_sent_is_kept_and_sent_later() {
    let place = Place::new();
    run1(&place);
    let mut all = acting(CREATE | DELETE | SEND | DELETE_CAB);
    all.folder_actions[0].size_min_mb = 1;
    place.write("run1/large.csv", &vec![0; 2 * MB]);
    let root = place.root();
    let managed = DataManager::new(all.clone()).run(&Request::new(&root, now()));
    let said = r#""run1" has cabinet files for "\\\\server\\share", and no folder of this machine is mapped to that"#;
    assert_eq!(texts(&managed.failures), [said]);
    assert_eq!(done(&managed), [("run1", CREATE, 6), ("run1", DELETE, 4)]);
    assert!(place.is_there("run1/run1.cab"), "what was not sent is not deleted");
    assert!(managed.bytes < MB as u64, "the folder is smaller than the action wants now");
    let managed = run(&place, &all);
    assert_eq!(done(&managed), [("run1", SEND, 1), ("run1", DELETE_CAB, 1)]);
    assert_eq!(unpacked(&place, "sent", "run1.cab")["large.csv"].len(), 2 * MB);
}

#[test]
fn a_file_that_is_there_is_not_overwritten_by_a_cabinet() {
    let place = Place::new();
    run1(&place);
    fs::write(place.path("sent/run1.cab"), b"somebody else's").unwrap();
    let managed = run(&place, &acting(CREATE | SEND | DELETE_CAB));
    let said = "\"run1.cab\" is in the folder for cabinet files already, with other bytes: delete or rename one of both";
    assert_eq!(texts(&managed.failures), [said]);
    assert_eq!(fs::read(place.path("sent/run1.cab")).unwrap(), b"somebody else's");
    assert!(place.is_there("run1/run1.cab"));
    // The same bytes were sent by a run that could not record it.
    fs::copy(place.path("set/run1/run1.cab"), place.path("sent/run1.cab")).unwrap();
    let managed = run(&place, &acting(CREATE | SEND | DELETE_CAB));
    assert_eq!(done(&managed), [("run1", SEND, 1), ("run1", DELETE_CAB, 1)]);
}

#[test]
fn data_that_are_not_as_in_their_cabinet_are_kept() {
    let place = Place::new();
    run1(&place);
    let _ = run(&place, &acting(CREATE));
    // The same length and time, as if the disk had lost a byte.
    let path = place.path("set/run1/log.csv");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[70_000] ^= 1;
    fs::write(&path, &bytes).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    let managed = run(&place, &acting(CREATE | DELETE));
    assert_eq!(texts(&managed.failures), ["\"log.csv\" is not the same as in its cabinet file: it is kept"]);
    assert_eq!(done(&managed), [("run1", DELETE, 2)]);
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn data_are_kept_if_the_cabinet_is_damaged_or_gone() {
    let place = Place::new();
    run1(&place);
    let _ = run(&place, &acting(CREATE));
    let cabinet = place.path("set/run1/run1.cab");
    let mut bytes = fs::read(&cabinet).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&cabinet, &bytes).unwrap();
    let managed = run(&place, &acting(CREATE | DELETE));
    assert!(texts(&managed.failures)[0].contains("wrong checksum"), "{:?}", managed.failures);
    assert!(place.is_there("run1/log.csv"));
    fs::remove_file(&cabinet).unwrap();
    let managed = run(&place, &acting(CREATE | DELETE));
    assert_eq!(done(&managed), [("run1", CREATE, 5), ("run1", DELETE, 3)]);
    assert_eq!(unpacked(&place, "set/run1", "run1.cab").len(), 5);
}

#[test]
fn what_a_cabinet_cannot_have_is_named_and_kept() {
    let place = Place::new();
    run1(&place);
    place.write("run1/a:b.csv", b"1");
    place.write("run1/back\\slash", b"1");
    symlink("log.csv", place.path("set/run1/link")).unwrap();
    let managed = run(&place, &acting(CREATE | DELETE));
    let failures = texts(&managed.failures);
    assert!(failures.contains(
        &"\"a:b.csv\" has the character ':': it is left out of the cabinet file, and kept".to_owned()
    ));
    assert!(
        failures.iter().any(|text| text.contains("backslash"))
            && failures.iter().any(|text| text.contains("no regular file"))
    );
    let kept = [".folder-actions", "Report.HTML", "a:b.csv", "back\\slash", "link", "report.xml", "run1.cab"];
    assert_eq!(place.names("set/run1"), kept);
}

#[test]
fn what_stands_where_the_record_is_written_is_replaced_and_what_it_leads_to_is_kept() {
    let precious = |place: &Place| place.path("outside/precious");
    let make: [fn(&std::path::Path, &std::path::Path) -> std::io::Result<()>; 2] =
        [|from, to| fs::hard_link(from, to), |from, to| symlink(from, to)];
    for make in make {
        let place = Place::new();
        run1(&place);
        fs::write(precious(&place), "precious").unwrap();
        make(&precious(&place), &place.path("set/run1/.folder-actions.new")).unwrap();
        assert_eq!(done(&run(&place, &acting(CREATE))), [("run1", CREATE, 5)]);
        assert_eq!(fs::read_to_string(precious(&place)).unwrap(), "precious");
        let record = fs::symlink_metadata(place.path("set/run1/.folder-actions")).unwrap();
        assert!(record.is_file());
    }
}

#[test]
fn age_and_size_have_to_be_met_together() {
    let place = Place::new();
    place.write("large/log.csv", &vec![0; 2 * MB]);
    place.write("small/log.csv", b"1");
    let when = |age_min_days, size_min_mb| FolderAction { age_min_days, size_min_mb, ..action(DELETE) };
    let settings = |action| ManagerSettings { folder_actions: vec![action], ..enabled() };
    assert_eq!(done(&run_at(&place, &settings(when(3, 1)), in_days(2))), []);
    assert_eq!(done(&run_at(&place, &settings(when(u32::MAX, 0)), in_days(2))), []);
    assert_eq!(done(&run_at(&place, &settings(when(3, u32::MAX)), in_days(3))), []);
    assert_eq!(done(&run_at(&place, &settings(when(3, 1)), in_days(3))), [("large", DELETE, 1)]);
    // A clock that was set back makes no folder old.
    assert_eq!(done(&run_at(&place, &settings(when(1, 0)), in_days(-9))), []);
    assert_eq!(done(&run_at(&place, &settings(when(0, 0)), in_days(-9))), [("small", DELETE, 1)]);
}

#[test]
fn the_folder_of_a_run_that_goes_on_has_no_actions() {
    let place = Place::new();
    run1(&place);
    place.write("run2/log.csv", b"1");
    let root = place.root();
    let manager = DataManager::new(acting(CREATE | DELETE));
    let managed = manager.run(&Request { is_in_use: &|name| name == "run1", ..Request::new(&root, now()) });
    assert_eq!(done(&managed), [("run2", CREATE, 1), ("run2", DELETE, 1)]);
    assert_eq!(place.names("set/run1").len(), 4);
}

#[test]
fn a_read_only_folder_does_not_stop_the_others() {
    let place = Place::new();
    run1(&place);
    place.write("run2/log.csv", b"1");
    let guard = Undeletable::new(&place.path("set/run1/log.csv"));
    let managed = run(&place, &acting(CREATE | DELETE));
    drop(guard);
    assert_eq!(done(&managed), [("run2", CREATE, 1), ("run2", DELETE, 1)]);
    assert!(managed.failures.iter().all(|failure| failure.folder.as_deref() == Some("run1")));
    assert!(
        texts(&managed.failures)[0].starts_with("write cabinet file \"run1.cab\""),
        "{:?}",
        managed.failures
    );
    assert_eq!(tree(&place.path("set/run1")).len(), 5);
}

#[test]
fn a_file_that_is_changed_while_it_is_packed_is_kept_without_a_cabinet() {
    let place = Place::new();
    run1(&place);
    let (root, log) = (place.root(), place.path("set/run1/log.csv"));
    let new_cabinet = place.path("set/run1/.folder-actions.cab");
    let stop = || {
        // Its bytes are in the new cabinet file by now, and were not compared yet.
        if fs::metadata(&new_cabinet).is_ok_and(|cabinet| cabinet.len() > 100_000) {
            fs::write(&log, noise(2, 100_000)).unwrap();
        }
        false
    };
    let manager = DataManager::new(acting(CREATE | DELETE));
    let managed = manager.run(&Request { stop: &stop, ..Request::new(&root, now()) });
    let said = "\"log.csv\" is not the same as in its cabinet file, so that no cabinet file was made: is it still written?";
    assert_eq!(texts(&managed.failures)[0], said);
    assert_eq!(done(&managed), []);
    assert_eq!(place.names("set/run1"), ["Report.HTML", "inner", "log.csv", "report.xml"]);
    assert_eq!(fs::read(&log).unwrap(), noise(2, 100_000));
}
