//! A process that is killed between any two changes, and one that may not write more: then the actions are run again.

use std::cell::Cell;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, UNIX_EPOCH};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use counter_log::data_manager::{DataManager, FolderLimits, Managed, ManagerSettings, Request};
use ms_pla::{FolderActionSteps, ResourcePolicy};
use rustix::process::{Signal, getpid, kill_process};

use crate::data_manager::place::{Place, acting, noise, now, texts, tree};

/// Where the child works, and the question whether to stop at which it kills itself; 0 is never.
const FOLDER: &str = "DATA_MANAGER_TEST_FOLDER";
const KILL_AT: &str = "DATA_MANAGER_TEST_KILL_AT";
const CHILD: &str = "data_manager::crash::the_process_that_is_killed";

fn settings() -> ManagerSettings {
    let steps = FolderActionSteps::CREATE_CAB | FolderActionSteps::DELETE_DATA | FolderActionSteps::SEND_CAB;
    let steps = steps | FolderActionSteps::DELETE_CAB | FolderActionSteps::DELETE_REPORT;
    ManagerSettings {
        limits: FolderLimits { folders_max: 1, ..FolderLimits::default() },
        policy: ResourcePolicy::DELETE_OLDEST,
        ..acting(steps)
    }
}

fn manage(set: &Path, sent: &Path, stop: &dyn Fn() -> bool) -> Managed {
    let open = |path| Dir::open_ambient_dir(path, ambient_authority()).expect("it was made");
    let (root, sent) = (open(set), open(sent));
    DataManager::new(settings()).run(&Request { send_to: Some(&sent), stop, ..Request::new(&root, now()) })
}

/// Not a test of its own: it does nothing unless a test starts it.
#[test]
fn the_process_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let kill_at: u64 = std::env::var(KILL_AT).unwrap().parse().unwrap();
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        if asked.get() == kill_at {
            kill_process(getpid(), Signal::KILL).unwrap();
        }
        false
    };
    let folder = Path::new(&folder);
    let managed = manage(&folder.join("set"), &folder.join("sent"), &stop);
    assert_eq!(texts(&managed.failures), [""; 0]);
}

fn child(place: &Place, kill_at: u64) -> ExitStatus {
    let mut command = Command::new(std::env::current_exe().expect("tests have a path"));
    command.args(["--exact", CHILD, "--quiet"]).env(FOLDER, place.path("")).env(KILL_AT, kill_at.to_string());
    command.output().expect("it starts").status
}

fn two_runs(place: &Place) {
    for run in ["run1", "run2"] {
        place.write(&format!("{run}/log.csv"), &noise(3, 40_000));
        place.write(&format!("{run}/inner/more.csv"), run.as_bytes());
        place.write(&format!("{run}/report.xml"), b"<report/>");
        for file in ["log.csv", "inner/more.csv", "report.xml"] {
            // Cabinet files have these times; they are compared.
            let file = std::fs::File::open(place.path(&format!("set/{run}/{file}"))).expect("it was made");
            file.set_modified(UNIX_EPOCH + Duration::from_secs(1_800_000_000)).expect("it is ours");
        }
    }
}

#[test]
fn nothing_is_lost_or_done_twice_wherever_the_process_is_killed() {
    let expected = Place::in_memory();
    two_runs(&expected);
    assert!(child(&expected, 0).success());
    let sent = tree(&expected.path("sent"));
    assert_eq!(sent.keys().collect::<Vec<_>>(), ["run1.cab", "run2.cab"]);
    let mut killed = 0;
    for kill_at in 1.. {
        let place = Place::in_memory();
        two_runs(&place);
        let data = tree(&place.path("set"));
        if child(&place, kill_at).success() {
            break;
        }
        killed += 1;
        // What a crash leaves: each file is there, or its cabinet is there or was sent.
        for (path, bytes) in data {
            let run = &path[..4];
            let cabinets =
                [place.path("sent").join(format!("{run}.cab")), place.path(&format!("set/{run}/{run}.cab"))];
            let is_packed = cabinets.iter().any(|cabinet| {
                std::fs::read(cabinet).is_ok_and(|bytes| bytes == sent[&format!("{run}.cab")])
            });
            let is_kept = std::fs::read(place.path("set").join(&path)).is_ok_and(|kept| kept == bytes);
            assert!(is_packed || is_kept, "{path} after a crash at {kill_at}");
        }
        let managed = manage(&place.path("set"), &place.path("sent"), &|| false);
        assert_eq!(texts(&managed.failures), [""; 0], "after a crash at {kill_at}");
        assert!(tree(&place.path("sent")) == sent, "each cabinet was sent once, and whole: {kill_at}");
        assert_eq!(place.names("set"), ["run2"], "after a crash at {kill_at}");
        assert_eq!(tree(&place.path("set")).keys().collect::<Vec<_>>(), ["run2/.folder-actions"]);
    }
    assert!(killed > 30, "it was killed at {killed} places");
}

#[test]
fn a_full_disk_leaves_the_data_as_they_are() {
    let place = Place::in_memory();
    two_runs(&place);
    let before = tree(&place.path("set"));
    // Files of at most 16 blocks of 512 or 1024 bytes: less than a cabinet has. Without the signal it is an error.
    let script = "trap '' XFSZ; ulimit -f 16; exec \"$0\" --exact \"$1\" --quiet";
    let status = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .arg(CHILD)
        .env(FOLDER, place.path(""))
        .env(KILL_AT, "0")
        .output()
        .unwrap()
        .status;
    assert!(!status.success(), "it has failures");
    let mut after = tree(&place.path("set"));
    // The limit of folders held after the oldest was deleted.
    after.extend(
        before.iter().filter(|(path, _)| path.starts_with("run1/")).map(|(a, b)| (a.clone(), b.clone())),
    );
    assert!(after == before, "{:?}", after.keys());
    let managed = manage(&place.path("set"), &place.path("sent"), &|| false);
    assert_eq!(texts(&managed.failures), [""; 0]);
    assert_eq!(place.names("sent"), ["run2.cab"]);
}
