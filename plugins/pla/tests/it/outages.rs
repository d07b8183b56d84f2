//! Logs whose disk is away for long, or whose database another program has.

use std::fs;

use rusqlite::Connection;
use serde_json::json;

use crate::logging::{Place, written};
use crate::steered::Mill;
use crate::world::Plugin;

const LEVEL: &str = r"\Water\Level";
/// Wide ones, of which more than the memory of one log has room for.
const RECORDS: u64 = 40;

/// The values of all records by their numbers.
fn values(database: &Connection) -> Vec<(u32, f64)> {
    let mut statement = database
        .prepare("SELECT RecordIndex, CounterValue FROM CounterData ORDER BY RecordIndex")
        .expect("PDH's tables are there");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("no parameters");
    rows.map(|row| row.expect("the columns have their types")).collect()
}

#[test]
fn segments_that_wait_for_a_database_are_written_one_after_another() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let set =
        json!([{"name": "Mill", "counters": [LEVEL], "segment": {"records": 2}, "database": "archive"}]);
    let mut settings = place.settings(&set);
    settings["databases"] = json!({"archive": {"sqlite": "archive.db"}});
    let watch = plugin.watch(&mill.sim, settings);
    mill.level(1);
    watch.full();
    written(&watch, "Mill", 1.0);
    let database = Connection::open(place.directory().join("archive.db")).expect("the file is there");
    database.execute_batch("BEGIN IMMEDIATE").expect("nobody writes now");
    for level in 2..=9 {
        mill.pass(15);
        mill.level(level);
        watch.full();
    }
    database.execute_batch("COMMIT").expect("it has the lock");
    let ended = written(&watch, "Mill", 9.0);
    assert_eq!(ended.of("Run", "Serial Number"), [("Mill".to_owned(), 5.0)]);
    assert_eq!(ended.of("Log", "Dropped Records"), [("Mill|counters".to_owned(), 0.0)]);
    plugin.end(watch);
    let expected: Vec<_> = (1..=9).map(|number| (number, f64::from(number))).collect();
    assert_eq!(values(&database), expected);
}

#[test]
fn a_log_whose_disk_is_away_for_long_drops_its_oldest_records_and_counts_them() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let directory = place.path().join("mount").join("web1");
    // As many logs as there may be share the memory, and one of them has many columns.
    let small = (1..64).map(|number| json!({"name": format!("Set {number}"), "counters": [LEVEL]}));
    let wide = json!({"name": "Wide", "counters": [r"\Wheels(*)\*"]});
    let sets: Vec<_> = small.chain([wide]).collect();
    for number in 0..1_500 {
        mill.wheel(&format!("wheel {number}"), |_| {});
    }
    let settings = json!({"sets": sets, "storage": {"directory": directory}});
    let watch = plugin.watch(&mill.sim, settings);
    for load in 1..=RECORDS {
        mill.wheel("big", |wheel| wheel.load = load);
        mill.pass(15);
        watch.full();
    }
    let ended = watch.full();
    let of = |item: &str| {
        let all = ended.of("Log", item).into_iter();
        all.filter(|(labels, _)| labels.starts_with("Wide|")).map(|(_, value)| value).sum::<f64>()
    };
    let (dropped, waiting) = (of("Dropped Records"), of("Waiting"));
    assert!(dropped > 0.0 && waiting > 0.0, "{dropped} {waiting}");
    assert_eq!((dropped + waiting, of("Gaps")), (RECORDS as f64, 1.0));
    fs::create_dir(place.path().join("mount")).expect("it is made");
    plugin.end(watch);
    let log = fs::read_dir(directory.join("Wide")).expect("it is there").filter_map(|run| {
        let log = run.ok()?.path().join("counters.csv");
        fs::read_to_string(log).ok()
    });
    let log: String = log.collect();
    let column = log
        .lines()
        .next()
        .and_then(|header| header.split(',').position(|cell| cell.ends_with("(big)\\Load\"")));
    let loads =
        log.lines().skip(1).filter_map(|line| line.split(',').nth(column?)?.trim_matches('"').parse().ok());
    let loads: Vec<u64> = loads.collect();
    assert_eq!(loads.len() as f64, waiting, "{loads:?}");
    // What was in flight is kept, and the newest are.
    let holes = loads.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
    assert_eq!((loads.first(), loads.last(), holes), (Some(&1), Some(&RECORDS), 1), "{loads:?}");
}
