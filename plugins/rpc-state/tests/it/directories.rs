//! Directories and files that cannot be read, and processes that have ended.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, symlink};

use rpc_cells::{CELL_BYTES, CallOrigin, CallTarget, Capacity, ClientCall, Thread};
use serde_json::json;

use crate::world::{Asked as _, Folder, Plugin};

#[test]
fn a_directory_that_is_missing_fails_until_it_is_there() {
    let (folder, plugin) = (Folder::new(), Plugin::new());
    let watch = plugin.watch(&[&folder.path("run")]);
    let ended = watch.collect();
    let (_, reason, message) = ended.failed();
    assert_eq!(reason, "run_directory_missing");
    assert!(message.contains(folder.path("run").to_str().unwrap()), "{message}");
    let _writer = folder.writer("run", "comt");
    assert_eq!(watch.full().figure("State", "Files", "running"), 1.0);
}

#[test]
fn on_demand_a_directory_that_is_not_there_yet_is_told_once_and_costs_nothing() {
    let (folder, plugin) = (Folder::new(), Plugin::new());
    let _writer = folder.writer("run", "comt");
    let (absent, run) = (folder.path("absent"), folder.path("run"));
    for (directories, files) in [(json!([absent]), 0.0), (json!([absent, run]), 1.0)] {
        let watch = plugin.watch_on_demand(json!({"directories": directories}));
        for round in 0..2 {
            let ended = watch.full();
            assert_eq!(ended.figure("State", "Files", "running"), files, "{directories}, {round}");
            let told = ended.recorded.logs.iter().filter(|log| log.message.contains("is not there yet"));
            let [told] = &told.collect::<Vec<_>>()[..] else { panic!("{:?}", ended.recorded.logs) };
            let of =
                |wanted: &str| told.fields.iter().find(|(name, _)| name == wanted).map(|it| it.1.as_str());
            assert!(of("detail").is_some_and(|detail| detail.contains(absent.to_str().unwrap())));
            assert!(of("next_step").is_some_and(|step| step.starts_with("Start the program")));
        }
    }
    fs::write(folder.path("file"), []).unwrap();
    let refused = plugin.watch_on_demand(json!({"directories": [folder.path("file")]})).collect();
    assert_eq!(refused.failed().1, "run_directory_refused");
}

#[test]
fn what_is_not_a_directory_of_its_own_is_refused() {
    let (folder, plugin) = (Folder::new(), Plugin::new());
    let _writer = folder.writer("run", "comt");
    symlink(folder.path("run"), folder.path("link")).unwrap();
    fs::write(folder.path("file"), []).unwrap();
    for (name, sentence) in [("link", "it is a symbolic link"), ("file", "it is not a directory")] {
        let ended = plugin.watch(&[&folder.path(name)]).collect();
        let (_, reason, message) = ended.failed();
        assert_eq!(reason, "run_directory_refused", "{name}");
        assert!(message.contains(sentence), "{message}");
    }
}

#[test]
fn a_directory_that_cannot_be_read_costs_the_others_nothing() {
    let (folder, plugin) = (Folder::new(), Plugin::new());
    let _writer = folder.writer("run", "comt");
    let ended = plugin.watch(&[&folder.path("absent"), &folder.path("run")]).collect();
    assert_eq!(ended.partial().1, "run_directory_missing");
    assert_eq!(ended.shown("Process", "Client Calls"), [("comt".to_owned(), 0.0)]);
}

#[test]
fn files_that_cannot_be_read_are_counted_by_reason_and_the_others_are_shown() {
    let (folder, plugin) = (Folder::new(), Plugin::new());
    let _writer = folder.writer("run", "comt");
    let good = fs::read(&folder.files("run")[0]).unwrap();
    let at = |name: &str| folder.path("run").join(name);
    let with = |word: usize, value: u64| {
        let mut bytes = good.clone();
        bytes[8 * word..8 * (word + 1)].copy_from_slice(&value.to_ne_bytes());
        bytes
    };
    symlink("/dev/zero", at("link.cells")).unwrap();
    fs::create_dir(at("folder.cells")).unwrap();
    fs::write(at("empty.cells"), []).unwrap();
    fs::write(at("noise.cells"), [0x5a; 4096]).unwrap();
    fs::write(at("version.cells"), with(1, 2 | (CELL_BYTES as u64) << 32)).unwrap();
    fs::write(at("capacity.cells"), with(2, 0)).unwrap();
    let watch = plugin.watch(&[&folder.path("run")]);
    let ended = watch.collect();
    let (_, reason, message) = ended.partial();
    assert_eq!(reason, "state_files_unreadable");
    assert!(message.starts_with("6 files, one of them: "), "{message}");
    for (reason, count) in [
        ("access_denied", 0.0),
        ("cut_short", 1.0),
        ("malformed", 1.0),
        ("not_cells", 1.0),
        ("not_regular", 2.0),
        ("read_error", 0.0),
        ("version", 1.0),
    ] {
        assert_eq!(ended.figure("State", "Files Failed", reason), count, "{reason}");
    }
    assert_eq!(ended.shown("Process", "Client Calls"), [("comt".to_owned(), 0.0)]);
    for bad in ["link", "empty", "noise", "version", "capacity"] {
        fs::remove_file(at(&format!("{bad}.cells"))).unwrap();
    }
    let ended = watch.collect();
    assert!(ended.partial().2.contains("folder.cells: it is a directory"), "{ended:?}");
    fs::remove_dir(at("folder.cells")).unwrap();
    assert_eq!(watch.full().figure("State", "Files Failed", "not_regular"), 0.0);
}

#[test]
fn a_file_that_somebody_cuts_or_damages_is_shown_as_far_as_it_goes() {
    let (folder, plugin) = (Folder::new(), Plugin::new());
    let capacity = Capacity { cells_per_section: 64, sections_max: 1 };
    let writer = folder.writer_with("run", "comt", capacity);
    let _threads: Vec<_> = (0..20).map(|_| writer.thread(Thread::default())).collect();
    let file = folder.files("run").remove(0);
    let file = File::options().write(true).open(file).unwrap();
    // An object of no kind, in both of its copies.
    for copy in [8, 64] {
        file.write_all_at(&[0xee], 3 * CELL_BYTES as u64 + copy).unwrap();
    }
    file.set_len(11 * CELL_BYTES as u64).unwrap();
    let ended = plugin.watch(&[&folder.path("run")]).full();
    assert_eq!(ended.figure("State", "Problems", "cut_short"), 1.0);
    assert_eq!(ended.figure("State", "Problems", "malformed"), 1.0);
    assert_eq!(ended.figure("Process", "Threads", "comt processing"), 9.0);
}

#[test]
fn objects_that_found_no_cell_are_counted() {
    let (folder, plugin) = (Folder::new(), Plugin::new());
    let capacity = Capacity { cells_per_section: 8, sections_max: 1 };
    let writer = folder.writer_with("run", "comt", capacity);
    let _threads: Vec<_> = (0..10).map(|_| writer.thread(Thread::default())).collect();
    let ended = plugin.watch(&[&folder.path("run")]).full();
    assert_eq!(ended.figure("Process", "Threads", "comt processing"), 7.0);
    assert_eq!(ended.figure("Process", "Hidden Objects", "comt"), 3.0);
}

#[test]
fn objects_of_a_dead_process_are_shown_only_if_that_is_wanted() {
    let (folder, plugin) = (Folder::new(), Plugin::new());
    let writer = folder.writer("run", "comt");
    let target = CallTarget { last_update_ms: 1, ..CallTarget::default() };
    let _call = writer.client_call(CallOrigin::Client, ClientCall::default(), target);
    // The same process with another start: it has ended.
    let mut bytes = fs::read(&folder.files("run")[0]).unwrap();
    bytes[32..40].copy_from_slice(&1_u64.to_ne_bytes());
    fs::write(folder.path("run").join("dead.cells"), bytes).unwrap();
    let directories = [folder.path("run")];
    let watch = plugin.watch_with(json!({"directories": directories}));
    let ended = watch.full();
    assert_eq!(ended.shown("State", "Files"), [("dead".to_owned(), 1.0), ("running".to_owned(), 1.0)]);
    let calls = |owner: &str| (owner.to_owned(), 1.0);
    assert_eq!(ended.shown("Process", "Client Calls"), [calls("comt")]);
    let watch = plugin.watch_with(json!({"directories": directories, "include_dead": true}));
    assert_eq!(watch.full().shown("Process", "Client Calls"), [calls("comt"), calls("comt true")]);
}
