use std::time::Duration;

use pla_engine::{Collector, SetDefinition, Written};

use crate::world::{DAY, HOUR, MB, MINUTE, World, counters};

#[test]
fn segments_follow_each_other_by_time_without_a_drift() {
    let hourly = SetDefinition {
        duration: Some(3 * HOUR + 30 * MINUTE),
        is_segmented: true,
        segment_duration_max: Some(HOUR),
        ..counters()
    };
    let mut world = World::new("2026-01-31T12:00Z", hourly).with_late_calls(Duration::from_secs(2));
    assert_eq!(world.start(), Ok(()));
    world.pass(DAY);
    assert_eq!(
        world.log(),
        [
            "31T12:00:00 start 1: requested",
            "31T13:00:02 segment 2: Duration",
            "31T14:00:02 segment 3: Duration",
            "31T15:00:02 segment 4: Duration",
            "31T15:30:00 stop 4: duration",
        ]
    );
    assert_eq!(world.run.counts().segments, 4);
}

#[test]
fn a_segment_ends_when_its_file_has_reached_its_size_or_records() {
    let collectors = vec![Collector::Counters { records_max: Some(100) }];
    let limited = SetDefinition { is_segmented: true, segment_bytes_max: Some(MB), collectors, ..counters() };
    let mut world = World::new("2026-01-31T12:00Z", limited);
    assert_eq!(world.start(), Ok(()));
    world.write(99, MB - 1).write(99, MB).write(99, MB - 1).write(100, 0);
    assert_eq!(
        world.log(),
        ["31T12:00:00 start 1: requested", "31T12:00:00 segment 2: Size", "31T12:00:00 segment 3: Records"]
    );
    // What comes late about a segment that is over, or from nowhere, ends none.
    let late = Written { serial_number: 2, records: 1_000, bytes: MB };
    world.run.handle_written(0, late, world.now());
    world.run.handle_written(7, Written { serial_number: 3, ..late }, world.now());
    assert_eq!(world.run.poll_action(), None);
}

#[test]
fn a_limit_of_zero_is_none_and_a_huge_one_is_no_trap() {
    let zero = Some(Duration::ZERO);
    let collectors = vec![Collector::Counters { records_max: Some(0) }];
    let unlimited = SetDefinition {
        duration: zero,
        is_segmented: true,
        segment_duration_max: zero,
        segment_bytes_max: Some(0),
        collectors,
        ..SetDefinition::default()
    };
    let huge = SetDefinition {
        duration: Some(Duration::MAX),
        segment_duration_max: Some(Duration::MAX),
        ..counters()
    };
    for definition in [unlimited, huge] {
        let mut world = World::new("2026-01-31T12:00Z", definition);
        assert_eq!(world.start(), Ok(()));
        world.write(10, MB).pass(DAY).restart(DAY).pass(DAY);
        assert_eq!(
            world.log(),
            ["31T12:00:00 start 1: requested", "restart", "02T12:00:00 start 2: resumed"]
        );
    }
}

#[test]
fn a_set_that_is_not_segmented_stops_at_the_first_limit() {
    let collectors = vec![Collector::Counters { records_max: Some(100) }];
    let limited = SetDefinition {
        segment_duration_max: Some(HOUR),
        segment_bytes_max: Some(MB),
        collectors,
        ..counters()
    };
    for (records, bytes, expected) in [
        (1, 1, "31T13:00:00 stop 1: segment_duration"),
        (1, MB, "31T12:00:00 stop 1: segment_size"),
        (100, 1, "31T12:00:00 stop 1: segment_records"),
    ] {
        let mut world = World::new("2026-01-31T12:00Z", limited.clone());
        assert_eq!(world.start(), Ok(()));
        world.write(records, bytes).pass(DAY);
        assert_eq!(world.log()[1..], [expected]);
    }
}

#[test]
fn a_set_of_alerts_alone_is_neither_segmented_nor_compiled() {
    let alerts = SetDefinition {
        duration: Some(2 * HOUR),
        is_segmented: true,
        segment_duration_max: Some(MINUTE),
        segment_bytes_max: Some(1),
        is_managed: true,
        collectors: vec![Collector::Alerts],
        ..SetDefinition::default()
    };
    let mut world = World::new("2026-01-31T12:00Z", alerts);
    assert_eq!(world.start(), Ok(()));
    world.pass(DAY);
    assert_eq!(world.log(), ["31T12:00:00 start 1: requested", "31T14:00:00 stop 1: duration"]);
}
