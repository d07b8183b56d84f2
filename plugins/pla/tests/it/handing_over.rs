//! Two instances that have a set of one name: one of them writes, and the other one waits for its end.

use serde_json::{Value, json};

use crate::logging::{Place, cells, start_in_hours, status, until, written};
use crate::steered::Mill;
use crate::world::Plugin;

const LEVEL: &str = r"\Water\Level";

#[test]
fn two_modules_with_sets_of_one_name_do_not_write_the_same_files() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let settings = place.settings(&json!([{"name": "Mill", "counters": [LEVEL]}]));
    let first = plugin.watch(&mill.sim, settings.clone());
    first.full();
    let second = plugin.watch(&mill.sim, settings);
    assert_eq!(second.full().of("Run", "Status"), []);
    drop(first);
    let ended = until(&second, |ended| !ended.of("Run", "Status").is_empty());
    assert_eq!(
        ended.of("Run", "Serial Number"),
        [("Mill".to_owned(), 2.0)],
        "it goes on when the first has ended"
    );
    plugin.end(second);
}

#[test]
fn a_target_that_is_made_anew_goes_on_where_the_old_instance_ends_without_a_record_twice() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let settings = place.settings(&json!([{"name": "Mill", "counters": [LEVEL]}]));
    let old = plugin.watch(&mill.sim, settings.clone());
    mill.level(1);
    old.full();
    let new = plugin.watch(&mill.sim, settings);
    new.full();
    mill.pass(15);
    mill.level(2);
    // Both collect: the old one has not ended.
    old.full();
    assert_eq!(new.full().of("Run", "Status"), []);
    drop(old);
    mill.pass(15);
    mill.level(3);
    until(&new, |ended| status(ended) == "Mill|running");
    mill.pass(15);
    mill.level(4);
    new.full();
    written(&new, "Mill", 2.0);
    plugin.end(new);
    let files = place.files("Mill");
    let rows = files.iter().filter(|(name, _)| name.ends_with(".csv")).map(|(_, text)| {
        let rows = text.lines().skip(1).map(cells);
        rows.map(|cells| (cells[0].clone(), cells[1].clone())).collect::<Vec<_>>()
    });
    let rows: Vec<_> = rows.collect();
    let values = |rows: &[(String, String)]| rows.iter().map(|row| row.1.clone()).collect::<Vec<_>>();
    assert_eq!(rows.iter().map(|rows| values(rows)).collect::<Vec<_>>(), [["1", "2"], ["3", "4"]]);
    assert!(rows.concat().is_sorted_by(|one, next| one.0 < next.0), "{rows:?}");
}

#[test]
fn a_start_that_comes_while_the_old_instance_has_the_set_is_made_up_for() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let (at, _) = start_in_hours(2);
    let set = json!([{"name": "Mill", "counters": [LEVEL], "schedules": [{"at": at}], "duration": "1h"}]);
    let old = plugin.watch(&mill.sim, place.settings(&set));
    assert_eq!(status(&old.full()), "Mill|stopped");
    let new = plugin.watch(&mill.sim, place.settings(&set));
    new.full();
    mill.pass(2 * 3_600);
    assert_eq!(new.full().of("Run", "Status"), [], "the old one has it");
    drop(old);
    let ended = until(&new, |ended| status(ended) == "Mill|running");
    assert_eq!(ended.of("Run", "Starts"), [("Mill".to_owned(), 1.0)]);
    plugin.end(new);
}

#[test]
fn folders_that_the_old_instance_had_no_time_for_are_removed_by_the_new_one() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let set: Value =
        json!([{"name": "Mill", "counters": [LEVEL], "segment": {"records": 1}, "keep": {"folders": 1}}]);
    let old = plugin.watch(&mill.sim, place.settings(&set));
    for _ in 0..5 {
        old.full();
        mill.pass(15);
    }
    drop(old);
    let new = plugin.watch(&mill.sim, place.settings(&set));
    until(&new, |ended| status(ended) == "Mill|running");
    // What begins here ends, and the data manager looks at all folders then.
    for _ in 0..2 {
        mill.pass(15);
        new.full();
    }
    until(&new, |_| {
        let folders = std::fs::read_dir(place.directory().join("Mill")).expect("it is there");
        folders.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().is_dir())).count() == 1
    });
    plugin.end(new);
}
