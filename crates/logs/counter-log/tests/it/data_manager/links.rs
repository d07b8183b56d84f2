//! Links that come into a folder while something is done with it.

use std::cell::Cell;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::{fs, io};

use counter_log::data_manager::{DataManager, ExtractLimits, Request, extract};
use ms_pla::FolderActionSteps;

use crate::data_manager::place::{Place, acting, noise, now, tree};

const BYTES: usize = 50_000;
/// More often than that, nobody asks whether to stop.
const QUESTIONS: u32 = 20;

/// Makes a cabinet file of a run and deletes its data. Before the answer to this question, `change` takes place.
fn act(place: &Place, question: u32, change: impl Fn()) {
    place.write("run1/log.csv", &noise(1, BYTES));
    place.write("run1/inner/log.csv", &noise(2, BYTES));
    fs::write(place.path("outside/log.csv"), noise(3, BYTES)).expect("the folder is ours");
    let (root, asked) = (place.root(), Cell::new(0));
    let stop = || {
        asked.set(asked.get() + 1);
        if asked.get() == question {
            change();
        }
        false
    };
    let steps = FolderActionSteps::CREATE_CAB | FolderActionSteps::DELETE_DATA;
    let managed = DataManager::new(acting(steps)).run(&Request { stop: &stop, ..Request::new(&root, now()) });
    assert!(asked.get() < QUESTIONS, "{managed:?}");
}

/// Nothing of what is outside was packed, and nothing of it is gone.
fn is_untouched(place: &Place) {
    let outside = tree(&place.path("outside"));
    assert!(outside.len() == 1 && outside["log.csv"] == noise(3, BYTES), "{:?}", outside.keys());
    for name in place.names("set/run1").iter().filter(|name| name.ends_with(".cab")) {
        let to = tempfile::tempdir().expect("temporary folders work");
        let target = cap_std::fs::Dir::open_ambient_dir(to.path(), cap_std::ambient_authority());
        let target = target.expect("temporary folders work");
        extract(&place.dir("set/run1"), name, &target, &ExtractLimits::default(), &|| false)
            .expect("it can be read");
        let packed = tree(to.path());
        assert!(packed.values().all(|bytes| *bytes != noise(3, BYTES)), "{:?}", packed.keys());
    }
}

#[test]
fn a_file_that_becomes_a_link_is_not_followed() {
    is_not_followed("set/run1/log.csv", "outside/log.csv", |log| fs::remove_file(log));
}

#[test]
fn a_folder_that_becomes_a_link_is_not_followed() {
    is_not_followed("set/run1/inner", "outside", |inner| fs::remove_dir_all(inner));
}

/// At some time, a link to what is outside takes the place of a name in the run.
fn is_not_followed(name: &str, outside: &str, remove: fn(&Path) -> io::Result<()>) {
    for question in 1..QUESTIONS {
        let place = Place::new();
        let (name, outside) = (place.path(name), place.path(outside));
        act(&place, question, || {
            // It may have been deleted.
            let _ = remove(&name);
            symlink(&outside, &name).expect("nothing has this name");
        });
        is_untouched(&place);
    }
}
